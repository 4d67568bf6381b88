"""What a supervisor sees: what needs somebody, who waits for whom, abandoned work; and stopping everything."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from handon import (
    Agency,
    BadInput,
    Desk,
    HandonError,
    ModelAnswer,
    ModelRequest,
    NotAllowed,
    NotFound,
    NotWaiting,
    Status,
    TraceKind,
)
from handon.testing import AgentCast, AgentScript, ProcessDied, Says, TestClock
from tests.builders import Clerk, Find, Note, note_shelf, shop
from tests.staging import (
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
    reopened,
    rows_of,
    sql,
    until,
)

ONLY_WHEN_ASKED: dict[str, Any] = {"abandoned_check_every": timedelta(0)}
ASKS = AgentScript(Says.ask("Which?"), DONE)


def through_a_deputy() -> AgentCast:
    """A lead over a deputy over a finder that asks."""
    cast = AgentCast().plays(Lead, gathers(Says.hand_to(Deputy, Gather(), "more")))
    return cast.plays(Deputy, gathers(*finders(1))).plays(Finder, ASKS)


async def dies(agency: Agency, desk: Desk, about: str = "") -> UUID:
    """Give a finder work in the middle of which its process dies; answers the whole's id."""

    def answer(model: str, request: ModelRequest) -> ModelAnswer:
        raise ProcessDied

    agency.script(answer)
    with pytest.raises(ProcessDied):
        await desk.of(Finder).do(Find(), "x", about=about)
    return (await desk.works("all", limit=1))[0].root


async def kinds(desk: Desk, task: UUID) -> Sequence[str]:
    return [line.summary for line in await desk.trace_of(task)]


# P3, T1
async def test_what_waits_is_told_as_who_waits_for_whom_the_longest_first(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        at.agency.script(through_a_deputy())
        mia, noor = at.agency.desk(at.mia), at.agency.desk(at.noor)
        began = clock.now()
        await mia.of(Lead).do(Gather(), "things", about="The shelves")
        await clock.advance(timedelta(minutes=6))
        at.agency.script(
            AgentCast().plays(Clerk, AgentScript(Says.tool(note_shelf, {"shelf": at.shelf, "note": "x"}), DONE))
        )
        await noor.of(Clerk).do(Note(), await at.the_shelf())
        first, second = await noor.waits()
        assert (first.chain, first.what, first.person) == (("Lead", "Deputy", "Finder"), "an answer", "Mia")
        assert (first.asked_at, first.about) == (began, "The shelves")
        assert (second.chain, second.what, second.person) == (("Clerk",), "a decision", "Noor")
        now = await noor.now()
        assert (now.waiting, now.oldest, now.waits) == (2, first, (first, second))
        assert await noor.waits(limit=1) == [first]
        assert await noor.waits(limit=1, after=first) == [second]
        assert await noor.waits(after=second) == []


# P3
async def test_a_piece_above_that_has_other_things_to_do_is_not_said_to_wait(database: str) -> None:
    async with shop(database, STAFF) as at:
        cast = AgentCast().plays(Lead, gathers(Says.hand_to(Deputy, Gather(), "more"), *finders(1)))
        staged = Staged(cast.plays(Deputy, ASKS).plays(Finder, AgentScript(DONE)), Finder)
        at.agency.script(staged)
        noor = at.agency.desk(at.noor)
        await noor.of(Lead).start(Gather(), "things")
        await staged.holds(1)
        await until(asked(noor))
        assert [wait.chain for wait in await noor.waits()] == [("Deputy",)]
        staged.hold_no_more()
        await at.agency.settle()
        assert [wait.chain for wait in await noor.waits()] == [("Lead", "Deputy")]


# R9
async def test_what_needs_somebody_is_for_those_who_supervise(database: str) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(AgentCast().plays(Finder, ASKS))
        mia = at.agency.desk(at.mia)
        task = (await mia.of(Finder).do(Find(), "x")).task
        refused = [mia.now(), mia.waits(), mia.abandoned(), mia.closed_as_abandoned(), mia.check_records()]
        refused += [mia.to_stop(), mia.stop_everything(1), mia.stopping(at.agency.clock.now())]
        refused += [mia.close_abandoned(task), mia.take_up_abandoned(task)]
        for attempt in refused:
            with pytest.raises(NotAllowed):
                await attempt
        assert (await mia.piece(task)).status is Status.WAITING


# E1, M6, A1
async def test_work_is_told_by_what_presses_most_and_the_rest_is_counted(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock, abandoned_after=timedelta(minutes=30), **ONLY_WHEN_ASKED) as at:
        noor = at.agency.desk(at.noor)
        gone = await dies(at.agency, noor, "gone")
        await clock.advance(timedelta(minutes=20))
        quiet = await dies(at.agency, noor, "quiet")
        await clock.advance(timedelta(minutes=11))
        at.agency.script(AgentCast().plays(Finder, ASKS))
        asks = (await noor.of(Finder).do(Find(), "x", about="asks")).task
        cast = AgentCast().plays(Lead, gathers(Says.hand_to(Deputy, Gather(), "more"), more=finders(1)))
        cast.plays(Deputy, AgentScript(*[Says.hand_back({"number": "?"})] * 2)).plays(Finder, AgentScript(DONE))
        staged = Staged(cast, Finder)
        at.agency.script(staged)
        short = await noor.of(Lead).start(Gather(), "things", about="short")
        await staged.holds(1)
        ok = await noor.of(Finder).start(Find(), "x", about="well")
        near = await noor.of(Finder).start(Find(), "x", about="near", limit=Decimal("0.01"))
        await staged.holds(3)
        await sql(at.agency, "update piece set own_micros = 8000, tree_micros = 8000 where id = :id", id=near.hex)
        now = await noor.now()
        assert [(one.about, str(one.need)) for one in now.active] == [
            ("asks", "waits"),
            ("near", "near"),
            ("gone", "abandoned"),
            ("quiet", "quiet"),
            ("short", "failed"),
            ("well", "none"),
        ]
        assert (now.going, now.needy, now.near, now.abandoned) == (6, 5, 1, 1)
        assert [one.root for one in now.active] == [asks, near, gone, quiet, short, ok]
        assert now.nearest is not None and (now.nearest.name, now.nearest.root) == ("near", near)
        assert now.quiet_since == now.active[2].last_line_at
        assert (now.active[0].doing_agent, now.active[0].doing_on) == ("Finder", "an answer from Noor")
        assert now.active[0].waits_since == clock.now()
        assert (now.active[4].failed, now.active[4].doing_agent) == (1, "Finder")
        await sql(at.agency, "update piece set own_micros = 0, tree_micros = 0 where id = :id", id=near.hex)
        staged.hold_no_more()


# T1
async def test_twelve_works_are_listed_and_those_asked_for_by_id_besides(database: str) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(AgentCast().plays(Finder, ASKS))
        noor = at.agency.desk(at.noor)
        tasks = [(await noor.of(Finder).do(Find(), f"{n}")).task for n in range(14)]
        now = await noor.now()
        assert ([one.root for one in now.active], now.going, now.needy) == (tasks[:12], 14, 14)
        await noor.stop(tasks[0])
        now = await noor.now(keep=tasks[:2])
        assert [one.root for one in now.active] == tasks[1:13]
        assert [(one.root, one.status) for one in now.kept] == [(tasks[0], Status.CANCELLED)]


# T3
async def test_the_records_that_changed_last_are_read_and_a_broken_one_is_named(database: str) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(AgentCast().plays(Finder, AgentScript(DONE)))
        noor = at.agency.desk(at.noor)
        tasks = [(await noor.of(Finder).do(Find(), f"{n}", about=f"Number {n}")).task for n in range(9)]
        lines = [(await noor.work(task)).lines for task in tasks]
        found = await noor.check_records()
        assert (found.works, found.lines, found.left_out, found.broken) == (8, sum(lines[1:]), 0, ())
        await sql(at.agency, "update line set summary = 'Else' where root = :root and n = 2", root=tasks[3].hex)
        assert (await noor.check_records()).broken == ((tasks[3], "Number 3", 2),)


# A1, A2
async def test_abandoned_work_is_listed_until_it_is_closed_and_afterwards_as_closed(
    database: str, clock: TestClock
) -> None:
    async with shop(database, STAFF, clock=clock, **ONLY_WHEN_ASKED) as at:
        mia, noor = at.agency.desk(at.mia), at.agency.desk(at.noor)
        task = await dies(at.agency, mia, "The shelves")
        silent = clock.now()
        assert await noor.abandoned() == []
        await clock.advance(timedelta(minutes=31))
        [found] = await noor.abandoned()
        assert (found.root, found.pieces, found.last_line_at, found.person) == (task, ("Finder",), silent, "Mia")
        await noor.close_abandoned(task)
        piece = await noor.piece(task)
        assert (piece.status, (await noor.now()).abandoned) == (Status.FAILED, 0)
        [closed] = await noor.closed_as_abandoned()
        assert (closed.piece, closed.ended_at, closed.whole_goes_on) == (task, clock.now(), False)
        assert ((await noor.now()).closed_lately, (await noor.now()).closed_at) == (1, clock.now())
        assert "Noor had Finder's work closed: whatever was doing it is gone." in await kinds(mia, task)
        check_money(await rows_of(at.agency, task))
        assert (await noor.verify_trace(task)).intact
        await clock.advance(timedelta(days=2))
        assert (await noor.now()).closed_lately == 0
        assert await noor.closed_as_abandoned(before=(closed.ended_at, closed.piece)) == []


# A7
async def test_a_supervisor_has_abandoned_work_taken_up_also_where_it_would_be_closed(
    database: str, clock: TestClock
) -> None:
    async with shop(database, STAFF, clock=clock, when_abandoned="close", takeovers=0, **ONLY_WHEN_ASKED) as at:
        task = await dies(at.agency, at.agency.desk(at.mia))
        noor_id = at.noor
    await clock.advance(timedelta(minutes=31))
    answers = AgentCast().plays(Finder, AgentScript(DONE)).answer
    async with reopened(database, answers, clock=clock, **ONLY_WHEN_ASKED) as agency:
        noor = agency.desk(noor_id)
        await noor.take_up_abandoned(task)
        await agency.settle()
        assert (await noor.piece(task)).status is Status.DONE
        told = await kinds(agency.desk(None), task)
        assert "Noor had Finder's work taken up again: whatever was doing it is gone." in told
        assert [line.kind for line in await noor.trace_of(task)].count(TraceKind.TAKEN_UP) == 2
        check_money(await rows_of(agency, task))


# A5, A6
async def test_work_that_is_not_abandoned_any_more_is_left_alone(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock, **ONLY_WHEN_ASKED) as at:
        noor = at.agency.desk(at.noor)
        at.agency.script(AgentCast().plays(Finder, ASKS))
        waiting = (await noor.of(Finder).do(Find(), "x")).task
        await clock.advance(timedelta(days=9))
        lines = (await noor.work(waiting)).lines
        for act in (noor.close_abandoned, noor.take_up_abandoned):
            with pytest.raises(NotWaiting):
                await act(waiting)
            with pytest.raises(NotFound):
                await act(UUID(int=7))
        assert ((await noor.work(waiting)).lines, (await noor.piece(waiting)).status) == (lines, Status.WAITING)


# A7, E4
async def test_abandoned_work_that_was_called_off_can_only_be_closed(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock, **ONLY_WHEN_ASKED) as at:
        noor = at.agency.desk(at.noor)
        task = await dies(at.agency, noor)
        await noor.stop(task)
        await clock.advance(timedelta(minutes=31))
        with pytest.raises(HandonError, match="It can be closed"):
            await noor.take_up_abandoned(task)
        await noor.close_abandoned(task)
        assert (await noor.piece(task)).status is Status.CANCELLED


# E4, E5
async def test_stopping_everything_calls_off_every_whole_and_counts_down_to_the_last_piece(database: str) -> None:
    async with shop(database, STAFF) as at:
        mia, noor = at.agency.desk(at.mia), at.agency.desk(at.noor)
        at.agency.script(AgentCast().plays(Finder, ASKS))
        asks = (await mia.of(Finder).do(Find(), "x")).task
        staged = Staged(AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(DONE)), Finder)
        at.agency.script(staged)
        works = await noor.of(Lead).start(Gather(), "things")
        held = await staged.holds(2)
        found = await noor.to_stop()
        assert (found.works, found.pieces, found.held, found.requests, found.outside) == (2, 4, 2, 1, 0)
        assert {one.root for one in found.first} == {asks, works}
        with pytest.raises(BadInput, match="2 works are under way"):
            await noor.stop_everything(3)
        assert (await noor.to_stop()).works == 2
        since = await noor.stop_everything(2, "Fire in the shop.")
        so_far = await noor.stopping(since)
        assert (so_far.stopped, so_far.stopping, so_far.pieces) == (1, 1, 3)
        assert [one.root for one in so_far.left] == [works]
        staged.let_go(held[0])
        staged.hold_no_more()
        await at.agency.settle()
        assert await noor.stopping(since) == type(so_far)(stopped=2, stopping=0, pieces=0, left=())
        assert await mia.questions() == []
        for task in (asks, works):
            piece = await at.agency.desk(None).piece(task)
            assert (piece.status, piece.outcome) == (Status.CANCELLED, "Noor stopped it: Fire in the shop.")


# E5
async def test_stopping_everything_stops_nothing_where_nothing_is_under_way(database: str) -> None:
    async with shop(database, STAFF) as at:
        noor = at.agency.desk(at.noor)
        found = await noor.to_stop()
        assert (found.works, found.pieces, found.first) == (0, 0, ())
        since = await noor.stop_everything(0)
        assert (await noor.stopping(since)).stopped == 0


# R8, M6
async def test_who_reads_usage_sees_what_is_near_its_limit_and_names_only_of_work_they_may_see(
    database: str,
) -> None:
    async with shop(database, STAFF) as at:
        noor = at.agency.desk(at.noor)
        at.agency.script(AgentCast().plays(Finder, ASKS))
        task = (await noor.of(Finder).do(Find(), "x", about="Shelf", limit=Decimal("0.01"))).task
        assert await noor.near_limit() == []
        await sql(at.agency, "update piece set own_micros = 8000, tree_micros = 8000 where id = :id", id=task.hex)
        [found] = await noor.near_limit()
        assert (found.name, found.root, found.used_micros, found.limit_micros) == ("Shelf", task, 8000, 10_000)
        with pytest.raises(NotAllowed):
            await at.agency.desk(at.mia).near_limit()
