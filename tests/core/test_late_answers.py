"""A process that was only slow: it reads that its work was closed, and does nothing more in its name."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from handon import Agency, Agent, ModelAnswer, ModelRequest, Permits, Skill, Status, TraceKind
from handon.testing import AgentCast, AgentScript, Says, TestClock, Trajectory, Unreachable
from tests.builders import Answer, Find, Shelf, add_shelf, model, shop
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
    account,
    calls_of,
    check_money,
    finders,
    gathers,
    reopened,
    rows_of,
    send_letter,
    until,
)


class Furnish(Skill[str, Answer]):
    description = "Furnish a room."
    tools = [add_shelf]


class Joiner(Agent):
    purpose = "You put up shelves."
    roles = {"helper"}
    skills = [Furnish()]
    may = Permits.changes_alone()


# E9, A5
async def test_an_answer_after_its_piece_was_closed_is_charged_and_recorded_and_nothing_else_comes_of_it(
    database: str, clock: TestClock
) -> None:
    staged = Staged(AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(DONE)), Lead)
    async with shop(database, STAFF, clock=clock) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things", on="rebinding")
        await staged.holds(1)
        await clock.advance(timedelta(minutes=45))
        closed = await desk.piece(task)
        assert closed.status is Status.FAILED
        staged.hold_no_more()
        await at.agency.settle()
        after = await desk.piece(task)
        assert (after.status, after.outcome, after.ended_at) == (closed.status, closed.outcome, closed.ended_at)
        assert after.result_json is None
        assert (after.spent_micros, after.model_calls) == (CALL, 1)
        assert await desk.handed_on_by(task) == []
        assert len(staged.asked) == 1
        last = (await desk.trace_of(task))[-1]
        assert (last.kind, last.micros) == (TraceKind.LATE_ANSWER, CALL)
        [call] = await calls_of(at.agency, task)
        assert call.micros == CALL
        [row] = await rows_of(at.agency, task)
        assert (row.tree_micros, row.reserved_micros) == (CALL, 0)
        assert await at.agency.spent_against("rebinding") * 1_000_000 == CALL
        assert (await desk.verify_trace(task)).intact


# E9, A5
async def test_the_tool_that_a_late_answer_asks_for_is_not_run(database: str, clock: TestClock) -> None:
    adds = AgentScript(Says.tool(add_shelf, {"mark": "B-2"}), DONE)
    staged = Staged(AgentCast().plays(Joiner, adds), Joiner)
    async with shop(database, [Joiner()], clock=clock) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Joiner).start(Furnish(), "the shop")
        await staged.holds(1)
        await clock.advance(timedelta(minutes=45))
        staged.hold_no_more()
        await at.agency.settle()
        assert TraceKind.TOOL_RAN not in {line.kind for line in await desk.trace_of(task)}
        assert await shelves(at.agency) == 1


async def shelves(agency: Agency) -> int:
    return await agency.read(lambda session: session.scalar(select(func.count()).select_from(Shelf)) or 0)


# A5
async def test_a_process_whose_work_another_one_closed_reads_that_before_its_next_step(
    database: str, clock: TestClock
) -> None:
    staged = Staged(AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(DONE)), Finder)
    async with shop(database, STAFF, clock=clock, abandoned_check_every=timedelta(0)) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things")
        await staged.holds(2)
        async with reopened(database, staged, clock=TestClock(clock.now() + timedelta(hours=1))) as other:
            assert await other.close_abandoned_work() == 1
        ended = await Trajectory(at.agency, task).tree()
        assert ended == ["Lead · Gather: Failed", *["  Finder · Find: Failed"] * 2]
        staged.hold_no_more()
        await at.agency.settle()
        assert await Trajectory(at.agency, task).tree() == ended
        assert len(staged.asked) == 3
        assert await Trajectory(at.agency, task).tree_cost() == 3 * CALL


# A5
async def test_a_slow_process_that_waits_to_reach_its_model_does_not_ask_it_any_more(
    database: str, clock: TestClock
) -> None:
    tried = 0

    def answer(name: str, request: ModelRequest) -> ModelAnswer:
        nonlocal tried
        tried += 1
        raise Unreachable("down")

    settings = {"model_tries": 3, "model_pause": timedelta(milliseconds=300)}
    async with shop(database, STAFF, clock=clock, **settings) as at:
        at.agency.script(answer)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Finder).start(Find(), "it")
        await until(lambda: tried == 1)
        await clock.advance(timedelta(minutes=45))
        assert (await desk.piece(task)).status is Status.FAILED
        await at.agency.settle()
        assert tried == 1


# A5
async def test_a_slow_tool_that_comes_back_after_its_piece_was_closed_leads_to_nothing(
    database: str, clock: TestClock
) -> None:
    post = Office.opens()
    staged = Staged(AgentCast().plays(Writer, AgentScript(Says.tool(send_letter, {"text": "Dear Noor"}), DONE)))
    async with shop(database, STAFF, clock=clock) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Writer).start(Write(), "a letter")
        await until(lambda: post.sent == ["Dear Noor"])
        await clock.advance(timedelta(minutes=45))
        lines = await desk.trace_of(task)
        post.delivered.set()
        await at.agency.settle()
        assert (await desk.piece(task)).status is Status.FAILED
        assert await desk.trace_of(task) == lines
        assert len(staged.asked) == 1
        assert TraceKind.BEGUN in {line.kind for line in lines}


class Unsure(Agent):
    purpose = "You find things out, and ask when unsure."
    roles = {"helper"}
    skills = [Find()]
    consults = "Senior"


# E9, A5, C6, C7
@pytest.mark.parametrize("comes", ["an answer", "nothing"])
async def test_a_consult_that_comes_back_after_its_piece_was_closed_is_charged_and_recorded_and_that_is_all(
    database: str, clock: TestClock, comes: str
) -> None:
    cast = AgentCast().plays(Unsure, AgentScript(Says.consult("Which?"), DONE).advises("Senior", "The left one."))
    asked, go = asyncio.Event(), asyncio.Event()
    times = 0

    async def answer(name: str, request: ModelRequest) -> ModelAnswer:
        nonlocal times
        times += 1
        if name == "Senior":
            asked.set()
            await go.wait()
            if comes == "nothing":
                raise ConnectionResetError
        return cast.answer(name, request)

    models = [model(), model("Senior", input=10, output=50, most=100)]
    async with shop(database, [Unsure()], clock=clock, models=models) as at:
        at.agency.script(answer)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Unsure).start(Find(), "it", on="rebinding")
        await asyncio.wait_for(asked.wait(), 10)
        [row] = await rows_of(at.agency, task)
        held = row.call_micros
        await clock.advance(timedelta(minutes=45))
        closed = await desk.piece(task)
        assert closed.status is Status.FAILED
        go.set()
        await at.agency.settle()
        cost = 10 * CALL if comes == "an answer" else held
        after = await desk.piece(task)
        assert (after.status, after.outcome, after.spent_micros) == (closed.status, closed.outcome, CALL + cost)
        assert times == 2
        [row] = await rows_of(at.agency, task)
        check_money([row])
        assert await account(at.agency, "rebinding") == (CALL + cost, 0)
        assert [(call.model, call.micros) for call in await calls_of(at.agency, task)] == [
            ("Everyday", CALL),
            ("Senior", cost),
        ]
        [help] = await desk.help_of(task)
        assert (help.status, help.cost_micros) == ("Answered" if comes == "an answer" else "Unavailable", cost)
        assert (await desk.trace_of(task))[-1].kind is TraceKind.CONSULTED
        assert (await desk.verify_trace(task)).intact
