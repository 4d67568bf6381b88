"""Which limit a top piece opens with."""

from __future__ import annotations

from decimal import Decimal

import pytest

from handon import Agent, AgentLimits, Skill
from handon.testing import AgentCast, AgentScript, Says
from tests.builders import Answer, shop

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
