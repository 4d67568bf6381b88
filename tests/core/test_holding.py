"""Decisions that are held for a moment: taken back in time, carried out once, or dropped with the reason in words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from core.values import TreeAsk, TreeRow
from handon import (
    Agency,
    AlreadyDecided,
    BadDeclaration,
    BadInput,
    Desk,
    NotAllowed,
    NotFound,
    NotWaiting,
    Permits,
    Proposal,
    ProposalStatus,
    Question,
    Stale,
    Status,
    TraceKind,
)
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import Clerk, Heard, Note, Shop, hears, make, note_shelf, shop
from tests.staging import DONE, reopened

FIVE = timedelta(seconds=5)
SECOND = timedelta(seconds=1)


class HastyClerk(Clerk):
    requests_wait = timedelta(seconds=10)


class Stage:
    """Work of Mia's whose clerk proposed a note, or asked something, and waits."""

    def __init__(self, at: Shop, heard: Heard, task: Any, request: Proposal | Question) -> None:
        self.at, self.heard, self.task, self.request = at, heard, task, request
        self.agency: Agency = at.agency

    @property
    def mia(self) -> Desk:
        return self.agency.desk(self.at.mia)

    @property
    def noor(self) -> Desk:
        return self.agency.desk(self.at.noor)

    async def now(self) -> Any:
        id = self.request.id
        return await (self.mia.proposal(id) if isinstance(self.request, Proposal) else self.mia.question(id))

    async def lines(self, kind: TraceKind) -> list[Any]:
        return [line for line in await self.mia.trace_of(self.task) if line.kind is kind]


def cast(at_shelf: Any, agent: type[Clerk] = Clerk, *, asks: bool = False) -> AgentCast:
    turn = (
        Says.ask("Which?", ("Left", "Right"))
        if asks
        else Says.tool(note_shelf, {"shelf": str(at_shelf), "note": "Torn"})
    )
    return AgentCast().plays(agent, AgentScript(turn, DONE))


@asynccontextmanager
async def staged(
    database: str, clock: TestClock, agent: type[Clerk] = Clerk, *, asks: bool = False
) -> AsyncIterator[Stage]:
    async with shop(database, [agent()], clock=clock) as at:
        heard = hears(at.agency, cast(at.shelf, agent, asks=asks))
        desk = at.agency.desk(at.mia)
        shelf = await at.the_shelf()
        outcome = await desk.of(agent).do(Note(), shelf)
        [request] = await (desk.questions() if asks else desk.proposals())
        yield Stage(at, heard, outcome.task, request)


# P5
async def test_a_held_yes_runs_once_when_its_time_has_come_and_says_both_times(database: str, clock: TestClock) -> None:
    async with staged(database, clock) as on:
        made = clock.now()
        held = await on.mia.approve(on.request.id, note="Do.", hold=FIVE)
        assert (held.status, held.decided_by_name, held.decided_at) == (ProposalStatus.WAITING, "Mia", made)
        assert held.hold is not None and held.hold.lasts and held.hold.mine and held.hold.until == made + FIVE
        assert (await on.mia.waiting_count(), await on.mia.proposals(), (await on.mia.waiting()).total) == (0, [], 0)
        await clock.advance(FIVE - timedelta(milliseconds=1))
        await on.agency.settle()
        assert (await on.at.the_shelf()).count == 0 and on.heard.told(Clerk) == []
        assert (await on.mia.outcome(on.task)).status is Status.WAITING
        await clock.advance(timedelta(milliseconds=1))
        assert (await on.mia.stands(on.task)).done
        assert (await on.at.the_shelf()).count == 1 and len(on.heard.told(Clerk)) == 1
        found = await on.mia.proposal(on.request.id)
        assert (found.status, found.decided_at, found.note) == (ProposalStatus.DONE, made, "Do.")
        assert found.hold is not None and found.hold.ended_at == made + FIVE and not found.hold.why_not
        [line] = await on.lines(TraceKind.DECIDED)
        assert line.summary == f"Mia approved at {made:%H:%M:%S} UTC: {found.sentence}"
        assert line.at == made + FIVE
        assert (await on.mia.verify_trace(on.task)).intact


# P5
@pytest.mark.parametrize("asks", [False, True])
async def test_while_a_decision_is_held_nobody_is_said_to_be_waited_for(
    database: str, clock: TestClock, asks: bool
) -> None:
    async with staged(database, clock, asks=asks) as on:

        async def told() -> Any:
            """By whom it was decided: on the whole, its piece, among what a supervisor sees, and in sums."""
            work, [node] = await on.mia.work(on.task), await on.mia.work_tree(on.task)
            page, [active] = await on.mia.tree_page(on.task, TreeAsk()), (await on.noor.now()).active
            [listed], pane = await on.mia.works(), await on.mia.pane(on.task)
            names = {
                *(work.decided_by, node.decided_by, active.decided_by, listed.decided_by, pane.node.decided_by),
                *(row.node.decided_by for row in page.rows if isinstance(row, TreeRow) and row.node is not None),
            }
            return names, dict(await on.mia.decided_in(on.task)), page.needs, len(await on.noor.waits())

        assert await told() == ({""}, {}, 1, 1)
        if asks:
            await on.mia.answer(on.request.id, "Left", hold=FIVE)
        else:
            await on.mia.approve(on.request.id, hold=FIVE)
        assert await told() == ({"Mia"}, {on.task: "Mia"}, 0, 0)
        await on.mia.take_back(on.request.id)
        assert await told() == ({""}, {}, 1, 1)


# P5
async def test_a_piece_of_whose_requests_one_is_decided_waits_for_the_other_still(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Clerk()], clock=clock) as at:
        turn = Says.together(
            *(Says.tool(note_shelf, {"shelf": str(at.shelf), "note": note}) for note in ("Torn", "Bent"))
        )
        at.agency.script(AgentCast().plays(Clerk, AgentScript(turn, DONE)))
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Clerk).do(Note(), await at.the_shelf())
        first, second = await desk.proposals()
        await desk.approve(first.id, hold=FIVE)
        assert (await desk.work(outcome.task)).decided_by == "" and not await desk.decided_in(outcome.task)
        await desk.refuse(second.id, "No.", hold=FIVE)
        assert (await desk.work(outcome.task)).decided_by == "Mia"


# P5, P7
async def test_an_edited_yes_that_was_held_runs_as_it_was_changed(database: str, clock: TestClock) -> None:
    async with staged(database, clock) as on:
        await on.mia.approve(on.request.id, args={"note": "Stained"}, hold=FIVE)
        await clock.advance(FIVE)
        assert (await on.mia.stands(on.task)).done
        assert (await on.at.the_shelf()).note == "Stained"
        assert (await on.now()).edited["note"] == "Stained"


# P6, P8
@pytest.mark.parametrize(("act", "told"), [("refuse", "The reason: No."), ("answer", "No."), ("decline", "declined")])
async def test_a_held_no_an_answer_and_a_decline_reach_the_agent_after_their_time(
    database: str, clock: TestClock, act: str, told: str
) -> None:
    async with staged(database, clock, asks=act != "refuse") as on:
        await getattr(on.mia, act)(on.request.id, "No.", hold=FIVE)
        assert not (await on.now()).waits and await on.mia.waiting_count() == 0
        assert on.heard.told(Clerk) == []
        await clock.advance(FIVE)
        assert (await on.mia.stands(on.task)).done
        [heard] = on.heard.told(Clerk)
        assert told in heard


# P5
@pytest.mark.parametrize("act", ["approve", "refuse", "answer", "decline"])
async def test_what_is_taken_back_in_time_waits_as_if_nothing_had_been_decided(
    database: str, clock: TestClock, act: str
) -> None:
    async with staged(database, clock, asks=act in ("answer", "decline")) as on:
        before, lines = await on.now(), len(await on.mia.trace_of(on.task))
        said = {} if act == "approve" else {"text" if act == "answer" else "reason": "Left"}
        await getattr(on.mia, act)(on.request.id, **said, hold=FIVE)
        assert (await on.mia.last_held()) is not None
        await clock.advance(4 * SECOND)
        assert await on.mia.take_back(on.request.id) == before
        assert await on.mia.waiting_count() == 1 and await on.mia.last_held() is None
        await clock.advance(timedelta(hours=1))
        assert await on.now() == before and len(await on.mia.trace_of(on.task)) == lines
        await getattr(on.mia, act)(on.request.id, **said, hold=FIVE)  # and may be decided again
        await clock.advance(FIVE)
        assert (await on.mia.stands(on.task)).done


# P5
async def test_taking_back_too_late_says_what_came_of_it(database: str, clock: TestClock) -> None:
    async with staged(database, clock) as on:
        with pytest.raises(NotFound, match="decided nothing here"):
            await on.mia.take_back(on.request.id)
        await on.mia.approve(on.request.id, hold=FIVE)
        with pytest.raises(NotFound):
            await on.noor.take_back(on.request.id)
        await clock.advance(FIVE)
        with pytest.raises(NotWaiting, match="too late to take it back: it was carried out at 09:00:05 UTC"):
            await on.mia.take_back(on.request.id)
        assert (await on.mia.stands(on.task)).done


# P5, P9
async def test_while_it_is_held_nobody_else_decides_and_what_was_said_with_it_is_shown_to_its_maker_alone(
    database: str, clock: TestClock
) -> None:
    async with staged(database, clock) as on:
        await on.agency.stand_in(on.at.noor, for_=on.at.mia)
        await on.mia.refuse(on.request.id, "Between us.", hold=FIVE)
        for desk in (on.mia, on.noor):
            for hold in (None, FIVE):
                with pytest.raises(AlreadyDecided, match="already refused by Mia at 09:00 UTC"):
                    await desk.approve(on.request.id, hold=hold)
        assert await on.noor.waiting_count() == 0
        theirs = await on.noor.proposal(on.request.id)
        assert theirs.decided_by_name == "Mia" and theirs.note == "" and not theirs.may_decide
        assert (await on.mia.proposal(on.request.id)).note == "Between us."
        await on.mia.take_back(on.request.id)
        await on.noor.approve(on.request.id)
        assert (await on.mia.stands(on.task)).done


# P5
async def test_of_two_who_decide_at_once_one_is_held(database: str, clock: TestClock) -> None:
    async with staged(database, clock) as on:
        await on.agency.stand_in(on.at.noor, for_=on.at.mia)
        both = [desk.approve(on.request.id, hold=FIVE) for desk in (on.mia, on.noor)]
        came = await asyncio.gather(*both, return_exceptions=True)
        assert sorted(type(one).__name__ for one in came) == ["AlreadyDecided", "Proposal"]
        await clock.advance(FIVE)
        assert (await on.mia.stands(on.task)).done and (await on.at.the_shelf()).count == 1


# P5, P12, P7
async def test_what_can_be_refused_at_once_is_not_held(database: str, clock: TestClock) -> None:
    async with staged(database, clock) as on:
        with pytest.raises(Stale):
            await on.mia.approve(on.request.id, fingerprint="0" * 64, hold=FIVE)
        with pytest.raises(BadInput):
            await on.mia.approve(on.request.id, args={"note": 7}, hold=FIVE)
        with pytest.raises(NotAllowed):
            await on.noor.approve(on.request.id, hold=FIVE)
        assert (await on.now()).hold is None and await on.mia.waiting_count() == 1
    async with staged(database, clock, asks=True) as on:
        with pytest.raises(BadInput):
            await on.mia.answer(on.request.id, " ", hold=FIVE)
        assert (await on.now()).hold is None


# P5, P10
async def test_a_yes_that_gives_a_standing_rule_is_not_held(database: str, clock: TestClock) -> None:
    async with staged(database, clock) as on:
        found = await on.mia.approve(on.request.id, from_now_on="for_me", hold=FIVE)
        assert found.status is ProposalStatus.DONE and found.hold is None


# P11
@pytest.mark.parametrize("asks", [False, True])
async def test_a_decision_made_in_time_stands_though_the_deadline_passes_while_it_is_held(
    database: str, clock: TestClock, asks: bool
) -> None:
    async with staged(database, clock, HastyClerk, asks=asks) as on:
        await clock.advance(8 * SECOND)
        await (on.mia.answer(on.request.id, "Left", hold=FIVE) if asks else on.mia.approve(on.request.id, hold=FIVE))
        await clock.advance(timedelta(minutes=1))
        assert (await on.mia.stands(on.task)).done
        assert await on.lines(TraceKind.EXPIRED) == []
        assert len(on.heard.told(HastyClerk)) == 1 and "Nobody answered" not in on.heard.told(HastyClerk)[0]


# P11
async def test_what_is_taken_back_after_the_deadline_expires(database: str, clock: TestClock) -> None:
    async with staged(database, clock, HastyClerk) as on:
        await clock.advance(8 * SECOND)
        await on.mia.approve(on.request.id, hold=FIVE)
        await clock.advance(4 * SECOND)
        await on.mia.take_back(on.request.id)
        await clock.advance(4 * SECOND)
        assert (await on.now()).status is ProposalStatus.EXPIRED


# E4
@pytest.mark.parametrize("asks", [False, True])
async def test_a_held_decision_on_work_that_is_called_off_is_no_longer_needed(
    database: str, clock: TestClock, asks: bool
) -> None:
    async with staged(database, clock, asks=asks) as on:
        await (on.mia.answer(on.request.id, "Left", hold=FIVE) if asks else on.mia.approve(on.request.id, hold=FIVE))
        await on.mia.stop(on.task)
        lines = await on.mia.trace_of(on.task)
        for _ in range(2):  # at once, and after its time has come
            found = await on.now()
            assert not found.hold.lasts and "no longer needed" in found.hold.why_not
            await clock.advance(FIVE)
        assert (await on.at.the_shelf()).count == 0
        assert await on.mia.trace_of(on.task) == lines and (await on.mia.verify_trace(on.task)).intact
        with pytest.raises(NotWaiting, match="no longer needed"):
            await on.mia.take_back(on.request.id)


# R10, P5
async def test_a_decision_of_somebody_who_was_deactivated_meanwhile_is_dropped_and_the_sponsor_may_decide(
    database: str, clock: TestClock
) -> None:
    async with staged(database, clock) as on:
        await on.mia.approve(on.request.id, hold=FIVE)
        await on.agency.deactivate(on.at.mia)
        await clock.advance(FIVE)
        found = await on.noor.proposal(on.request.id)
        assert found.waits and found.may_decide and (await on.at.the_shelf()).count == 0
        assert found.hold is not None and found.hold.why_not == "Mia's account was deactivated."
        [line] = [line for line in await on.noor.trace_of(on.task) if line.kind is TraceKind.NOT_CARRIED_OUT]
        assert line.summary.startswith("Mia's yes of 09:00:00 UTC to a request of Clerk was not carried out: Mia's acc")
        assert await on.noor.waiting_count() == 1


# R11, P5
async def test_a_held_yes_to_what_has_become_forbidden_meanwhile_ends_as_refused_by_rule_and_all_are_told(
    database: str, clock: TestClock
) -> None:
    async with staged(database, clock) as on:
        await on.mia.approve(on.request.id, hold=FIVE)
        on.agency.agents["Clerk"].may = Permits.proposes_changes().never(note_shelf)
        await clock.advance(FIVE)
        found = await on.now()
        assert (found.status, found.decided_by) == (ProposalStatus.REFUSED, None)
        assert found.note.startswith("Refused by rule. Clerk never does that")
        assert len(await on.lines(TraceKind.DECIDED)) == 1 and await on.lines(TraceKind.TOOL_RAN) == []
        assert (await on.mia.stands(on.task)).done
        [told] = on.heard.told(Clerk)
        assert "Refused by rule" in told


# P5, P9
async def test_a_stand_in_who_is_one_no_more_decides_nothing(database: str, clock: TestClock) -> None:
    async with staged(database, clock) as on:
        await on.agency.stand_in(on.at.noor, for_=on.at.mia)
        await on.noor.approve(on.request.id, hold=FIVE)
        await on.agency.stand_in(on.at.noor, for_=on.at.mia, ends=True)
        await clock.advance(FIVE)
        found = await on.now()
        assert found.waits and found.may_decide and found.hold.why_not == "Noor may not decide this any more."


# P5, A8
async def test_what_is_held_when_the_agency_leaves_is_carried_out_once_by_the_next(
    database: str, clock: TestClock
) -> None:
    async with staged(database, clock) as on:
        await on.mia.approve(on.request.id, hold=FIVE)
        task, mia = on.task, on.at.mia
    goes_on = AgentCast().plays(Clerk, AgentScript(DONE))
    later = TestClock(clock.now() + SECOND)
    async with reopened(database, goes_on, [Clerk()], clock=later, sweep_every=timedelta(0)) as agency:
        await agency.settle()
        assert not (await agency.desk(mia).outcome(task)).done  # its time has not come
        await later.advance(4 * SECOND)
        assert (await agency.desk(mia).stands(task)).done
    much_later = TestClock(clock.now() + timedelta(days=1))
    async with reopened(database, goes_on, [Clerk()], clock=much_later) as agency:
        await agency.settle()
        lines = await agency.desk(mia).trace_of(task)
        assert [line.kind for line in lines].count(TraceKind.DECIDED) == 1


# P5
async def test_two_processes_carry_it_out_once(database: str, clock: TestClock) -> None:
    async with staged(database, clock) as on:
        await on.mia.approve(on.request.id, hold=FIVE)
        other = make(database, [Clerk()], clock=TestClock(clock.now() + FIVE), concurrency=0)
        other.store.open(lambda connection: None)
        try:
            later = TestClock(clock.now() + FIVE)
            on.agency.clock = on.agency._house.clock = later
            released = await asyncio.gather(on.agency.release(), other.release())
        finally:
            await other.store.close()
        assert sorted(released) == [0, 1]
        await on.agency.settle()
        assert (await on.at.the_shelf()).count == 1
        assert len(await on.lines(TraceKind.DECIDED)) == 1


# P5, A8
async def test_a_held_decision_that_cannot_even_be_let_go_of_holds_up_no_other_and_no_round(
    sqlite_database: str, clock: TestClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with staged(sqlite_database, clock) as on:
        shelf = await on.at.the_shelf()
        on.agency.script(cast(on.at.shelf))
        later = await on.mia.of(Clerk).do(Note(), shelf)
        [second] = [found for found in await on.mia.proposals() if found.id != on.request.id]
        await on.mia.approve(on.request.id, hold=FIVE)
        await on.mia.approve(second.id, hold=FIVE)
        stuck = f"""CREATE TRIGGER stuck BEFORE UPDATE ON held_decision WHEN OLD.request = '{on.request.id.hex}'
            BEGIN SELECT RAISE(ABORT, 'the disk says no'); END"""
        await on.agency.write(lambda session: session.execute(text(stuck)))
        await clock.advance(FIVE)
        await on.agency.settle()  # rounds go on
        assert (await on.mia.stands(later.task)).done
        assert (await on.now()).hold.lasts and await on.lines(TraceKind.DECIDED) == []
        assert f"a held decision on {on.request.id.hex} could not be let go of" in caplog.text
        await on.agency.write(lambda session: session.execute(text("DROP TRIGGER stuck")))
        on.agency.script(AgentCast().plays(Clerk, AgentScript(DONE)))
        await on.agency.sweep()
        await on.agency.settle()
        assert (await on.mia.stands(on.task)).done and len(await on.lines(TraceKind.DECIDED)) == 1


# P5
async def test_drafts_are_kept_while_a_decision_is_held_and_dropped_with_it(database: str, clock: TestClock) -> None:
    async with staged(database, clock) as on:
        await on.mia.keep_draft(on.request.id, "refuse", {"reason": "Because"})
        await on.mia.refuse(on.request.id, "Because", hold=FIVE)
        with pytest.raises(NotWaiting):
            await on.mia.keep_draft(on.request.id, "refuse", {"reason": "Else"})
        await on.mia.take_back(on.request.id)
        [draft] = await on.mia.drafts(on.request.id)
        assert draft.fields == {"reason": "Because"}
        await on.mia.refuse(on.request.id, "Because", hold=FIVE)
        await clock.advance(FIVE)
        assert await on.mia.drafts(on.request.id) == []


# P5, D8
def test_no_negative_time_to_undo(sqlite_database: str) -> None:
    with pytest.raises(BadDeclaration, match="undo_for"):
        make(sqlite_database, undo_for=timedelta(seconds=-1))
