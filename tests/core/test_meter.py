"""The meter: every call is on it, and what it cost is never taken to be nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from core.clock import to_micros
from handon import Agency, Agent, BadDeclaration, LlmModel, ModelAnswer, ModelRequest, Price, Status
from handon.testing import AgentCast, AgentScript, Says, ScriptedModel, TestClock, Unreachable
from tests.builders import Find, look_up, make, model, shop
from tests.staging import (
    CALL,
    DONE,
    STAFF,
    Finder,
    Gather,
    Lead,
    Staged,
    calls_of,
    finders,
    gathers,
    rows_of,
    sql,
    until,
)


class Unsure(Agent):
    purpose = "You find things out, and ask when unsure."
    roles = {"helper"}
    skills = [Find()]
    consults = "Senior"


# M8
async def test_every_call_is_on_the_meter_with_its_model_tokens_money_piece_person_and_time(
    database: str, clock: TestClock
) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        at.agency.script(AgentCast().plays(Lead, gathers(*finders(1))).plays(Finder, AgentScript(DONE)))
        outcome = await at.agency.desk(at.mia).of(Lead).do(Gather(), "things")
        lead, finder = await rows_of(at.agency, outcome.task)
        calls = await calls_of(at.agency, outcome.task)
        assert sorted((call.piece, call.n) for call in calls) == sorted([(lead.id, 1), (lead.id, 2), (finder.id, 1)])
        for call in calls:
            assert (call.model, call.purpose, call.person) == ("Everyday", "work", at.mia.id.hex)
            assert (call.tokens_in, call.tokens_out, call.tokens_cached) == (100, 20, 0)
            assert (call.micros, call.estimated, call.at) == (CALL, False, to_micros(clock.now()))
        assert (lead.model_calls, finder.model_calls) == (2, 1)


# M8
async def test_a_consult_is_on_the_meter_as_a_consult_of_the_consulted_model(database: str) -> None:
    models = [model(), model("Senior", input=10, output=50, most=100)]
    async with shop(database, [Unsure()], models=models) as at:
        script = AgentScript(Says.consult("Which?", "There are two."), DONE).advises("Senior", "The left one.")
        at.agency.script(AgentCast().plays(Unsure, script))
        outcome = await at.agency.desk(at.mia).of(Unsure).do(Find(), "it")
        calls = await calls_of(at.agency, outcome.task)
        assert sorted((call.model, call.purpose, call.micros) for call in calls) == [
            ("Everyday", "work", CALL),
            ("Everyday", "work", CALL),
            ("Senior", "consult", 10 * CALL),
        ]


# M8
async def test_cached_input_is_on_the_meter_and_charged_at_its_own_price(database: str) -> None:
    cached = LlmModel("Everyday", "e", ScriptedModel(), Price(input=10, output=50, cached=1), 100)

    def answer(name: str, request: ModelRequest) -> ModelAnswer:
        said = DONE.answer()
        return replace(said, tokens_in=100, tokens_out=20, tokens_cached=60)

    async with shop(database, STAFF, models=[cached]) as at:
        at.agency.script(answer)
        outcome = await at.agency.desk(at.mia).of(Finder).do(Find(), "it")
        [call] = await calls_of(at.agency, outcome.task)
        assert (call.tokens_in, call.tokens_cached, call.micros) == (100, 60, 40 * 10 + 60 * 1 + 20 * 50)
        assert outcome.cost_micros == call.micros


# M9
@pytest.mark.parametrize(("price", "refused"), [(None, True), (Price(input=1, output=5), False)])
def test_a_model_without_a_price_is_refused_when_the_agency_is_made(price: Price | None, refused: bool) -> None:
    given = LlmModel("Everyday", "e", ScriptedModel(), price, 100)
    if refused:
        with pytest.raises(BadDeclaration, match="Everyday has no price"):
            make("sqlite:///never-opened.db", models=[given])
    else:
        make("sqlite:///never-opened.db", models=[given])


# M9
@pytest.mark.parametrize("missing", ["tokens_in", "tokens_out"])
async def test_an_answer_without_usage_figures_is_charged_as_held_and_marked_as_estimated(
    database: str, missing: str
) -> None:
    gate = asyncio.Event()

    async def answer(name: str, request: ModelRequest) -> ModelAnswer:
        await gate.wait()
        return replace(DONE.answer(), **{missing: None})

    async with shop(database, STAFF) as at:
        at.agency.script(answer)
        task = await at.agency.desk(at.mia).of(Finder).start(Find(), "it")

        async def held() -> bool:
            return (await rows_of(at.agency, task))[0].call_micros > 0

        await until(held)
        [row] = await rows_of(at.agency, task)
        gate.set()
        await at.agency.settle()
        [call] = await calls_of(at.agency, task)
        assert (call.micros, call.estimated) == (row.call_micros, True)
        [after] = await rows_of(at.agency, task)
        assert (after.status, after.own_micros, after.reserved_micros) == ("Done", row.call_micros, 0)


# M10
async def test_where_the_store_cannot_be_written_the_call_does_not_leave(database: str) -> None:
    async with shop(database, STAFF) as at:
        staged = Staged(AgentCast().plays(Finder, AgentScript(DONE)))
        at.agency.script(staged)
        await refuse_reservations(at.agency)
        task = await at.agency.desk(at.mia).of(Finder).start(Find(), "it")
        for _ in range(3):
            await at.agency.sweep()
            await asyncio.sleep(0.05)
        assert staged.asked == []
        await allow_reservations(at.agency)
        await at.agency.settle()
        assert (await at.agency.desk(at.mia).outcome(task)).done
        assert staged.asked_of(Finder) == 1


async def refuse_reservations(agency: Agency) -> None:
    """Let the database refuse whatever would hold money."""
    if agency.store.sqlite:
        await sql(
            agency,
            "create trigger full_disk before update of reserved_micros on piece"
            " when new.reserved_micros > old.reserved_micros begin select raise(abort, 'disk full'); end",
        )
    else:
        await sql(
            agency,
            "create function full_disk() returns trigger language plpgsql as"
            " $$ begin raise exception 'disk full'; end $$",
        )
        await sql(
            agency,
            "create trigger full_disk before update of reserved_micros on piece for each row"
            " when (new.reserved_micros > old.reserved_micros) execute function full_disk()",
        )


async def allow_reservations(agency: Agency) -> None:
    await sql(agency, "drop trigger full_disk" if agency.store.sqlite else "drop trigger full_disk on piece")


# M10, M3
async def test_an_answer_is_charged_also_where_what_it_asks_for_breaks_the_run(database: str) -> None:
    class Broken(Agent):
        """Its declaration breaks once its model has answered."""

        purpose = "You find things out."
        roles = {"helper"}
        skills = [Find()]
        breaks = False

        @property
        def guards(self) -> None:  # type: ignore[override]
            if self.breaks:
                raise RuntimeError("the app's own fault")

    broken = Broken()

    def answer(name: str, request: ModelRequest) -> ModelAnswer:
        broken.breaks = True
        return Says.tool(look_up, {"word": "x"}).answer()

    async with shop(database, [broken]) as at:
        at.agency.script(answer)
        outcome = await at.agency.desk(at.mia).of(Broken).do(Find(), "it")
        assert outcome.status is Status.FAILED
        assert outcome.cost_micros > 0
        assert len(await calls_of(at.agency, outcome.task)) == 1


# M10
async def test_a_call_that_never_got_there_costs_nothing(database: str) -> None:
    def answer(name: str, request: ModelRequest) -> ModelAnswer:
        raise Unreachable("down")

    async with shop(database, STAFF, model_tries=2, model_pause=timedelta(milliseconds=1)) as at:
        at.agency.script(answer)
        outcome = await at.agency.desk(at.mia).of(Finder).do(Find(), "it")
        assert (outcome.status, outcome.cost_micros) == (Status.FAILED, 0)
        assert await calls_of(at.agency, outcome.task) == []


# M9
def test_a_cost_is_rounded_up_to_a_whole_micro() -> None:
    price = Price(input="0.41", output=5)
    assert [price.micros(tokens, 0) for tokens in (0, 1, 2, 3, 100)] == [0, 1, 1, 2, 41]


# M2
async def test_what_was_counted_of_a_conversation_is_the_least_that_is_held_for_it_from_then_on(database: str) -> None:
    """Digits take more tokens than they are reckoned at. What the provider counted stands: 9,000 went in, and more."""
    dense = Says.tool(look_up, {"word": "x"}, tokens=(9_000, 20))
    async with shop(database, STAFF) as at:
        staged = Staged(AgentCast().plays(Finder, AgentScript(dense, DONE)), Finder)
        at.agency.script(staged)
        task = await at.agency.desk(at.mia).of(Finder).start(Find(), "it")
        await staged.holds(1)
        [row] = await rows_of(at.agency, task)
        assert 5_000 < row.call_micros < 6_000
        staged.let_go()
        await until(lambda: len(staged.asked) == 2)
        [row] = await rows_of(at.agency, task)
        assert row.call_micros > 14_000
        staged.hold_no_more()
        await at.agency.settle()
