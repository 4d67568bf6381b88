"""Changing arguments before a yes: what runs is what the person saw last."""

from __future__ import annotations

import pytest

from handon import BadInput, ProposalStatus, TraceKind
from handon.testing import AgentCast, AgentScript, Says, Trajectory
from tests.builders import Answer, Clerk, Note, note_shelf, shop


async def proposed(at):
    note = Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "Leaves missing"})
    at.agency.script(AgentCast().plays(Clerk, AgentScript(note, Says.hand_back(Answer()))))
    desk = at.agency.desk(at.mia)
    outcome = await desk.of(Clerk).do(Note(), await at.the_shelf())
    [proposal] = await desk.proposals()
    return desk, outcome.task, proposal


# P7
async def test_what_the_person_changed_runs_the_model_is_told_and_the_record_holds_both(database, clock):
    async with shop(database, clock=clock) as at:
        desk, task, proposal = await proposed(at)
        decided = await desk.approve(proposal.id, args={"note": "Leaves 40-41 missing"})
        await at.agency.settle()
        assert decided.status is ProposalStatus.DONE
        assert (await at.the_shelf()).note == "Leaves 40-41 missing"
        said = await Trajectory(at.agency, task).said()
        assert any("Mia changed it before approving" in told and "Leaves 40-41 missing" in told for told in said)
        [line] = [line for line in await desk.trace_of(task) if line.kind == TraceKind.DECIDED]
        assert "Leaves 40-41 missing" in line.payload
        assert '"note":"Leaves missing"' in line.payload


# P7
async def test_arguments_that_were_not_changed_are_no_edit(database, clock):
    async with shop(database, clock=clock) as at:
        desk, _, proposal = await proposed(at)
        decided = await desk.approve(proposal.id, args={"note": "Leaves missing", "shelf": at.shelf})
        assert decided.edited is None
        assert (await at.the_shelf()).note == "Leaves missing"


# P7
@pytest.mark.parametrize(
    "args", [{"note": 7}, {"nothing": "x"}, {"shelf": "no id"}, {"shelf": "0" * 32}, {"note": object()}]
)
async def test_an_edit_that_does_not_fit_is_refused_in_words_and_the_proposal_waits_on(database, clock, args):
    async with shop(database, clock=clock) as at:
        desk, _, proposal = await proposed(at)
        with pytest.raises(BadInput) as refused:
            await desk.approve(proposal.id, args=args)
        assert str(refused.value)
        assert [waiting.id for waiting in await desk.proposals()] == [proposal.id]
        assert (await at.the_shelf()).note == ""
