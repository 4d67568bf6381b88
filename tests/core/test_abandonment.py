"""Work whose process is gone: found by its silence, closed once, and told to whoever waited for it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from core import abandonment
from handon import Agency, Desk, ModelAnswer, ModelRequest, Status, TraceKind
from handon.testing import AgentCast, AgentScript, ProcessDied, Says, TestClock, Trajectory
from tests.builders import Clerk, Find, Note, note_shelf, shop
from tests.staging import (
    DONE,
    STAFF,
    Deputy,
    Finder,
    Gather,
    Lead,
    Staged,
    check_money,
    finders,
    gathers,
    reopened,
    rows_of,
    until,
)

GONE = "It stopped without reporting back: whatever was doing it is gone."
ONLY_WHEN_ASKED = timedelta(0)


class Dying:
    """A cast in which some agents' processes die: at once, or from their n-th turn on."""

    def __init__(self, cast: AgentCast, agent: type[Any], turn: int = 1) -> None:
        self._cast, self._agent, self._turn = cast, agent.__name__, turn

    def __call__(self, model: str, request: ModelRequest) -> ModelAnswer:
        turn = 1 + sum(message.role == "assistant" for message in request.messages)
        if request.agent == self._agent and turn >= self._turn:
            raise ProcessDied
        return self._cast.answer(model, request)


async def died(agency: Agency, desk: Desk, *, legs: tuple[Any, ...], cast: AgentCast | None = None) -> Any:
    """Give a lead work in which every finder's process dies; answers the whole's id."""
    agency.script(Dying((cast or AgentCast()).plays(Lead, gathers(*legs)), Finder))
    with pytest.raises(ProcessDied):
        await desk.of(Lead).do(Gather(), "things")
    return (await desk.works("all", limit=1))[0].root


# A1
async def test_a_whole_under_way_that_is_quiet_so_long_was_abandoned(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock, abandoned_check_every=ONLY_WHEN_ASKED) as at:
        task = await died(at.agency, at.agency.desk(at.mia), legs=(*finders(1),))
        await clock.advance(timedelta(minutes=29, seconds=59))
        assert not await at.agency.was_abandoned(task)
        await clock.advance(timedelta(seconds=1))
        assert await at.agency.was_abandoned(task)
        [_, finder] = await at.agency.desk(None).work_tree(task)
        assert await at.agency.was_abandoned(finder.piece)


# A1
async def test_every_model_answer_and_every_tool_is_a_line_that_breaks_the_silence(
    database: str, clock: TestClock
) -> None:
    staged = Staged(AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(DONE)), Finder)
    async with shop(database, STAFF, clock=clock, abandoned_check_every=ONLY_WHEN_ASKED) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things")
        one, other = await staged.holds(2)
        await clock.advance(timedelta(minutes=20))
        staged.let_go(one)

        async def one_done() -> bool:
            return (await desk.piece(one)).status is Status.DONE

        await until(one_done)
        await clock.advance(timedelta(minutes=29))
        assert not await at.agency.was_abandoned(task)
        assert await at.agency.close_abandoned_work() == 0
        await clock.advance(timedelta(minutes=1))
        assert await at.agency.was_abandoned(task)
        assert (await desk.piece(other)).status is Status.WORKING
        staged.hold_no_more()
        await at.agency.settle()


# A1
@pytest.mark.parametrize("setting", ["abandoned_after", "abandoned_check_every"])
async def test_zero_is_never(database: str, clock: TestClock, setting: str) -> None:
    async with shop(database, STAFF, clock=clock, **{setting: timedelta(0)}) as at:
        task = await died(at.agency, at.agency.desk(at.mia), legs=(*finders(1),))
        await clock.advance(timedelta(days=30))
        assert (await at.agency.desk(at.mia).piece(task)).status is Status.WORKING
        assert await at.agency.was_abandoned(task) is (setting == "abandoned_check_every")


# A2
async def test_the_agencys_own_clock_closes_abandoned_work_as_failed(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        desk = at.agency.desk(at.mia)
        task = await died(at.agency, desk, legs=(*finders(1),))
        await clock.advance(timedelta(minutes=40))
        piece = await desk.piece(task)
        assert (piece.status, piece.outcome) == (Status.FAILED, GONE)
        assert await Trajectory(at.agency, task).still_going() == []
        check_money(await rows_of(at.agency, task))


# A2
async def test_abandoned_work_that_had_been_called_off_is_closed_as_called_off(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        desk = at.agency.desk(at.mia)
        task = await died(at.agency, desk, legs=(*finders(1),))
        await desk.stop(task, "Enough")
        assert (await desk.piece(task)).status is Status.WORKING
        await clock.advance(timedelta(minutes=40))
        piece = await desk.piece(task)
        assert (piece.status, piece.outcome) == (Status.CANCELLED, "Mia stopped it: Enough")


# A2
async def test_abandoned_work_is_closed_once(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        told: list[str] = []
        at.agency.events.subscribe("work_abandoned", lambda about: told.append(about["whole"]))
        desk = at.agency.desk(at.mia)
        task = await died(at.agency, desk, legs=(*finders(2),))
        await clock.advance(timedelta(minutes=40))
        lines = await desk.trace_of(task)
        await clock.advance(timedelta(days=2))
        assert await desk.trace_of(task) == lines
        assert told == [task.hex]


# A3
async def test_what_it_had_handed_on_goes_with_it_and_only_the_top_is_said_to_have_given_up(
    database: str, clock: TestClock
) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        desk = at.agency.desk(at.mia)
        proposes = AgentScript(Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "x"}), DONE)
        cast = AgentCast().plays(Deputy, gathers(*finders(1))).plays(Clerk, proposes)
        legs = (Says.hand_to(Deputy, Gather(), "x"), Says.hand_to(Clerk, Note(), Says.row(at.shelf)))
        task = await died(at.agency, desk, legs=legs, cast=cast)
        await until(lambda: waits(desk))
        [proposal] = await desk.proposals()
        await clock.advance(timedelta(minutes=40))
        assert await Trajectory(at.agency, task).tree() == [
            "Lead · Gather: Failed",
            "  Deputy · Gather: Failed",
            "    Finder · Find: Failed",
            "  Clerk · Note: Cancelled",
        ]
        assert (await desk.proposal(proposal.id)).status == "Withdrawn"
        assert [node.abandoned for node in await desk.work_tree(task)] == [True, False, False, False]
        given_up = [line for line in await desk.trace_of(task) if line.kind is TraceKind.ABANDONED]
        assert [line.piece for line in given_up] == [task]
        assert (await desk.verify_trace(task)).intact


async def waits(desk: Desk) -> bool:
    return len(await desk.proposals()) == 1


# A3
async def test_a_piece_above_that_waited_for_it_is_told_and_goes_on(database: str, clock: TestClock) -> None:
    cast = AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(Says.ask("Which?"), DONE))
    async with shop(database, STAFF, clock=clock) as at:
        at.agency.script(Dying(cast, Finder, turn=2))
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        assert outcome.waiting
        one, other = await desk.questions()
        await desk.answer(one.id, "The left one.")

        async def held() -> bool:
            return any(row.run == "held" for row in await rows_of(at.agency, outcome.task))

        await until(held)
        await clock.advance(timedelta(minutes=45))
        dead = await desk.piece(one.piece)
        assert (dead.status, dead.outcome) == (Status.FAILED, GONE)
        assert (await desk.outcome(outcome.task)).waiting
        assert [question.id for question in await desk.questions()] == [other.id]
        at.agency.script(cast)
        await desk.answer(other.id, "The right one.")
        await at.agency.settle()
        assert (await desk.outcome(outcome.task)).done
        assert f"Finder failed: {GONE}" in await Trajectory(at.agency, outcome.task).said()


# A4
async def test_looking_at_once_closes_what_was_abandoned_and_says_how_many(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock, abandoned_check_every=ONLY_WHEN_ASKED) as at:
        desk = at.agency.desk(at.mia)
        dead = [await died(at.agency, desk, legs=(*finders(1),)) for _ in range(3)]
        at.agency.script(AgentCast().plays(Finder, AgentScript(Says.ask("Which?"), DONE)))
        waiting = await desk.of(Finder).do(Find(), "it")
        assert await at.agency.close_abandoned_work() == 0
        await clock.advance(timedelta(minutes=31))
        assert await at.agency.close_abandoned_work() == 3
        assert await at.agency.close_abandoned_work() == 0
        assert {(await desk.piece(task)).status for task in dead} == {Status.FAILED}
        assert (await desk.outcome(waiting.task)).waiting


# A6
async def test_waiting_for_a_person_is_never_abandonment_however_long(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        cast = AgentCast().plays(Lead, gathers(Says.hand_to(Deputy, Gather(), "x"))).plays(Deputy, gathers(*finders(2)))
        at.agency.script(cast.plays(Finder, AgentScript(Says.ask("Which?"), DONE)))
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        await clock.advance(timedelta(days=400))
        assert not await at.agency.was_abandoned(outcome.task)
        assert await at.agency.close_abandoned_work() == 0
        for question in await desk.questions():
            await desk.answer(question.id, "Either.")
        await at.agency.settle()
        assert (await desk.outcome(outcome.task)).done


# A1
async def test_work_whose_legs_are_only_queued_is_not_abandoned(database: str, clock: TestClock) -> None:
    """One piece runs at a time: the lead's legs stand behind another work's, which hangs."""
    staged = Staged(AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(DONE)), Lead, Finder)
    async with shop(database, STAFF, clock=clock, concurrency=1, abandoned_check_every=ONLY_WHEN_ASKED) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        queued = await desk.of(Lead).start(Gather(), "things")
        await staged.holds(1)
        slow = await desk.of(Finder).start(Find(), "it")
        staged.let_go()
        await until(lambda: staged.asked_of(Finder) == 1)
        await clock.advance(timedelta(hours=2))
        assert await at.agency.was_abandoned(slow)
        assert not await at.agency.was_abandoned(queued)
        assert await at.agency.close_abandoned_work() == 1
        staged.hold_no_more()
        await at.agency.settle()
        assert (await desk.piece(queued)).status is Status.DONE


# A1, A5
async def test_a_process_that_starts_beside_one_that_works_makes_no_copy_of_its_work(
    database: str, clock: TestClock
) -> None:
    staged = Staged(AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(DONE)), Finder)
    async with shop(database, STAFF, clock=clock) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things")
        await staged.holds(2)
        async with reopened(database, staged, clock=TestClock(clock.now())) as other:
            assert await other.sweep() == 0
            assert await other.close_abandoned_work() == 0
            assert staged.asked_of(Finder) == 2
            staged.hold_no_more()
            await at.agency.settle()
            await other.settle()
        assert (await desk.outcome(task)).done
        assert (staged.asked_of(Lead), staged.asked_of(Finder)) == (2, 2)


# A2, A4
async def test_two_processes_that_look_at_once_close_abandoned_work_once(database: str, clock: TestClock) -> None:
    async with (
        shop(database, STAFF, clock=clock, abandoned_check_every=ONLY_WHEN_ASKED) as at,
        reopened(database, AgentCast(), clock=clock, abandoned_check_every=ONLY_WHEN_ASKED, concurrency=0) as other,
    ):
        told: list[str] = []
        for agency in (at.agency, other):
            agency.events.subscribe("work_abandoned", lambda about: told.append(about["whole"]))
        desk = at.agency.desk(at.mia)
        tasks = [await died(at.agency, desk, legs=(*finders(2),)) for _ in range(5)]
        await clock.advance(timedelta(minutes=31))
        closed = await asyncio.gather(*[agency.close_abandoned_work() for agency in (at.agency, other) * 2])
        assert sum(closed) == 5
        assert sorted(told) == sorted(task.hex for task in tasks)
        for task in tasks:
            kinds = [line.kind for line in await desk.trace_of(task)]
            assert kinds.count(TraceKind.ABANDONED) == 1
            check_money(await rows_of(at.agency, task))
            assert (await desk.verify_trace(task)).intact


# A3, M3
async def test_a_piece_above_is_told_once_of_a_leg_that_two_processes_close_at_once(
    database: str, clock: TestClock
) -> None:
    cast = AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(Says.ask("Which?"), DONE))
    async with (
        shop(database, STAFF, clock=clock, abandoned_check_every=ONLY_WHEN_ASKED) as at,
        reopened(database, cast, clock=clock, abandoned_check_every=ONLY_WHEN_ASKED) as other,
    ):
        at.agency.script(Dying(cast, Finder, turn=2))
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        for question in await desk.questions():
            await desk.answer(question.id, "Either.")

        async def both_held() -> bool:
            return [row.run for row in await rows_of(at.agency, outcome.task)].count("held") == 2

        await until(both_held)
        await clock.advance(timedelta(minutes=31))
        await asyncio.gather(*[agency.close_abandoned_work() for agency in (at.agency, other) * 2])
        await at.agency.settle()
        await other.settle()
        assert (await desk.outcome(outcome.task)).done
        lines = await desk.trace_of(outcome.task)
        assert [line.kind for line in lines].count(TraceKind.CAME_BACK) == 2
        assert (await desk.piece(outcome.task)).model_calls == 2
        check_money(await rows_of(at.agency, outcome.task))


# A1, A5
async def test_a_whole_that_speaks_between_the_look_and_the_closing_is_left_alone(
    database: str, clock: TestClock
) -> None:
    staged = Staged(AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(DONE)), Finder)
    async with shop(database, STAFF, clock=clock, abandoned_check_every=ONLY_WHEN_ASKED) as at:
        at.agency.script(staged)
        desk, house = at.agency.desk(at.mia), at.agency._house
        task = await desk.of(Lead).start(Gather(), "things")
        first, _ = await staged.holds(2)
        await clock.advance(timedelta(minutes=31))
        assert await at.agency.store.read(lambda tx: abandonment.quiet(house, tx)) == [task.hex]
        staged.let_go(first)

        async def first_done() -> bool:
            return (await desk.piece(first)).status is Status.DONE

        await until(first_done)
        assert await at.agency.store.write(lambda tx: abandonment.attend_to(house, tx, task.hex)) is False
        assert await Trajectory(at.agency, task).still_going() == [
            "Lead · Gather: Working",
            "  Finder · Find: Working",
        ]
        staged.hold_no_more()
        await at.agency.settle()
        assert (await desk.outcome(task)).done
