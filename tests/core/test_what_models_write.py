"""Anything a model may write as a call: nothing of what does not fit is done, and the work goes on."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from pydantic import BaseModel

from handon import Agent, Delegation, ModelAnswer, ModelCall, ModelRequest, Permits, Skill, Specialist, query
from handon.testing import AgentCast, AgentScript, Says, TestClock, Trajectory
from tests.builders import Answer, Clerk, Find, Note, Shop, hears, look_up, model, note_shelf, shop

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


class Exact(BaseModel, extra="forbid"):
    text: str
    weight: float = 0.0


class Reckon(Skill[str, Exact]):
    tools = [look_up, note_shelf]


class Asker(Agent):
    """May write in every way there is: to a tool, to another agent, to a person, to another model, and back."""

    roles = {"helper"}
    skills = [Reckon()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(Clerk, Find()), Specialist.of(Clerk, Note())])
    consults = "Senior"


MODELS = [model(input=0), model("Senior", input=0, most=100)]
EVERYWHERE = ["look_up", "note_shelf", "hand_to_Clerk_Find", "hand_to_Clerk_Note", "hand_back", "consult", "ask_person"]
FIELDS = ["word", "shelf", "note", "result", "id", "text", "question", "choices"]


def filled(value: str) -> str:
    """An object that has this for every field that any of them takes."""
    return "{" + ",".join(f'"{field}":{value}' for field in FIELDS) + "}"


EVIL = [
    *BROKEN[:-2],
    *map(filled, ("NaN", "Infinity", "-Infinity", "1e400", "[[]]", '{"a":{}}')),
    filled("1" + "0" * 5_000),
    filled("[" * 5_000 + "]" * 5_000),
    filled('{"a":' * 300 + "1" + "}" * 300),
    '{"\\u0000":1}',
    '{"\\ud83d":"\\ud83d"}',
    '{"a":"\x00"}',
    '{"a":"\ud83d"}',
    '{"a":1,"a":2}',
    json.dumps({"a": "x" * 1_000_000}),
    json.dumps({f"field {n}": n for n in range(5_000)}),
    '\ufeff{"word":"x"}',
    "```json\n{}\n```",
]


# H4, P5, P8, E6, C2
@pytest.mark.parametrize("seam", EVERYWHERE)
async def test_no_json_that_a_model_writes_anywhere_does_anything_or_ends_the_work(
    database: str, clock: TestClock, seam: str
) -> None:
    async with shop(database, [Asker(), Clerk()], clock=clock, models=MODELS) as opened:
        desk = opened.agency.desk(opened.mia)
        for text in EVIL:
            script = AgentScript(Says.raw(seam, text), Says.hand_back(Exact(text="done")))
            heard = hears(opened.agency, AgentCast().plays(Asker, script))
            outcome = await desk.of(Asker).do(Reckon(), "it")
            assert outcome.done, f"{text[:80]} was the end of it: {outcome.why or outcome.waiting_on}"
            assert len(heard.told(Asker)) == 1
            assert all_answered(heard, Asker)
            assert await desk.handed_on_by(outcome.task) == []
            assert (await desk.verify_trace(outcome.task)).intact
            assert len(await desk.help_of(outcome.task)) == 0
        assert (await opened.the_shelf()).count == 0
        assert await desk.waiting_count() == 0


TOO_DEEP = '{"word":"\\ud83d","a":' + "[" * 5_000 + "]" * 5_000 + "}"


# H4, E6
@pytest.mark.parametrize("seam", [seam for seam in EVERYWHERE if seam != "hand_back"])
async def test_nesting_too_deep_to_be_read_is_told_and_not_the_end_of_the_work(
    database: str, clock: TestClock, seam: str
) -> None:
    async with shop(database, [Asker(), Clerk()], clock=clock, models=MODELS) as opened:
        script = AgentScript(Says.raw(seam, TOO_DEEP), Says.hand_back(Exact(text="done")))
        heard = hears(opened.agency, AgentCast().plays(Asker, script))
        outcome = await opened.agency.desk(opened.mia).of(Asker).do(Reckon(), "it")
        assert outcome.done
        assert len(heard.told(Asker)) == 1


# P5, H4
async def test_of_a_field_written_twice_the_last_is_shown_and_run_and_handed_on_and_handed_back(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Asker(), Clerk()], clock=clock, models=MODELS) as opened:
        twice = f'{{"note":"first","shelf":"{opened.shelf}","note":"last"}}'
        cast = AgentCast().plays(
            Asker,
            AgentScript(
                Says.together(
                    Says.raw("hand_to_Clerk_Find", '{"result":"first","result":"last"}'),
                    Says.raw("hand_to_Clerk_Note", f'{{"id":"{"0" * 32}","id":"{opened.shelf}"}}'),
                ),
                Says.raw("hand_back", '{"text":"first","text":"last"}'),
            ),
        )
        cast.plays(Clerk, AgentScript(BACK), piece=1)
        cast.plays(Clerk, AgentScript(Says.raw("note_shelf", twice), BACK), piece=2)
        heard = hears(opened.agency, cast)
        desk = opened.agency.desk(opened.mia)
        outcome = await desk.of(Asker).do(Reckon(), "it")
        [proposal] = await desk.proposals()
        assert proposal.sentence == "Write on A-1: last"
        await desk.approve(proposal.id)
        await opened.agency.settle()
        assert (await opened.the_shelf()).note == "last"
        assert heard.of(Clerk)[0].brief == '"last"'
        assert (await desk.outcome(outcome.task)).result == Exact(text="last")


# P5, H3
async def test_a_megabyte_is_kept_shown_approved_handed_on_and_handed_back_whole(
    database: str, clock: TestClock
) -> None:
    long = "Füße " * 200_000
    limit = Decimal(10)
    async with shop(database, [Asker(), Clerk()], clock=clock, models=MODELS, task_budget=limit) as opened:
        cast = AgentCast().plays(
            Asker, AgentScript(Says.hand_to(Clerk, Find(), long), Says.hand_back(Exact(text=long)))
        )
        cast.plays(Clerk, AgentScript(Says.ask(long), Says.hand_back(Answer(text=long))))
        heard = hears(opened.agency, cast)
        desk = opened.agency.desk(opened.mia)
        outcome = await desk.of(Asker).do(Reckon(), "it")
        [question] = await desk.questions()
        assert question.question == long.strip()
        await desk.answer(question.id, long)
        await opened.agency.settle()
        assert json.loads(heard.of(Clerk)[0].brief) == long
        assert heard.told(Clerk) == [long]
        assert json.loads(heard.told(Asker)[0])["text"] == long
        assert (await desk.outcome(outcome.task)).result == Exact(text=long)
        assert (await desk.verify_trace(outcome.task)).intact


# E6, H4
@pytest.mark.parametrize("number", ["1e400", '"NaN"', '"-Infinity"'])
async def test_a_number_that_is_none_is_a_failed_attempt_however_it_is_written(
    database: str, clock: TestClock, number: str
) -> None:
    async with shop(database, [Asker(), Clerk()], clock=clock, models=MODELS) as opened:
        wrong = Says.raw("hand_back", f'{{"text":"x","weight":{number}}}')
        hears(opened.agency, AgentCast().plays(Asker, AgentScript(wrong, Says.hand_back(Exact(text="y", weight=1.5)))))
        desk = opened.agency.desk(opened.mia)
        task = await desk.of(Asker).start(Reckon(), "it")
        await opened.agency.settle()
        assert (await desk.outcome(task)).result == Exact(text="y", weight=1.5)


@query("Weigh")
def weigh(grams: float, more: dict[str, Any]) -> str:
    return f"{grams} {more}"


class Weigh(Skill[str, Answer]):
    tools = [weigh]


class Weigher(Agent):
    roles = {"helper"}
    skills = [Weigh()]


# H4
@pytest.mark.parametrize("grams", ["1e400", '"NaN"', '"-Infinity"', '1, "more": {"a": [1e400]}'])
async def test_a_number_that_is_none_reaches_no_tool(database: str, clock: TestClock, grams: str) -> None:
    async with shop(database, [Weigher()], clock=clock) as opened:
        wrong = Says.raw("weigh", f'{{"more":{{}},"grams":{grams}}}')
        right = Says.raw("weigh", '{"more":{},"grams":1.5}')
        heard = hears(opened.agency, AgentCast().plays(Weigher, AgentScript(wrong, right, BACK)))
        assert (await opened.agency.desk(opened.mia).of(Weigher).do(Weigh(), "it")).done
        told = heard.told(Weigher)
        assert "inf" not in told[0]
        assert told[0] != told[1] == "1.5 {}"
        assert "number" in told[0]
