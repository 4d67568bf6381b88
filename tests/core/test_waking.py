"""Waking: a piece goes on when the last of what it waits for has come, once, whoever was told and whoever was not."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import combinations_with_replacement
from typing import Any

import pytest

from handon import Agency, Desk, ModelAnswer, ModelRequest, Status, TraceKind
from handon.testing import AgentCast, AgentScript, ProcessDied, Says, TestClock, Trajectory
from tests.builders import Find, make, shop
from tests.conftest import answers
from tests.staging import (
    DONE,
    STAFF,
    Deputy,
    Finder,
    Gather,
    Lead,
    Office,
    Staged,
    Write,
    Writer,
    asked,
    check_money,
    finders,
    gathers,
    rows_of,
    send_letter,
    until,
)


# H1, E2
@pytest.mark.parametrize("legs", [2, 8])
async def test_legs_that_end_at_the_same_instant_wake_the_piece_above_once(database: str, legs: int) -> None:
    staged = Staged(AgentCast().plays(Lead, gathers(*finders(legs))).plays(Finder, AgentScript(DONE)), Finder)
    async with shop(database, STAFF) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        for _ in range(3):
            staged.asked.clear()
            task = await desk.of(Lead).start(Gather(), "things")
            await staged.holds(legs)
            staged.let_go()
            await at.agency.settle()
            assert (await desk.outcome(task)).done
            assert staged.asked_of(Lead) == 2
            lines = await desk.trace_of(task)
            assert sum(line.kind is TraceKind.CAME_BACK for line in lines) == legs


# H1
async def test_legs_that_end_at_the_same_instant_in_two_processes_wake_the_piece_above_once(
    databases: Any, clock: TestClock
) -> None:
    if not answers():
        pytest.skip("no PostgreSQL answers here")
    database = databases.postgresql()
    staged = Staged(AgentCast().plays(Lead, gathers(*finders(4))).plays(Finder, AgentScript(DONE)), Finder)
    async with (
        shop(database, STAFF, clock=clock, concurrency=2) as one,
        make(database, STAFF, clock=clock, concurrency=2) as two,
    ):
        one.agency.script(staged)
        two.script(staged)
        desk = one.agency.desk(one.mia)
        for _ in range(3):
            staged.asked.clear()
            await four_legs(staged, desk, one.agency, two)


async def four_legs(staged: Staged, desk: Desk, one: Agency, two: Agency) -> None:
    """Two legs run here and two there, and all four are answered at once."""
    task = await desk.of(Lead).start(Gather(), "things")

    async def all_four() -> bool:
        await asyncio.gather(one.sweep(), two.sweep())
        return staged.asked_of(Finder) == 4

    async def over() -> bool:
        await asyncio.gather(one.sweep(), two.sweep())
        return (await desk.outcome(task)).done

    await until(all_four)
    await staged.holds(4)
    staged.let_go()
    await until(over)
    assert (staged.asked_of(Lead), staged.asked_of(Finder)) == (2, 4)
    assert (await desk.verify_trace(task)).intact


FAILS = AgentScript(*[Says.hand_back({"number": "many"})] * 2)
ROUND = AgentScript(*[Says.raw("no_such_tool", "{}")] * 4)


# E2
@pytest.mark.parametrize(
    ("one", "other"), [(DONE, DONE), (DONE, FAILS), (FAILS, ROUND), (ROUND, DONE)], ids=["dd", "df", "fs", "sd"]
)
async def test_however_its_legs_end_a_piece_is_woken_once(database: str, one: Any, other: Any) -> None:
    first, second = (script if isinstance(script, AgentScript) else AgentScript(script) for script in (one, other))
    cast = AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, first, piece=1).plays(Finder, second, piece=2)
    staged = Staged(cast)
    async with shop(database, STAFF) as at:
        at.agency.script(staged)
        outcome = await at.agency.desk(at.mia).of(Lead).do(Gather(), "things")
        assert outcome.done
        assert staged.asked_of(Lead) == 2


# P4
async def test_two_answers_given_at_the_same_instant_wake_each_piece_once_bottom_up(database: str) -> None:
    cast = AgentCast().plays(Lead, gathers(Says.hand_to(Deputy, Gather(), "x"))).plays(Deputy, gathers(*finders(2)))
    staged = Staged(cast.plays(Finder, AgentScript(Says.ask("Which?"), DONE)))
    async with shop(database, STAFF) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        one, other = await desk.questions()
        await asyncio.gather(desk.answer(one.id, "Left."), desk.answer(other.id, "Right."))
        await at.agency.settle()
        assert (await desk.outcome(outcome.task)).done
        assert [staged.asked_of(agent) for agent in (Lead, Deputy, Finder)] == [2, 2, 4]


# H1, H5
async def test_a_leg_that_ends_while_the_piece_above_is_still_at_a_tool_wakes_it_once(database: str) -> None:
    post = Office.opens()
    turn = Says.together(Says.hand_to(Finder, Find(), "it"), Says.tool(send_letter, {"text": "Dear Noor"}))
    staged = Staged(AgentCast().plays(Writer, AgentScript(turn, DONE)).plays(Finder, AgentScript(DONE)))
    async with shop(database, STAFF) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Writer).start(Write(), "a letter")

        async def leg_done() -> bool:
            legs = await desk.handed_on_by(task)
            return bool(legs) and legs[0].status is Status.DONE

        await until(leg_done)
        await until(lambda: post.sent == ["Dear Noor"])
        assert staged.asked_of(Writer) == 1
        post.delivered.set()
        await at.agency.settle()
        assert (await desk.outcome(task)).done
        assert staged.asked_of(Writer) == 2


# H1, H5
async def test_a_tool_that_ends_while_a_leg_is_still_at_work_does_not_wake_the_piece(database: str) -> None:
    post = Office.opens()
    post.delivered.set()
    turn = Says.together(Says.hand_to(Finder, Find(), "it"), Says.tool(send_letter, {"text": "Dear Noor"}))
    staged = Staged(AgentCast().plays(Writer, AgentScript(turn, DONE)).plays(Finder, AgentScript(DONE)), Finder)
    async with shop(database, STAFF) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Writer).start(Write(), "a letter")
        await staged.holds(1)

        async def parked() -> bool:
            return (await rows_of(at.agency, task))[0].run == "parked"

        await until(parked)
        assert staged.asked_of(Writer) == 1
        staged.hold_no_more()
        await at.agency.settle()
        assert staged.asked_of(Writer) == 2
        assert (await desk.outcome(task)).done


# P4
async def test_a_wake_up_that_nobody_heard_is_found_by_the_sweep(database: str, clock: TestClock) -> None:
    """One process runs nothing and takes the answer in. Another one, with its clock, finds what is due."""
    cast = AgentCast().plays(Lead, gathers(*finders(1))).plays(Finder, AgentScript(Says.ask("Which?"), DONE))
    async with shop(database, STAFF, clock=clock) as at:
        at.agency.script(cast)
        outcome = await at.agency.desk(at.mia).of(Lead).do(Gather(), "things")
        async with make(database, STAFF, concurrency=0, clock=TestClock()) as desk_only:
            desk = desk_only.desk(at.mia)
            [question] = await desk.questions()
            await desk.answer(question.id, "The left one.")
            assert (await desk.outcome(outcome.task)).status is Status.WORKING
        await clock.advance(timedelta(seconds=2))
        await until(lambda: done(at, outcome.task))


async def done(at: Any, task: Any) -> bool:
    return bool((await at.agency.desk(at.mia).outcome(task)).done)


# P4
async def test_being_told_again_and_again_of_what_is_not_due_runs_nothing(database: str) -> None:
    staged = Staged(AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(Says.ask("Which?"), DONE)))
    async with shop(database, STAFF) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        await until(asked(desk, 2))
        for node in await desk.work_tree(outcome.task):
            for _ in range(3):
                at.agency._dispatcher.wake(node.piece.hex)
        await at.agency.settle()
        assert len(staged.asked) == 3
        assert await Trajectory(at.agency, outcome.task).still_going() == [
            "Lead · Gather: Waiting",
            *["  Finder · Find: Waiting"] * 2,
        ]


ENDINGS = ["done", "failed", "stopped", "called off", "gone"]


def ends(how: str) -> list[Any]:
    """What a finder says once it was told to go on, so as to end like this."""
    return {
        "done": [DONE],
        "failed": [Says.hand_back({"number": "many"})] * 2,
        "stopped": [Says.raw("no_such_tool", "{}")] * 4,
    }.get(how, [])


# E2, E4, A3, P4
@pytest.mark.parametrize(("one", "other"), list(combinations_with_replacement(ENDINGS, 2)))
async def test_whatever_two_legs_come_to_at_the_same_instant_in_two_processes_the_piece_above_is_woken_once(
    database: str, clock: TestClock, one: str, other: str
) -> None:
    cast = AgentCast().plays(Lead, gathers(*finders(2)))
    for n, how in enumerate((one, other), 1):
        cast.plays(Finder, AgentScript(Says.ask("Go on?"), *ends(how)), piece=n)

    def answer(name: str, request: ModelRequest) -> ModelAnswer:
        results = request.messages[-1].results
        if results and results[0].text == "gone":
            raise ProcessDied
        return cast.answer(name, request)

    staged = Staged(Answering(answer))
    async with shop(database, STAFF, clock=clock) as at, make(database, STAFF, clock=TestClock()) as beside:
        at.agency.script(staged)
        beside.script(staged)
        here, there = at.agency.desk(at.mia), beside.desk(at.mia)
        outcome = await here.of(Lead).do(Gather(), "things")
        by_piece = {question.piece: question for question in await here.questions()}
        # In the order in which the cast came to know them, which is not always that in which they asked.
        order = dict.fromkeys(request.piece for request in staged.asked if request.agent == "Finder")
        questions = [by_piece[piece] for piece in order]
        assert len(questions) == 2

        async def told(desk: Desk, question: Any, how: str) -> None:
            await (desk.stop(question.piece) if how == "called off" else desk.answer(question.id, how))

        await asyncio.gather(told(here, questions[0], one), told(there, questions[1], other))
        gone = [one, other].count("gone")

        async def stands() -> bool:
            await asyncio.gather(at.agency.sweep(), beside.sweep())
            legs = (await rows_of(at.agency, outcome.task))[1:]
            return sum(leg.run == "held" for leg in legs) == gone == sum(leg.run != "ended" for leg in legs)

        await until(stands)
        assert staged.asked_of(Lead) == 1 or not gone
        if gone:  # else the piece above may be at work by now, and would look as if it had been quiet as long
            await clock.advance(timedelta(minutes=45))

        async def is_over() -> bool:
            await asyncio.gather(at.agency.sweep(), beside.sweep())
            return bool((await here.outcome(outcome.task)).done)

        await until(is_over)
        assert staged.asked_of(Lead) == 2
        lines = await here.trace_of(outcome.task)
        assert sum(line.kind is TraceKind.CAME_BACK for line in lines) == 2
        check_money(await rows_of(at.agency, outcome.task))
        assert (await here.verify_trace(outcome.task)).intact


class Answering:
    """A function as a cast: for what holds its answers back."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
