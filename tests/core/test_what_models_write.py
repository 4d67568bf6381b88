"""Anything a model may write as a call: nothing of what does not fit is done, and the work goes on."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from handon import Agent, Delegation, ModelAnswer, ModelCall, ModelRequest, Permits, Specialist
from handon.testing import AgentCast, AgentScript, Says, TestClock, Trajectory
from tests.builders import Answer, Clerk, Find, Note, Shop, hears, note_shelf, shop

BACK = Says.hand_back(Answer(text="done"))
BROKEN = ['{"a":', "null", "[]", "NaN", '{"shelf": NaN, "note": "x"}', "7", '"text"', "", "{}", "not JSON", '{"a":1}{']


class Free(Agent):
    """Makes its changes alone, and may hand on."""

    roles = {"helper"}
    skills = [Note()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(Clerk, Find())])


async def note(opened: Shop, answer: Any, agent: type[Agent]) -> tuple[Any, Any]:
    heard = hears(opened.agency, answer)
    return await opened.agency.desk(opened.mia).of(agent).do(Note(), await opened.the_shelf()), heard


def all_answered(heard: Any, agent: type[Agent]) -> bool:
    """Whether each call in the conversation is followed by what came of it, as providers demand."""
    messages = heard.of(agent)[-1].messages
    return all(
        [call.id for call in said.calls] == [result.call_id for result in told.results]
        for said, told in pairwise(messages)
        if said.calls
    )


# H4, P5
@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize("agent", [Free, Clerk])
async def test_arguments_that_are_no_object_of_the_right_fields_run_nothing_and_propose_nothing(
    database: str, clock: TestClock, text: str, agent: type[Agent]
) -> None:
    async with shop(database, [Free(), Clerk()], clock=clock) as opened:
        good = Says.tool(note_shelf, {"shelf": str(opened.shelf), "note": "dusty"})
        script = AgentScript(Says.raw("note_shelf", text), Says.together(Says.raw("note_shelf", text), good), BACK)
        outcome, heard = await note(opened, AgentCast().plays(agent, script), agent)
        assert len(heard.told(agent)[0]) > 0
        proposals = await opened.agency.desk(opened.mia).proposals()
        if agent is Free:
            assert outcome.done
            assert all_answered(heard, Free)
            assert proposals == []
        else:
            assert [proposal.sentence for proposal in proposals] == ["Write on A-1: dusty"]
        assert (await opened.the_shelf()).count == (1 if agent is Free else 0)


# H4
@pytest.mark.parametrize("text", BROKEN)
async def test_what_is_handed_on_with_broken_arguments_is_not_opened(
    database: str, clock: TestClock, text: str
) -> None:
    async with shop(database, [Free(), Clerk()], clock=clock) as opened:
        broken = Says.raw("hand_to_Clerk_Find", text)
        cast = AgentCast().plays(Free, AgentScript(broken, Says.hand_to(Clerk, Find(), "ink"), BACK))
        outcome, heard = await note(opened, cast.plays(Clerk, AgentScript(BACK)), Free)
        assert outcome.done
        assert len(await Trajectory(opened.agency, outcome.task).tree()) == 2
        assert all_answered(heard, Free)


# H4, A6
async def test_a_conversation_with_broken_arguments_is_read_again_after_a_restart(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Free(), Clerk()], clock=clock) as opened:
        turn = Says.together(Says.raw("note_shelf", '{"shelf":'), Says.raw("\x01odd name", "NaN"), Says.ask("Go on?"))
        outcome, _ = await note(opened, AgentCast().plays(Free, AgentScript(turn)), Free)
        assert outcome.waiting
    async with shop(database, [Free(), Clerk()], clock=TestClock()) as opened:
        heard = hears(opened.agency, AgentCast().plays(Free, AgentScript(BACK)))
        [question] = await opened.agency.desk(opened.mia).questions()
        await opened.agency.desk(opened.mia).answer(question.id, "Yes.")
        await opened.agency.settle()
        assert (await opened.agency.desk(opened.mia).outcome(outcome.task)).done
        assert all_answered(heard, Free)
        assert heard.told(Free)[-1] == "Yes."


NASTY = ["a\x00b", "half \ud83d a character", "\u202emirrored", "𝔘𝔫𝔦", "'; DROP TABLE piece; --", "{note.__class__}"]


# M3, P5, H4
@pytest.mark.parametrize("word", NASTY)
async def test_no_text_a_model_writes_breaks_the_work_or_goes_uncharged(
    database: str, clock: TestClock, word: str
) -> None:
    """Databases hold neither a NUL nor half a character; models write both now and then."""
    async with shop(database, [Free(), Clerk()], clock=clock) as opened:
        arguments = json.dumps({"shelf": str(opened.shelf), "note": word})
        script = AgentScript(
            Says.raw("note_shelf", arguments, said=word),
            Says.raw(word, word, id=word),
            Says.raw("hand_to_Clerk_Find", json.dumps({"result": word})),
            BACK,
        )
        handed_back = Says.raw("hand_back", json.dumps({"text": word}))
        cast = AgentCast().plays(Free, script).plays(Clerk, AgentScript(handed_back))
        outcome, _ = await note(opened, cast, Free)
        assert outcome.status == "Done", outcome.why
        assert outcome.cost_micros >= 4 * 200
        assert (await opened.agency.desk(opened.mia).verify_trace(outcome.task)).intact


# P5, H4
@pytest.mark.parametrize("word", NASTY)
async def test_a_proposal_is_shown_and_approved_whatever_text_is_in_it(
    database: str, clock: TestClock, word: str
) -> None:
    async with shop(database, [Free(), Clerk()], clock=clock) as opened:
        arguments = json.dumps({"shelf": str(opened.shelf), "note": word})
        asks = Says.raw("note_shelf", arguments, said=word)
        outcome, _ = await note(opened, AgentCast().plays(Clerk, AgentScript(asks, BACK)), Clerk)
        desk = opened.agency.desk(opened.mia)
        for proposal in await desk.proposals():
            assert proposal.sentence.startswith("Write on A-1: ")
            await desk.approve(proposal.id)
        await opened.agency.settle()
        assert (await desk.outcome(outcome.task)).done


# H6
async def test_an_answer_of_very_many_calls_is_answered_call_by_call(database: str, clock: TestClock) -> None:
    async with shop(database, [Free(), Clerk()], clock=clock) as opened:
        many = tuple(ModelCall(None, "look_up", json.dumps({"word": f"w{n}"})) for n in range(60))
        cast = AgentCast().plays(Free, AgentScript(BACK))

        def answer(model: str, request: ModelRequest) -> ModelAnswer:
            if len(request.messages) == 2:
                return ModelAnswer("", many, 100, 20)
            return cast.answer(model, request)

        outcome, heard = await note(opened, answer, Free)
        assert outcome.done
        assert heard.told(Free) == [f"W{n}" for n in range(60)]
