"""Work whose process is gone, in an agency that resumes: the next process goes on from its last line."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from handon import Agent, BadDeclaration, ModelAnswer, ModelRequest, Permits, ProposalStatus, Status, TraceKind
from handon.testing import AgentCast, AgentScript, ProcessDied, Says, TestClock, Trajectory
from tests.builders import Clerk, Find, Note, hears, look_up, make, model, note_shelf, shop
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
    account,
    check_money,
    finders,
    gathers,
    reopened,
    rows_of,
    send_letter,
    until,
)

RESUME: dict[str, Any] = {"when_abandoned": "resume", "abandoned_check_every": timedelta(0)}
LONG = timedelta(hours=1)
LOOKS = Says.tool(look_up, {"word": "x"})


class Mortal:
    """A cast in whose runs the process dies: whenever `dies(request)`, and so many times at most."""

    def __init__(self, cast: AgentCast, dies: Callable[[ModelRequest], bool], times: int = 1) -> None:
        self._cast, self._dies, self.left = cast, dies, times
        self.asked: list[tuple[str, int]] = []

    def __call__(self, model: str, request: ModelRequest) -> ModelAnswer:
        self.asked.append((request.agent, request.turn))
        if self.left and self._dies(request):
            self.left -= 1
            raise ProcessDied
        return self._cast.answer(model, request)


def finder_at(turn: int) -> Callable[[ModelRequest], bool]:
    return lambda request: request.agent == "Finder" and request.turn == turn


async def abandon(at: Any, clock: TestClock, agent: type[Agent], skill: Any, input: Any, **given: Any) -> Any:
    """Give work in which a process dies, and let the time pass; answers the whole's id."""
    task = await at.agency.desk(at.mia).of(agent).start(skill, input, **given)
    with pytest.raises(ProcessDied):
        await at.agency.desk(at.mia).stands(task)
    await at.agency.settle()
    await clock.advance(LONG)
    return task


def taken_up(lines: Any) -> list[str]:
    return [line.summary for line in lines if line.kind is TraceKind.TAKEN_UP]


# A7
async def test_the_next_process_goes_on_from_the_last_line_and_does_nothing_twice(
    database: str, clock: TestClock
) -> None:
    cast = AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(LOOKS, DONE))
    mortal = Mortal(cast, finder_at(2))
    async with shop(database, STAFF, clock=clock, **RESUME) as at:
        at.agency.script(mortal)
        task = await abandon(at, clock, Lead, Gather(), "things", on="rebinding")
        spent, reserved = await account(at.agency, "rebinding")
        assert spent == 4 * CALL and reserved > 5_000  # of the call that never came back
    async with reopened(database, mortal, clock=clock, **RESUME) as agency:
        assert await agency.was_abandoned(task)
        assert await agency.close_abandoned_work() == 1
        await agency.settle()
        assert (await agency.desk(None).outcome(task)).done
        lines = await agency.desk(None).trace_of(task)
        assert taken_up(lines) == ["Finder was taken up again (1 of 3): whatever was doing it is gone."]
        # The look-up of before was not done again, and only the turn that had no answer was asked for once more.
        assert sum(line.kind is TraceKind.TOOL_RAN for line in lines) == 2
        assert mortal.asked.count(("Finder", 2)) == 3 and mortal.asked.count(("Finder", 1)) == 2
        assert await account(agency, "rebinding") == (6 * CALL, 0)
        check_money(await rows_of(agency, task))
        assert (await agency.desk(None).verify_trace(task)).intact


# A7
@pytest.mark.parametrize("takeovers", [0, 1, 2])
async def test_it_is_taken_up_so_often_and_then_closed_and_the_piece_above_goes_on(
    database: str, clock: TestClock, takeovers: int
) -> None:
    cast = AgentCast().plays(Lead, gathers(*finders(1))).plays(Finder, AgentScript(DONE))
    mortal = Mortal(cast, finder_at(1), times=99)
    async with shop(database, STAFF, clock=clock, takeovers=takeovers, **RESUME) as at:
        at.agency.script(mortal)
        task = await abandon(at, clock, Lead, Gather(), "things")
        for _ in range(takeovers):
            assert await at.agency.close_abandoned_work() == 1
            await until(lambda: not at.agency._dispatcher.busy)
            await clock.advance(LONG)
        assert await at.agency.close_abandoned_work() == 1
        await at.agency.settle()
        assert await Trajectory(at.agency, task).tree() == ["Lead · Gather: Done", "  Finder · Find: Failed"]
        assert mortal.asked.count(("Finder", 1)) == 1 + takeovers
        lines = await at.agency.desk(at.mia).trace_of(task)
        assert len(taken_up(lines)) == takeovers
        assert sum(line.kind is TraceKind.ABANDONED for line in lines) == 1
        check_money(await rows_of(at.agency, task))


# A7, P5
async def test_a_change_that_was_begun_outside_is_never_made_again_and_the_model_is_told(
    database: str, clock: TestClock
) -> None:
    office = Office.opens()
    turns = Says.together(Says.tool(send_letter, {"text": "Dear Noor"}), Says.raw("no_such_tool", "{}"))
    cast = AgentCast().plays(Writer, AgentScript(turns, DONE))
    async with shop(database, STAFF, clock=clock, **RESUME) as at:
        heard = hears(at.agency, cast)
        task = await at.agency.desk(at.mia).of(Writer).start(Write(), "a letter")
        await until(lambda: office.sent == ["Dear Noor"])
        await clock.advance(LONG)
        assert await at.agency.close_abandoned_work() == 1  # its own process is still there, and only slow
        outcome = await at.agency.desk(at.mia).stands(task)
        assert outcome.done and office.sent == ["Dear Noor"]
        [told, looked] = heard.of(Writer)[-1].told
        assert "its outcome is unknown" in told and looked.startswith("There is no tool")
        before = len(await at.agency.desk(at.mia).trace_of(task))
        office.delivered.set()  # the slow one comes back, and does nothing more
        await until(lambda: not at.agency._dispatcher.busy)
        assert len(await at.agency.desk(at.mia).trace_of(task)) == before
        assert len(heard.all) == 2


# A7, A5
async def test_a_process_that_was_only_slow_does_nothing_more_once_its_piece_was_taken_up(
    database: str, clock: TestClock
) -> None:
    cast = AgentCast().plays(Lead, gathers(*finders(1))).plays(Finder, AgentScript(LOOKS, DONE))
    staged = Staged(cast, Finder)
    async with shop(database, STAFF, clock=clock, **RESUME) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things")
        [finder] = await staged.holds(1)
        await clock.advance(LONG)
        other = make(database, STAFF, clock=TestClock(clock.now()), **RESUME)
        other.script(AgentCast().plays(Finder, AgentScript(LOOKS, DONE)).plays(Lead, AgentScript(DONE)))
        async with other:
            assert await other.close_abandoned_work() == 1
            await other.settle()
            assert (await desk.stands(task)).done
        staged.hold_no_more()
        await at.agency.settle()
        lines = await desk.trace_of(task)
        assert sum(line.kind is TraceKind.TOOL_RAN for line in lines) == 1
        assert [line.kind for line in lines][-1] is TraceKind.LATE_ANSWER  # charged, on the record, and no more (E9)
        assert (await desk.piece(finder)).spent_micros == 3 * CALL
        check_money(await rows_of(at.agency, task))


# A7, P3, P4
async def test_what_waits_for_a_person_is_not_touched_and_goes_on_beside_what_was_taken_up(
    database: str, clock: TestClock
) -> None:
    async with shop(database, STAFF, clock=clock, **RESUME) as at:
        legs = (*finders(1), Says.hand_to(Clerk, Note(), Says.row(at.shelf)))
        write = Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "Dusty."})
        cast = AgentCast().plays(Lead, gathers(*legs)).plays(Clerk, AgentScript(write, DONE))
        mortal = Mortal(cast.plays(Finder, AgentScript(DONE)), finder_at(1))
        at.agency.script(mortal)
        desk = at.agency.desk(at.mia)
        task = await abandon(at, clock, Lead, Gather(), "things")
        [proposal] = await desk.proposals()
        assert await at.agency.close_abandoned_work() == 1
        await at.agency.settle()
        assert [other.id for other in await desk.proposals()] == [proposal.id]
        assert (await desk.piece(task)).waiting_on == "Clerk, which waits for a decision from Mia"
        await desk.approve(proposal.id)
        assert (await desk.stands(task)).done
        assert (await at.the_shelf()).count == 1


# A7, E5
async def test_what_had_been_called_off_is_closed_and_not_taken_up(database: str, clock: TestClock) -> None:
    cast = AgentCast().plays(Lead, gathers(*finders(1)))
    async with shop(database, STAFF, clock=clock, **RESUME) as at:
        at.agency.script(Mortal(cast, finder_at(1)))
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things")
        with pytest.raises(ProcessDied):
            await desk.stands(task)
        await desk.stop(task)
        await clock.advance(LONG)
        await at.agency.close_abandoned_work()
        await at.agency.settle()
        assert await Trajectory(at.agency, task).tree() == ["Lead · Gather: Cancelled", "  Finder · Find: Cancelled"]
        assert taken_up(await desk.trace_of(task)) == []
        check_money(await rows_of(at.agency, task))


# A7, A2
async def test_several_levels_that_died_together_are_all_taken_up(database: str, clock: TestClock) -> None:
    cast = AgentCast().plays(Lead, gathers(Says.hand_to(Deputy, Gather(), "more"), *finders(1)))
    cast.plays(Deputy, gathers(*finders(2))).plays(Finder, AgentScript(DONE))
    mortal = Mortal(cast, finder_at(1), times=3)
    async with shop(database, STAFF, clock=clock, **RESUME) as at:
        at.agency.script(mortal)
        task = await abandon(at, clock, Lead, Gather(), "things")
        assert await at.agency.close_abandoned_work() == 1
        await at.agency.settle()
        assert await Trajectory(at.agency, task).still_going() == []
        assert (await at.agency.desk(at.mia).outcome(task)).done
        assert len(taken_up(await at.agency.desk(at.mia).trace_of(task))) == 3
        check_money(await rows_of(at.agency, task))


# A7
async def test_the_agencys_own_clock_takes_up_what_was_abandoned(database: str, clock: TestClock) -> None:
    cast = AgentCast().plays(Finder, AgentScript(DONE))
    async with shop(database, STAFF, clock=clock, when_abandoned="resume") as at:
        at.agency.script(Mortal(cast, finder_at(1)))
        task = await abandon(at, clock, Finder, Find(), "it")
        await at.agency.settle()
        assert (await at.agency.desk(at.mia).outcome(task)).done


# A7, C6
async def test_a_consult_that_never_came_back_is_asked_again(database: str, clock: TestClock) -> None:
    class Asker(Finder):
        consults = "Senior"

    def dies(request: ModelRequest) -> bool:
        return request.purpose == "consult"

    cast = AgentCast().plays(Asker, AgentScript(Says.consult("Which?"), DONE).advises("Senior", "The left."))
    mortal = Mortal(cast, dies)
    async with shop(database, [Asker()], clock=clock, models=[model(), model("Senior")], **RESUME) as at:
        heard = hears(at.agency, mortal)
        task = await abandon(at, clock, Asker, Find(), "it")
        assert await at.agency.close_abandoned_work() == 1
        await at.agency.settle()
        assert (await at.agency.desk(at.mia).outcome(task)).done
        assert heard.told(Asker) == ["The left."]
        check_money(await rows_of(at.agency, task))


# A7, D8
@pytest.mark.parametrize("settings", [{"when_abandoned": "restart"}, {"when_abandoned": "resume", "takeovers": -1}])
def test_what_else_might_be_done_with_it_is_refused_when_the_agency_is_made(
    sqlite_database: str, settings: dict[str, Any]
) -> None:
    with pytest.raises(BadDeclaration):
        make(sqlite_database, STAFF, **settings)


# A7, P5, E4
@pytest.mark.parametrize("when", ["close", "resume"])
async def test_an_approved_change_that_was_begun_outside_is_told_as_unknown_whatever_becomes_of_its_piece(
    database: str, clock: TestClock, when: str
) -> None:
    class Careful(Writer):
        may = Permits.proposes_changes()

    office = Office.opens()
    cast = AgentCast().plays(Careful, AgentScript(Says.tool(send_letter, {"text": "Dear Noor"}), DONE))
    async with shop(database, [Careful(), Finder()], clock=clock, **(RESUME | {"when_abandoned": when})) as at:
        at.agency.script(cast)
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Careful).do(Write(), "a letter")
        [proposal] = await desk.proposals()
        assert (await desk.approve(proposal.id)).status is ProposalStatus.WAITING
        await until(lambda: office.sent == ["Dear Noor"])
        await clock.advance(LONG)
        assert await at.agency.close_abandoned_work() == 1
        outcome = await desk.stands(outcome.task)
        assert outcome.status is (Status.DONE if when == "resume" else Status.FAILED)
        found = await desk.proposal(proposal.id)
        assert found.status is ProposalStatus.FAILED and "its outcome is unknown" in found.result
        assert found.decided_by == at.mia.id
        office.delivered.set()
        await until(lambda: not at.agency._dispatcher.busy)
        assert (await desk.proposal(proposal.id)) == found and office.sent == ["Dear Noor"]
        assert [line.summary for line in await desk.trace_of(outcome.task) if "outcome is unknown" in line.summary]


# A7, M3
async def test_what_is_taken_up_holds_no_money_until_its_model_is_asked_again(database: str, clock: TestClock) -> None:
    cast = AgentCast().plays(Lead, gathers(*finders(1))).plays(Finder, AgentScript(DONE))
    mortal = Mortal(cast, finder_at(1))
    async with shop(database, STAFF, clock=clock, **RESUME) as at:
        at.agency.script(mortal)
        task = await abandon(at, clock, Lead, Gather(), "things", on="rebinding")
    async with reopened(database, mortal, clock=clock, concurrency=0, **RESUME) as agency:  # reads, and runs nothing
        assert await agency.close_abandoned_work() == 1
        rows = await rows_of(agency, task)
        assert [(row.run, row.reserved_micros) for row in rows] == [("parked", 0), ("due", 0)]
        assert await account(agency, "rebinding") == (CALL, 0)
