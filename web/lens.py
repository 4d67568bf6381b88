"""What the map shows of each agent and of each way: its limits, what passes, who is asked, or what it cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from core.values import Gate, HandOn, MapAgent
from core.words import listed

Lens = Literal["limits", "schemas", "approvals", "money"]
LENSES: tuple[tuple[Lens, str], ...] = (
    ("limits", "Limits"),
    ("schemas", "What passes"),
    ("approvals", "Approvals"),
    ("money", "Money used"),
)
GATES = {
    Gate.ALONE: "makes changes alone",
    Gate.PROPOSE: "proposes changes",
    Gate.PROPOSE_EVERY_TIME: "proposes every time",
    Gate.NEVER: "never changes anything",
}
ICONS = {Gate.ALONE: "alone", Gate.PROPOSE: "proposes", Gate.PROPOSE_EVERY_TIME: "everytime", Gate.NEVER: "never"}

Money = Callable[[int], str]


def counted(number: int, one: str) -> str:
    return f"{number} {one}{'' if number == 1 else 's'}"


def gate_line(agent: MapAgent) -> str:
    words = GATES[agent.gate]
    return f"{words}, {agent.otherwise} otherwise" if agent.otherwise else words


def about_agent(agent: MapAgent, lens: Lens, ways: list[HandOn], money: Money) -> str:
    """The last line of an agent's box. `ways` are those that lead to it."""
    if lens == "schemas":
        return f"can {listed([skill.label.lower() for skill in agent.skills])}" if agent.skills else "has no skill"
    if lens == "approvals":
        gates = {tool.name: tool.gate for skill in agent.skills for tool in skill.tools if not tool.query}
        asks = sum(1 for gate in gates.values() if gate in (Gate.PROPOSE, Gate.PROPOSE_EVERY_TIME))
        return f"asks for {asks} of {counted(len(gates), 'change')}" if gates else "holds no change itself"
    if lens == "money":
        pieces = sum(way.pieces for way in ways)
        return f"{counted(pieces, 'piece')} · {money(sum(way.micros for way in ways))}" if pieces else "handed nothing"
    parts = [
        counted(agent.depth, "level") if agent.depth else "hands nothing on",
        f"{money(agent.limit_micros)} a task",
    ]
    return " · ".join([*parts, f"{money(agent.day_micros)} a day"] if agent.day_micros is not None else parts)


def about_way(way: HandOn, lens: Lens, money: Money) -> str:
    """The line under a way."""
    if lens == "schemas":
        return f"{', '.join(way.takes) or 'nothing'} ⇒ {', '.join(way.hands_back) or 'nothing'}"
    if lens == "approvals":
        return GATES[way.gate]
    if lens == "money":
        return f"{counted(way.pieces, 'piece')} · {money(way.micros)}" if way.pieces else "not used"
    share = "what is left" if way.limit_micros is None else money(way.limit_micros)
    return f"depth {way.max_depth} · up to {share}"


def all_about(way: HandOn, money: Money) -> str:
    """All of it in one sentence, for whoever hears the picture."""
    share = "what is left above" if way.limit_micros is None else money(way.limit_micros)
    to = "a helper of its own" if way.helper else way.to_label
    back = " It may come back to where it came from; the depth bounds it." if way.back else ""
    return (
        f"{way.origin_label} hands {way.label} on to {to}: takes {', '.join(way.takes) or 'nothing'}, "
        f"hands back {', '.join(way.hands_back) or 'nothing'}, at most {counted(way.max_depth, 'level')} deep, "
        f"up to {share}. {way.gate_words}{back}"
    )
