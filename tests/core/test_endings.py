"""How pieces end: what is final, whom an ending touches, and that nothing under an ended piece is left going."""

from __future__ import annotations

import pytest

from core.tables import piece
from core.work import MOVES
from handon import NotWaiting, Status
from handon.testing import AgentCast, AgentScript, Says, Trajectory
from tests.builders import Answer, Clerk, Find, Note, note_shelf, shop
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
    rows_of,
    sql,
    until,
)

FAILS = AgentScript(*[Says.hand_back({"number": "many"})] * 2)
FINAL = [Status.DONE, Status.FAILED, Status.STOPPED, Status.CANCELLED]


# E1
@pytest.mark.parametrize("status", list(Status))
def test_the_last_four_states_are_final_and_no_move_leads_out_of_them(status: Status) -> None:
    assert status.final == (status in FINAL)
    assert bool(MOVES[status]) == (not status.final)


# E1
@pytest.mark.parametrize("change", ["status = 'Working'", "run = 'due'", "ended_at = null", "status = 'Half done'"])
async def test_the_database_itself_refuses_a_piece_that_is_neither_ended_nor_going(database: str, change: str) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(AgentCast().plays(Finder, AgentScript(DONE)))
        outcome = await at.agency.desk(at.mia).of(Finder).do(Find(), "it")
        with pytest.raises(Exception, match=r"(?i)check"):
            await sql(at.agency, f"update {piece.name} set {change} where id = :id", id=outcome.task.hex)
        assert (await at.agency.desk(at.mia).piece(outcome.task)).status is Status.DONE


# E1
@pytest.mark.parametrize(
    ("script", "status"), [(AgentScript(DONE), Status.DONE), (FAILS, Status.FAILED)], ids=["done", "failed"]
)
async def test_an_ending_stands_whatever_is_asked_after_it(database: str, script: AgentScript, status: Status) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(AgentCast().plays(Finder, script))
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Finder).do(Find(), "it")
        lines = await desk.trace_of(outcome.task)
        ended = await desk.piece(outcome.task)
        await desk.stop(outcome.task)
        await at.agency.close_abandoned_work()
        await at.agency.settle()
        assert ended.status is status
        assert await desk.piece(outcome.task) == ended
        assert await desk.trace_of(outcome.task) == lines


# E2
async def test_where_one_leg_fails_the_model_above_is_told_and_the_legs_beside_it_are_not_touched(
    database: str,
) -> None:
    async with shop(database, STAFF) as at:
        cast = AgentCast().plays(Lead, gathers(*finders(3))).plays(Finder, FAILS, piece=2)
        at.agency.script(cast.plays(Finder, AgentScript(DONE)))
        outcome = await at.agency.desk(at.mia).of(Lead).do(Gather(), "things")
        whole = Trajectory(at.agency, outcome.task)
        assert outcome.done
        assert sorted(await whole.tree()) == [
            "  Finder · Find: Done",
            "  Finder · Find: Done",
            "  Finder · Find: Failed",
            "Lead · Gather: Done",
        ]
        told = [text for text in await whole.said() if text.startswith("Finder failed: It failed 2 times in a row.")]
        assert len(told) == 1
        assert (await whole.said()).count('{"text":"Found.","number":0}') == 2


# E2
async def test_where_one_leg_is_stopped_by_a_guard_the_one_that_waits_beside_it_goes_on_waiting(database: str) -> None:
    async with shop(database, STAFF) as at:
        round_and_round = AgentScript(*[Says.raw("no_such_tool", "{}")] * 5)
        cast = AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, round_and_round, piece=1)
        at.agency.script(cast.plays(Finder, AgentScript(Says.ask("Which?"), DONE)))
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        assert outcome.waiting
        [question] = await desk.questions()
        await desk.answer(question.id, "The left one.")
        await at.agency.settle()
        statuses = sorted(node.status for node in await desk.work_tree(outcome.task))
        assert statuses == [Status.DONE, Status.DONE, Status.STOPPED]


# E4
async def test_once_a_top_has_ended_nothing_under_it_is_left_going_nor_waiting_for_anybody(database: str) -> None:
    async with shop(database, STAFF) as at:
        cast = (
            AgentCast()
            .plays(Lead, gathers(*finders(1), Says.hand_to(Deputy, Gather(), "x"), note_by_clerk(at.shelf)))
            .plays(Deputy, gathers(*finders(1)))
            .plays(Finder, AgentScript(Says.ask("Which?"), DONE))
            .plays(Clerk, AgentScript(Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "x"}), DONE))
        )
        at.agency.script(cast)
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        assert outcome.waiting
        [proposal], questions = await desk.proposals(), await desk.questions()
        assert len(questions) == 2
        await desk.stop(outcome.task, "Not needed.")
        assert await Trajectory(at.agency, outcome.task).still_going() == []
        assert (await desk.proposals(), await desk.questions(), await desk.waiting_count()) == ([], [], 0)
        assert (await desk.proposal(proposal.id)).status == "Withdrawn"
        assert {(await desk.question(question.id)).status for question in questions} == {"Closed"}
        with pytest.raises(NotWaiting):
            await desk.approve(proposal.id)
        with pytest.raises(NotWaiting):
            await desk.answer(questions[0].id, "The left one.")
        assert (await at.the_shelf()).note == ""
        check_money(await rows_of(at.agency, outcome.task))


def note_by_clerk(shelf: object) -> object:
    return Says.hand_to(Clerk, Note(), Says.row(shelf))  # type: ignore[arg-type]


# E4
async def test_where_a_piece_in_the_middle_ends_what_is_under_it_goes_and_what_is_beside_it_stays(
    database: str,
) -> None:
    async with shop(database, STAFF) as at:
        cast = (
            AgentCast()
            .plays(Lead, gathers(Says.hand_to(Deputy, Gather(), "x"), Says.hand_to(Deputy, Gather(), "y")))
            .plays(Deputy, gathers(*finders(1)))
            .plays(Finder, AgentScript(Says.ask("Which?"), DONE))
        )
        at.agency.script(cast)
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        one, other = await desk.handed_on_by(outcome.task)
        await desk.stop(one.id, "Not this one.")
        assert await Trajectory(at.agency, outcome.task).tree() == [
            "Lead · Gather: Waiting",
            "  Deputy · Gather: Cancelled",
            "    Finder · Find: Cancelled",
            "  Deputy · Gather: Waiting",
            "    Finder · Find: Waiting",
        ]
        [question] = await desk.questions()
        await desk.answer(question.id, "The left one.")
        await at.agency.settle()
        assert (await desk.outcome(outcome.task)).done
        assert (await desk.piece(other.id)).status is Status.DONE
        assert any("Deputy was called off: Mia stopped it: Not this one." in text for text in await said(at, outcome))


async def said(at: object, outcome: object) -> list[str]:
    return await Trajectory(at.agency, outcome.task).said()  # type: ignore[attr-defined]


# E4
async def test_what_is_called_off_while_its_model_is_asked_ends_with_that_answer_and_asks_nothing_more(
    database: str,
) -> None:
    async with shop(database, STAFF) as at:
        staged = Staged(AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(DONE)), Finder)
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things")
        await staged.holds(2)
        await desk.stop(task)
        assert (await desk.piece(task)).status is Status.WORKING
        assert (await desk.work(task)).stopping
        staged.hold_no_more()
        await at.agency.settle()
        assert await Trajectory(at.agency, task).tree() == [
            "Lead · Gather: Cancelled",
            *["  Finder · Find: Cancelled"] * 2,
        ]
        assert len(staged.asked) == 3
        rows = await rows_of(at.agency, task)
        check_money(rows)
        assert rows[0].tree_micros == 3 * 200


# E4
async def test_an_answer_to_what_was_called_off_does_nothing_that_it_asks_for(database: str) -> None:
    async with shop(database, STAFF) as at:
        staged = Staged(
            AgentCast().plays(Lead, AgentScript(Says.together(*finders(2)), Says.hand_back(Answer()))), Lead
        )
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things")
        await staged.holds(1)
        await desk.stop(task)
        staged.hold_no_more()
        await at.agency.settle()
        assert await Trajectory(at.agency, task).tree() == ["Lead · Gather: Cancelled"]


# E4, R10
async def test_work_for_somebody_who_was_deactivated_ends_with_everything_under_it_at_the_next_step(
    database: str,
) -> None:
    async with shop(database, STAFF) as at:
        cast = AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(Says.ask("Which?"), DONE))
        staged = Staged(cast)
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things")
        await until(asked(desk, 2))
        await at.agency.deactivate(at.mia)
        [one, _] = await at.agency.desk(at.noor).questions()
        await at.agency.desk(at.noor).answer(one.id, "The left one.")
        await at.agency.settle()
        assert await Trajectory(at.agency, task).still_going() == []
        assert await at.agency.desk(at.noor).questions() == []
