"""Pieces and wholes: receipts, lists, what may be given, and what stopping would do."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from core.values.needs import Active
from core.values.states import Status


@dataclass(frozen=True, slots=True)
class Piece:
    """A receipt: one agent doing one skill on one input."""

    id: UUID
    parent: UUID | None
    root: UUID
    depth: int  # 0 at the top
    lineage: tuple[UUID, ...]  # from the top to this piece, both included
    agent: str  # the class's name
    agent_label: str  # as a person reads it
    skill: str
    skill_label: str
    skill_version: str  # of the skill's definition, when the piece was opened
    skill_version_now: str  # that its last run worked by: another one where the app defined the skill anew since
    about: str
    status: Status
    waiting_on: str  # "a decision from Mia"; empty while it does not wait
    outcome: str  # why it ended so; empty while it goes on, and where it was done. Content
    requester: UUID | None  # the person the whole is for
    given_by: UUID | None
    limit_micros: int
    spent_micros: int  # what this piece spent itself
    model_calls: int
    result_json: str | None  # content
    opened_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class WorkNode:
    """One row of a whole (rule T1): the top first, each piece followed by what it handed on."""

    piece: UUID
    parent: UUID | None
    depth: int
    agent: str
    agent_label: str
    skill: str
    skill_label: str
    about: str
    status: Status
    waiting_on: str
    outcome: str
    own_micros: int
    tree_micros: int  # this piece and everything under it
    reserved_micros: int  # room held for calls under way, here and below
    limit_micros: int
    model_calls: int
    opened_at: datetime
    ended_at: datetime | None
    stopping: bool = False  # called off, and the last call under it has not come back yet
    abandoned: bool = False  # closed because whatever was doing it is gone
    waits_for_you: bool = False  # an undecided proposal or open question of this piece is this reader's to answer
    waits_since: datetime | None = None  # when it began to wait
    decided_by: str = ""  # whose decision on what it waits for is held: it can be taken back still


@dataclass(frozen=True, slots=True)
class Work:
    """A whole on one line, for lists and the head of its page."""

    root: UUID
    about: str
    agent_label: str
    skill_label: str
    person: str  # the name of the person it is for; empty for nobody
    given_by: str
    status: Status
    waiting_on: str
    outcome: str
    tree_micros: int
    limit_micros: int
    pieces: int
    going: int  # pieces not ended
    waiting: int  # pieces that wait
    for_you: int  # requests in it that wait for this reader
    lines: int
    opened_at: datetime
    ended_at: datetime | None
    stopping: bool = False
    may_stop: bool = False
    content: bool = False  # whether this reader is shown what was said and changed (R8)
    decided_by: str = ""  # whose decision is held, where nobody else is needed


@dataclass(frozen=True, slots=True)
class ToStop:
    """What stopping everything would call off."""

    works: int
    pieces: int
    held: int  # in the middle of a step: they end after it
    requests: int  # proposals and questions that are withdrawn
    outside: int  # calls that have begun to change something outside
    tree_micros: int
    first: tuple[Active, ...]


@dataclass(frozen=True, slots=True)
class Stopping:
    """How far stopping has come: wholes called off since a moment, and those that still end a step."""

    stopped: int
    stopping: int
    pieces: int  # not ended yet, in those that are stopping
    left: tuple[Active, ...]


@dataclass(frozen=True, slots=True)
class ToStopBranch:
    """What stopping a piece would call off, with everything under it."""

    node: WorkNode
    going: int  # pieces that are called off, itself included
    held: int  # in the middle of a step: they end after it
    waiting: int  # that wait for a person
    requests: int  # proposals and questions that are withdrawn
    outside: int  # calls that have begun to change something outside
    ended: int  # pieces that have ended already
    changes: int  # that a person approved and that were made
    above: str  # label of the agent that is told; empty at the top
    first: tuple[WorkNode, ...]  # some of those that are called off, the top first


@dataclass(frozen=True, slots=True)
class StopAsked:
    """How far calling a piece off has come."""

    at: datetime | None  # when it was asked of this piece; None: it goes with a piece above
    words: str  # who asked it, and why
    left: int  # pieces that have not ended yet, itself included
    ended_at: datetime | None  # when the last one had


@dataclass(frozen=True, slots=True)
class Delegated:
    """What an agent may hand on (rule D7), for a picker and for the map."""

    origin: str  # the handing agent ("from" is a word of Python's)
    to: str
    skill: str
    label: str
    description: str
    helper: bool
    budget_micros: int | None
    takes_schema: dict[str, Any]
    hands_back_schema: dict[str, Any]
    to_label: str = ""
    gate: str = ""  # of the agent it goes to, in one sentence


@dataclass(frozen=True, slots=True)
class Giving:
    """Work that this person may give: one skill of one agent, with what the form needs."""

    agent: str
    agent_label: str
    purpose: str
    skill: str
    skill_label: str
    description: str
    schema: dict[str, Any]  # JSON Schema of the input; of a row: {"id": ...}
    row: str | None  # the label of the rows it takes, where it takes one
    rows: tuple[tuple[UUID, str], ...]  # the rows this person and the agent may both read: id, label
    hands_back: tuple[str, ...]
    limit_micros: int  # what it gets where nobody says less
    max_depth: int
    max_pieces: int
    gate: str
    hands_on: tuple[Delegated, ...] = field(default=())
