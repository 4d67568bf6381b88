"""A typed decision, and what becomes of one that the agent is not sure enough of."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

import pytest

from handon import Agent, HandonError, HelpReason, HelpStatus, Status
from handon.testing import AgentCast, AgentScript, Says, Trajectory, Unreachable
from tests.builders import Find, model, shop

Urgency = Literal["today", "this week", "can wait"]


class Judge(Agent):
    purpose = "You judge."
    roles = {"helper"}
    skills = [Find()]
    consults = "Senior"
    confidence_floor = Decimal("0.8")


def judged(database, clock, **settings):
    senior = model("Senior", input=10, output=50)
    return shop(database, [Judge()], clock=clock, models=[model(), senior], task_budget=Decimal("0.2"), **settings)


async def decide(at, script, kind=Urgency):
    at.agency.script(AgentCast().plays(Judge, script))
    return await at.agency.desk(at.mia).of(Judge).decide(kind, "How urgent is it?", "A leak.")


# C4
async def test_a_decision_that_is_sure_enough_stands_and_is_metered_as_one(database, clock):
    async with judged(database, clock) as at:
        decision = await decide(at, AgentScript(Says.decide("this week", confidence="0.8")))
        assert (decision.value, decision.confidence) == ("this week", Decimal("0.8"))
        assert await Trajectory(at.agency, decision.task).models() == ["Everyday"]
        assert (await at.agency.desk(at.mia).piece(decision.task)).status is Status.DONE


# C4, C6, C7
async def test_one_under_the_floor_is_asked_again_and_the_consulted_models_answer_is_used(database, clock):
    async with judged(database, clock) as at:
        script = AgentScript(Says.decide("can wait", confidence="0.5")).decides("Senior", "today", confidence="0.6")
        decision = await decide(at, script)
        assert (decision.value, decision.confidence) == ("today", Decimal("0.6"))
        [help] = await at.agency.desk(at.mia).help_of(decision.task)
        assert (help.why, help.status) == (HelpReason.LOW_CONFIDENCE, HelpStatus.ANSWERED)
        assert (await at.agency.desk(at.mia).verify_trace(decision.task)).intact


# C4, C6
@pytest.mark.parametrize("trouble", ["unreachable", "no money", "no choice that fits"])
async def test_where_the_consulted_model_gives_no_choice_the_agents_own_stands(database, clock, trouble):
    settings = {"model_tries": 1}
    async with judged(database, clock, **settings) as at:
        script = AgentScript(Says.decide("can wait", confidence="0.5"))
        cast = AgentCast().plays(Judge, script.decides("Senior", "never", confidence="1"))

        def answer(name, request):
            if name == "Senior" and trouble == "unreachable":
                raise Unreachable("Senior is away")
            return cast.answer(name, request)

        at.agency.script(answer)
        limit = Decimal("0.01") if trouble == "no money" else None
        decision = await at.agency.desk(at.mia).of(Judge).decide(Urgency, "How urgent?", limit=limit)
        assert (decision.value, decision.confidence) == ("can wait", Decimal("0.5"))
        tree = await at.agency.desk(at.mia).work_tree(decision.task)
        assert tree[0].reserved_micros == 0


# C4, E6
async def test_a_decision_of_another_type_is_a_failed_attempt_and_the_model_is_told(database, clock):
    async with judged(database, clock) as at:
        script = AgentScript(Says.decide("soon", confidence="0.9"), Says.decide("today", confidence="0.9"))
        decision = await decide(at, script)
        assert decision.value == "today"
        assert any("value" in told for told in await Trajectory(at.agency, decision.task).said())


# C4, E6
async def test_one_that_is_never_decided_says_why(database, clock):
    class Alone(Judge):
        consults = None

    async with shop(database, [Alone()], clock=clock) as at:
        at.agency.script(AgentCast().plays(Alone, AgentScript(*[Says.decide("soon", confidence="2")] * 2)))
        with pytest.raises(HandonError, match="did not decide: It failed 2 times in a row"):
            await at.agency.desk(at.mia).of(Alone).decide(Urgency, "How urgent is it?")
