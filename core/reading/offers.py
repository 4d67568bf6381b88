"""What a person may let an agent do alone from now on: offered only where a rule would lift something (R6, P10)."""

from __future__ import annotations

from collections.abc import Sequence

from core import standing
from core.declare.actions import Action
from core.declare.agents import Agent
from core.errors import NotFound
from core.house import House
from core.reading.reader import Reader
from core.values import Gate, RuleOffer
from core.words import label_of


def may_give(house: House, reader: Reader, agent: str, action: str, whole_person: str | None) -> tuple[bool, bool]:
    """Whether the reader may give a rule for their own work, and one for everybody's, along with a decision in work
    for `whole_person`. A rule for one's own work would lift nothing in somebody else's."""
    known = house.agents.get(agent)
    if reader.id is None or known is None or standing.liftable(known, action) is None:
        return False, False
    return reader.may.uses_agents and reader.id == whole_person, reader.may.supervises_agents


def action_label(house: House, agent: str, action: str) -> str:
    """An action's name as a person reads it, also where the agent no longer has it."""
    known = house.agents.get(agent)
    tools = [tool for skill in known.skills for tool in skill.tools if tool.name == action] if known else []
    return tools[0].label if tools else label_of(action)


def offer(
    house: House, reader: Reader, agent: str, action: str, whole_person: str | None, agents: str = ""
) -> RuleOffer:
    """What may be given for that action of that agent. `agents` are the names above it down to it, joined by "/".

    Raises NotFound where nothing may.
    """
    known = house.agents.get(agent)
    tool = standing.liftable(known, action) if known else None
    for_me, for_everybody = may_give(house, reader, agent, action, whole_person)
    if known is None or tool is None or not (for_me or for_everybody):
        raise NotFound("There is nothing here that a standing rule of yours could lift.")
    above = [house.agents[name] for name in agents.split("/")[:-1] if name in house.agents]
    return _offer(known, tool, for_me, for_everybody, above)


def offers(house: House, reader: Reader) -> list[RuleOffer]:
    """Every action of every agent that the reader may give a rule for."""
    if reader.id is None or not (reader.may.uses_agents or reader.may.supervises_agents):
        return []
    found = []
    for agent in house.agents.values():
        tools = {tool.name: tool for skill in agent.skills for tool in skill.tools}
        for name in tools:
            tool = standing.liftable(agent, name)
            if tool is not None:
                found.append(_offer(agent, tool, reader.may.uses_agents, reader.may.supervises_agents, ()))
    return found


def _offer(agent: Agent, tool: Action, for_me: bool, for_everybody: bool, above: Sequence[Agent]) -> RuleOffer:
    properties = {name: part for name, part in tool.schema.get("properties", {}).items() if name not in tool.masks}
    return RuleOffer(
        agent=agent.name,
        agent_label=agent.shown_as,
        action=tool.name,
        action_label=tool.label,
        schema={**tool.schema, "properties": properties},
        rows=tuple(parameter.name for parameter in tool.parameters if parameter.row is not None),
        for_me=for_me,
        for_everybody=for_everybody,
        still_asks=tuple(other.shown_as for other in above if other.may.gate_of(tool) is not Gate.ALONE),
    )
