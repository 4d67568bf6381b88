"""What a person has begun to write and not sent: kept for them alone, until they decide."""

from __future__ import annotations

import pytest

from handon import BadInput, NotAllowed, NotFound, NotWaiting, Proposal
from handon.testing import AgentCast, AgentScript, Says
from tests.builders import Clerk, Note, Shop, note_shelf, shop
from tests.staging import DONE, reopened


async def proposed(at: Shop) -> Proposal:
    note = Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "Torn"})
    at.agency.script(AgentCast().plays(Clerk, AgentScript(note, DONE)))
    await at.agency.desk(at.mia).of(Clerk).do(Note(), await at.the_shelf())
    [proposal] = await at.agency.desk(at.mia).proposals()
    return proposal


# P6
async def test_a_draft_is_kept_over_a_restart_and_the_last_one_counts(database: str) -> None:
    async with shop(database) as at:
        proposal = await proposed(at)
        mia = at.agency.desk(at.mia)
        for text in ("Only", "Only stained"):
            await mia.keep_draft(proposal.id, "refuse", {"reason": text, "note": " "})
        lines = len(await mia.trace_of(proposal.root))
    async with reopened(database, AgentCast(), [Clerk()]) as agency:
        mia = agency.desk(at.mia)
        [draft] = await mia.drafts(proposal.id)
        assert (draft.act, draft.fields) == ("refuse", {"reason": "Only stained"})
        assert len(await mia.trace_of(proposal.root)) == lines
        assert await agency.desk(at.noor).drafts(proposal.id) == []
        await mia.keep_draft(proposal.id, "refuse", {"reason": ""})
        assert await mia.drafts(proposal.id) == []


# P5, P6
async def test_a_decision_drops_the_drafts_of_whoever_made_it_and_none_is_kept_after_it(database: str) -> None:
    async with shop(database) as at:
        proposal = await proposed(at)
        mia = at.agency.desk(at.mia)
        await mia.keep_draft(proposal.id, "refuse", {"reason": "Stained"})
        await mia.keep_draft(proposal.id, "edit", {"note": "Wet"})
        await mia.approve(proposal.id)
        assert (await at.the_shelf()).note == "Torn"
        assert await mia.drafts(proposal.id) == []
        with pytest.raises(NotWaiting):
            await mia.keep_draft(proposal.id, "refuse", {"reason": "Late"})


# P9, R8
async def test_only_whoever_decides_may_keep_one(database: str) -> None:
    async with shop(database) as at:
        proposal = await proposed(at)
        ada = await at.agency.add_person("ada@bindery.test", "Ada", roles=["binder"])
        with pytest.raises(NotAllowed):  # she audits, so she may read it
            await at.agency.desk(at.noor).keep_draft(proposal.id, "refuse", {"reason": "No"})
        with pytest.raises(NotFound):
            await at.agency.desk(ada).keep_draft(proposal.id, "refuse", {"reason": "No"})
        with pytest.raises(NotAllowed):
            await at.agency.desk(None).keep_draft(proposal.id, "refuse", {"reason": "No"})
        with pytest.raises(BadInput):
            await at.agency.desk(at.mia).keep_draft(proposal.id, "refuse", {"reason": "x" * 60_000})
