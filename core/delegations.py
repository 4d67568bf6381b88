"""What agents may hand on, as declared: for pickers, for the map, and for checking it before any work (D7, D8)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta

from core import amounts, gate
from core.declare.actions import Action
from core.declare.agents import Agent
from core.declare.deciding import DECIDE
from core.declare.delegation import Specialist
from core.declare.skills import Skill
from core.errors import BadDeclaration, BadInput, HandonError
from core.models.llm import LlmModel
from core.models.ready import ready
from core.offer import ASK_PERSON, CONSULT, HAND_BACK
from core.values import Delegated

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


def delegations_of(agents: Mapping[str, Agent], agent: Agent) -> list[Delegated]:
    """What the agent may hand on, in the order it says so; nothing where it says nothing."""
    found = []
    for entry in agent.delegates.to if agent.delegates else ():
        to = agent if entry.agent is None else agents[entry.agent.__name__]
        found.append(
            Delegated(
                origin=agent.name,
                to=to.name,
                skill=entry.skill.name,
                label=entry.skill.shown_as,
                description=entry.skill.description,
                helper=entry.agent is None,
                budget_micros=amounts.to_micros(entry.budget) if entry.budget is not None else None,
                takes_schema=entry.skill.handed_schema(),
                hands_back_schema=entry.skill.hands_back.schema,
                to_label=to.shown_as,
                gate=gate.sentence(to.may),
            )
        )
    return found


def depth_of(agents: Mapping[str, Agent], agent: Agent) -> int:
    """How many levels may hang under a piece of the agent's work, helpers and cycles included."""
    return depths_of({**agents, agent.name: agent})[agent.name]


def depths_of(agents: Mapping[str, Agent]) -> dict[str, int]:
    """The same of each agent, all at once."""
    own: dict[str, int] = {}
    to: dict[str, set[str]] = {}
    for one in agents.values():
        entries = one.delegates.to if one.delegates else ()
        own[one.name] = one.delegates.max_depth if one.delegates and entries else 0
        to[one.name] = {one.name if entry.agent is None else entry.agent.__name__ for entry in entries}
    return levels_under(own, to)


def levels_under(own: Mapping[str, int], to: Mapping[str, set[str]]) -> dict[str, int]:
    """How many levels may hang under each, where `own` is what each says itself and `to` whom it hands on to."""
    found: dict[str, int] = {}
    able, depth = set(own), 0  # those under which so many levels may hang
    while able:
        deeper = {name for name in able if own[name] > depth and to[name] & able}
        found |= dict.fromkeys(able - deeper, depth)
        # Where nobody fell out, nobody does until the least of their own words is reached.
        depth = min(own[name] for name in able) if deeper == able else depth + 1
        able = deeper
    return found


def check(
    agents: Sequence[Agent], models: Sequence[LlmModel], default_model: str, currency: str
) -> tuple[dict[str, Agent], dict[str, LlmModel]]:
    """Agents and models by name, the models with client and price, or BadDeclaration naming the class and the entry
    that does not hold (D8, M9)."""
    by_model: dict[str, LlmModel] = {}
    for model in models:
        if model.name in by_model:
            raise BadDeclaration(f"There are two models named {model.name}.")
        by_model[model.name] = ready(model, currency)
    if default_model not in by_model:
        raise BadDeclaration(
            f"The default model {default_model!r} is none of the agency's: {', '.join(by_model) or 'it has none'}."
        )
    by_name: dict[str, Agent] = {}
    for agent in agents:
        if not isinstance(agent, Agent):
            raise BadDeclaration(
                f"{agent!r} is no agent: give the agency instances, Planner(), of classes that inherit Agent."
            )
        if agent.name in by_name:
            raise BadDeclaration(f"There are two agents named {agent.name}.")
        if "/" in agent.name or len(agent.name) > 200:
            raise BadDeclaration(f"{agent.name} is no name for an agent.")
        by_name[agent.name] = agent
    for agent in agents:
        _check_agent(agent, by_name, by_model)
    return by_name, by_model


def _check_agent(agent: Agent, agents: Mapping[str, Agent], models: Mapping[str, LlmModel]) -> None:
    name = agent.name
    for what, model in (("consults", agent.consults), ("uses", agent.model)):
        if model is not None and model not in models:
            raise BadDeclaration(
                f"{name} {what} the model {model!r}, which is none of the agency's: {', '.join(models)}."
            )
    _amount(f"{name}: limits.per_task", agent.limits.per_task)
    _amount(f"{name}: limits.per_day", agent.limits.per_day)
    if agent.requests_wait is not None and agent.requests_wait <= timedelta(0):
        raise BadDeclaration(f"{name}: requests_wait is {agent.requests_wait}; it is longer than no time, or None.")
    if agent.stuck_after < 1:
        raise BadDeclaration(f"{name}: stuck_after is {agent.stuck_after}; it is at least 1.")
    names = [skill.name for skill in agent.skills]
    if len(set(names)) < len(names):
        raise BadDeclaration(f"{name} has one skill twice: {', '.join(names)}.")
    for skill in agent.skills:
        _check_skill(name, skill)
    delegation = agent.delegates
    if delegation is None:
        return
    if delegation.max_depth < 0 or delegation.max_pieces < 0:
        raise BadDeclaration(f"{name}: max_depth and max_pieces are not negative.")
    offered: dict[str, Specialist] = {}
    for entry in delegation.to:
        where = f"{name} may hand on {entry.skill.name}"
        if entry.agent is None:
            where += " to a helper"
        else:
            where += f" to {entry.agent.__name__}"
            registered = agents.get(entry.agent.__name__)
            if registered is None or type(registered) is not entry.agent:
                raise BadDeclaration(f"{where}, which is none of the agency's agents: {', '.join(agents)}.")
            if registered.skill(entry.skill.name) is None:
                has = ", ".join(skill.name for skill in registered.skills) or "none"
                raise BadDeclaration(f"{where}, which does not have that skill; it has {has}.")
        _amount(f"{where}: budget", entry.budget)
        _check_skill(name, entry.skill)
        if entry.tool_name in offered:
            raise BadDeclaration(f"{where} twice: both would be the tool {entry.tool_name}.")
        offered[entry.tool_name] = entry


def _check_skill(agent: str, skill: Skill[object, object]) -> None:
    where = f"{agent}'s skill {skill.name}"
    if skill.retry is not None and (skill.retry.times < 0 or skill.retry.wait < timedelta(0)):
        raise BadDeclaration(f"{where}: {skill.retry} says neither how often nor how long after it is tried again.")
    if skill.name == DECIDE:
        raise BadDeclaration(f"{where}: every agent decides; give the skill another name.")
    _amount(f"{where}: budget", skill.budget)
    if skill.budget is not None and skill.budget == 0:
        raise BadDeclaration(f"{where}: a budget of 0 lets it do nothing.")
    seen = {HAND_BACK, ASK_PERSON, CONSULT}
    for tool in skill.tools:
        if not isinstance(tool, Action):
            raise BadDeclaration(f"{where}: {tool!r} is no tool: declare it with @action or @query.")
        if not _TOOL_NAME.match(tool.name):
            raise BadDeclaration(f"{where}: {tool.name!r} is no name for a tool: 1 to 64 of a-z, A-Z, 0-9, _ and -.")
        if tool.decide_within is not None and tool.decide_within <= timedelta(0):
            raise BadDeclaration(
                f"{where}: the tool {tool.name} is to be decided within {tool.decide_within}; that is no time."
            )
        if tool.name in seen or tool.name.startswith("hand_to_"):
            raise BadDeclaration(f"{where}: the tool {tool.name} is there twice, or its name is one of Handon's own.")
        seen.add(tool.name)
    try:
        skill.version()
    except HandonError as error:
        raise BadDeclaration(f"{where}: {error}") from None
    except Exception as error:
        raise BadDeclaration(
            f"{where}: what it takes or hands back cannot be described in JSON Schema: {error}"
        ) from None


def _amount(where: str, amount: object) -> None:
    if amount is None:
        return
    try:
        amounts.to_micros(amount)  # type: ignore[arg-type]
    except BadInput as error:
        raise BadDeclaration(f"{where}: {error}") from None
