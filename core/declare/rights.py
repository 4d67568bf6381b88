"""Who may: policies over principals, and the security an app declares on its rows.

A principal is a person or an agent's account. Agents and people are asked the same questions (rule R2). `guard`
applies what is declared here to a session; this file only says what was declared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from sqlalchemy import ColumnElement, MetaData, Uuid
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from core.ids import new_id, to_uuid

Verb = Literal["read", "create", "update", "delete"]


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody rights are asked of. `id` is None for an agent's account, which is known by its name."""

    name: str
    roles: frozenset[str]
    id: UUID | None = None
    agent: bool = False

    def may(self, policy: Policy) -> bool:
        return policy(self)


class Policy:
    """A question about a principal, answered yes or no. Policies combine with `|`, `&` and `~`."""

    def __init__(self, says: Callable[[Principal], bool], words: str = "") -> None:
        self._says = says
        self.words = words or getattr(says, "__name__", "a policy")

    def __call__(self, principal: Principal) -> bool:
        return bool(self._says(principal))

    def __or__(self, other: Policy) -> Policy:
        return Policy(lambda p: self(p) or other(p), f"({self.words} or {other.words})")

    def __and__(self, other: Policy) -> Policy:
        return Policy(lambda p: self(p) and other(p), f"({self.words} and {other.words})")

    def __invert__(self) -> Policy:
        return Policy(lambda p: not self(p), f"not {self.words}")

    def __repr__(self) -> str:
        return f"Policy({self.words})"


def has_role(role: str) -> Policy:
    """Yes for whoever holds the role."""
    value = str(role)
    return Policy(lambda principal: value in principal.roles, f"has role {value}")


anybody = Policy(lambda _: True, "anybody")


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of a row's `security`. `rows` narrows it to the rows for which its SQL condition holds."""

    allows: bool
    verbs: frozenset[str]
    when: Policy
    fields: frozenset[str] | None = None
    rows: Callable[[Principal], ColumnElement[bool]] | None = None


def allow(*verbs: Verb, when: Policy, rows: Callable[[Principal], ColumnElement[bool]] | None = None) -> Rule:
    """Whoever satisfies `when` may do `verbs`, with all rows or those for which `rows(principal)` holds."""
    return Rule(True, frozenset(verbs), when, None, rows)


def deny(*verbs: Verb, when: Policy, fields: Iterable[str] | None = None) -> Rule:
    """Whoever satisfies `when` may not do `verbs`, or not with these fields. A deny beats every allow."""
    return Rule(False, frozenset(verbs), when, frozenset(fields) if fields is not None else None)


class Row(DeclarativeBase):
    """Base of an app's own rows. Each has an `id`, and `security`: who may do what with it. No `security`: nobody may.

    A skill may take a row, and an action may take rows as parameters: models name them by their id.
    """

    metadata = MetaData()
    security: list[Rule] = []

    id: Mapped[UUID] = mapped_column(Uuid(native_uuid=False), primary_key=True, default=lambda: to_uuid(new_id()))

    @property
    def label(self) -> str:
        """What a person calls this row: its first text column. A row may say it otherwise."""
        for column in self.__table__.columns:
            if column.key != "id":
                return str(getattr(self, column.key))
        return str(self.id)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__dict__.get('id')})"


def may_do(principal: Principal, row: type[Row], verb: str) -> bool:
    """Whether the principal may do the verb with some rows of the class, whichever and whatever fields."""
    said = [rule for rule in row.security if verb in rule.verbs and rule.when(principal)]
    return any(r.allows for r in said) and not any(not r.allows and r.fields is None for r in said)


def denied_fields(principal: Principal, row: type[Row], verb: str) -> frozenset[str]:
    """The fields with which the principal may not do the verb."""
    named: set[str] = set()
    for rule in row.security:
        if not rule.allows and rule.fields is not None and verb in rule.verbs and rule.when(principal):
            named |= rule.fields
    return frozenset(named)


def rows_for(principal: Principal, row: type[Row], verb: str) -> list[ColumnElement[bool]] | None:
    """Conditions one of which a row must meet for the principal to do the verb; None: no row is left out."""
    said = [rule for rule in row.security if rule.allows and verb in rule.verbs and rule.when(principal)]
    if any(rule.rows is None for rule in said):
        return None
    return [rule.rows(principal) for rule in said if rule.rows is not None]


@dataclass(frozen=True, slots=True)
class Policies:
    """The app's answers to five questions about a person, and whether an agent may consult on their account (R9)."""

    uses_agents: Policy  # gives agents work, and reads the work they asked for
    supervises_agents: Policy  # sees that work happened; pauses and stops
    audits_agents: Policy  # reads everything, content included
    reads_model_usage: Policy
    manages_model_spend: Policy
    agents_may_consult: Policy = anybody
