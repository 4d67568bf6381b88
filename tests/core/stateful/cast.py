"""Who plays: three agents that hand on to each other, what they may do alone as it is drawn, and a stage that holds
back every call of a model's and every call that reaches outside until the test lets it go."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from handon import (
    Agent,
    Context,
    Delegation,
    Gate,
    ModelAnswer,
    ModelRequest,
    Permits,
    Retry,
    Row,
    Skill,
    Specialist,
    action,
    allow,
    query,
)
from tests.builders import Answer, is_binder, is_helper, is_master

PRICES = {"Everyday": (1, 5, 1_000), "Wise": (2, 10, 300)}  # micros a token in and out, tokens an answer at most


class Mark(Row):
    """What a plain change leaves behind. A mark is drawn once and asked for once."""

    __tablename__ = "test_stateful_mark"

    mark: Mapped[str] = mapped_column(String(40))
    weight: Mapped[int] = mapped_column()

    security = [allow("read", "create", when=is_binder | is_master | is_helper)]


@action("Put down a mark", says="Put down {mark}, {weight} heavy")
def put(ctx: Context, mark: str, weight: int) -> str:
    ctx.session.add(Mark(mark=mark, weight=weight))
    return f"Put down {mark}."


@action("Send a mark", says="Send {mark}, {weight} heavy", decide_within=timedelta(hours=2))
async def send(ctx: Context, mark: str, weight: int) -> str:
    return await Stage.now.sends(ctx, mark, weight)


@query("Look up a word")
def look(word: str) -> str:
    return word.upper()


class Lead(Skill[str, Answer]):
    description = "Have it done."
    tools = [look, put]


class Grow(Skill[str, Answer]):
    description = "Do it, or have parts of it done."
    tools = [look, put, send]
    retry = Retry(1)


class Do(Skill[str, Answer]):
    description = "Do it."
    tools = [look, put, send]


class Persist(Skill[str, Answer]):
    description = "Do it, and try again later where it does not work."
    tools = [look, put, send]
    retry = Retry(2, timedelta(minutes=40))


@dataclass
class Words:
    """What the app declares at this moment, as drawn: each agent's word on each change, and the shares it hands on."""

    gates: dict[tuple[str, str], Gate] = field(default_factory=dict)
    share: Decimal | None = None

    now: ClassVar[Words]

    def gate(self, agent: str, action: str) -> Gate:
        return self.gates[agent, action]


def _permits(agent: Agent) -> Permits:
    permits = Permits.proposes_changes()
    for tool in (put, send):
        say = {
            Gate.ALONE: permits.alone,
            Gate.PROPOSE: permits.proposes,
            Gate.PROPOSE_EVERY_TIME: permits.proposes_every_time,
            Gate.NEVER: permits.never,
        }
        permits = say[Words.now.gate(agent.name, tool.name)](tool)
    return permits


class Drawn(Agent):
    roles = {"helper"}

    @property
    def may(self) -> Permits:  # type: ignore[override]
        return _permits(self)


class Hand(Drawn):
    purpose = "You do things."
    skills = [Do(), Persist()]


class Middle(Drawn):
    purpose = "You do things, and have things done."
    skills = [Grow()]
    consults = "Wise"
    requests_wait = timedelta(hours=1)

    @property
    def delegates(self) -> Delegation:  # type: ignore[override]
        to = [Specialist.of(Hand, Do()), Specialist.of(Hand, Persist()), Specialist.helper(Grow(), Words.now.share)]
        return Delegation(to=to, max_depth=1, max_pieces=3)


class Head(Drawn):
    """Holds no `send`: its word on it counts all the same."""

    purpose = "You have things done."
    skills = [Lead()]

    @property
    def delegates(self) -> Delegation:  # type: ignore[override]
        to = [Specialist.of(Middle, Grow(), Words.now.share), Specialist.of(Hand, Do()), Specialist.helper(Lead())]
        return Delegation(to=to, max_depth=2, max_pieces=4)


TOPS: dict[str, tuple[type[Drawn], Skill[str, Answer]]] = {
    "Head": (Head, Lead()),
    "Middle": (Middle, Grow()),
    "Hand": (Hand, Do()),
    "persisting Hand": (Hand, Persist()),
}
LEGS: dict[str, list[Specialist]] = {
    "Head": [Specialist.of(Middle, Grow()), Specialist.of(Hand, Do()), Specialist.helper(Lead())],
    "Middle": [Specialist.of(Hand, Do()), Specialist.of(Hand, Persist()), Specialist.helper(Grow())],
    "Hand": [Specialist.of(Middle, Grow())],  # which it may not
}
HOLDS = {"Head": {"put"}, "Middle": {"put", "send"}, "Hand": {"put", "send"}}


@dataclass(eq=False)
class Held:
    """A call that is under way until the test lets it go. `fence` and `reserved` are the piece's as it was made."""

    kind: str  # work, consult, send
    piece: str
    name: int  # the piece's input, a number given once: what calls are told apart by from run to run
    answer: asyncio.Future[Any]
    turn: int = 0
    reserved: int = 0
    fence: int | None = None
    mark: str = ""


class Stage:
    """Where models are asked and marks are sent."""

    now: ClassVar[Stage]

    def __init__(self) -> None:
        self.held: list[Held] = []
        self.begun: list[Held] = []  # everything that was ever under way
        self.cut: list[Held] = []  # what was cut off because a process left
        self.names: dict[str, int] = {}
        self.sent: list[tuple[str, str, int]] = []  # call key, mark, weight

    async def __call__(self, model: str, request: ModelRequest) -> ModelAnswer:
        kind = "consult" if request.purpose == "consult" else "work"
        if kind == "work":
            self.names[request.piece.hex] = int(request.messages[1].text.strip('"'))
        held = self._holds(kind, request.piece)
        held.turn = request.turn
        price_in, price_out, most = PRICES[model]
        tokens = sum(-(-len(message.text.encode()) // 3) for message in request.messages)
        held.reserved = tokens * price_in + most * price_out  # of a consult; of work, as the receipt says
        answer: ModelAnswer = await self._let_go(held)
        return answer

    async def sends(self, ctx: Context, mark: str, weight: int) -> str:
        self.sent.append((ctx.call_key, mark, weight))
        held = self._holds("send", ctx.piece)
        held.mark = mark
        answer: str = await self._let_go(held)
        return answer

    def _holds(self, kind: str, piece: UUID) -> Held:
        answer = asyncio.get_running_loop().create_future()
        held = Held(kind, piece.hex, self.names[piece.hex], answer)
        self.held.append(held)
        self.begun.append(held)
        return held

    async def _let_go(self, held: Held) -> Any:
        try:
            return await held.answer
        except asyncio.CancelledError:
            self.cut.append(held)
            raise
        finally:
            self.held.remove(held)

    def under_way(self) -> list[Held]:
        """What is held, in an order that is the same from run to run."""
        return sorted(self.held, key=lambda held: (held.name, held.kind, held.mark, held.fence or 0))
