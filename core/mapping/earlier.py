"""The map as an earlier version declared it, read back from the content that was kept (`declared`).

It is what the map was, but for what content leaves out: use, seats, standing rules and limits that people set, versions
of skills, and the order in which things were declared; agents stand by name, ways by key. Of a row that is taken,
content keeps no more than its id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.declare.agents import Permits
from core.delegations import levels_under
from core.gate import STRICTNESS, sentence
from core.mapping.declared import Content
from core.mapping.graph import linked, names_in
from core.values import AgentMap, Gate, HandOn, MapAgent, MapSkill, MapTool


def earlier(content: Content) -> AgentMap:
    """The map of that content, laid out as `the_map` lays out what is declared now."""
    agents: dict[str, Content] = content["agents"]
    permits = {name: _permits(held) for name, held in agents.items()}
    ways = [_way(content, permits, key, way) for key, way in content["ways"].items()]
    to: dict[str, set[str]] = {name: set() for name in agents}
    for way in ways:
        to[way.origin].add(way.to)
    depths = levels_under({name: held["max_depth"] or 0 for name, held in agents.items()}, to)
    found = linked({name: held["label"] for name, held in agents.items()}, ways)
    return AgentMap(
        agents=tuple(
            _agent(content, name, permits[name], depths[name], found.layers[name], name in found.inside)
            for name in agents
        ),
        ways=found.ways,
        circles=found.circles,
        depth=max(depths.values(), default=0),
    )


def _permits(held: Content) -> Permits:
    """What it said of its changes, as far as it said anything else than of every change."""
    default = Gate(held["gate"])
    said = {name: Gate(gate) for name, gate in held["under"].items()}
    for name, tool in held["tools"].items():
        if Gate(tool["gate"]) is not (Gate.ALONE if tool["reads"] else default):
            said[name] = Gate(tool["gate"])
    return Permits(default, tuple(sorted(said.items())))


def _otherwise(permits: Permits) -> int:
    return sum(1 for _, gate in permits.said if gate is not permits.default)


def _schema(content: Content, mark: str) -> dict[str, Any]:
    found: dict[str, Any] = content["schemas"][mark]
    return found


def _agent(content: Content, name: str, permits: Permits, depth: int, layer: int, circle: bool) -> MapAgent:
    held = content["agents"][name]
    skills = tuple(_skill(content, held, skill, said) for skill, said in held["skills"].items())
    given = [way["share"] for way in content["ways"].values() if way["origin"] == name and way["share"] is not None]
    return MapAgent(
        name=name,
        label=held["label"],
        purpose=held["purpose"],
        roles=tuple(held["roles"]),
        model=held["model"],
        consults=held["consults"],
        stuck_after=held["stuck_after"],
        gate=permits.default,
        gate_words=sentence(permits),
        otherwise=_otherwise(permits),
        skills=skills,
        depth=depth,
        max_depth=held["max_depth"] or 0,
        max_pieces=held["max_pieces"] or 0,
        limit_micros=max((skill.limit_micros for skill in skills), default=0),
        day_micros=held["per_day"],
        shares_micros=sum(given),
        layer=layer,
        circle=circle,
    )


def _skill(content: Content, held: Content, name: str, said: Content) -> MapSkill:
    takes, hands_back = _schema(content, said["takes"]), _schema(content, said["hands_back"])
    named = [micros for micros in (said["budget"], held["per_task"]) if micros is not None]
    return MapSkill(
        name=name,
        label=said["label"],
        description=said["description"],
        version="",
        takes=names_in(takes),
        hands_back=names_in(hands_back),
        takes_schema=takes,
        hands_back_schema=hands_back,
        limit_micros=min(named, default=content["app"]["task_budget"]),
        tools=tuple(_tool(tool, held["tools"][tool]) for tool in said["tools"]),
    )


def _tool(name: str, tool: Content) -> MapTool:
    return MapTool(name, tool["label"], tool["reads"], tool["outside"], tool["reversible"], Gate(tool["gate"]))


def _way(content: Content, permits: Mapping[str, Permits], key: str, way: Content) -> HandOn:
    origin, to = content["agents"][way["origin"]], content["agents"][way["to"]]
    skill = to["skills"].get(way["skill"], {})
    budget = way["budget"] if "budget" in way else skill.get("budget")
    named = [micros for micros in (way["share"], budget, to["per_task"]) if micros is not None]
    held = skill.get("tools", []) if way["tools"] is None else way["tools"]
    tools = [to["tools"][name] for name in held if name in to["tools"]]
    takes, hands_back = _schema(content, way["takes"]), _schema(content, way["hands_back"])
    return HandOn(
        key=key,
        origin=way["origin"],
        origin_label=origin["label"],
        to=way["to"],
        to_label=to["label"],
        skill=way["skill"],
        label=way["label"],
        description=skill.get("description", ""),
        helper=way["helper"],
        takes=names_in(takes),
        hands_back=names_in(hands_back),
        takes_schema=takes,
        hands_back_schema=hands_back,
        budget_micros=way["share"],
        limit_micros=min(named, default=None),
        max_depth=origin["max_depth"] or 0,
        max_pieces=origin["max_pieces"] or 0,
        gate=permits[way["to"]].default,
        gate_words=sentence(permits[way["to"]]),
        otherwise=_otherwise(permits[way["to"]]),
        changes=tuple(sorted({Gate(tool["gate"]) for tool in tools if not tool["reads"]}, key=STRICTNESS.index)),
    )
