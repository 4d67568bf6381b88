"""The frozen values that leave core: what pages, apps and tests are given, never table rows.

Ids are UUIDs, money is integer micros (millionths of the currency unit), times are aware UTC datetimes.
A field that only somebody who may read the content of a piece is given (rule R8) says so; for everybody else it is
empty. Nothing here reads a database: `reading` makes these values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID


class Status(StrEnum):
    """Where a piece stands (rule E1). The last four are final and never change again."""

    WORKING = "Working"  # due, held by a run, or parked on legs that still work
    WAITING = "Waiting"  # everything it needs waits for a person
    DONE = "Done"  # it handed back a result that fits
    FAILED = "Failed"  # it could not: `outcome` says why
    STOPPED = "Stopped"  # a limit or a guard ended it: `outcome` says which
    CANCELLED = "Cancelled"  # it was called off

    @property
    def final(self) -> bool:
        return self not in (Status.WORKING, Status.WAITING)


class ProposalStatus(StrEnum):
    """What became of a change that was put to a person."""

    WAITING = "Waiting"
    DONE = "Done"  # approved, and it ran
    FAILED = "Failed"  # approved, and it ran into an error: `result` says which
    REFUSED = "Refused"  # a person said no, or a rule did
    WITHDRAWN = "Withdrawn"  # the piece ended before anybody decided
    EXPIRED = "Expired"  # nobody answered in time


class HelpFrom(StrEnum):
    MODEL = "Model"
    PERSON = "Person"


class HelpReason(StrEnum):
    CHOSEN = "Chosen"
    STUCK = "Stuck"
    LOW_CONFIDENCE = "LowConfidence"


class HelpStatus(StrEnum):
    WAITING = "Waiting"
    ANSWERED = "Answered"
    REFUSED = "Refused"
    UNAVAILABLE = "Unavailable"
    CLOSED = "Closed"  # the piece ended before anybody answered


# What is told of a change that was begun outside by a process that is gone (rule A7).
UNKNOWN = "It was begun and never reported back: its outcome is unknown, and it is not run again. Find out first."
NEVER_BEGUN = "It was approved, and its piece ended before it was begun: it was not done."


class Gate(StrEnum):
    """What happens to a change that an agent's model asks for (rule R4), from the widest to the strictest."""

    ALONE = "alone"
    PROPOSE = "propose"
    PROPOSE_EVERY_TIME = "propose every time"
    NEVER = "never"


class TraceKind(StrEnum):
    """The kinds of line on the record (rule T4). What each says to a person stands in `record.KINDS`."""

    OPENED = "opened"
    MODEL_ANSWERED = "model answered"
    TOOL_RAN = "tool ran"
    PROPOSED = "proposed"
    DECIDED = "decided"
    ASKED = "asked"
    ANSWERED = "answered"
    HANDED_ON = "handed on"
    CAME_BACK = "came back"
    CONSULTED = "consulted"
    WAITING = "waiting"
    RESUMED = "resumed"
    RETRIED = "retried"
    RULE_USED = "rule used"
    STOP_ASKED = "stop asked"
    ENDED = "ended"
    ABANDONED = "closed as abandoned"
    LATE_ANSWER = "answered late"
    BEGUN = "begun outside"
    ANSWER_LOST = "answer lost"
    EXPIRED = "expired"
    TAKEN_OVER = "taken over"
    HANDED_OVER = "handed over"
    TAKEN_UP = "taken up again"
    REDEFINED = "redefined"
    NOT_CARRIED_OUT = "not carried out"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who signs in. `roles` are the values of the app's role enum."""

    id: UUID
    email: str
    name: str
    roles: frozenset[str] = frozenset()
    active: bool = True


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a provider says that somebody is. `roles` are those of the app that its claim gives; None where no claim is
    asked, and then roles stay as they are."""

    issuer: str
    subject: str
    email: str
    email_verified: bool
    name: str
    roles: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the app's policies answer for one person (rule R9)."""

    uses_agents: bool
    supervises_agents: bool
    audits_agents: bool
    reads_model_usage: bool
    manages_model_spend: bool


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

    @property
    def final(self) -> bool:
        return self in (Stand.ABANDONED, Stand.FAILED, Stand.STOPPED, Stand.OFF, Stand.DONE)


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


# Keys that count alone, as they are where a person has not chosen others, and what each does.
SINGLE_KEYS = {
    "a": "Approve: arms the button, and Enter decides",
    "r": "Refuse, or say that you cannot answer",
    "e": "Edit before you approve",
    "s": "Set it aside until later",
    "h": "Hand it over to somebody else",
    "A": "From now on, alone: opens the second step",
    "w": "Answer in your own words",
    "x": "In the list, choose a request to look at together with others",
    "J": "Choose the next one too",
    "K": "Choose the previous one too",
    "j": "The next request or row",
    "k": "The previous one",
    "o": "Open the row",
    "u": "Back to the list",
    "n": "The next request that waits for you, from any page",
    "z": "Undo the last decision, from any page, while it is held",
    ".": "Show what is new",
    "p": "Pause what comes live, and go on",
    "/": "Find in the tree",
    "g": "Go: with a second key to a page",
    "?": "All keys",
}


@dataclass(frozen=True, slots=True)
class Preferences:
    """How a person likes their pages. Empty: as everybody's are."""

    home: str = ""  # inbox, now, work, map, money, audit, start
    theme: str = ""  # light, dark; empty: as the browser says
    time_zone: str = ""  # of the IANA; empty: the browser's, and UTC without script
    single_keys: bool = True  # whether they count at all
    keys: tuple[tuple[str, str], ...] = ()  # of SINGLE_KEYS, those that are other ones: from, to

    def key(self, usual: str) -> str:
        """The key that does what this one usually does."""
        return dict(self.keys).get(usual, usual)


@dataclass(frozen=True, slots=True)
class ModelStands:
    """One of the agency's models, as a newcomer asks of it."""

    name: str
    model: str
    scripted: bool  # a script plays it: nothing leaves, and nothing is charged by anybody
    missing: str  # without which it cannot be asked; empty: nothing
    agents: tuple[str, ...]  # that work with it


@dataclass(frozen=True, slots=True)
class Beginning:
    """What there is, what is missing, and how far somebody who is new here has come."""

    agents: int
    skills: int
    unsponsored: tuple[str, ...]  # agents nobody answers for
    models: tuple[ModelStands, ...]
    people: int
    database: str
    latest: Work | None  # the newest work that they may see
    waiting: int  # for their decision
    decided: bool  # they, or whoever decides beside them, have decided something


@dataclass(frozen=True, slots=True)
class Found:
    """A work or a request that was found by words."""

    kind: Literal["work", "request"]
    id: UUID
    says: str
    beside: str  # of a work who does what; of a request the work it is asked in
    open: bool  # it is under way, or waits
    at: datetime  # given or asked


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
class MapTool:
    """A tool that an agent holds, with the agent's own gate for it."""

    name: str
    label: str
    query: bool  # it changes nothing
    outside: bool
    reversible: bool
    gate: Gate


@dataclass(frozen=True, slots=True)
class MapSkill:
    """A skill of an agent, as it is declared now."""

    name: str
    label: str
    description: str
    version: str
    takes: tuple[str, ...]  # in short: the names of what it takes
    hands_back: tuple[str, ...]
    takes_schema: dict[str, Any]
    hands_back_schema: dict[str, Any]
    limit_micros: int  # at the top, where nobody names less
    tools: tuple[MapTool, ...]


@dataclass(frozen=True, slots=True)
class MapAgent:
    """An agent on the map. All but seat and limit of the day is read off its declaration."""

    name: str
    label: str
    purpose: str
    roles: tuple[str, ...]  # that its account holds
    model: str  # empty: the agency's default
    consults: str
    stuck_after: int
    gate: Gate  # for changes it names no other for
    gate_words: str  # one sentence: "Proposes every change."
    otherwise: int  # actions it names another gate for
    skills: tuple[MapSkill, ...]
    depth: int  # levels that may hang under a piece of its work
    max_depth: int  # by its own word
    max_pieces: int
    limit_micros: int  # a piece of its work at the top, where nobody names less
    day_micros: int | None
    shares_micros: int  # that it may give away, each of its ways of handing on counted once
    layer: int  # 0: nobody hands anything on to it
    circle: bool  # it may come back to itself through others
    sponsor: UUID | None = None
    sponsor_name: str = ""
    paused: bool = False

    @property
    def gives_too_much(self) -> bool:
        """Whether its shares together come to more than a piece of its own may spend: not all can be used up."""
        return self.shares_micros > self.limit_micros


@dataclass(frozen=True, slots=True)
class HandOn:
    """One way of handing on, and how it was used of late in the work that its reader may see."""

    key: str  # "Planner.Collator.CountLeaves"
    origin: str
    origin_label: str
    to: str
    to_label: str
    skill: str
    label: str
    description: str
    helper: bool
    takes: tuple[str, ...]
    hands_back: tuple[str, ...]
    takes_schema: dict[str, Any]
    hands_back_schema: dict[str, Any]
    budget_micros: int | None  # the share
    limit_micros: int | None  # the least of share, skill and agent; None: what is left above
    max_depth: int  # of whoever hands on
    max_pieces: int
    gate: Gate  # of whom it goes to, for changes it names no other for
    gate_words: str
    otherwise: int  # actions it names another gate for
    changes: tuple[Gate, ...]  # its gates for the changes that this skill holds, the loosest first
    back: bool = False  # it leads back to an agent it came through
    pieces: int = 0  # handed on so, of late
    micros: int = 0  # that these cost, with everything under them
    going: int = 0  # of them, not ended yet
    last_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MapGroup:
    """An agent that no other hands on to, for itself and all that stand under it."""

    agent: MapAgent
    under: int  # other agents that hand-ons lead to from it, of those that stand for no group of their own


@dataclass(frozen=True, slots=True)
class AgentMap:
    """Who may hand on what: each agent and each declared way once."""

    agents: tuple[MapAgent, ...]
    ways: tuple[HandOn, ...]
    circles: tuple[tuple[str, ...], ...]  # labels of agents that may come back to themselves through one another
    depth: int  # levels that may hang under any piece
    days: int = 0  # that "of late" goes back
    everybodys: bool = False  # use is that of all work; else of the reader's own
    since: datetime | None = None  # it has been declared so
    groups: tuple[MapGroup, ...] = ()  # that the whole falls into; empty for a part
    beyond: int = 0  # agents that belong to this part, and are more than are drawn


class Widens(StrEnum):
    """Whether a change of a declaration lets agents do more or less than before it."""

    MORE = "more than before"
    NEITHER = ""
    LESS = "less than before"


@dataclass(frozen=True, slots=True)
class MapVersion:
    """The map as an app declared it from some time on."""

    number: int  # 1 is the first
    first_seen: datetime  # when an agency first opened with it
    agents: int
    ways: int
    tools: int  # each name once
    now: bool  # what this agency opened with


@dataclass(frozen=True, slots=True)
class MapWords:
    """Some words of a sentence; `agent` is the name of the one they stand for, where they do."""

    text: str
    agent: str = ""


@dataclass(frozen=True, slots=True)
class MapChange:
    """One thing that two versions of the map differ in."""

    key: str  # what it is about: "tool.Clerk.note_shelf.gate"
    kind: Literal["added", "removed", "changed"]
    widens: Widens
    words: tuple[MapWords, ...]
    before: str = ""  # of what was changed
    after: str = ""

    @property
    def sentence(self) -> str:
        return "".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class MapCompared:
    """Two versions of the map, and what differs: what lets agents do more comes first."""

    before: MapVersion
    after: MapVersion
    changes: tuple[MapChange, ...]

    def of(self, kind: str) -> list[MapChange]:
        return [change for change in self.changes if change.kind == kind]

    @property
    def wider(self) -> int:
        """How many changes let agents do more."""
        return sum(1 for change in self.changes if change.widens is Widens.MORE)


@dataclass(frozen=True, slots=True)
class ReachStep:
    agent: str
    label: str
    skill: str  # its label; empty at the top where any skill will do
    helper: bool


@dataclass(frozen=True, slots=True)
class ReachPath:
    """One way for an agent to come to use a tool, with what holds at its end."""

    steps: tuple[ReachStep, ...]
    gate: Gate  # the strictest on the way
    word_of: str  # the label of the agent whose word it is
    micros: int  # the most money that can come so far
    held_by: str  # by what it is bounded
    lifted: bool  # standing rules may let it be done alone
    paused: str = ""  # the label of an agent on the way that is paused now


@dataclass(frozen=True, slots=True)
class Reach:
    """Whether an agent, through others, may ever reach a tool."""

    agent: str
    agent_label: str
    tool: str
    tool_label: str
    query: bool
    paths: tuple[ReachPath, ...]  # the shortest first
    total: int  # all there are, of up to mapping.LONGEST hand-ons
    longer: bool  # whether more hand-ons than that may follow one another
    sponsor_name: str = ""  # who is asked where the work is for nobody


@dataclass(frozen=True, slots=True)
class AgentPage:
    """One agent, opened: what it may do, who answers for it, and what it did last in work that the reader may see."""

    agent: MapAgent
    hands_on: tuple[HandOn, ...]
    handed_by: tuple[HandOn, ...]
    rules: tuple[StandingRule, ...]  # that hold or may hold again; revoked ones are left out
    may_revoke: frozenset[UUID]
    limits: tuple[SpendLimit, ...] | None  # None: for those who read model usage or manage spend
    works: tuple[tuple[UUID, WorkNode], ...]  # the whole and the piece, the newest first
    working: int  # pieces of its own that go on
    waiting: int  # of them, those that wait
    days: int
    everybodys: bool
    default_model: str
    people: tuple[Person, ...]  # who may be made its sponsor; for supervisors alone
    may_supervise: bool
    may_give: bool


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
