"""Stopping: who may, and that a stop reaches everything under the piece, whatever it is doing."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from handon import (
    Agent,
    Delegation,
    ModelAnswer,
    ModelRequest,
    NotAllowed,
    NotFound,
    Permits,
    Specialist,
    Status,
    TraceKind,
    has_role,
)
from handon.testing import AgentCast, AgentScript, ProcessDied, Says, TestClock, Trajectory, Unreachable
from tests.builders import POLICIES, Find, shop
from tests.staging import (
    CALL,
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


# E5
@pytest.mark.parametrize("who", ["for", "giver", "supervisor"])
async def test_work_is_stopped_by_whom_it_is_for_by_whoever_gave_it_and_by_a_supervisor(
    database: str, who: str
) -> None:
    async with shop(database, STAFF) as at:
        ada = await at.agency.add_person("ada@bindery.test", "Ada", roles=["binder"])
        at.agency.script(AgentCast().plays(Finder, AgentScript(Says.ask("Which?"), DONE)))
        outcome = await at.agency.desk(ada).of(Finder).do(Find(), "it", for_=at.mia)
        stops = {"for": at.mia, "giver": ada, "supervisor": at.noor}[who]
        await at.agency.desk(stops).stop(outcome.task, "No longer needed")
        piece = await at.agency.desk(at.mia).piece(outcome.task)
        assert (piece.status, piece.outcome) == (Status.CANCELLED, f"{stops.name} stopped it: No longer needed")


# E5
async def test_work_is_not_stopped_by_somebody_else_who_is_not_even_told_of_it(database: str) -> None:
    async with shop(database, STAFF) as at:
        ada = await at.agency.add_person("ada@bindery.test", "Ada", roles=["binder"])
        at.agency.script(AgentCast().plays(Finder, AgentScript(Says.ask("Which?"), DONE)))
        outcome = await at.agency.desk(at.mia).of(Finder).do(Find(), "it")
        with pytest.raises(NotFound):
            await at.agency.desk(ada).stop(outcome.task)
        assert (await at.agency.desk(at.mia).outcome(outcome.task)).waiting


# E5
async def test_an_auditor_who_supervises_nothing_reads_work_and_does_not_stop_it(database: str) -> None:
    policies = replace(POLICIES, audits_agents=has_role("auditor"))
    async with shop(database, STAFF, policies=policies) as at:
        ada = await at.agency.add_person("ada@bindery.test", "Ada", roles=["auditor"])
        at.agency.script(AgentCast().plays(Finder, AgentScript(Says.ask("Which?"), DONE)))
        outcome = await at.agency.desk(at.mia).of(Finder).do(Find(), "it")
        with pytest.raises(NotAllowed):
            await at.agency.desk(ada).stop(outcome.task)
        assert (await at.agency.desk(ada).piece(outcome.task)).status is Status.WAITING


# E5, T4
async def test_a_stop_is_on_the_record_with_who_and_why_and_said_twice_it_is_there_once(database: str) -> None:
    async with shop(database, STAFF) as at:
        staged = Staged(AgentCast().plays(Finder, AgentScript(DONE)), Finder)
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Finder).start(Find(), "it")
        await staged.holds(1)
        await asyncio.gather(desk.stop(task, "Enough"), at.agency.desk(at.noor).stop(task, "Quite"))
        staged.let_go()
        await at.agency.settle()
        stops = [line.summary for line in await desk.trace_of(task) if line.kind is TraceKind.STOP_ASKED]
        assert len(stops) == 1
        assert stops[0] in (
            "Finder was asked to stop: Mia stopped it: Enough",
            "Finder was asked to stop: Noor stopped it: Quite",
        )


# E4, E5
async def test_a_stop_at_the_top_ends_a_grandchild_in_a_call_one_that_waits_and_one_just_resumed(database: str) -> None:
    cast = AgentCast().plays(Lead, gathers(Says.hand_to(Deputy, Gather(), "x"))).plays(Deputy, gathers(*finders(4)))
    staged = Staged(cast.plays(Finder, AgentScript(Says.ask("Which?"), DONE)), Finder)
    async with shop(database, STAFF) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things")
        calling, *others = await staged.holds(4)
        staged.let_go(*others)
        await until(asked(desk, 3))
        waits, resumed, raced = await desk.questions()
        await desk.answer(resumed.id, "The left one.")
        await staged.holds(2)
        await asyncio.gather(desk.answer(raced.id, "The right one."), desk.stop(task), return_exceptions=True)
        assert await desk.questions() == []
        assert (await desk.piece(waits.piece)).status is Status.CANCELLED
        under_way = len(staged.asked)
        staged.hold_no_more()
        await at.agency.settle()
        assert await Trajectory(at.agency, task).tree() == [
            "Lead · Gather: Cancelled",
            "  Deputy · Gather: Cancelled",
            *["    Finder · Find: Cancelled"] * 4,
        ]
        # Who was answered at that very instant may have been taken by then: its answer is its last too.
        assert len(staged.asked) <= under_way + 1
        rows = await rows_of(at.agency, task)
        check_money(rows)
        assert rows[0].tree_micros == len(staged.asked) * CALL
        assert (await desk.piece(calling)).result_json is None
        assert (await desk.verify_trace(task)).intact


# E4, E8
async def test_a_piece_that_is_called_off_while_its_model_cannot_be_reached_is_not_asked_for_again(
    database: str,
) -> None:
    tried = 0

    def answer(name: str, request: ModelRequest) -> ModelAnswer:
        nonlocal tried
        tried += 1
        raise Unreachable("down")

    settings = {"model_tries": 4, "model_pause": timedelta(milliseconds=300)}
    async with shop(database, STAFF, **settings) as at:
        at.agency.script(answer)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Finder).start(Find(), "it")
        await until(lambda: tried == 1)
        await desk.stop(task)
        await at.agency.settle()
        assert (await desk.piece(task)).status is Status.CANCELLED
        assert tried == 1


# E5
@pytest.mark.parametrize("quiet", [True, False], ids=["abandoned", "going"])
async def test_a_stop_closes_abandoned_work_at_once_and_lets_other_work_end_its_step(
    database: str, clock: TestClock, quiet: bool
) -> None:
    def answer(name: str, request: ModelRequest) -> ModelAnswer:
        raise ProcessDied

    async with shop(database, STAFF, clock=clock, abandoned_check_every=timedelta(0)) as at:
        at.agency.script(answer)
        desk = at.agency.desk(at.mia)
        with pytest.raises(ProcessDied):
            await desk.of(Finder).do(Find(), "it")
        [work] = await desk.works("all")
        await clock.advance(timedelta(minutes=31 if quiet else 29))
        assert await at.agency.was_abandoned(work.root) is quiet
        await desk.stop(work.root, "It hangs")
        piece = await desk.piece(work.root)
        if quiet:
            assert (piece.status, piece.outcome) == (Status.CANCELLED, "Mia stopped it: It hangs")
            assert (await rows_of(at.agency, work.root))[0].reserved_micros == 0
        else:
            assert piece.status is Status.WORKING


# E4
async def test_a_piece_stopped_in_the_middle_is_told_to_the_piece_above_which_goes_on(database: str) -> None:
    cast = AgentCast().plays(Lead, gathers(*finders(1), Says.hand_to(Deputy, Gather(), "x")))
    cast = cast.plays(Deputy, gathers(*finders(1))).plays(Finder, AgentScript(DONE))
    staged = Staged(cast, Finder)
    async with shop(database, STAFF) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things")
        await staged.holds(2)
        deputy = (await desk.handed_on_by(task))[1]
        await desk.stop(deputy.id, "Too dear")
        staged.hold_no_more()
        await at.agency.settle()
        assert await Trajectory(at.agency, task).tree() == [
            "Lead · Gather: Done",
            "  Finder · Find: Done",
            "  Deputy · Gather: Cancelled",
            "    Finder · Find: Cancelled",
        ]
        told = await Trajectory(at.agency, task).said()
        assert "Deputy was called off: Mia stopped it: Too dear" in told


# E4
@pytest.mark.parametrize("under", [False, True], ids=["at the top", "a level down"])
async def test_what_is_stopped_while_it_reaches_outside_ends_once_that_came_back_and_asks_nothing_more(
    database: str, under: bool
) -> None:
    post = Office.opens()
    letters = AgentScript(Says.tool(send_letter, {"text": "Dear Noor"}), DONE)
    staged = Staged(AgentCast().plays(Chief, gathers(Says.hand_to(Writer, Write(), "it"))).plays(Writer, letters))
    async with shop(database, [Chief(), *STAFF]) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Chief if under else Writer).start(Gather() if under else Write(), "it")
        await until(lambda: post.sent == ["Dear Noor"])
        await desk.stop(task, "Enough")
        assert (await desk.work(task)).stopping
        post.delivered.set()
        await at.agency.settle()
        assert await Trajectory(at.agency, task).still_going() == []
        assert {node.status for node in await desk.work_tree(task)} == {Status.CANCELLED}
        assert (post.sent, staged.asked_of(Writer), staged.asked_of(Chief)) == (["Dear Noor"], 1, int(under))
        ran = [json.loads(line.payload) for line in await desk.trace_of(task) if line.kind is TraceKind.TOOL_RAN]
        assert [(tool["tool"], tool["answer"], tool["ok"]) for tool in ran] == [("send_letter", "Delivered.", True)]
        assert (await desk.verify_trace(task)).intact


class Chief(Agent):
    purpose = "You have letters written."
    roles = {"helper"}
    skills = [Gather()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(Writer, Write())])
