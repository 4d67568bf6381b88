"""Agents, and what each may hand on to whom."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from core.values.money import SpendLimit
from core.values.people import Person
from core.values.requests import StandingRule
from core.values.states import Gate
from core.values.work import WorkNode


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
class MapThen:
    """The map as one version declared it."""

    version: MapVersion
    until: datetime | None  # when the next version was first seen; None for the last one
    currency: str  # that its amounts are counted in
    drawn: AgentMap  # without use and seats


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
    pieces: int  # that it was given in so many days
    spent_micros: int  # for these, by its own calls
    days: int
    everybodys: bool
    default_model: str
    people: tuple[Person, ...]  # who may be made its sponsor; for supervisors alone
    may_supervise: bool
    may_give: bool
