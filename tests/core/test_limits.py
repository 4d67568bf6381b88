"""Which limit a top piece opens with."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from handon import Agent, AgentLimits, Skill
from handon.testing import AgentCast, AgentScript, Says, Unreachable
from tests.builders import Answer, Find, look_up, shop

AGENCY = 50_000


# M7
@pytest.mark.parametrize(
    ("caller", "skill", "agent", "limit"),
    [
        (None, None, None, AGENCY),
        ("0.02", None, None, 20_000),
        ("0.2", None, None, 200_000),
        (None, "0.03", None, 30_000),
        (None, None, "0.2", 200_000),
        (None, "0.03", "0.2", 30_000),
        ("0.04", "0.3", "0.2", 40_000),
        ("0.4", "0.3", "0.2", 200_000),
    ],
)
async def test_the_least_that_anybody_names_holds_and_else_the_agencys(database, clock, caller, skill, agent, limit):
    class Look(Skill[str, Answer]):
        budget = Decimal(skill) if skill else None

    class Looker(Agent):
        roles = {"helper"}
        skills = [Look()]
        limits = AgentLimits(per_task=Decimal(agent) if agent else None)

    async with shop(database, [Looker()], clock=clock) as at:
        at.agency.script(AgentCast().plays(Looker, AgentScript(Says.hand_back(Answer()))))
        given = Decimal(caller) if caller else None
        outcome = await at.agency.desk(at.mia).of(Looker).do(Look(), "x", limit=given)
        assert (await at.agency.desk(at.mia).piece(outcome.task)).limit_micros == limit


class Daily(Agent):
    roles = {"helper"}
    skills = [Find()]
    limits = AgentLimits(per_day=Decimal("0.012"))


async def found(at, *turns):
    at.agency.script(AgentCast().plays(Daily, AgentScript(*turns, Says.hand_back(Answer()))))
    outcome = await at.agency.desk(at.mia).of(Daily).do(Find(), "x")
    return str(outcome.status), outcome.why


# M7, M11
async def test_all_of_an_agents_work_of_a_day_stays_within_its_limit_for_the_day(database, clock):
    costly = Says.tool(look_up, {"word": "x"}, tokens=(500, 900))  # 5,000 micros
    async with shop(database, [Daily()], clock=clock) as at:
        assert await found(at, costly) == ("Done", "")
        status, why = await found(at, costly)
        assert status == "Stopped"
        assert "Daily's limit for the day (UTC) of EUR 0.012 had" in why
        assert await at.agency.spent_against("agent:Daily:2031-03-03") <= Decimal("0.012")
        await clock.advance(timedelta(hours=15))  # midnight: another day
        assert await found(at, costly) == ("Done", "")
        assert await at.agency.spent_against("agent:Daily:2031-03-04") == Decimal("0.0052")


# M3, M7
async def test_nothing_stays_held_for_a_day_once_nothing_is_under_way(database, clock):
    async with shop(database, [Daily()], clock=clock, model_tries=1) as at:

        def away(name, request):
            raise Unreachable(name)

        at.agency.script(away)
        outcome = await at.agency.desk(at.mia).of(Daily).do(Find(), "x")
        assert outcome.status == "Failed"
        assert await found(at) == ("Done", "")
        assert await found(at, Says.tool(look_up, {"word": "x"})) == ("Done", "")
