"""Requests of work for nobody, and of people who are gone: who may take them over, and what that leaves behind."""

from __future__ import annotations

import pytest

from handon import Agent, AlreadyDecided, Delegation, NotAllowed, NotFound, Specialist, TraceKind
from handon.testing import AgentCast, AgentScript, Says
from tests.builders import Clerk, Find, Head, Note, Oversee, Shop, note_shelf, shop
from tests.staging import DONE


def write(at: Shop) -> Says:
    return Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "Dusty."})


async def ask(at: Shop, for_nobody: bool = False) -> tuple[object, object]:
    """Work in which the clerk, under the head, proposes and asks; answers proposal and question as the sponsor sees
    them, or as Mia does."""
    cast = AgentCast().plays(Head, AgentScript(Says.hand_to(Clerk, Note(), Says.row(at.shelf)), DONE))
    at.agency.script(cast.plays(Clerk, AgentScript(Says.together(write(at), Says.ask("Which?")), DONE)))
    await at.agency.desk(None if for_nobody else at.mia).of(Head).do(Oversee(), "the shelves")
    desk = at.agency.desk(at.noor if for_nobody else at.mia)
    [proposal], [question] = await desk.proposals(), await desk.questions()
    return proposal, question


STAFF: list[Agent] = [Head(), Clerk()]


# R10, P9
async def test_the_sponsor_takes_over_what_somebody_was_asked_who_is_gone_and_the_record_says_so(
    database: str,
) -> None:
    async with shop(database, STAFF) as at:
        proposal, question = await ask(at)
        await at.agency.deactivate(at.mia)
        noor = at.agency.desk(at.noor)
        taken = await noor.take_over(proposal.id)
        assert (taken.asked_of, taken.asked_of_name, taken.may_decide) == (at.noor.id, "Noor", True)
        assert (await noor.take_over(question.id)).asked_of == at.noor.id
        assert (await noor.take_over(question.id)).asked_of == at.noor.id  # said twice, the first holds
        summaries = [line.summary for line in await noor.trace_of(proposal.root) if line.kind is TraceKind.TAKEN_OVER]
        assert summaries == [
            "Noor took over a proposal of Clerk, which had been put to Mia.",
            "Noor took over a question of Clerk, which had been put to Mia.",
        ]
        [top, clerk] = await noor.work_tree(proposal.root)
        assert clerk.waiting_on == "a decision from Noor; an answer from Noor"
        assert top.waiting_on == "Clerk, which waits for a decision from Noor; an answer from Noor"
        assert (await noor.verify_trace(proposal.root)).intact


# R10
async def test_to_decide_what_nobody_else_is_left_to_decide_takes_it_over_with_it(database: str) -> None:
    async with shop(database, STAFF) as at:
        proposal, question = await ask(at)
        await at.agency.deactivate(at.mia)
        noor = at.agency.desk(at.noor)
        assert await noor.waiting_count() == 2
        await noor.approve(proposal.id)
        await noor.answer(question.id, "The left.")
        kinds = [line.kind for line in await noor.trace_of(proposal.root)]
        assert kinds.count(TraceKind.TAKEN_OVER) == 2
        assert (await at.the_shelf()).count == 1


# P9, R10
async def test_while_whoever_was_asked_is_there_nobody_takes_it_over(database: str) -> None:
    async with shop(database, STAFF) as at:
        proposal, question = await ask(at)
        for request in (proposal, question):
            with pytest.raises(NotAllowed):
                await at.agency.desk(at.noor).take_over(request.id)
            with pytest.raises(NotAllowed):
                await at.agency.desk(None).take_over(request.id)
        assert await at.agency.desk(at.noor).waiting_count() == 0


# R10, R8
async def test_nobody_but_the_sponsor_of_the_agent_at_the_top_takes_over(database: str) -> None:
    async with shop(database, STAFF) as at:
        proposal, _ = await ask(at)
        sue = await at.agency.add_person("sue@bindery.test", "Sue", roles=["binder"])
        await at.agency.seat(Clerk, sponsor=sue)  # of the agent that asks, which is not at the top
        await at.agency.deactivate(at.mia)
        with pytest.raises(NotFound):
            await at.agency.desk(sue).take_over(proposal.id)


# P9, P5
async def test_what_is_decided_is_not_taken_over(database: str) -> None:
    async with shop(database, STAFF) as at:
        proposal, question = await ask(at)
        await at.agency.desk(at.mia).refuse(proposal.id)
        await at.agency.desk(at.mia).decline(question.id)
        await at.agency.deactivate(at.mia)
        for request in (proposal, question):
            with pytest.raises(AlreadyDecided, match="by Mia"):
                await at.agency.desk(at.noor).take_over(request.id)


# P1, R2
async def test_work_for_nobody_asks_the_sponsor_of_the_agent_at_its_top(database: str) -> None:
    async with shop(database, STAFF) as at:
        proposal, question = await ask(at, for_nobody=True)
        assert (proposal.asked_of, question.asked_of) == (at.noor.id, at.noor.id)
        assert proposal.asked_through == "Clerk, working for Head"
        await at.agency.desk(at.noor).approve(proposal.id)
        await at.agency.desk(at.noor).answer(question.id, "The left.")
        assert (await at.agency.desk(None).stands(proposal.root)).done


# P1, R10
async def test_work_for_nobody_of_an_agent_nobody_answers_for_waits_until_somebody_does(database: str) -> None:
    async with shop(database, STAFF) as at:
        for name in ("Head", "Clerk"):
            await at.agency.seat(name, sponsor=None)
        cast = AgentCast().plays(Head, AgentScript(Says.hand_to(Clerk, Note(), Says.row(at.shelf)), DONE))
        at.agency.script(cast.plays(Clerk, AgentScript(write(at), DONE)))
        outcome = await at.agency.desk(None).of(Head).do(Oversee(), "the shelves")
        assert "somebody: nobody answers for it" in outcome.waiting_on
        assert await at.agency.desk(at.noor).proposals() == []
        await at.agency.seat(Head, sponsor=at.noor)
        [proposal] = await at.agency.desk(at.noor).proposals()
        await at.agency.desk(at.noor).take_over(proposal.id)
        assert "a decision from Noor" in (await at.agency.desk(None).outcome(outcome.task)).waiting_on
        await at.agency.desk(at.noor).approve(proposal.id)
        assert (await at.agency.desk(None).stands(outcome.task)).done
        lines = await at.agency.desk(None).trace_of(outcome.task)
        assert "Noor took over a proposal of Clerk, which had been put to nobody." in [line.summary for line in lines]


# P9
async def test_a_stand_in_decides_without_taking_over(database: str) -> None:
    async with shop(database, STAFF) as at:
        proposal, _ = await ask(at)
        sue = await at.agency.add_person("sue@bindery.test", "Sue", roles=["binder"])
        await at.agency.stand_in(sue, at.mia)
        await at.agency.desk(sue).approve(proposal.id)
        kinds = [line.kind for line in await at.agency.desk(None).trace_of(proposal.root)]
        assert TraceKind.TAKEN_OVER not in kinds


# D2, R1
async def test_a_helpers_request_says_that_it_comes_through_the_agent_itself(database: str) -> None:
    class Busy(Clerk):
        delegates = Delegation(to=[Specialist.helper(Find())])

    async with shop(database, [Busy()]) as at:
        cast = AgentCast().plays(Busy, AgentScript(Says.hand_to_helper(Find(), "x"), DONE), piece=1)
        at.agency.script(cast.plays(Busy, AgentScript(Says.ask("Which?"), DONE), piece=2))
        await at.agency.desk(at.mia).of(Busy).do(Note(), at.shelf)
        [question] = await at.agency.desk(at.mia).questions()
        assert question.asked_through == "Busy, working for Busy"
        await at.agency.desk(at.mia).answer(question.id, "The left.")
        assert (await at.agency.desk(at.mia).stands(question.root)).done
