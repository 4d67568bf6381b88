"""What a piece's model is told and offered in a turn: its purpose, its work, and the tools of this moment.

Read from the declarations as they stand, every turn; only each tool's schema is kept, because making one is slow.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core import gate
from core.declare.actions import Action
from core.declare.agents import Agent
from core.declare.deciding import Deciding
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
            "choices": {
                "type": "array",
                "description": "Each a text, or with what follows if it is chosen.",
                "items": {
                    "anyOf": [
                        {"type": "string"},
                        {
                            "type": "object",
                            "properties": {"choice": {"type": "string"}, "consequence": {"type": "string"}},
                            "required": ["choice", "consequence"],
                        },
                    ]
                },
            },
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
    tools: list[ToolOffer]
    tokens: int  # what both are reckoned at

    def names(self) -> str:
        return ", ".join(tool.name for tool in self.tools)


_kept: dict[tuple[Any, ...], tuple[ToolOffer, int]] = {}


def _keep(key: tuple[Any, ...], make: Callable[[], ToolOffer]) -> tuple[ToolOffer, int]:
    """A tool and what it is reckoned at, made once for each key."""
    kept = _kept.get(key)
    if kept is None:
        tool = make()
        size = len(json.dumps(tool.schema)) + len(tool.name) + len(tool.description.encode())
        kept = _kept[key] = tool, tokens_of(size)
    return kept


def _of_action(action: Action) -> tuple[ToolOffer, int]:
    return _keep((action,), lambda: ToolOffer(action.name, action.description, action.schema))


def _of_hand_back(skill: Skill[Any, Any]) -> tuple[ToolOffer, int]:
    words = "Hand back the result: the last thing you do, alone in its turn."
    return _keep((HAND_BACK, skill.offer_key), lambda: ToolOffer(HAND_BACK, words, skill.hands_back.schema))


def _of_specialist(house: House, entry: Specialist) -> tuple[ToolOffer, int]:
    to = "a helper of your own" if entry.agent is None else house.label(entry.agent.__name__)
    words = f"Hand on to {to}: {entry.skill.description or entry.skill.shown_as}"
    key = (entry.tool_name, type(entry.skill), words)
    return _keep(key, lambda: ToolOffer(entry.tool_name, words, entry.skill.handed_schema()))


_ASKING = _keep((ASK_PERSON,), lambda: _ASK)
_CONSULTING = _keep((CONSULT,), lambda: _CONSULT)


def offer(house: House, row: Any, agents: Sequence[Agent], skill: Skill[Any, Any]) -> Offer:
    """What the last of `agents` is offered for this piece now. What anybody above never does is left out (R5)."""
    agent = agents[-1]
    if isinstance(skill, Deciding):
        return _made(agent, skill, [])
    tools = [_of_action(tool) for tool in skill.tools if gate.strictest(agents, tool).gate is not Gate.NEVER]
    tools += [_of_specialist(house, entry) for entry in offered(house, row, agent)]
    if agent.asks_people:
        tools.append(_ASKING)
    if agent.consults:
        tools.append(_CONSULTING)
    return _made(agent, skill, tools)


def _made(agent: Agent, skill: Skill[Any, Any], tools: list[tuple[ToolOffer, int]]) -> Offer:
    tools = [*tools, _of_hand_back(skill)]
    parts = [agent.purpose, f"Your work: {skill.description or skill.shown_as}", skill.instructions]
    system = "\n\n".join([*filter(None, parts), f"When it is done, call {HAND_BACK}."])
    tokens = tokens_of(len(system.encode())) + sum(size for _, size in tools)
    return Offer(system, [tool for tool, _ in tools], tokens)
