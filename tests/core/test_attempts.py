"""Attempts that fail, guards against going round in circles, and models that cannot be reached."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from handon import Agent, Guards, ModelAnswer, ModelRequest, Outcome, Skill, Status
from handon.testing import AgentCast, AgentScript, Says, TestClock, Trajectory, Unreachable
from tests.builders import Answer, Find, look_up, model, shop
from tests.staging import DONE, STAFF, Finder


class Count(Skill[str, Answer]):
    description = "Count something."
    tools = [look_up]

    def check(self, output: Answer) -> str | None:
        return None if output.number > 0 else "A count is at least 1."


class Counter(Agent):
    purpose = "You count."
    roles = {"helper"}
    skills = [Count()]


class PatientCounter(Counter):
    stuck_after = 4


class AskingCounter(Counter):
    consults = "Senior"


NOTHING = Says.hand_back(Answer(number=0))
MISFIT = Says.hand_back({"number": "many"})
THREE = Says.hand_back(Answer(number=3))
LOOKS = Says.tool(look_up, {"word": "x"})


async def count(
    database: str, *turns: Any, agent: type[Agent] = Counter, **settings: Any
) -> tuple[Outcome[Answer], list[str]]:
    """What came of a count whose model says these turns, and everything that was said."""
    models = [model(), model("Senior", most=100)]
    async with shop(database, [agent()], models=models, **settings) as at:
        at.agency.script(AgentCast().plays(agent, AgentScript(*turns).advises("Senior", "Count again.")))
        outcome = await at.agency.desk(at.mia).of(agent).do(Count(), "the leaves")
        return outcome, await Trajectory(at.agency, outcome.task).said()


# E6
async def test_a_result_of_the_wrong_type_is_not_taken_and_the_model_is_told_field_by_field(database: str) -> None:
    outcome, said = await count(database, MISFIT, THREE)
    assert outcome.done and outcome.result == Answer(number=3)
    [told] = [text for text in said if text.startswith("That does not fit.")]
    assert "number: " in told


# E6
async def test_a_result_that_fails_the_skills_own_check_is_not_taken_and_the_model_is_told_why(database: str) -> None:
    outcome, said = await count(database, NOTHING, THREE)
    assert outcome.done
    assert "That does not fit. A count is at least 1." in said


# E6
async def test_two_failed_attempts_in_a_row_end_the_piece_as_failed_and_say_what_was_wrong(database: str) -> None:
    outcome, _ = await count(database, NOTHING, MISFIT)
    assert outcome.status is Status.FAILED
    assert outcome.why.startswith("It failed 2 times in a row. That does not fit. number: ")


# E6
async def test_an_agent_may_be_given_more_attempts(database: str) -> None:
    outcome, _ = await count(database, NOTHING, MISFIT, NOTHING, THREE, agent=PatientCounter)
    assert outcome.done


# E6
async def test_any_success_in_between_begins_the_count_anew(database: str) -> None:
    outcome, _ = await count(database, NOTHING, LOOKS, NOTHING, Says.tool(look_up, {"word": "y"}), THREE)
    assert outcome.done


# E6
async def test_a_tool_that_did_not_work_in_between_does_not(database: str) -> None:
    outcome, _ = await count(database, NOTHING, Says.tool(look_up, {"wort": "x"}), NOTHING)
    assert outcome.status is Status.FAILED


# E6
async def test_a_turn_in_which_nothing_is_called_is_a_failed_attempt(database: str) -> None:
    outcome, said = await count(database, Says.text("Three, I think."), THREE)
    assert outcome.done
    assert any("call hand_back" in text for text in said)
    outcome, _ = await count(database, Says.text("Three, I think."), Says.text("Three."))
    assert outcome.status is Status.FAILED


# E6, C3
async def test_an_agent_that_consults_is_advised_once_before_it_fails(database: str) -> None:
    outcome, said = await count(database, NOTHING, NOTHING, THREE, agent=AskingCounter)
    assert outcome.done
    assert sum("Count again." in text for text in said) == 1
    outcome, said = await count(database, NOTHING, NOTHING, NOTHING, agent=AskingCounter)
    assert outcome.status is Status.FAILED
    assert sum("Count again." in text for text in said) == 1


# E6
async def test_a_check_that_breaks_is_a_failed_attempt_and_not_the_end_of_the_run(database: str) -> None:
    class Breaks(Count):
        def check(self, output: Answer) -> str | None:
            return None if 6 % output.number == 0 else "No."

    class Breaker(Counter):
        skills = [Breaks()]

    async with shop(database, [Breaker()]) as at:
        at.agency.script(AgentCast().plays(Breaker, AgentScript(NOTHING, THREE)))
        outcome = await at.agency.desk(at.mia).of(Breaker).do(Breaks(), "the leaves")
        assert outcome.done
        assert any("could not be checked" in text for text in await Trajectory(at.agency, outcome.task).said())


# E7
@pytest.mark.parametrize(("turns", "status"), [(3, Status.STOPPED), (4, Status.DONE)])
async def test_a_piece_has_so_many_turns_and_no_more(database: str, turns: int, status: Status) -> None:
    looks = [Says.tool(look_up, {"word": str(n)}) for n in range(3)]
    outcome, _ = await count(database, *looks, THREE, guards=Guards(turns=turns))
    assert outcome.status is status
    if status is Status.STOPPED:
        assert "3 turns" in outcome.why


# E7
async def test_turns_are_forty_where_nobody_says_otherwise(database: str) -> None:
    looks = [Says.tool(look_up, {"word": str(n)}) for n in range(40)]
    outcome, _ = await count(database, *looks)
    assert (outcome.status, "40 turns" in outcome.why) == (Status.STOPPED, True)


# E7
async def test_the_same_call_four_times_in_a_row_stops_the_piece_and_says_which(database: str) -> None:
    outcome, said = await count(database, LOOKS, LOOKS, LOOKS, LOOKS)
    assert outcome.status is Status.STOPPED
    assert outcome.why == "It asked for the same 4 times in a row: look_up."
    assert said.count("X") == 3, "the fourth was not run"


# E7
async def test_the_same_call_three_times_in_a_row_or_with_others_between_is_let_be(database: str) -> None:
    other = Says.tool(look_up, {"word": "y"})
    outcome, _ = await count(database, LOOKS, LOOKS, LOOKS, other, LOOKS, LOOKS, LOOKS, THREE)
    assert outcome.done


# E7
async def test_the_same_tool_with_other_arguments_is_another_call(database: str) -> None:
    outcome, _ = await count(database, *[Says.tool(look_up, {"word": str(n)}) for n in range(6)], THREE)
    assert outcome.done


# E7
async def test_an_agents_own_guards_count_before_the_agencys(database: str) -> None:
    class Brief(Counter):
        guards = Guards(turns=2)

    looks = [Says.tool(look_up, {"word": str(n)}) for n in range(2)]
    outcome, _ = await count(database, *looks, agent=Brief)
    assert (outcome.status, "2 turns" in outcome.why) == (Status.STOPPED, True)


# E7
@pytest.mark.parametrize(("minutes", "status"), [(61, Status.STOPPED), (59, Status.DONE)])
async def test_a_piece_that_took_longer_than_it_may_is_stopped(
    database: str, clock: TestClock, minutes: int, status: Status
) -> None:
    cast = AgentCast()

    async def slowly(model: str, request: ModelRequest) -> ModelAnswer:
        if request.turn == 1:
            await clock.advance(timedelta(minutes=minutes))
        return cast.answer(model, request)

    class Looker(Finder):
        skills = [Count()]

    guards = Guards(wall_clock=timedelta(hours=1))
    async with shop(database, [Looker()], clock=clock, guards=guards, abandoned_after=timedelta(0)) as at:
        cast.plays(Looker, AgentScript(LOOKS, THREE))
        at.agency.script(slowly)
        outcome = await at.agency.desk(at.mia).of(Looker).do(Count(), "it")
        assert outcome.status is status
        assert ("1:00:00" in outcome.why) is (status is Status.STOPPED)


# E7, P3
async def test_what_a_piece_waits_for_a_person_is_not_its_own_time(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock, guards=Guards(wall_clock=timedelta(hours=1))) as at:
        at.agency.script(AgentCast().plays(Finder, AgentScript(Says.ask("Which?"), Says.ask("Sure?"), DONE)))
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Finder).do(Find(), "it")
        for _ in range(2):
            await clock.advance(timedelta(days=1))
            [question] = await desk.questions()
            await desk.answer(question.id, "The left one.")
            outcome = await desk.stands(outcome.task)
        assert outcome.done


async def reach(database: str, fails: int, tries: int) -> tuple[Outcome[Answer], int]:
    """A find whose model is out of reach so often, and is tried so often; answers how often it was."""
    tried = 0

    def answer(name: str, request: ModelRequest) -> ModelAnswer:
        nonlocal tried
        tried += 1
        if tried <= fails:
            raise Unreachable("down")
        return DONE.answer()

    async with shop(database, STAFF, model_tries=tries, model_pause=timedelta(milliseconds=1)) as at:
        at.agency.script(answer)
        return await at.agency.desk(at.mia).of(Finder).do(Find(), "it"), tried


# E8
async def test_a_model_that_cannot_be_reached_is_tried_again_and_the_work_goes_on(database: str) -> None:
    outcome, tried = await reach(database, fails=1, tries=3)
    assert (outcome.done, tried, outcome.cost_micros) == (True, 2, 200)


# E8
async def test_a_model_that_is_never_reached_fails_the_piece_which_says_so(database: str) -> None:
    outcome, tried = await reach(database, fails=9, tries=2)
    assert (outcome.status, tried, outcome.cost_micros) == (Status.FAILED, 2, 0)
    assert "its model could not be reached" in outcome.why.lower()
