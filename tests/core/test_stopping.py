"""Stopping: who may, and that a stop reaches everything under the piece, whatever it is doing."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from handon import ModelAnswer, ModelRequest, NotAllowed, NotFound, Status, TraceKind
from handon.testing import AgentCast, AgentScript, ProcessDied, Says, TestClock, Trajectory, Unreachable
from tests.builders import Find, shop
from tests.staging import (
    CALL,
    DONE,
    STAFF,
    Deputy,
    Finder,
    Gather,
    Lead,
    Staged,
    asked,
    check_money,
    finders,
    gathers,
    rows_of,
    until,
)


# E5
@pytest.mark.parametrize("who", ["for", "giver", "supervisor"])
async def test_work_is_stopped_by_whom_it_is_for_by_whoever_gave_it_and_by_a_supervisor(database: str, who: str) -> None:
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
    from dataclasses import replace

    from handon import has_role
    from tests.builders import POLICIES

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
    cast = (
        AgentCast()
        .plays(Lead, gathers(Says.hand_to(Deputy, Gather(), "x")))
        .plays(Deputy, gathers(*finders(3)))
        .plays(Finder, AgentScript(DONE), piece=1)
        .plays(Finder, AgentScript(Says.ask("Which?"), DONE))
    )

    async with shop(database, STAFF) as at:
        staged = Staged(cast, Finder)
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things")
        # The first to be let go plays the first part: keep it for last.
        calling, waits, resumed = await staged.holds(3)
        staged.let_go(waits)
        await until(asked(desk, 0)) if False else None
        await until(lambda: staged.asked_of(Finder) == 3)
        del calling, resumed
        staged.hold_no_more()
        await at.agency.settle()
