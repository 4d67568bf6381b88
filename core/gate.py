"""Alone, propose, propose every time, never: what happens to a change, and by whose word (rules R4, R5).

The strictest of the agent's own word and of every agent's above it in the tree. Read when it is needed, never kept:
what an agent's class says now is what holds (R11).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.declare.actions import Action
from core.declare.agents import Agent, Permits
from core.values import Gate
from core.words import label_of, listed

STRICTNESS = (Gate.ALONE, Gate.PROPOSE, Gate.PROPOSE_EVERY_TIME, Gate.NEVER)


@dataclass(frozen=True, slots=True)
class Ruling:
    """The gate that holds, and the label of the agent whose word it is."""

    gate: Gate
    agent: str

    def why_never(self, action: Action) -> str:
        return f"{self.agent} never does that, nor does anybody working for it: {action.label.lower()}."


def strictest(agents: Sequence[Agent], action: Action) -> Ruling:
    """The gate of an action for the last of `agents`, which run from the top of the tree down to it."""
    ruling: Ruling | None = None
    for agent in reversed(agents):
        gate = agent.may.gate_of(action)
        if ruling is None or STRICTNESS.index(gate) > STRICTNESS.index(ruling.gate):
            ruling = Ruling(gate, agent.shown_as)
    assert ruling is not None
    return ruling


def sentence(permits: Permits) -> str:
    """What an agent says of itself, for a person: "Proposes every change; alone: note on volume"."""
    base = {
        Gate.ALONE: "Makes changes by itself",
        Gate.PROPOSE: "Proposes every change",
        Gate.PROPOSE_EVERY_TIME: "Proposes every change, every time",
        Gate.NEVER: "Never changes anything",
    }[permits.default]
    held: dict[str, Gate] = dict(permits.said)
    words = {
        Gate.ALONE: "alone",
        Gate.PROPOSE: "proposes",
        Gate.PROPOSE_EVERY_TIME: "proposes every time",
        Gate.NEVER: "never",
    }
    parts = [
        f"{words[gate]}: {listed([label_of(name).lower() for name, its in held.items() if its is gate])}"
        for gate in STRICTNESS
        if gate in held.values()
    ]
    return f"{'; '.join([base, *parts])}."
