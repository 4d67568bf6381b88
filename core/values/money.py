"""What was spent against which limit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID


@dataclass(frozen=True, slots=True)
class SpendLimit:
    """What the work of an agent, or the work for a person, may cost in a day or a month (rule M7)."""

    agent: str | None  # the class's name; None: it is a person's
    person: UUID | None
    name: str  # as a person reads it
    period: Literal["day", "month"]
    time_zone: str  # in which the period begins at midnight
    since: datetime  # when the running one began
    limit_micros: int
    spent_micros: int  # in the running one
    reserved_micros: int  # held for calls under way
    set_by: str  # a name; empty where what is declared holds, or the app itself set it
    set_at: datetime | None
    declared_micros: int | None = None  # what the agent's class or the agency says
    set_micros: int | None = None  # what was set; of an agent's, the least of both holds

    @property
    def left_micros(self) -> int:
        return max(0, self.limit_micros - self.spent_micros - self.reserved_micros)

    @property
    def near(self) -> bool:
        return near(self.spent_micros + self.reserved_micros, self.limit_micros)


def near(used: int, limit: int) -> bool:
    """Whether so much of a limit is used that somebody should look at it: 80 % or more."""
    return used * 5 >= limit * 4 and (used > 0 or limit == 0)


@dataclass(frozen=True, slots=True)
class Limitable:
    """An agent or a person whose work may be limited for a day or a month."""

    agent: str | None
    person: UUID | None
    name: str
    declared_per_day: int | None  # micros; what an agent's class says


@dataclass(frozen=True, slots=True)
class Account:
    """What several wholes are charged to together (`on=`)."""

    key: str
    limit_micros: int | None  # None: it is not limited
    spent_micros: int
    reserved_micros: int
    set_by: str  # who set or took away the limit last; empty with a time: the app itself
    set_at: datetime | None  # None: nobody has

    @property
    def near(self) -> bool:
        return self.limit_micros is not None and near(self.spent_micros + self.reserved_micros, self.limit_micros)


@dataclass(frozen=True, slots=True)
class Spent:
    """What the meter says of the calls of one model, agent, person or whole, or of several together."""

    name: str  # of a whole that its reader may not see: empty
    calls: int
    consults: int  # of the calls: those to a more capable model
    tokens_in: int
    tokens_out: int
    tokens_cached: int  # of those in
    micros: int
    estimated: int  # of the calls: those that came back without usage figures, charged what was held for them
    estimated_micros: int
    root: UUID | None = None  # of a whole that its reader may see
    tree_micros: int = 0  # of a whole: what it spent in all
    known: bool = True  # whether the app still has it


@dataclass(frozen=True, slots=True)
class Meter:
    """What was spent from the first day to the last, both included, in the agency's time zone (rule M8)."""

    first: date
    last: date
    time_zone: str
    together: Spent
    models: tuple[Spent, ...]  # each of these with the dearest first
    agents: tuple[Spent, ...]
    people: tuple[Spent, ...]  # whom the work was for
    wholes: tuple[Spent, ...]
    more_people: int  # that are not listed
    more_wholes: int
    held_micros: int  # for calls under way at this moment


@dataclass(frozen=True, slots=True)
class MeterCall:
    """One call on the meter."""

    piece: UUID
    n: int  # the piece's how manieth
    at: datetime
    model: str
    purpose: str  # work, consult, decide
    agent_label: str
    skill_label: str
    person: str  # the work is for; empty for nobody
    about: str  # of the whole, where its reader may see that
    root: UUID | None
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    micros: int
    estimated: bool


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """What one of the agency's models costs, in the currency unit for a million tokens."""

    name: str
    model: str  # as the provider calls it
    input: Decimal
    output: Decimal
    cached: Decimal
    over: tuple[tuple[int, Decimal, Decimal], ...]  # more tokens in than this: input, output
    agents: tuple[str, ...]  # labels of those that work with it
    consulted_by: tuple[str, ...]
