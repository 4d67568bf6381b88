"""Consulting a more capable model: one question, metered like any call; no conversation, no tools, no rights."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from handon import (
    Agent,
    HelpFrom,
    HelpReason,
    HelpStatus,
    ModelAnswer,
    ModelCall,
    ModelRequest,
    Policies,
    Skill,
    TraceKind,
)
from handon.testing import AgentCast, AgentScript, Says, TestClock, Trajectory, Unreachable
from tests.builders import POLICIES, Answer, Heard, Shop, hears, is_master, look_up, model, shop

BACK = Says.hand_back(Answer(text="done", number=1))
ADVICE = "Take the black one."
SENIOR = 100 * 10 + 20 * 50  # what an answer of the senior model costs, in micros


class Weigh(Skill[str, Answer]):
    description = "Weigh something."
    tools = [look_up]

    def check(self, output: Answer) -> str | None:
        return None if output.number > 0 else "It weighs something."


class Weigher(Agent):
    purpose = "You weigh."
    roles = {"helper"}
    skills = [Weigh()]
    consults = "Senior"


class Plain(Weigher):
    consults = None


SETTINGS: dict[str, Any] = {
    "models": [model(), model("Senior", input=10, output=50)],
    "task_budget": Decimal("0.2"),
}


async def weigh(
    opened: Shop, *turns: Any, advice: Any = ADVICE, agent: type[Agent] = Weigher, **given: Any
) -> tuple[Any, Heard]:
    script = AgentScript(*turns)
    heard = hears(opened.agency, AgentCast().plays(agent, script.advises("Senior", advice)))
    outcome = await opened.agency.desk(opened.mia).of(agent).do(Weigh(), "a book", **given)
    return outcome, heard


# C1
async def test_an_agent_that_names_no_model_to_consult_asks_none(database: str, clock: TestClock) -> None:
    async with shop(database, [Weigher(), Plain()], clock=clock, **SETTINGS) as opened:
        wrong = Says.hand_back(Answer())
        outcome, heard = await weigh(opened, Says.consult("Which?"), wrong, wrong, agent=Plain)
        assert outcome.status == "Failed"
        assert "consult" not in heard.all[0].tools
        assert heard.told(Plain)[0].startswith("There is no tool consult.")
        assert {asked.model for asked in heard.all} == {"Everyday"}
        assert await opened.agency.desk(opened.mia).help_of(outcome.task) == []


# C2, C5, C6, C7
async def test_a_model_that_chooses_to_consult_is_given_the_advice(database: str, clock: TestClock) -> None:
    async with shop(database, [Weigher()], clock=clock, **SETTINGS) as opened:
        events: list[Any] = []
        opened.agency.events.subscribe("agent_asked_for_help", events.append)
        outcome, heard = await weigh(opened, Says.consult("Which ink?", "For the spine."), BACK)
        assert outcome.done
        assert "consult" in heard.all[0].tools
        assert heard.all[2].told == [ADVICE]

        [asked] = [asked for asked in heard.all if asked.model == "Senior"]
        assert asked.purpose == "consult"
        assert asked.tools == {}
        assert [message.role for message in asked.messages] == ["system", "user"]
        assert asked.messages[1].text == "Which ink?\n\nFor the spine."
        assert not any("book" in message.text or "weigh" in message.text.lower() for message in asked.messages)

        desk = opened.agency.desk(opened.mia)
        [help] = await desk.help_of(outcome.task)
        assert (help.help_from, help.why, help.status) == (HelpFrom.MODEL, HelpReason.CHOSEN, HelpStatus.ANSWERED)
        assert (help.asked_model, help.question, help.context) == ("Senior", "Which ink?", "For the spine.")
        assert (help.answer, help.cost_micros, help.piece) == (ADVICE, SENIOR, outcome.task)
        assert outcome.cost_micros == 2 * 200 + SENIOR
        assert await Trajectory(opened.agency, outcome.task).models() == ["Everyday", "Senior", "Everyday"]
        [line] = [line for line in await desk.trace_of(outcome.task) if line.kind is TraceKind.CONSULTED]
        assert (line.summary, line.micros) == ("Weigher consulted Senior: answered.", SENIOR)
        assert [(event["help"], event["whole"]) for event in events] == [(help.id.hex, outcome.task.hex)]


# C3, E6
async def test_work_that_is_stuck_consults_once_by_itself_and_goes_on(database: str, clock: TestClock) -> None:
    async with shop(database, [Weigher()], clock=clock, **SETTINGS) as opened:
        wrong = Says.hand_back(Answer())
        outcome, heard = await weigh(opened, wrong, wrong, BACK)
        assert outcome.done
        [help] = await opened.agency.desk(opened.mia).help_of(outcome.task)
        assert (help.why, help.status) == (HelpReason.STUCK, HelpStatus.ANSWERED)
        assert "It weighs something." in help.question
        told = heard.all[-1].told[0]
        assert "It weighs something." in told
        assert told.endswith(f"Advice: {ADVICE}")


# C3
async def test_work_that_fails_again_after_the_advice_ends_as_failed(database: str, clock: TestClock) -> None:
    async with shop(database, [Weigher()], clock=clock, **SETTINGS) as opened:
        outcome, heard = await weigh(opened, *[Says.hand_back(Answer())] * 3)
        assert outcome.status == "Failed"
        assert "It failed 3 times in a row." in outcome.why
        assert [asked.model for asked in heard.all].count("Senior") == 1


# C3, E6
async def test_a_success_in_between_begins_the_count_anew(database: str, clock: TestClock) -> None:
    async with shop(database, [Weigher()], clock=clock, **SETTINGS) as opened:
        wrong = Says.hand_back(Answer())
        outcome, heard = await weigh(opened, wrong, Says.tool(look_up, {"word": "ink"}), wrong, BACK)
        assert outcome.done
        assert {asked.model for asked in heard.all} == {"Everyday"}


# C6
async def test_a_consult_that_does_not_fit_the_money_is_refused_and_the_work_goes_on(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Weigher()], clock=clock, **SETTINGS) as opened:
        outcome, heard = await weigh(opened, Says.consult("Which?"), BACK, limit=Decimal("0.02"))
        assert outcome.done
        assert {asked.model for asked in heard.all} == {"Everyday"}  # never another, cheaper one
        [help] = await opened.agency.desk(opened.mia).help_of(outcome.task)
        assert (help.status, help.cost_micros, help.answer) == (HelpStatus.REFUSED, 0, "")
        assert heard.told(Weigher)[0].startswith("Senior was not asked: it could have cost EUR 0.05")
        [node] = await opened.agency.desk(opened.mia).work_tree(outcome.task)
        assert (node.reserved_micros, node.own_micros) == (0, 400)


# C6, M10
@pytest.mark.parametrize(("error", "cost"), [(Unreachable("down"), 0), (RuntimeError("half an answer"), None)])
async def test_a_consulted_model_that_gives_no_answer_is_unavailable_and_the_work_goes_on(
    database: str, clock: TestClock, error: Exception, cost: int | None
) -> None:
    async with shop(database, [Weigher()], clock=clock, model_tries=1, **SETTINGS) as opened:
        outcome, heard = await weigh(opened, Says.consult("Which?"), BACK, advice=error)
        assert outcome.done
        [help] = await opened.agency.desk(opened.mia).help_of(outcome.task)
        assert help.status is HelpStatus.UNAVAILABLE
        assert (help.cost_micros == 0) is (cost == 0)  # what had left is charged as reserved
        assert outcome.cost_micros == 400 + help.cost_micros
        assert heard.told(Weigher) == ["Senior could not be reached. Go on without."]
        [node] = await opened.agency.desk(opened.mia).work_tree(outcome.task)
        assert node.reserved_micros == 0


# C6, R9
@pytest.mark.parametrize("allowed", [True, False])
async def test_the_app_says_for_whom_its_agents_may_consult(database: str, clock: TestClock, allowed: bool) -> None:
    policies = Policies(
        uses_agents=POLICIES.uses_agents,
        supervises_agents=POLICIES.supervises_agents,
        audits_agents=POLICIES.audits_agents,
        reads_model_usage=POLICIES.reads_model_usage,
        manages_model_spend=POLICIES.manages_model_spend,
        agents_may_consult=~is_master if allowed else is_master,
    )
    async with shop(database, [Weigher()], clock=clock, **SETTINGS, policies=policies) as opened:
        outcome, heard = await weigh(opened, Says.consult("Which?"), BACK)
        assert outcome.done
        [help] = await opened.agency.desk(opened.mia).help_of(outcome.task)
        assert help.status is (HelpStatus.ANSWERED if allowed else HelpStatus.REFUSED)
        assert ("Senior" in {asked.model for asked in heard.all}) is allowed
        if not allowed:
            assert heard.told(Weigher) == [
                "Senior was not asked: consulting is not allowed for this work. Go on without."
            ]


# C2, H5
async def test_a_consult_stands_among_other_calls_of_a_turn(database: str, clock: TestClock) -> None:
    async with shop(database, [Weigher()], clock=clock, **SETTINGS) as opened:
        turn = Says.together(
            Says.tool(look_up, {"word": "a"}), Says.consult("Which?"), Says.consult("How much?"), Says.ask("Which ink?")
        )
        outcome, heard = await weigh(opened, turn, BACK)
        assert outcome.waiting
        desk = opened.agency.desk(opened.mia)
        [question] = await desk.questions()
        await desk.answer(question.id, "black")
        await opened.agency.settle()
        assert heard.all[-1].told == ["A", ADVICE, ADVICE, "black"]
        assert [help.help_from for help in await desk.help_of(outcome.task)].count(HelpFrom.MODEL) == 2


# C2
@pytest.mark.parametrize("arguments", ["{}", "null", '{"question":" ","context":"x"}', '{"question":'])
async def test_a_consult_without_a_question_asks_nobody(database: str, clock: TestClock, arguments: str) -> None:
    async with shop(database, [Weigher()], clock=clock, **SETTINGS) as opened:
        outcome, heard = await weigh(opened, Says.raw("consult", arguments), BACK)
        assert outcome.done
        assert {asked.model for asked in heard.all} == {"Everyday"}


# C3, C6
async def test_stuck_work_whose_consult_is_refused_is_told_so_and_has_one_more_try(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Weigher()], clock=clock, **SETTINGS) as opened:
        wrong = Says.hand_back(Answer())
        outcome, heard = await weigh(opened, wrong, wrong, BACK, limit=Decimal("0.02"))
        assert outcome.done
        assert "It weighs something." in heard.told(Weigher)[-1]
        assert "Senior was not asked" in heard.told(Weigher)[-1]


# C5
async def test_what_a_consulted_model_calls_is_not_done(database: str, clock: TestClock) -> None:
    cast = AgentCast().plays(Weigher, AgentScript(Says.consult("How heavy?"), BACK))

    def answer(name: str, request: ModelRequest) -> ModelAnswer:
        if name == "Senior":
            calls = (ModelCall("1", "look_up", '{"word":"x"}'), ModelCall("2", "hand_back", '{"text":"mine"}'))
            return ModelAnswer("Rather heavy.", calls, 100, 20)
        return cast.answer(name, request)

    async with shop(database, [Weigher()], clock=clock, **SETTINGS) as opened:
        heard = hears(opened.agency, answer)
        outcome = await opened.agency.desk(opened.mia).of(Weigher).do(Weigh(), "it")
        assert outcome.done
        assert outcome.result.text != "mine"
        assert heard.told(Weigher) == ["Rather heavy."]
        kinds = [line.kind for line in await opened.agency.desk(opened.mia).trace_of(outcome.task)]
        assert TraceKind.TOOL_RAN not in kinds
