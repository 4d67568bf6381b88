"""Proposals, questions, the inbox that lists them, and standing rules."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from core.values.states import HelpFrom, HelpReason, HelpStatus, ProposalStatus


@dataclass(frozen=True, slots=True)
class Hold:
    """A decision that was made and held for a moment before it is carried out, and what came of it."""

    act: Literal["approve", "refuse", "answer", "decline"]
    by: UUID
    by_name: str
    made_at: datetime
    until: datetime  # it is carried out from then on
    ended_at: datetime | None  # carried out or dropped; None: it is held
    why_not: str  # why it was not carried out
    mine: bool  # made by this reader, who may take it back while it is held

    @property
    def lasts(self) -> bool:
        return self.ended_at is None


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Who handed a request over to whom, last."""

    by: UUID
    by_name: str
    to: UUID
    to_name: str
    at: datetime
    note: str
    mine: bool  # its reader handed it over, and may have it put back while it waits


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change put to a person, who approves or refuses exactly what is shown."""

    id: UUID
    piece: UUID
    root: UUID
    about: str  # of the whole
    agent: str
    agent_label: str
    action: str
    action_label: str
    arguments: dict[str, Any]
    shown: tuple[tuple[str, str], ...]  # the arguments as a person reads them: label, value (rows by their label)
    schema: dict[str, Any]  # JSON Schema of the arguments
    fingerprint: str  # SHA-256 over action and canonical arguments, hex (rule P12)
    sentence: str  # made from the action's template, never by the model
    said: str  # the agent's words that came with the call
    asked_through: str  # "Collator, working for Planner"; empty where the asking piece is the top
    through: tuple[str, ...]  # the same as labels, from the asking agent up to the top
    asked_of: UUID | None
    asked_of_name: str
    waits_above: tuple[str, ...]  # labels of the pieces above that wait for this
    status: ProposalStatus
    decided_by: UUID | None
    decided_by_name: str
    decided_at: datetime | None
    note: str  # the reason or note that went with the decision
    edited: dict[str, Any] | None  # the arguments it ran with, where the person changed them
    result: str
    asked_at: datetime
    deadline: datetime | None  # from then on nobody may decide it; None: it waits for ever
    outside: bool  # it changes something outside Handon's database
    reversible: bool
    first_time: bool  # no such call was decided in this whole before
    may_decide: bool
    call_micros: int  # model money the call itself costs: 0
    tree_micros: int  # spent in the whole
    tree_limit_micros: int
    lines: int = 0  # lines on the record about it; counted where one proposal is opened
    with_rule: UUID | None = None  # the standing rule given along with the approval; asked where one is opened
    may_rule: bool = False  # whether this reader may let it be done alone from now on (rule P10)
    takes_over: bool = False  # this reader may decide only because whoever was asked is gone (rule R10)
    handed: HandedOver | None = None  # who handed it over last, where somebody did
    hold: Hold | None = None  # the last decision on it that was held; while it is, it counts as decided
    aside_until: datetime | None = None  # this reader has set it aside until then

    @property
    def waits(self) -> bool:
        """Whether it waits for a decision still."""
        return self.status is ProposalStatus.WAITING and self.decided_at is None


@dataclass(frozen=True, slots=True)
class StandingRule:
    """A person's "from now on, alone" for one agent and one action."""

    id: UUID
    agent: str
    agent_label: str
    action: str
    action_label: str
    person: UUID | None  # for whose work; None: for everybody's
    person_name: str
    given_by: UUID
    given_by_name: str
    given_at: datetime
    bounds: str  # in words; empty without
    uses: int
    max_uses: int | None
    used_sum: str
    max_sum: str | None
    until: datetime | None
    revoked_at: datetime | None
    holds: bool  # not revoked, not used up, not past its end, and its agent still proposes that tool of its own
    sentence: str
    revoked_by_name: str = ""
    why_not: str = ""  # where it does not hold: "revoked", "used up", "over", "nothing to lift"
    may_revoke: bool = False  # whether this reader may


@dataclass(frozen=True, slots=True)
class RuleOffer:
    """That a person may let an agent do something alone from now on (rules R6, P10), and what bounds may name."""

    agent: str
    agent_label: str
    action: str
    action_label: str
    schema: dict[str, Any]  # JSON Schema of the action's arguments, without the masked ones
    rows: tuple[str, ...]  # the arguments that are rows of the app
    for_me: bool
    for_everybody: bool
    still_asks: tuple[str, ...] = ()  # labels of the agents above whose own word on it no rule of this one lifts


@dataclass(frozen=True, slots=True)
class Question:
    """Something an agent asks a person."""

    id: UUID
    piece: UUID
    root: UUID
    about: str
    agent: str
    agent_label: str
    question: str
    context: str
    choices: tuple[str, ...]
    consequences: tuple[str, ...]  # of each choice, in the agent's words, what follows; empty where it does not say
    asked_through: str
    through: tuple[str, ...]
    asked_of: UUID | None
    asked_of_name: str
    waits_above: tuple[str, ...]
    status: HelpStatus
    answer: str
    declined: bool
    answered_by: UUID | None
    answered_by_name: str
    answered_at: datetime | None
    asked_at: datetime
    deadline: datetime | None
    may_answer: bool
    takes_over: bool = False  # this reader may answer only because whoever was asked is gone (rule R10)
    handed: HandedOver | None = None  # who handed it over last, where somebody did
    hold: Hold | None = None  # the last answer to it that was held; while it is, it counts as answered
    aside_until: datetime | None = None  # this reader has set it aside until then

    @property
    def waits(self) -> bool:
        """Whether it waits for an answer still."""
        return self.status is HelpStatus.WAITING and self.answered_at is None


@dataclass(frozen=True, slots=True)
class Asked:
    """One row of the inbox: a proposal or question that waits for this reader."""

    id: UUID
    kind: Literal["proposal", "question"]
    text: str  # a proposal's sentence, made from the action's template; a question is the agent's own words
    asked_through: str  # "Collator, working for Planner"; the agent alone where it is the top
    asked_at: datetime
    deadline: datetime | None
    put_to: str  # whom it was put to where that is not this reader: a name, or "nobody"
    alike: int = 1  # how many of this agent in this work ask for exactly the same, this one among them
    nth_alike: int = 1  # which of those it is, in the order of the list


@dataclass(frozen=True, slots=True)
class AskedBundle:
    """Proposals of one agent in one whole for one action, where there are many; its number counts those on other pages
    too. Each is a request of its own still."""

    agent: str
    agent_label: str
    action: str
    action_label: str
    number: int
    oldest: datetime
    deadline: datetime | None  # the first one
    requests: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class AskedGroup:
    """The requests of one whole that are on a page of the inbox; its number counts those on other pages too."""

    root: UUID
    about: str
    number: int
    oldest: datetime
    deadline: datetime | None  # the first one
    rows: tuple[Asked | AskedBundle, ...]

    @property
    def requests(self) -> tuple[Asked, ...]:
        """Each of them, also those in a bundle."""
        return tuple(one for row in self.rows for one in (row.requests if isinstance(row, AskedBundle) else (row,)))


@dataclass(frozen=True, slots=True)
class Advice:
    """So many of the last of one agent and action that a person decided, they approved unchanged: a standing rule of
    theirs would spare them the rest."""

    agent: str
    agent_label: str
    action: str
    action_label: str
    approved: int
    of: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Proposals of one whole that are looked at together, each in full."""

    root: UUID
    about: str
    items: tuple[Proposal, ...]
    total: int  # of this kind that wait for the reader; more than `items` where there are too many for one page
    elsewhere: int = 0  # that were asked for and belong to another whole
    advice: Advice | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request stands in the list, and those beside it."""

    n: int
    before: UUID | None
    after: UUID | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A page of what waits for one person. `total` is everything, as the badge has it; `shown` what the filter left."""

    groups: tuple[AskedGroup, ...]
    total: int
    shown: int
    first: int  # the numbers of the first and last row on this page, from 1; 0 on an empty one
    last: int
    more: str  # the mark the next page begins after; empty on the last page
    oldest: datetime | None
    proposals: int
    questions: int
    agents: tuple[tuple[str, str, int], ...]  # name, label, how many
    works: tuple[tuple[UUID, str, int], ...]  # root, about, how many
    place: Place | None  # of the request that was asked about
    aside: tuple[
        tuple[Asked, datetime], ...
    ] = ()  # what its reader has set aside, and until when; counted nowhere else
    handed: tuple[tuple[Asked, datetime], ...] = ()  # what its reader has handed over and may take back, and when
    advice: tuple[Advice, ...] = ()  # told where no request is opened

    @property
    def hidden(self) -> int:
        """How many the filter leaves out."""
        return self.total - self.shown


DraftAct = Literal["refuse", "edit", "answer", "decline"]


@dataclass(frozen=True, slots=True)
class Draft:
    """What a person has begun to write to a request and not sent, by the names of the fields."""

    act: DraftAct
    fields: dict[str, str]


@dataclass(frozen=True, slots=True)
class Help:
    """A row for each question or consult (rule C7)."""

    id: UUID
    piece: UUID
    help_from: HelpFrom
    why: HelpReason
    asked_model: str
    question: str
    context: str
    answer: str
    status: HelpStatus
    cost_micros: int
    asked_through: str
