"""Limits of a day or a month, for agents and for people: declared, set, counted, and seen by whoever may."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handon import Agent, AgentLimits, BadDeclaration, BadInput, NotAllowed, NotFound, Status
from handon.testing import AgentCast, AgentScript, ModelAnswer, Says, TestClock
from tests.builders import Answer, Find, Shop, look_up, make, shop
from tests.databases import Databases
from tests.staging import account, check_money, rows_of

COSTLY = Says.tool(look_up, {"word": "x"}, tokens=(500, 900))  # 5,000 micros
BACK = Says.hand_back(Answer())  # 200
ONE = 5_200


class Finder(Agent):
    roles = {"helper"}
    skills = [Find()]


class Other(Agent):
    roles = {"helper"}
    skills = [Find()]


class Daily(Finder):
    limits = AgentLimits(per_day=Decimal("0.02"))


AGENTS = [Finder(), Other(), Daily()]


async def find(at: Shop, agent: type[Agent] = Finder, person: Any = None) -> tuple[str, str]:
    at.agency.script(AgentCast().plays(agent, AgentScript(COSTLY, BACK)))
    outcome = await at.agency.desk(person or at.mia).of(agent).do(Find(), "x")
    check_money(await rows_of(at.agency, outcome.task))
    return str(outcome.status), outcome.why


# M7, M11
async def test_work_for_a_person_stays_within_their_limit_of_a_month_whichever_agents_do_it(
    database: str, clock: TestClock
) -> None:
    async with shop(database, AGENTS, clock=clock) as at:
        await at.agency.desk(at.noor).set_spend_limit(Decimal("0.012"), person=at.mia, period="month")
        assert await find(at, Finder) == ("Done", "")
        status, why = await find(at, Other)
        assert status == "Stopped" and "Mia's limit for the month (UTC) of EUR 0.012 had EUR 0.0018 left" in why
        assert await find(at, Finder, at.noor) == ("Done", "")  # nobody else's work is touched
        await clock.set(datetime(2031, 3, 31, 23, 59, tzinfo=UTC))
        assert (await find(at))[0] == "Stopped"
        await clock.advance(timedelta(minutes=1))
        assert await find(at) == ("Done", "")


# M7
async def test_an_agents_limit_of_a_month_is_for_all_it_does_for_whomever(database: str, clock: TestClock) -> None:
    async with shop(database, AGENTS, clock=clock) as at:
        await at.agency.desk(at.noor).set_spend_limit(Decimal("0.012"), agent=Finder, period="month")
        assert await find(at) == ("Done", "")
        status, why = await find(at, Finder, at.noor)
        assert status == "Stopped" and "Finder's limit for the month (UTC)" in why
        assert await find(at, Other) == ("Done", "")


# M7
@pytest.mark.parametrize(("declared_holds", "amount"), [(True, "0.5"), (False, "0.012")])
async def test_where_an_agents_limit_is_both_declared_and_set_the_least_holds(
    database: str, clock: TestClock, declared_holds: bool, amount: str
) -> None:
    async with shop(database, AGENTS, clock=clock) as at:
        await at.agency.desk(at.noor).set_spend_limit(Decimal(amount), agent="Daily", period="day")
        ended = [(await find(at, Daily))[0] for _ in range(4)]
        assert ended.count("Done") == (2 if declared_holds else 1)
        [limit] = [limit for limit in await at.agency.desk(at.noor).spend_limits() if limit.agent == "Daily"]
        assert limit.limit_micros == (20_000 if declared_holds else 12_000)
        assert limit.set_by == ("" if declared_holds else "Noor")


# M7
async def test_the_agency_may_say_what_everybodys_month_may_cost_and_a_persons_own_limit_stands_instead(
    database: str, clock: TestClock
) -> None:
    async with shop(database, AGENTS, clock=clock, person_per_month=Decimal("0.012")) as at:
        assert [(await find(at))[0] for _ in range(2)] == ["Done", "Stopped"]
        await at.agency.desk(at.noor).set_spend_limit(Decimal("0.03"), person=at.mia, period="month")
        assert (await find(at))[0] == "Done"  # more than everybody's
        limits = {limit.name: limit for limit in await at.agency.desk(at.noor).spend_limits() if limit.person}
        assert (limits["Mia"].limit_micros, limits["Mia"].set_by) == (30_000, "Noor")
        assert (limits["Noor"].limit_micros, limits["Noor"].set_by) == (12_000, "")
        await at.agency.desk(at.noor).set_spend_limit(None, person=at.mia, period="month")
        assert (await find(at))[0] == "Stopped"


# M7
async def test_a_limit_set_in_the_middle_of_a_month_counts_what_was_spent_in_it_before(
    database: str, clock: TestClock
) -> None:
    async with shop(database, AGENTS, clock=clock) as at:
        assert await find(at) == ("Done", "")
        await clock.advance(timedelta(days=2))
        await at.agency.desk(at.noor).set_spend_limit(Decimal("0.012"), person=at.mia, period="month")
        [limit] = [limit for limit in await at.agency.desk(at.noor).spend_limits() if limit.person]
        assert (limit.spent_micros, limit.reserved_micros) == (ONE, 0)
        assert (await find(at))[0] == "Stopped"


# M7
async def test_days_and_months_begin_at_midnight_in_the_agencys_time_zone(database: str) -> None:
    clock = TestClock(datetime(2031, 3, 31, 21, 59, tzinfo=UTC))  # a minute to April in Vienna, in summer time
    async with shop(database, AGENTS, clock=clock, time_zone="Europe/Vienna") as at:
        desk = at.agency.desk(at.noor)
        await desk.set_spend_limit(Decimal("0.012"), person=at.mia, period="month")
        assert await find(at) == ("Done", "")
        status, why = await find(at)
        assert status == "Stopped" and "Mia's limit for the month (Europe/Vienna)" in why
        await clock.advance(timedelta(minutes=1))
        assert await find(at) == ("Done", "")
        [limit] = [limit for limit in await desk.spend_limits() if limit.person]
        assert (limit.time_zone, limit.since) == ("Europe/Vienna", datetime(2031, 3, 31, 22, 0, tzinfo=UTC))


# M7, D8
def test_a_time_zone_that_is_none_is_refused_when_the_agency_is_made(sqlite_database: str) -> None:
    with pytest.raises(BadDeclaration, match="There is no time zone 'Mars/Phobos'"):
        make(sqlite_database, AGENTS, time_zone="Mars/Phobos")


# M7, R9
async def test_limits_are_set_by_whoever_manages_model_spend_and_seen_by_whoever_reads_usage(database: str) -> None:
    async with shop(database, AGENTS) as at:
        mia, noor = at.agency.desk(at.mia), at.agency.desk(at.noor)
        with pytest.raises(NotAllowed):
            await mia.set_spend_limit(Decimal(1), person=at.mia, period="month")
        with pytest.raises(NotAllowed):
            await mia.spend_limits()
        with pytest.raises(NotFound):
            await noor.set_spend_limit(Decimal(1), agent="Nobody", period="day")
        with pytest.raises(BadInput):
            await noor.set_spend_limit(Decimal("-1"), agent=Finder, period="day")
        with pytest.raises(BadInput):
            await noor.set_spend_limit(Decimal(1), agent=Finder, person=at.mia, period="day")
        with pytest.raises(BadInput):
            await noor.set_spend_limit(Decimal(1), agent=Finder, period="week")  # type: ignore[arg-type]
        assert [limit.name for limit in await noor.spend_limits()] == ["Daily"]


# M7, M6
async def test_where_the_persons_month_is_spent_the_whole_stops_and_an_agents_day_stops_only_its_piece(
    database: str, clock: TestClock
) -> None:
    from handon import Delegation, Specialist

    class Head(Finder):
        delegates = Delegation(to=[Specialist.of(Daily, Find())])

    dear = Says.tool(look_up, {"word": "x"}, tokens=(500, 900))
    cast = AgentCast().plays(Head, AgentScript(Says.hand_to(Daily, Find(), "x"), BACK))
    cast.plays(Daily, AgentScript(*[dear] * 9))
    async with shop(database, [Head(), Daily()], clock=clock) as at:
        at.agency.script(cast)
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Head).do(Find(), "x")
        assert [str(node.status) for node in await desk.work_tree(outcome.task)] == ["Done", "Stopped"]
        await clock.advance(timedelta(days=1))
        await at.agency.desk(at.noor).set_spend_limit(Decimal("0.03"), person=at.mia, period="month")
        outcome = await desk.of(Head).do(Find(), "x")
        assert outcome.status is Status.STOPPED and "Mia's limit for the month" in outcome.why
        assert [str(node.status) for node in await desk.work_tree(outcome.task)] == ["Stopped", "Cancelled"]


# M4, M7
@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    wholes=st.lists(
        st.tuples(st.sampled_from(["Finder", "Other", "Daily"]), st.integers(0, 1), st.integers(1, 4)),
        min_size=2,
        max_size=8,
    ),
    month=st.sampled_from(["0.004", "0.011", "0.03"]),
    day=st.sampled_from(["0.006", "0.02"]),
)
def test_however_much_runs_at_once_no_limit_of_a_period_is_overrun(
    databases: Databases, tmp_path_factory: pytest.TempPathFactory, wholes: Any, month: str, day: str
) -> None:
    database = databases.sqlite(tmp_path_factory.mktemp("example"))

    async def example() -> None:
        async with shop(database, AGENTS, clock=TestClock()) as at:
            noor = at.agency.desk(at.noor)
            await noor.set_spend_limit(Decimal(month), person=at.mia, period="month")
            await noor.set_spend_limit(Decimal(day), agent=Finder, period="day")

            async def answer(model: str, request: Any) -> ModelAnswer:
                await asyncio.sleep(0)
                return (BACK if request.turn >= 4 else Says.tool(look_up, {"word": f"{request.turn}"})).answer()

            at.agency.script(answer)
            people = [at.mia, at.noor]
            for agent, whose, many in wholes:
                for n in range(many):
                    await at.agency.desk(people[whose]).of(agent).start(Find(), f"{n}")
            await at.agency.settle()
            for limit in await noor.spend_limits():
                assert limit.spent_micros <= limit.limit_micros, limit.name
                assert limit.reserved_micros == 0, limit.name

    asyncio.run(example())


# M3, M7
async def test_a_call_that_spans_midnight_is_charged_to_the_day_it_left_on(database: str) -> None:
    clock = TestClock(datetime(2031, 3, 3, 23, 59, tzinfo=UTC))
    async with shop(database, AGENTS, clock=clock) as at:

        async def answer(model: str, request: Any) -> ModelAnswer:
            await clock.advance(timedelta(minutes=2))
            return BACK.answer()

        at.agency.script(answer)
        await at.agency.desk(at.mia).of(Daily).do(Find(), "x")
        assert await account(at.agency, "agent:Daily:2031-03-03") == (200, 0)
        assert await at.agency.spent_against("agent:Daily:2031-03-04") == 0
