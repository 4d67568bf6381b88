"""The tree of a whole as rows, its times, and one piece in full."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from core.values.audit import Line
from core.values.requests import Proposal, Question
from core.values.work import StopAsked, WorkNode


class Stand(StrEnum):
    """How a piece stands to whoever sums up a branch, the most urgent first. The words go after a number."""

    YOURS = "waits for you"  # for the reader
    PERSON = "waits for a person"
    ABANDONED = "abandoned"
    FAILED = "failed"
    WORKING = "working"
    AGENT = "waits for agents"
    STOPPING = "stopping"
    STOPPED = "stopped"
    OFF = "called off"
    DONE = "done"

    final: bool  # kept with each, since it is asked of thousands

    def __init__(self, words: str) -> None:
        self.final = words in ("abandoned", "failed", "stopped", "called off", "done")


TreeShow = Literal["", "going", "needs", "all"]


@dataclass(frozen=True, slots=True)
class TreeAsk:
    """What of a whole is asked for. Branches are named by a piece, or as a group of its legs: `piece~Agent.Skill`;
    the last eight digits of an id are enough."""

    opened: tuple[tuple[str, int], ...] = ()  # branches opened by hand, and how many rows of each; the last one last
    shut: tuple[str, ...] = ()
    show: TreeShow = ""  # empty: what suits the whole
    find: str = ""
    chosen: UUID | None = None


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One row: a piece, or more than twenty legs of one kind together (`node` is None then)."""

    key: str  # of the piece, or of the group
    node: WorkNode | None
    agent_label: str
    skill_label: str
    level: int  # 1 is the top
    place: int  # among its siblings, from 1
    siblings: int
    children: int
    open: bool
    below: tuple[tuple[Stand, int], ...]  # everything under it, the most urgent first; of a group its own legs too
    going: tuple[str, ...]  # labels of its legs that go on; empty texts where there are several
    own_micros: int
    tree_micros: int
    found: bool = False  # it is what was looked for, and not only on the way there

    @property
    def total_below(self) -> int:
        return sum(number for _, number in self.below)


@dataclass(frozen=True, slots=True)
class TreeRest:
    """What of an open branch is not shown."""

    key: str  # the branch
    label: str
    level: int
    shown: int
    more: int  # that the next page of the branch would show
    total: int
    finished: int  # left out by the filter
    window: int  # rows to ask for, so that the next ones are shown


@dataclass(frozen=True, slots=True)
class TreePage:
    """A whole as far as it is shown (rule T1), and what is left out."""

    rows: tuple[TreeRow | TreeRest, ...]
    show: TreeShow  # never empty
    usual: TreeShow  # what is shown where nothing is asked for
    find: str
    pieces: int
    going: int
    needs: int  # pieces with a request that waits for a person
    matches: int  # pieces that were found, also those that are not shown
    shown: frozenset[str]  # keys of the rows
    complete: bool  # every piece has its row
    closed: tuple[str, ...] = ()  # labels of branches that were closed so that the page does not grow too long
    opened: tuple[tuple[str, int], ...] = ()  # what is left of what was asked for


class Doing(StrEnum):
    """What a piece does with a stretch of time, as a person reads it."""

    QUEUED = "queued"  # it may go on, and nobody has taken it up
    WORKS = "works"
    MODEL = "waits for a model"
    AGENT = "waits for an agent"
    PERSON = "waits for a person"
    STOPPING = "stopping"
    SILENT = "silent"  # whoever held it was gone


@dataclass(frozen=True, slots=True)
class Span:
    """One stretch of a piece's time."""

    what: Doing
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class TreeNews:
    """What has changed in the rows that somebody is shown."""

    rows: tuple[TreeRow, ...]
    pieces: frozenset[UUID]  # that something happened to, and all above them
    touched: frozenset[str]  # keys of the rows that it happened to themselves
    fresh: int  # pieces that the page would show and does not
    gone: int  # rows that the page would not show any more
    at_end: bool  # what is new stands after the last row, and nothing is gone
    new: tuple[TreeRow, ...]  # then: the first of what is new
    owes: bool  # more rows have changed than one message holds
    all: int  # pieces of the whole


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning of a text, which may be all of it."""

    text: str
    letters: int  # of the whole text

    @property
    def left_out(self) -> int:
        return self.letters - len(self.text)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool of a piece, as its pane shows it."""

    n: int  # the line that tells of it
    at: datetime
    name: str
    sentence: str
    given: Excerpt  # its arguments, as JSON
    answer: Excerpt
    ok: bool


@dataclass(frozen=True, slots=True)
class Pane:
    """One piece, opened. All but `node`, the names, the numbers and the money is content."""

    node: WorkNode
    root: UUID
    place: int  # among what the piece above handed on, from 1
    siblings: int
    handed_on_by: str  # label of the agent above; empty at the top
    asked_for: tuple[tuple[str, Excerpt], ...]
    handed_back: tuple[tuple[str, Excerpt], ...]
    expected: tuple[str, ...]  # names of what it is to hand back
    said: Excerpt  # the last words of its model
    calls: tuple[ToolCall, ...]  # the last ones
    all_calls: int
    proposals: tuple[Proposal, ...]
    questions: tuple[Question, ...]
    gate: str  # one sentence: "Proposes every change."
    lines: tuple[Line, ...]  # some of its record
    earlier: int  # the number of the line before those; 0: there is none
    all_lines: int
    may_stop: bool
    stop: StopAsked | None
    content: bool
