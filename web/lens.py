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
    Gate.NEVER: "never changes",
}
SHORT = {Gate.ALONE: "alone", Gate.PROPOSE: "proposes", Gate.PROPOSE_EVERY_TIME: "every time", Gate.NEVER: "never"}
SAYS = {
    Gate.ALONE: "alone",
    Gate.PROPOSE: "proposes",
    Gate.PROPOSE_EVERY_TIME: "proposes every time",
    Gate.NEVER: "never",
}
ICONS = {Gate.ALONE: "alone", Gate.PROPOSE: "proposes", Gate.PROPOSE_EVERY_TIME: "everytime", Gate.NEVER: "never"}

Money = Callable[[int], str]


def counted(number: int, one: str) -> str:
    return f"{number} {one}{'' if number == 1 else 's'}"


def gate_line(agent: MapAgent, lens: Lens) -> str:
    """The gate in few words, with the levels that may hang under its work where limits are looked at."""
    if lens == "limits" and agent.depth:
        return f"{'mostly ' if agent.otherwise else ''}{SHORT[agent.gate]} · {counted(agent.depth, 'level')}"
    return f"mostly {SHORT[agent.gate]}" if agent.otherwise else GATES[agent.gate]


def purpose_line(agent: MapAgent) -> str:
    """Its purpose without the "You" that it is told with."""
    words = agent.purpose.removeprefix("You ").strip()
    return words[:1].upper() + words[1:]


def about_agent(agent: MapAgent, lens: Lens, ways: list[HandOn], money: Money) -> str:
    """The last line of an agent's box. `ways` are those that lead to it."""
    if lens == "schemas":
        return f"can {listed([skill.label.lower() for skill in agent.skills])}" if agent.skills else "has no skill"
    if lens == "approvals":
        gates = {tool.name: tool.gate for skill in agent.skills for tool in skill.tools if not tool.query}
        asks = sum(1 for gate in gates.values() if gate in (Gate.PROPOSE, Gate.PROPOSE_EVERY_TIME))
        never = sum(1 for gate in gates.values() if gate is Gate.NEVER)
        says = f"asks for {asks} of {counted(len(gates), 'change')}{f' · {never} never' if never else ''}"
        return says if gates else "holds no change itself"
    if lens == "money":
        pieces = sum(way.pieces for way in ways)
        return f"{counted(pieces, 'piece')} · {money(sum(way.micros for way in ways))}" if pieces else "handed nothing"
    a_day = f" · {money(agent.day_micros)} a day" if agent.day_micros is not None else ""
    return f"{money(agent.limit_micros)} a task{a_day}"


def about_way(way: HandOn, lens: Lens, money: Money) -> str:
    """The line under a way."""
    if lens == "schemas":
        return f"{', '.join(way.takes) or 'nothing'} ⇒ {', '.join(way.hands_back) or 'nothing'}"
    if lens == "approvals":
        if len(way.changes) > 1:
            return ", ".join(SHORT[gate] for gate in way.changes)
        return GATES[way.changes[0]] if way.changes else "holds no change"
    if lens == "money":
        return f"{counted(way.pieces, 'piece')} · {money(way.micros)}" if way.pieces else "not used"
    share = "no own limit" if way.limit_micros is None else f"up to {money(way.limit_micros)}"
    return f"depth {way.max_depth} · {share}"


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
