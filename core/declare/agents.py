"""An agent: a class with a purpose, skills and an account of its own, and what it may do alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, ClassVar

from core.declare.actions import Action
from core.declare.delegation import Delegation
from core.declare.rights import Principal
from core.declare.skills import Skill
from core.values import Gate
from core.words import label_of


@dataclass(frozen=True, slots=True)
class Permits:
    """What happens to the changes an agent's model asks for. Where two speak of one action, the last wins (R4).

    `Permits.changes_alone().proposes(order).never(delete)`. An agent that says nothing proposes every change.
    """

    default: Gate = Gate.PROPOSE
    said: tuple[tuple[str, Gate], ...] = ()

    @staticmethod
    def proposes_changes() -> Permits:
        """Every change is put to a person, but for what is said after."""
        return Permits(Gate.PROPOSE)

    @staticmethod
    def changes_alone() -> Permits:
        """It makes every change by itself, but for what is said after."""
        return Permits(Gate.ALONE)

    def _with(self, gate: Gate, actions: Iterable[Action]) -> Permits:
        return replace(self, said=(*self.said, *((action.name, gate) for action in actions)))

    def alone(self, *actions: Action) -> Permits:
        return self._with(Gate.ALONE, actions)

    def proposes(self, *actions: Action) -> Permits:
        """Put to a person, until a person says "from now on, alone"."""
        return self._with(Gate.PROPOSE, actions)

    def proposes_every_time(self, *actions: Action) -> Permits:
        """Put to a person each time; no standing rule lifts it."""
        return self._with(Gate.PROPOSE_EVERY_TIME, actions)

    def never(self, *actions: Action) -> Permits:
        """Not offered, not run, not approvable; nor in anything this agent hands on (rule R5)."""
        return self._with(Gate.NEVER, actions)

    def gate_of(self, action: Action) -> Gate:
        """The agent's own gate. A query passes, unless it is named under `never`."""
        for name, gate in reversed(self.said):
            if name == action.name:
                return gate if not action.query or gate is Gate.NEVER else Gate.ALONE
        return Gate.ALONE if action.query else self.default


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """What one piece of this agent's work may spend, and all of it in a day, in the currency unit."""

    per_task: Decimal | None = None
    per_day: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Guards:
    """What stops a piece that goes round in circles (rule E7): model turns, the same calls again and again in a row,
    and, where given, time since it was opened, less what it waited for people."""

    turns: int = 40
    same_call: int = 4
    wall_clock: timedelta | None = None


class Agent:
    """Base of an app's agents. Everything is an attribute or a property, read anew whenever it is needed."""

    purpose: str = ""
    skills: ClassVar[Sequence[Skill[Any, Any]]] = ()
    roles: ClassVar[Iterable[str]] = ()
    may: Permits = Permits.proposes_changes()
    delegates: Delegation | None = None
    consults: str | None = None
    stuck_after: int = 2
    confidence_floor: Decimal | None = None
    limits: AgentLimits = AgentLimits()
    guards: Guards | None = None
    asks_people: bool = True
    requests_wait: timedelta | None = None  # how long its proposals and questions wait for a person; None: for ever
    model: str | None = None
    label: str = ""

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def shown_as(self) -> str:
        return self.label or label_of(self.name)

    @property
    def account(self) -> Principal:
        """The principal that its pieces run by (rule R1)."""
        return Principal(self.name, frozenset(str(role) for role in self.roles), agent=True)

    def skill(self, name: str) -> Skill[Any, Any] | None:
        return next((skill for skill in self.skills if skill.name == name), None)

    def __repr__(self) -> str:
        return f"{self.name}()"
