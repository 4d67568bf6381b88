"""The meter as it is read: by model, agent, person and whole, for some days; prices, accounts and limits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from handon import AgentLimits, BadInput, ModelAnswer, ModelRequest, NotAllowed, Price, has_role
from handon.testing import AgentCast, AgentScript, TestClock
from tests import builders
from tests.builders import Find, model, shop
from tests.staging import CALL, DONE, STAFF, Finder, Gather, Lead, Staged, finders, gathers

FOUND = AgentScript(DONE)
MARCH_3, MARCH_4 = date(2031, 3, 3), date(2031, 3, 4)


def one_leg() -> AgentCast:
    return AgentCast().plays(Lead, gathers(*finders(1))).plays(Finder, FOUND)


# M8, M5
async def test_what_was_spent_is_told_by_model_agent_person_and_whole_and_each_adds_up(
    database: str, clock: TestClock
) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        at.agency.script(one_leg())
        await at.agency.desk(at.mia).of(Lead).do(Gather(), "things", about="The shelves")
        at.agency.script(AgentCast().plays(Finder, FOUND))
        await at.agency.desk(at.noor).of(Finder).do(Find(), "one")
        await at.agency.desk(None).of(Finder).do(Find(), "two")
        meter = await at.agency.desk(at.noor).meter(MARCH_3, MARCH_3)
    assert (meter.together.micros, meter.together.calls) == (5 * CALL, 5)
    assert (meter.together.tokens_in, meter.together.tokens_out) == (500, 100)
    assert [(one.name, one.micros) for one in meter.models] == [("Everyday", 5 * CALL)]
    assert [(one.name, one.micros) for one in meter.agents] == [("Finder", 3 * CALL), ("Lead", 2 * CALL)]
    assert {one.name: one.micros for one in meter.people} == {"Mia": 3 * CALL, "Noor": CALL, "": CALL}
    assert meter.wholes[0].name == "The shelves"
    assert [one.micros for one in meter.wholes] == [3 * CALL, CALL, CALL]
    assert (meter.more_people, meter.more_wholes) == (0, 0)


# M8
async def test_what_is_not_listed_by_name_is_counted(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        at.agency.script(AgentCast().plays(Finder, FOUND))
        for n in range(12):
            await at.agency.desk(at.mia).of(Finder).do(Find(), f"{n}")
        meter = await at.agency.desk(at.noor).meter(MARCH_3, MARCH_3)
    assert (len(meter.wholes), meter.more_wholes) == (10, 2)
    assert meter.together.micros == 12 * CALL


# M8, M7
async def test_a_day_begins_at_midnight_in_the_agencys_time_zone(database: str) -> None:
    clock = TestClock(datetime(2031, 3, 3, 22, 59, tzinfo=UTC))  # 23:59 in Vienna
    async with shop(database, STAFF, clock=clock, time_zone="Europe/Vienna") as at:
        at.agency.script(AgentCast().plays(Finder, FOUND))
        desk = at.agency.desk(at.noor)
        await desk.of(Finder).do(Find(), "late")
        assert desk.today() == MARCH_3
        await clock.advance(timedelta(minutes=2))
        await desk.of(Finder).do(Find(), "early")
        assert desk.today() == MARCH_4
        spent = [
            (await desk.meter(*days)).together.calls for days in [(MARCH_3,) * 2, (MARCH_4,) * 2, (MARCH_3, MARCH_4)]
        ]
        nothing = await desk.meter(date(2031, 3, 5), date(2031, 3, 9))
    assert spent == [1, 1, 2]
    assert (nothing.together.micros, nothing.models, nothing.time_zone) == (0, (), "Europe/Vienna")


# M9
async def test_calls_without_usage_figures_are_counted_apart_and_marked(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock) as at:

        def answer(model: str, request: ModelRequest) -> ModelAnswer:
            return (
                DONE.answer()
                if request.agent == "Finder" and unmetered is False
                else ModelAnswer(calls=DONE.answer().calls)
            )

        unmetered = True
        at.agency.script(answer)
        desk = at.agency.desk(at.noor)
        await desk.of(Finder).do(Find(), "one")
        unmetered = False
        await desk.of(Finder).do(Find(), "two")
        together = (await desk.meter(MARCH_3, MARCH_3)).together
        known, guessed = await desk.metered_calls()
    assert (together.calls, together.estimated) == (2, 1)
    assert together.estimated_micros == together.micros - CALL > 5000
    assert (known.estimated, known.micros) == (False, CALL)
    assert (guessed.estimated, guessed.micros) == (True, together.estimated_micros)


# M8
async def test_calls_are_read_page_by_page_the_newest_first_and_none_twice(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        at.agency.script(one_leg())
        desk = at.agency.desk(at.noor)
        for _ in range(2):
            await desk.of(Lead).do(Gather(), "things")  # all at one moment: the clock stands
        whole = await desk.metered_calls()
        pages, last = [], None
        while page := await desk.metered_calls(limit=2, before=last):
            pages += page
            last = page[-1]
    assert len(whole) == 6
    assert pages == whole
    assert len({(call.piece, call.n) for call in pages}) == 6


# M3, M8
async def test_what_is_held_for_calls_under_way_is_told(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        staged = Staged(one_leg(), Finder)
        at.agency.script(staged)
        desk = at.agency.desk(at.noor)
        task = await desk.of(Lead).start(Gather(), "things")
        await staged.holds(1)
        tree = await desk.work_tree(task)
        assert (await desk.meter(MARCH_3, MARCH_3)).held_micros == tree[0].reserved_micros > 5000
        staged.hold_no_more()
        await at.agency.settle()
        assert (await desk.meter(MARCH_3, MARCH_3)).held_micros == 0


# R9, R8
async def test_the_meter_is_read_by_whoever_reads_usage_and_names_only_work_they_may_see(
    database: str, clock: TestClock
) -> None:
    policies = replace(builders.POLICIES, reads_model_usage=has_role("bookkeeper"))
    async with shop(database, STAFF, clock=clock, policies=policies) as at:
        at.agency.script(AgentCast().plays(Finder, FOUND))
        ada = await at.agency.add_person("ada@bindery.test", "Ada", roles=["bookkeeper"])
        await at.agency.desk(at.mia).of(Finder).do(Find(), "one", about="A secret shelf")
        mia, books = at.agency.desk(at.mia), at.agency.desk(ada)
        [whole] = (await books.meter(MARCH_3, MARCH_3)).wholes
        [call] = await books.metered_calls()
        assert (whole.name, whole.root, whole.micros) == ("", None, CALL)
        assert (call.about, call.root, call.micros) == ("", None, CALL)
        assert (await at.agency.desk(at.noor).meter(MARCH_3, MARCH_3)).wholes[0].name == "A secret shelf"
        for asked in (
            mia.meter(MARCH_3, MARCH_3),
            mia.metered_calls(),
            mia.accounts(),
            mia.prices(),
            books.limitable(),
        ):
            with pytest.raises(NotAllowed):
                await asked


# M8
@pytest.mark.parametrize("days", [(MARCH_4, MARCH_3), (date(1, 1, 1), MARCH_3), (MARCH_3, date(9999, 12, 31))])
async def test_days_that_are_none_are_refused_in_words(sqlite_database: str, days: tuple[date, date]) -> None:
    async with shop(sqlite_database, STAFF) as at:
        with pytest.raises(BadInput):
            await at.agency.desk(at.noor).meter(*days)


# M2
async def test_accounts_are_told_with_their_limits_and_what_is_counted_for_days_is_not_among_them(
    database: str, clock: TestClock
) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        at.agency.script(AgentCast().plays(Finder, FOUND))
        desk = at.agency.desk(at.noor)
        await desk.set_spend_limit(Decimal(1), agent=Finder, period="day")
        await desk.set_spend_limit(Decimal(1), person=at.noor, period="month")
        await at.agency.set_limit("order 7", Decimal("0.01"))
        await desk.of(Finder).do(Find(), "one", on=["order 7", "order 8"])
        found = await desk.accounts()
        assert [(one.key, one.limit_micros, one.spent_micros) for one in found] == [
            ("order 7", 10_000, CALL),
            ("order 8", None, CALL),
        ]
        assert [one.key for one in await desk.accounts(limit=1, after="order 7")] == ["order 8"]


# M9
async def test_each_model_is_told_with_its_price_and_who_works_with_it(sqlite_database: str) -> None:
    class Careful(Finder):
        model = "Dear"
        consults = "Everyday"

    dear = model("Dear", input=3, output=15)
    async with shop(sqlite_database, [Finder(), Careful()], models=[model(), dear]) as at:
        cheap, careful = await at.agency.desk(at.noor).prices()
    assert (cheap.name, cheap.input, cheap.output) == ("Everyday", Price(1, 5).input, Decimal(5))
    assert (cheap.agents, cheap.consulted_by) == (("Finder",), ("Careful",))
    assert (careful.name, careful.input, careful.agents) == ("Dear", Decimal(3), ("Careful",))


# M7
async def test_a_limit_says_what_is_declared_and_what_was_set_and_by_whom(database: str, clock: TestClock) -> None:
    class Daily(Finder):
        limits = AgentLimits(per_day=Decimal("0.01"))

    async with shop(database, [Daily()], clock=clock, person_per_month=Decimal(2)) as at:
        desk = at.agency.desk(at.noor)
        await desk.set_spend_limit(Decimal("0.02"), agent=Daily, period="day")  # more than the class says
        await desk.set_spend_limit(Decimal(3), person=at.mia, period="month")
        daily, mia, noor = await desk.spend_limits()
        assert (daily.limit_micros, daily.declared_micros, daily.set_micros) == (10_000, 10_000, 20_000)
        assert (daily.set_by, daily.set_at) == ("", None)
        assert (mia.limit_micros, mia.declared_micros, mia.set_micros) == (3_000_000, 2_000_000, 3_000_000)
        assert (mia.set_by, mia.set_at) == ("Noor", clock.now())
        assert (noor.limit_micros, noor.set_micros) == (2_000_000, None)
        await desk.set_spend_limit(Decimal("0.004"), agent=Daily, period="day")
        daily = (await desk.spend_limits())[0]
        assert (daily.limit_micros, daily.set_by) == (4_000, "Noor")
        assert [(one.name, one.declared_per_day) for one in await desk.limitable()] == [
            ("Daily", 10_000),
            ("Mia", None),
            ("Noor", None),
        ]


# M7
async def test_a_limit_is_near_once_four_fifths_of_it_are_used(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        at.agency.script(AgentCast().plays(Finder, FOUND))
        desk = at.agency.desk(at.noor)
        await desk.of(Finder).do(Find(), "one")
        seen = []
        for limit in ("0.00026", "0.00025", "0.0002", "0"):
            await desk.set_spend_limit(Decimal(limit), agent=Finder, period="day")
            [found] = await desk.spend_limits()
            seen.append((found.near, found.left_micros))
    assert seen == [(False, 60), (True, 50), (True, 0), (True, 0)]


# M7
async def test_more_than_can_be_counted_is_no_limit(sqlite_database: str) -> None:
    async with shop(sqlite_database, STAFF) as at:
        with pytest.raises(BadInput, match="more than can be counted"):
            await at.agency.desk(at.noor).set_spend_limit(Decimal("1e40"), agent=Finder, period="day")
