"""Agents and the ways between them, layer by layer, with the circles among them named."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core import amounts
from core.declare.agents import Agent
from core.declare.delegation import Specialist
from core.declare.skills import Skill
from core.delegations import delegations_of, depths_of
from core.gate import STRICTNESS, sentence
from core.handing_on import NO_DELEGATION
from core.values import AgentMap, HandOn, MapAgent, MapSkill, MapTool
from core.words import label_of

ABOVE_NONE = 0  # the layer of agents that nobody hands anything on to
TopLimit = Callable[[Agent, Skill[Any, Any]], int]
_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "yes or no",
    "array": "a list",
}


def key_of(origin: str, to: str, skill: str, helper: bool) -> str:
    """What names one way of handing on, in addresses and tables: "Planner.Collator.CountLeaves"."""
    return f"{origin}.{'helper' if helper else to}.{skill}"


def the_map(agents: Mapping[str, Agent], top_limit: TopLimit) -> AgentMap:
    """Every agent once and every declared way of handing on once, in the order they are declared.

    `top_limit` says what a skill of an agent's may spend where it stands at the top. An agent's layer is the longest
    way to it from one that nobody hands anything on to; a way that leads back to where it came from (`back`) does not
    count for it.
    """
    found = linked(
        {name: agent.shown_as for name, agent in agents.items()},
        [way for agent in agents.values() for way in _ways(agents, agent)],
    )
    depths = depths_of(agents)
    return AgentMap(
        agents=tuple(
            _agent(agent, depths[name], found.layers[name], name in found.inside, top_limit)
            for name, agent in agents.items()
        ),
        ways=found.ways,
        circles=found.circles,
        depth=max(depths.values(), default=0),
    )


@dataclass(frozen=True, slots=True)
class Linked:
    """Agents by how ways lead to them."""

    ways: tuple[HandOn, ...]  # with `back` said
    layers: dict[str, int]
    circles: tuple[tuple[str, ...], ...]  # labels
    inside: frozenset[str]  # names of those in a circle


def linked(labels: Mapping[str, str], ways: Sequence[HandOn]) -> Linked:
    """How the ways lie between the agents, which are given with their labels."""
    back = _back(labels, ways)
    circles = _circles(labels, ways)
    return Linked(
        ways=tuple(replace(way, back=way.key in back) for way in ways),
        layers=_layers(labels, [way for way in ways if way.key not in back]),
        circles=tuple(tuple(labels[name] for name in circle) for circle in circles),
        inside=frozenset(name for circle in circles for name in circle),
    )


def limit_of(entry: Specialist, to: Agent) -> int | None:
    """The least that the share, the skill and the agent it goes to name; None where none of them does (rule M1)."""
    named = [
        amounts.to_micros(amount)
        for amount in (entry.budget, entry.skill.budget, to.limits.per_task)
        if amount is not None
    ]
    return min(named, default=None)


def _ways(agents: Mapping[str, Agent], agent: Agent) -> list[HandOn]:
    delegation = agent.delegates or NO_DELEGATION
    found = []
    for entry, said in zip(delegation.to, delegations_of(agents, agent), strict=True):
        to = agents[said.to]
        found.append(
            HandOn(
                key=key_of(said.origin, said.to, said.skill, said.helper),
                origin=said.origin,
                origin_label=agent.shown_as,
                to=said.to,
                to_label=said.to_label,
                skill=said.skill,
                label=said.label,
                description=said.description,
                helper=said.helper,
                takes=_takes(entry.skill),
                hands_back=names_in(said.hands_back_schema),
                takes_schema=said.takes_schema,
                hands_back_schema=said.hands_back_schema,
                budget_micros=said.budget_micros,
                limit_micros=limit_of(entry, to),
                max_depth=delegation.max_depth,
                max_pieces=delegation.max_pieces,
                gate=to.may.default,
                gate_words=said.gate,
                otherwise=_otherwise(to),
                changes=tuple(
                    sorted({to.may.gate_of(tool) for tool in entry.skill.tools if not tool.query}, key=STRICTNESS.index)
                ),
            )
        )
    return found


def _takes(skill: Skill[Any, Any]) -> tuple[str, ...]:
    row = skill.takes_row
    return (label_of(row.__name__).lower(),) if row is not None else names_in(skill.handed_schema())


def names_in(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of what a schema holds; of a single value, what kind it is."""
    held = schema.get("properties", {})
    if list(held) == ["result"]:
        return (_TYPES.get(str(held["result"].get("type")), "a value"),)
    return tuple(name.replace("_", " ") for name in held)


def _agent(agent: Agent, depth: int, layer: int, circle: bool, top_limit: TopLimit) -> MapAgent:
    delegation = agent.delegates or NO_DELEGATION
    return MapAgent(
        name=agent.name,
        label=agent.shown_as,
        purpose=agent.purpose,
        roles=tuple(sorted(str(role) for role in agent.roles)),
        model=agent.model or "",
        consults=agent.consults or "",
        stuck_after=agent.stuck_after,
        gate=agent.may.default,
        gate_words=sentence(agent.may),
        otherwise=_otherwise(agent),
        skills=tuple(_skill(agent, skill, top_limit) for skill in agent.skills),
        depth=depth,
        max_depth=delegation.max_depth if delegation.to else 0,
        max_pieces=delegation.max_pieces if delegation.to else 0,
        limit_micros=max((top_limit(agent, skill) for skill in agent.skills), default=0),
        day_micros=amounts.to_micros(agent.limits.per_day) if agent.limits.per_day is not None else None,
        shares_micros=sum(amounts.to_micros(entry.budget) for entry in delegation.to if entry.budget is not None),
        layer=layer,
        circle=circle,
    )


def _otherwise(agent: Agent) -> int:
    return sum(1 for gate in dict(agent.may.said).values() if gate is not agent.may.default)


def _skill(agent: Agent, skill: Skill[Any, Any], top_limit: TopLimit) -> MapSkill:
    return MapSkill(
        name=skill.name,
        label=skill.shown_as,
        description=skill.description,
        version=skill.version()[0],
        takes=_takes(skill),
        hands_back=names_in(skill.hands_back.schema),
        takes_schema=skill.handed_schema(),
        hands_back_schema=skill.hands_back.schema,
        limit_micros=top_limit(agent, skill),
        tools=tuple(
            MapTool(tool.name, tool.label, tool.query, tool.outside, tool.reversible, agent.may.gate_of(tool))
            for tool in skill.tools
        ),
    )


def _across(ways: Sequence[HandOn]) -> dict[str, list[HandOn]]:
    """The ways out of each agent that lead to another one."""
    out: dict[str, list[HandOn]] = {}
    for way in ways:
        if way.to != way.origin:
            out.setdefault(way.origin, []).append(way)
    return out


def _back(agents: Collection[str], ways: Sequence[HandOn]) -> set[str]:
    """Keys of the ways that lead back to an agent they came through. Agents nobody hands on to are begun with."""
    out = _across(ways)
    handed = {way.to for way in ways if way.to != way.origin}
    found: set[str] = set()
    done: set[str] = set()
    for start in [*(name for name in agents if name not in handed), *agents]:
        if start in done:
            continue
        above = {start}
        todo = [(start, iter(out.get(start, ())))]
        while todo:
            name, left = todo[-1]
            way = next(left, None)
            if way is None:
                todo.pop()
                above.discard(name)
                done.add(name)
            elif way.to in above:
                found.add(way.key)
            elif way.to not in done:
                above.add(way.to)
                todo.append((way.to, iter(out.get(way.to, ()))))
    return found


def _layers(agents: Collection[str], ways: Sequence[HandOn]) -> dict[str, int]:
    """The longest way to each agent. The ways go round in no circle."""
    into: dict[str, int] = dict.fromkeys(agents, 0)
    out = _across(ways)
    for found in out.values():
        for way in found:
            into[way.to] += 1
    layers = dict.fromkeys(agents, ABOVE_NONE)
    free = [name for name, count in into.items() if count == 0]
    while free:
        name = free.pop()
        for way in out.get(name, ()):
            layers[way.to] = max(layers[way.to], layers[name] + 1)
            into[way.to] -= 1
            if into[way.to] == 0:
                free.append(way.to)
    return layers


def _circles(agents: Collection[str], ways: Sequence[HandOn]) -> list[list[str]]:
    """Groups of two or more agents each of which may come back to itself through the others."""
    out = _across(ways)
    reached: dict[str, set[str]] = {}
    for name in agents:
        seen: set[str] = set()
        todo = [name]
        while todo:
            for way in out.get(todo.pop(), ()):
                if way.to not in seen:
                    seen.add(way.to)
                    todo.append(way.to)
        reached[name] = seen
    groups: list[list[str]] = []
    grouped: set[str] = set()
    for name in agents:
        if name in reached[name] and name not in grouped:
            group = [other for other in agents if other in reached[name] and name in reached[other]]
            grouped.update(group)
            groups.append(group)
    return groups
