"""What a piece's model is told and offered in a turn: its purpose, its work, and the tools of this moment.

Read from the declarations as they stand, every turn; only each tool's schema is kept, because making one is slow.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core import gate
from core.declare.actions import Action
from core.declare.agents import Agent
from core.declare.delegation import Specialist
from core.declare.skills import Skill
from core.handing_on import offered
from core.house import House
from core.models.messages import ToolOffer
from core.money import tokens_of
from core.values import Gate

HAND_BACK = "hand_back"
ASK_PERSON = "ask_person"
CONSULT = "consult"

_ASK = ToolOffer(
    ASK_PERSON,
    "Ask the person this work is for, and wait for the answer. Offer choices where there are some.",
    {
        "type": "object",
        "properties": {
            "question": {"type": "string"},
            "context": {"type": "string", "description": "What they need to know to answer."},
            "choices": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["question"],
    },
)
_CONSULT = ToolOffer(
    CONSULT,
    "Ask a more capable model one focused question. It sees only what you write here.",
    {
        "type": "object",
        "properties": {"question": {"type": "string"}, "context": {"type": "string"}},
        "required": ["question", "context"],
    },
)


@dataclass(frozen=True, slots=True)
class Offer:
    system: str
    tools: tuple[ToolOffer, ...]
    tokens: int  # what both are reckoned at

    def names(self) -> str:
        return ", ".join(tool.name for tool in self.tools)


@lru_cache(maxsize=4096)
def _of_action(action: Action) -> ToolOffer:
    return ToolOffer(action.name, action.description, action.schema)


@lru_cache(maxsize=4096)
def _of_specialist(name: str, skill: type[Skill[Any, Any]], description: str) -> ToolOffer:
    return ToolOffer(name, description, skill().handed_schema())


@lru_cache(maxsize=1024)
def _of_hand_back(skill: type[Skill[Any, Any]]) -> ToolOffer:
    return ToolOffer(HAND_BACK, "Hand back the result: the last thing you do, alone in its turn.", skill().hands_back.schema)


_schema_sizes: dict[int, tuple[dict[str, Any], int]] = {}


def _tokens(tool: ToolOffer) -> int:
    kept = _schema_sizes.get(id(tool.schema))
    if kept is None or kept[0] is not tool.schema:
        kept = (tool.schema, tokens_of(len(json.dumps(tool.schema)) + len(tool.name) + len(tool.description)))
        _schema_sizes[id(tool.schema)] = kept
    return kept[1]


def _described(house: House, entry: Specialist) -> ToolOffer:
    to = "a helper of your own" if entry.agent is None else house.label(entry.agent.__name__)
    return _of_specialist(entry.tool_name, type(entry.skill), f"Hand on to {to}: {entry.skill.description or entry.skill.shown_as}")


def offer(house: House, row: Any, agents: Sequence[Agent], skill: Skill[Any, Any]) -> Offer:
    """What the last of `agents` is offered for this piece now. What anybody above never does is left out (R5)."""
    agent = agents[-1]
    tools = [_of_action(tool) for tool in skill.tools if gate.strictest(agents, tool).gate is not Gate.NEVER]
    tools += [_described(house, entry) for entry in offered(house, row, agent)]
    if agent.asks_people:
        tools.append(_ASK)
    if agent.consults:
        tools.append(_CONSULT)
    tools.append(_of_hand_back(type(skill)))
    parts = [agent.purpose, f"Your work: {skill.description or skill.shown_as}", skill.instructions]
    system = "\n\n".join([*filter(None, parts), f"When it is done, call {HAND_BACK}."])
    return Offer(system, tuple(tools), tokens_of(len(system)) + sum(_tokens(tool) for tool in tools))
