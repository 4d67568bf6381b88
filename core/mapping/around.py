"""A part of the map: one agent with those that hand on to it and those it hands on to."""

from __future__ import annotations

from dataclasses import replace

from core.errors import NotFound
from core.values import AgentMap


def around(drawn: AgentMap, name: str) -> AgentMap:
    """The agent, its neighbours, and the ways between any two of these. Layers that nobody is left in are closed up.
    Raises NotFound."""
    if all(agent.name != name for agent in drawn.agents):
        raise NotFound(f"There is no agent {name}.")
    near = {name} | {end for way in drawn.ways if name in (way.origin, way.to) for end in (way.origin, way.to)}
    agents = [agent for agent in drawn.agents if agent.name in near]
    labels = {agent.label for agent in agents}
    layers = {layer: place for place, layer in enumerate(sorted({agent.layer for agent in agents}))}
    return replace(
        drawn,
        agents=tuple(replace(agent, layer=layers[agent.layer]) for agent in agents),
        ways=tuple(way for way in drawn.ways if way.origin in near and way.to in near),
        circles=tuple(circle for circle in drawn.circles if labels.issuperset(circle)),
    )
