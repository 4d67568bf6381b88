"""Lines of a record, and what was verified of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from core.values.states import TraceKind


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of a record. To whoever may not read content, `summary` is the bare sentence of its kind."""

    n: int
    at: datetime
    piece: UUID
    agent_label: str
    kind: TraceKind
    summary: str
    payload: str  # canonical JSON
    hash: str  # hex
    before: str  # hex; 64 zeros before the first line
    micros: int | None  # what the line cost, where it tells of a model's answer


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `verify_trace` found. `proven` says in one sentence what was, and what was not."""

    intact: bool
    lines: int
    broken_at: int | None
    why: str
    proven: str


@dataclass(frozen=True, slots=True)
class LineSieve:
    """Which lines of all records are shown. Empty: all of them."""

    work: UUID | None = None
    agent: str = ""  # its name
    kind: TraceKind | None = None
    person: UUID | None = None  # lines of work for them or given by them, and what they decided themselves
    since: datetime | None = None
    until: datetime | None = None  # lines before it
    text: str = ""  # in what lines say, where the reader may read it

    @property
    def narrows(self) -> bool:
        return self != LineSieve()


@dataclass(frozen=True, slots=True)
class AuditLine:
    """A line among those of all records."""

    line: Line
    root: UUID
    about: str
    person: str  # whom the work is for; empty: for nobody
    content: bool  # whether the reader may read what it says


@dataclass(frozen=True, slots=True)
class LineOpened:
    """One line with what its place in the chain is told from. `said` is what is hashed, to the letter; empty where its
    reader may not read the content."""

    of: AuditLine
    said: str
    following: tuple[str, str] | None  # the next line's hash and the one it holds of the line before; None: the last
    lines: int  # of the record
    head: str  # kept apart from the lines
    signature: str | None  # over the head
    signed_by: str | None


@dataclass(frozen=True, slots=True)
class Recorded:
    """How much there is on all records."""

    works: int
    lines: int
    since: datetime | None  # the first work was given; None: none was


@dataclass(frozen=True, slots=True)
class Verification:
    """All records read again, one after the other, as far as it has come."""

    begun_at: datetime
    ended_at: datetime | None  # None: under way
    by: str  # who asked for it; empty: the app
    of_works: int  # that were there when it began
    works: int  # read again so far
    lines: int
    signed: int  # unbroken records whose head bears a signature that fits
    by_other_key: int  # of them by another key than the agency signs with
    keys: tuple[str, ...]  # that signed them, at most three
    broken: int
    first: tuple[UUID, str, int, str] | None  # the first that does not hold: whole, about, line, what does not fit

    @property
    def unsigned(self) -> int:
        """Unbroken records of work under way: their heads are not signed yet."""
        return self.works - self.broken - self.signed
