"""Declarations of agents as they come: for tests of the map that hold whatever is declared."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from core import amounts
from handon import Agent, AgentLimits, Delegation, Permits, Skill, Specialist, action, query


@action("Change a thing")
def change_a(text: str) -> str:
    return text


@action("Change another", outside=True)
def change_b(text: str) -> str:
    return text


@query("Look")
def look(text: str) -> str:
    return text


class Idle(Skill[str, str]):
    description = "Hold nothing."


class HoldsA(Skill[str, str]):
    description = "Hold the first change."
    tools = [change_a]
    budget = Decimal("0.3")


class HoldsB(Skill[str, str]):
    description = "Hold the second change, and look."
    tools = [change_b, look]


class HoldsBoth(Skill[str, str]):
    description = "Hold both changes."
    tools = [change_a, change_b]


SKILLS: list[type[Skill[str, str]]] = [Idle, HoldsA, HoldsB, HoldsBoth]
TASK = 500_000
_shares = st.sampled_from([None, None, Decimal("0.05"), Decimal("0.2"), Decimal("0.9")])


def top_limit(agent: Agent, skill: Skill[Any, Any]) -> int:
    """As an agency whose task_budget is 0.5 has it."""
    named = [amounts.to_micros(amount) for amount in (skill.budget, agent.limits.per_task) if amount is not None]
    return min(named, default=TASK)


@st.composite
def declared(draw: st.DrawFn) -> Mapping[str, Agent]:
    """One to five agents that hand on to one another and to helpers, in circles too."""
    kinds: list[Any] = []
    for number in range(draw(st.integers(1, 5))):
        skills = draw(st.lists(st.sampled_from(SKILLS), min_size=1, max_size=2, unique=True))
        may = draw(st.sampled_from([Permits.changes_alone(), Permits.proposes_changes()]))
        for word in ("alone", "proposes", "proposes_every_time", "never"):
            if draw(st.booleans()):
                may = getattr(may, word)(draw(st.sampled_from([change_a, change_b, look])))
        body = {
            "purpose": "You do what is drawn.",
            "roles": {"helper"},
            "skills": [skill() for skill in skills],
            "may": may,
            "limits": AgentLimits(per_task=draw(_shares)),
        }
        kinds.append(type(f"Agent{number}", (Agent,), body))
    for kind in kinds:
        choices = [(other, type(skill)) for other in kinds for skill in other.skills]
        to = draw(st.lists(st.sampled_from(choices), max_size=3, unique=True))
        entries = [Specialist.of(other, skill(), draw(_shares)) for other, skill in to]
        entries += [
            Specialist.helper(skill(), draw(_shares))
            for skill in draw(st.lists(st.sampled_from(SKILLS), max_size=1, unique=True))
        ]
        if entries:
            kind.delegates = Delegation(
                to=entries, max_depth=draw(st.integers(0, 3)), max_pieces=draw(st.sampled_from([0, 8, 8]))
            )
    return {kind.__name__: kind() for kind in kinds}
