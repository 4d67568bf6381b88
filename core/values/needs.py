"""What needs somebody now: works, waits, limits that are near, abandoned wholes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from core.values.states import Status


class Need(StrEnum):
    """Why a supervisor looks at a whole, in the order in which they are listed."""

    WAITS = "waits"  # something in it waits for a person
    NEAR = "near"  # it has spent 80 % of its limit or more
    ABANDONED = "abandoned"  # under way, and whatever was doing it is gone (rule A1)
    QUIET = "quiet"  # no line for a third of the time after which it is abandoned
    FAILED = "failed"  # a piece of it has failed
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Active:
    """A whole as a supervisor sees it among others. Nothing in it is content (rule R8)."""

    root: UUID
    about: str
    agent_label: str
    skill_label: str
    person: str  # it is for; empty for nobody
    need: Need
    status: Status
    stopping: bool
    failed: int  # pieces
    waits_since: datetime | None  # of what waits longest
    last_line_at: datetime
    doing_agent: str  # label of the lowest piece that waits, else that works; empty once all has ended
    doing_skill: str
    doing_on: str  # what that piece waits for; empty where it works
    tree_micros: int
    limit_micros: int
    opened_at: datetime
    ended_at: datetime | None
    decided_by: str = ""  # whose decision is held, where nobody else is needed


@dataclass(frozen=True, slots=True)
class Wait:
    """A proposal or question that waits for a person, and who waits for it."""

    id: UUID
    piece: UUID
    root: UUID
    about: str
    chain: tuple[str, ...]  # labels, from the highest piece that waits for it down to the one that asks
    what: str  # "a decision", "an answer"
    person: str  # who was asked; empty where nobody is
    asked_at: datetime
    deadline: datetime | None


@dataclass(frozen=True, slots=True)
class NearLimit:
    """A whole that has spent 80 % of its limit or more."""

    name: str  # empty where its reader may not see it
    root: UUID | None
    used_micros: int
    limit_micros: int


@dataclass(frozen=True, slots=True)
class Checked:
    """What a look at the records that changed last has shown."""

    works: int  # whose whole record was read, line by line
    lines: int
    at: datetime
    left_out: int  # whose records were too long for a glance
    broken: tuple[tuple[UUID, str, int | None], ...]  # whole, about, the first line that does not fit


@dataclass(frozen=True, slots=True)
class Now:
    """What needs a supervisor at this moment."""

    going: int  # wholes under way
    waiting: int  # requests that wait for people
    oldest: Wait | None
    near: int  # wholes near their limit
    nearest: NearLimit | None
    abandoned: int  # wholes, not closed yet
    quiet_since: datetime | None  # of the one that is quiet longest
    closed_lately: int  # pieces closed as abandoned in the last day
    closed_at: datetime | None  # the last of them
    active: tuple[Active, ...]  # those that need somebody first
    needy: int  # wholes that need somebody, listed or not
    kept: tuple[Active, ...]  # others that were asked for by id
    waits: tuple[Wait, ...]  # the longest
    crowded: tuple[tuple[str, int], ...] = ()  # for whom so much waits that nobody could read it all; how much


@dataclass(frozen=True, slots=True)
class Abandoned:
    """A whole under way that nobody is doing (rule A1)."""

    root: UUID
    about: str
    agent_label: str
    skill_label: str
    person: str
    pieces: tuple[str, ...]  # labels of those that were in the middle of a step
    last_line_at: datetime
    tree_micros: int
    limit_micros: int


@dataclass(frozen=True, slots=True)
class ClosedAbandoned:
    """A piece that was closed as abandoned, with everything under it (rule A2)."""

    piece: UUID
    root: UUID
    about: str
    agent_label: str
    skill_label: str
    person: str
    status: Status
    ended_at: datetime
    whole_goes_on: bool
    tree_micros: int
