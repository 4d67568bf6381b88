"""Parts of the map, where the whole is too much to look at: one agent with its neighbours, one with all under it, and
the groups that the whole falls into. Under an agent is whatever hand-ons lead to, one after another; how far one piece
of work goes, the depth says.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from core.errors import NotFound
from core.values import AgentMap, MapGroup

MANY = 200  # agents that are drawn one by one; more fall into groups


def around(drawn: AgentMap, name: str) -> AgentMap:
    """The agent, its neighbours, and the ways between any two of these. Layers that nobody is left in are closed up.
    Raises NotFound."""
    _there(drawn, name)
    return _part(
        drawn, {name} | {end for way in drawn.ways if name in (way.origin, way.to) for end in (way.origin, way.to)}
    )


def under(drawn: AgentMap, name: str, most: int = MANY) -> AgentMap:
    """The agent and those under it, the nearest first and at most so many with itself; `beyond` counts the rest. The
    ways are those between any two of these. Raises NotFound."""
    _there(drawn, name)
    out: dict[str, list[str]] = {}
    for way in drawn.ways:
        out.setdefault(way.origin, []).append(way.to)
    found, todo = {name: None}, deque([name])
    while todo:
        for to in out.get(todo.popleft(), ()):
            if to not in found:
                found[to] = None
                todo.append(to)
    return replace(_part(drawn, set(list(found)[:most])), beyond=max(0, len(found) - most))


def groups(drawn: AgentMap) -> tuple[MapGroup, ...]:
    """The whole map as groups, the largest first: each is an agent that no other hands on to, with how many stand under
    it. Of a circle that nobody outside it hands on to, the agent that is declared first stands for it. Every agent is
    in a group; one that stands under several is counted in each."""
    bits = {agent.name: 1 << n for n, agent in enumerate(drawn.agents)}
    ways = [way for way in drawn.ways if way.origin != way.to]
    layers = {agent.name: agent.layer for agent in drawn.agents}
    reached = dict(bits)
    turn = sorted(ways, key=lambda way: -layers[way.origin])  # from below: again only where ways lead back
    before: dict[str, int] = {}
    while before != reached:
        before = dict(reached)
        for way in turn:
            reached[way.origin] |= reached[way.to]
    handed = {way.to for way in ways}
    heads = [agent.name for agent in drawn.agents if agent.name not in handed]
    left = ~0
    for name in heads:
        left &= ~reached[name]
    for agent in drawn.agents:
        if bits[agent.name] & left:
            heads.append(agent.name)
            left &= ~reached[agent.name]
    boxes = sum(bits[name] for name in heads)
    chosen = set(heads)
    found = [
        MapGroup(agent, (reached[agent.name] & ~boxes).bit_count()) for agent in drawn.agents if agent.name in chosen
    ]
    return tuple(sorted(found, key=lambda group: -group.under))


def _there(drawn: AgentMap, name: str) -> None:
    if all(agent.name != name for agent in drawn.agents):
        raise NotFound(f"There is no agent {name}.")


def _part(drawn: AgentMap, near: set[str]) -> AgentMap:
    """These agents and the ways between any two of them. Layers that nobody is left in are closed up."""
    agents = [agent for agent in drawn.agents if agent.name in near]
    labels = {agent.label for agent in agents}
    layers = {layer: place for place, layer in enumerate(sorted({agent.layer for agent in agents}))}
    return replace(
        drawn,
        agents=tuple(replace(agent, layer=layers[agent.layer]) for agent in agents),
        ways=tuple(way for way in drawn.ways if way.origin in near and way.to in near),
        circles=tuple(circle for circle in drawn.circles if labels.issuperset(circle)),
    )
