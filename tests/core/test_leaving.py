"""A process that is told to stop: running steps end, its pieces are due, and the next process goes on at once."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal

import pytest

from handon import Agent, ModelAnswer, ModelRequest, Status, TraceKind
from handon.testing import AgentCast, AgentScript, Says, Trajectory, Unreachable
from tests.builders import Find, Shop, make, model, shop
from tests.staging import (
    CALL,
    DONE,
    STAFF,
    Finder,
    Gather,
    Lead,
    Office,
    Staged,
    Write,
    Writer,
    asked,
    calls_of,
    check_money,
    finders,
    gathers,
    reopened,
    rows_of,
    send_letter,
    until,
)

IMPATIENT = {"stop_grace": timedelta(milliseconds=50)}


# A8
async def test_a_step_that_runs_is_let_end_and_the_next_process_does_only_what_is_left(database: str) -> None:
    cast = AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(DONE))
    staged = Staged(cast, Lead)
    async with shop(database, STAFF) as at:
        at.agency.script(staged)
        task = await at.agency.desk(at.mia).of(Lead).start(Gather(), "things")
        await staged.holds(1)
        asyncio.get_running_loop().call_later(0.1, staged.hold_no_more)
    assert len(staged.asked) == 1, "it began something new while it was leaving"
    async with reopened(database, staged) as agency:
        await agency.settle()
        assert await Trajectory(agency, task).tree() == ["Lead · Gather: Done", *["  Finder · Find: Done"] * 2]
        # Nothing lost and nothing done twice: two turns of the lead's and one of each finder's, each paid for once.
        assert len(staged.asked) == 4
        assert await Trajectory(agency, task).tree_cost() == 4 * CALL
        check_money(await rows_of(agency, task))


# A8
async def test_between_two_turns_a_leaving_process_holds_no_money_for_the_call_it_does_not_make(database: str) -> None:
    staged = Staged(AgentCast().plays(Lead, AgentScript(Says.raw("no_such_tool", "{}"), DONE)), Lead)
    async with shop(database, STAFF) as at:
        at.agency.script(staged)
        task = await at.agency.desk(at.mia).of(Lead).start(Gather(), "things", on="rebinding")
        await staged.holds(1)
        asyncio.get_running_loop().call_later(0.1, staged.hold_no_more)
    staged.asked.clear()
    other = make(database, STAFF, concurrency=0)  # reads, and runs nothing
    async with other:
        [row] = await rows_of(other, task)
        assert (row.status, row.run, row.call_micros, row.own_micros) == ("Working", "due", 0, CALL)
        assert staged.asked == []


# A8, M10
async def test_a_call_that_does_not_end_in_time_is_cut_off_charged_as_held_and_made_again(database: str) -> None:
    staged = Staged(AgentCast().plays(Finder, AgentScript(DONE)), Finder)
    async with shop(database, STAFF, **IMPATIENT) as at:
        at.agency.script(staged)
        task = await at.agency.desk(at.mia).of(Finder).start(Find(), "it")
        await staged.holds(1)
        [row] = await rows_of(at.agency, task)
    async with reopened(database, AgentCast().plays(Finder, AgentScript(DONE))) as agency:
        await agency.settle()
        first, second = sorted(await calls_of(agency, task), key=lambda call: call.n)
        assert (first.micros, first.estimated) == (row.call_micros, True)
        assert (second.micros, second.estimated) == (CALL, False)
        [after] = await rows_of(agency, task)
        assert (after.status, after.own_micros, after.reserved_micros) == ("Done", row.call_micros + CALL, 0)


# A8, A7
async def test_a_change_outside_that_does_not_end_in_time_is_never_made_again_and_the_model_is_told(
    database: str,
) -> None:
    post = Office.opens()
    cast = AgentCast().plays(Writer, AgentScript(Says.tool(send_letter, {"text": "Dear Noor"}), DONE))
    async with shop(database, STAFF, **IMPATIENT) as at:
        at.agency.script(cast)
        task = await at.agency.desk(at.mia).of(Writer).start(Write(), "a letter")
        await until(lambda: post.sent == ["Dear Noor"])
    async with reopened(database, cast) as agency:
        await agency.settle()
        assert (await agency.desk(None).piece(task)).status is Status.DONE
        assert post.sent == ["Dear Noor"]
        told = await Trajectory(agency, task).said()
        assert any("outcome is unknown" in text for text in told)


class Unsure(Agent):
    purpose = "You find things out, and ask when unsure."
    roles = {"helper"}
    skills = [Find()]
    consults = "Senior"


# A8, M3
async def test_a_consult_that_does_not_end_in_time_holds_nothing_and_the_work_goes_on(database: str) -> None:
    cast = AgentCast().plays(Unsure, AgentScript(Says.consult("Which?"), DONE).advises("Senior", "The left one."))
    models = [model(), model("Senior", most=100)]
    consulted = asyncio.Event()

    async def answer(name: str, request: ModelRequest) -> ModelAnswer:
        if name == "Senior":
            consulted.set()
            await asyncio.Event().wait()
        return cast.answer(name, request)

    async with shop(database, [Unsure()], models=models, **IMPATIENT) as at:
        at.agency.script(answer)
        task = await at.agency.desk(at.mia).of(Unsure).start(Find(), "it")
        await asyncio.wait_for(consulted.wait(), 10)
    async with reopened(database, cast, [Unsure()], models=models) as agency:
        await agency.settle()
        rows = await rows_of(agency, task)
        check_money(rows)
        assert (rows[0].status, rows[0].reserved_micros) == ("Done", 0)


# A8, M10
async def test_a_process_that_leaves_while_it_cannot_reach_a_model_charges_nothing(database: str) -> None:
    tried = asyncio.Event()

    def unreachable(name: str, request: ModelRequest) -> ModelAnswer:
        tried.set()
        raise Unreachable("down")

    async with shop(database, STAFF, model_pause=timedelta(seconds=30), **IMPATIENT) as at:
        at.agency.script(unreachable)
        task = await at.agency.desk(at.mia).of(Finder).start(Find(), "it")
        await asyncio.wait_for(tried.wait(), 10)
    async with reopened(database, AgentCast().plays(Finder, AgentScript(DONE))) as agency:
        await agency.settle()
        [row] = await rows_of(agency, task)
        assert (row.status, row.own_micros, row.reserved_micros) == ("Done", CALL, 0)


# A8
async def test_what_waits_for_room_is_due_for_the_next_process(database: str) -> None:
    cast = AgentCast().plays(Lead, gathers(*finders(3))).plays(Finder, AgentScript(DONE))
    staged = Staged(cast, Finder)
    async with shop(database, STAFF) as at:
        at.agency.script(staged)
        task = await at.agency.desk(at.mia).of(Lead).start(Gather(), "things", limit=Decimal("0.0115"))
        await staged.holds(2)
        asyncio.get_running_loop().call_later(0.1, staged.hold_no_more)
    async with reopened(database, staged) as agency:
        await agency.settle()
        assert (await agency.desk(None).outcome(task)).done
        assert staged.asked_of(Finder) == 3


# A8, P3
async def test_what_waits_for_a_person_waits_on_over_a_restart_and_is_decided_after_it(database: str) -> None:
    cast = AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(Says.ask("Which?"), DONE))
    staged = Staged(cast)
    async with shop(database, STAFF) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        first = (await desk.questions())[0]
        await desk.answer(first.id, "The left one.")
        await at.agency.settle()
    async with reopened(database, staged) as agency:
        await agency.settle()
        desk = agency.desk(at.mia)
        assert (await desk.outcome(outcome.task)).waiting
        [last] = await desk.questions()
        await desk.answer(last.id, "The right one.")
        await agency.settle()
        assert (await desk.outcome(outcome.task)).done
        assert len(staged.asked) == 2 + 2 * 2


# A8, A1
@pytest.mark.parametrize("stops_in", ["due", "held", "parked", "waiting"])
async def test_from_every_state_a_process_can_be_lost_in_there_is_a_way_out(database: str, stops_in: str) -> None:
    """Work that nobody is doing is taken up, closed, or waits for a person: it never stays under way for ever."""
    asks = AgentScript(Says.ask("Which?"), DONE) if stops_in == "waiting" else AgentScript(DONE)
    cast = AgentCast().plays(Lead, gathers(*finders(1))).plays(Finder, asks)
    staged = Staged(cast, *{"held": [Lead], "parked": [Finder]}.get(stops_in, []))
    concurrency = 0 if stops_in == "due" else 64
    async with shop(database, STAFF, concurrency=concurrency, **IMPATIENT) as at:
        at.agency.script(staged)
        task = await at.agency.desk(at.mia).of(Lead).start(Gather(), "things")
        await reached(at, task, staged, stops_in)
    async with reopened(database, cast if stops_in in ("due", "waiting") else again()) as agency:
        await agency.settle()
        desk = agency.desk(at.mia)
        for question in await desk.questions():
            await desk.answer(question.id, "Either.")
        await agency.settle()
        assert (await desk.outcome(task)).done
        assert TraceKind.ENDED in {line.kind for line in await desk.trace_of(task)}


def again() -> AgentCast:
    """A cast for those who are asked a second time for the turn that was cut off."""

    class Anew(AgentCast):
        def answer(self, model: str, request: ModelRequest) -> ModelAnswer:
            turn = sum(message.role == "assistant" for message in request.messages)
            script = gathers(*finders(1)) if request.agent == "Lead" else AgentScript(DONE)
            return script.turns[turn].answer()

    return Anew()


async def reached(at: Shop, task: object, staged: Staged, state: str) -> None:
    if state in ("held", "parked"):
        await staged.holds(1)
    elif state == "waiting":
        await until(asked(at.agency.desk(at.mia)))
