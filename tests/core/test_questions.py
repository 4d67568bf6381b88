"""Questions: an agent asks a person, and goes on with the answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from handon import AlreadyDecided, BadInput, HelpFrom, HelpStatus, NotAllowed, NotFound, NotWaiting, Question, TraceKind
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import Answer, Clerk, Find, Head, Oversee, Shop, hears, look_up, shop

BACK = Says.hand_back(Answer(text="done"))


async def asked(opened: Shop, *turns: Any) -> tuple[Any, Any, list[Question]]:
    heard = hears(opened.agency, AgentCast().plays(Clerk, AgentScript(*turns, BACK)))
    desk = opened.agency.desk(opened.mia)
    outcome = await desk.of(Clerk).do(Find(), "ink")
    return outcome, heard, await desk.questions()


# P8
@pytest.mark.parametrize("answer", ["The black one.", "black", "Neither: 墨, please.\nSoon."])
async def test_an_answer_in_own_words_or_by_a_choice_reaches_the_model_as_it_is(
    database: str, clock: TestClock, answer: str
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        ask = Says.ask("Which ink?", ["black", "red"], context="For the spine.")
        outcome, heard, [question] = await asked(opened, ask)
        assert (outcome.waiting, outcome.waiting_on) == (True, "an answer from Mia")
        assert (question.question, question.context) == ("Which ink?", "For the spine.")
        assert (question.choices, question.asked_of_name) == (("black", "red"), "Mia")
        desk = opened.agency.desk(opened.mia)
        said = await desk.answer(question.id, answer)
        assert (said.status, said.answer, said.answered_by_name) == (HelpStatus.ANSWERED, answer, "Mia")
        await opened.agency.settle()
        assert heard.told(Clerk) == [answer]
        assert (await desk.outcome(outcome.task)).done
        assert await desk.questions() == []


# P8
@pytest.mark.parametrize(
    ("reason", "told"),
    [("", "Mia declined to answer."), ("Ask Noor.", "Mia declined to answer. The reason: Ask Noor.")],
)
async def test_a_person_may_decline_and_the_work_goes_on(
    database: str, clock: TestClock, reason: str, told: str
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        outcome, heard, [question] = await asked(opened, Says.ask("Which ink?"))
        declined = await opened.agency.desk(opened.mia).decline(question.id, reason)
        assert declined.declined
        await opened.agency.settle()
        assert heard.told(Clerk) == [told]
        assert (await opened.agency.desk(opened.mia).outcome(outcome.task)).done


# P8
async def test_an_empty_answer_is_none(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        _, _, [question] = await asked(opened, Says.ask("Which ink?"))
        with pytest.raises(BadInput, match="Write an answer"):
            await opened.agency.desk(opened.mia).answer(question.id, "  \n")
        assert len(await opened.agency.desk(opened.mia).questions()) == 1


# P8
async def test_a_question_is_answered_once(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        await opened.agency.stand_in(opened.noor, opened.mia)
        _, heard, [question] = await asked(opened, Says.ask("Which ink?"))
        desks = [opened.agency.desk(person) for person in (opened.mia, opened.noor)]
        both = await asyncio.gather(
            desks[0].answer(question.id, "black"), desks[1].decline(question.id), return_exceptions=True
        )
        await opened.agency.settle()
        [won] = [one for one in both if isinstance(one, Question)]
        [lost] = [one for one in both if not isinstance(one, Question)]
        assert isinstance(lost, AlreadyDecided)
        assert lost.by == won.answered_by_name
        assert len(heard.told(Clerk)) == 1


# P8, P9
async def test_only_whoever_is_asked_answers(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        ann = await opened.agency.add_person("ann@bindery.test", "Ann", roles=["binder"])
        _, _, [question] = await asked(opened, Says.ask("Which ink?"))
        assert await opened.agency.desk(opened.noor).questions() == []
        with pytest.raises(NotAllowed):
            await opened.agency.desk(opened.noor).answer(question.id, "red")
        with pytest.raises(NotFound):
            await opened.agency.desk(ann).answer(question.id, "red")
        with pytest.raises(NotAllowed):
            await opened.agency.desk(None).answer(question.id, "red")
        await opened.agency.stand_in(ann, opened.mia)
        assert (await opened.agency.desk(ann).answer(question.id, "red")).answered_by_name == "Ann"


# P8, R10
async def test_whoever_was_deactivated_answers_nothing(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        _, _, [question] = await asked(opened, Says.ask("Which ink?"))
        await opened.agency.deactivate(opened.mia)
        with pytest.raises((NotAllowed, NotFound)):
            await opened.agency.desk(opened.mia).answer(question.id, "red")


# P8
async def test_one_agent_that_asks_twice_in_a_row_is_given_each_its_own_answer(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        _, heard, [first] = await asked(opened, Says.ask("Which ink?"), Says.ask("How much?"))
        desk = opened.agency.desk(opened.mia)
        await desk.answer(first.id, "black")
        await opened.agency.settle()
        [second] = await desk.questions()
        assert second.id != first.id
        await desk.answer(second.id, "a bottle")
        await opened.agency.settle()
        assert heard.told(Clerk) == ["black", "a bottle"]


# P8
async def test_two_questions_of_one_turn_are_answered_in_any_order_and_a_tool_beside_them_runs_once(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        turn = Says.together(Says.ask("Which ink?"), Says.tool(look_up, {"word": "ink"}), Says.ask("How much?"))
        _, heard, questions = await asked(opened, turn)
        which, much = sorted(questions, key=lambda question: question.question, reverse=True)
        desk = opened.agency.desk(opened.mia)
        await desk.answer(much.id, "a bottle")
        await opened.agency.settle()
        assert [left.id for left in await desk.questions()] == [which.id]
        await desk.answer(which.id, "black")
        await opened.agency.settle()
        assert heard.told(Clerk) == ["black", "INK", "a bottle"]


# P8, P2
async def test_two_pieces_of_one_agent_are_each_given_the_answer_to_their_own_question(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Head(), Clerk()], clock=clock) as opened:
        both = Says.together(Says.hand_to(Clerk, Find(), "ink"), Says.hand_to(Clerk, Find(), "glue"))
        cast = AgentCast().plays(Head, AgentScript(both, BACK))

        def answer(model: str, request: Any) -> Any:
            if request.agent == "Head":
                return cast.answer(model, request)
            word = "ink" if '"ink"' in request.messages[1].text else "glue"
            if len(request.messages) == 2:
                return Says.ask(f"Which {word}?").answer()
            return Says.hand_back(Answer(text=f"{word}: {request.messages[-1].results[0].text}")).answer()

        heard = hears(opened.agency, answer)
        desk = opened.agency.desk(opened.mia)
        await desk.of(Head).do(Oversee(), "it")
        questions = {question.question: question for question in await desk.questions()}
        assert {question.asked_through for question in questions.values()} == {"Clerk, working for Head"}
        await desk.answer(questions["Which glue?"].id, "bone")
        await desk.answer(questions["Which ink?"].id, "black")
        await opened.agency.settle()
        assert [Answer.model_validate_json(told).text for told in heard.told(Head)] == ["ink: black", "glue: bone"]


# P8, E4
async def test_a_question_of_work_that_has_ended_is_closed(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        outcome, _, [question] = await asked(opened, Says.ask("Which ink?"))
        desk = opened.agency.desk(opened.mia)
        await desk.stop(outcome.task)
        with pytest.raises(NotWaiting):
            await desk.answer(question.id, "black")
        assert await desk.questions() == []
        assert (await desk.question(question.id)).status is HelpStatus.CLOSED


# P8
async def test_a_choice_may_say_what_follows_and_is_answered_by_itself(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        ask = Says.ask("Which ink?", [("black", "It is there."), "red", ("blue", " ")])
        outcome, heard, [question] = await asked(opened, ask)
        assert question.choices == ("black", "red", "blue") and question.consequences == ("It is there.", "", "")
        desk = opened.agency.desk(opened.mia)
        [line] = [line for line in await desk.trace_of(outcome.task) if line.kind is TraceKind.ASKED]
        said = json.loads(line.payload)
        assert said["choices"] == ["black", "red", "blue"] and said["consequences"] == {"black": "It is there."}
        await desk.answer(question.id, "black")
        await opened.agency.settle()
        assert heard.told(Clerk) == ["black"]


# P8
@pytest.mark.parametrize(
    "choices", ['[{"consequence":"x"}]', '[{"choice":["x"]}]', '[{"choice":"x","consequence":1}]', "[null]", "{}x"]
)
async def test_choices_that_are_none_are_told_to_the_model(database: str, clock: TestClock, choices: str) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        ask = Says.raw("ask_person", f'{{"question":"Which?","choices":{choices}}}')
        outcome, heard, questions = await asked(opened, ask)
        assert (outcome.done, questions, len(heard.told(Clerk))) == (True, [], 1)


# P8
@pytest.mark.parametrize("arguments", ['{"question":""}', "{}", '{"question":"Which?","choices":"black"}', "[]"])
async def test_a_question_that_is_none_is_not_put_to_anybody(database: str, clock: TestClock, arguments: str) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        outcome, heard, questions = await asked(opened, Says.raw("ask_person", arguments))
        assert (outcome.done, questions, len(heard.told(Clerk))) == (True, [], 1)


# P8
async def test_an_agent_that_asks_nobody_is_offered_no_question(database: str, clock: TestClock) -> None:
    class Silent(Clerk):
        asks_people = False

    async with shop(database, [Silent(), Clerk()], clock=clock) as opened:
        for agent, offered in ((Silent, False), (Clerk, True)):
            heard = hears(opened.agency, AgentCast().plays(agent, AgentScript(BACK)))
            await opened.agency.desk(opened.mia).of(agent).do(Find(), "ink")
            assert ("ask_person" in heard.all[0].tools) is offered
        heard = hears(opened.agency, AgentCast().plays(Silent, AgentScript(Says.ask("Which?"), BACK)))
        assert (await opened.agency.desk(opened.mia).of(Silent).do(Find(), "ink")).done
        assert heard.told(Silent)[0].startswith("There is no tool ask_person.")


# C7, P8
async def test_a_question_is_a_help_row_and_an_event(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        events: list[Any] = []
        opened.agency.events.subscribe("agent_asked_for_help", events.append)
        outcome, _, [question] = await asked(opened, Says.ask("Which ink?"))
        [help] = await opened.agency.desk(opened.mia).help_of(outcome.task)
        assert (help.help_from, help.status, help.question) == (HelpFrom.PERSON, HelpStatus.WAITING, "Which ink?")
        assert [event["help"] for event in events] == [question.id.hex]
