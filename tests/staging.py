"""Staging for tests of work that runs at once: a lead with people under it, answers held back, rows as they are.

`Lead` hands on to `Deputy` (who hands on too), `Finder` (who finds and asks) and `Clerk` (who proposes). A call is held
at a little over 5,000 micros (1,000 tokens out at 5, and what goes in); answered as scripts do by default it costs 200.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import bindparam, select, text

from core.sql import Statement
from core.tables import account as account_table
from core.tables import metered_call, piece
from handon import Agency, Agent, Delegation, Desk, ModelAnswer, ModelRequest, Permits, Skill, Specialist, action
from handon.testing import AgentScript, Says
from tests.builders import Answer, Clerk, Find, Note, look_up, make

CALL = 200  # micros that an answer costs by default


class Gather(Skill[str, Answer]):
    description = "Gather what others find."
    tools = [look_up]


class Finder(Agent):
    purpose = "You find things out."
    roles = {"helper"}
    skills = [Find()]


class Deputy(Agent):
    purpose = "You gather for the lead."
    roles = {"helper"}
    skills = [Gather()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(Finder, Find()), Specialist.of(Clerk, Note())])


class Lead(Agent):
    purpose = "You have things found."
    roles = {"helper"}
    skills = [Gather()]
    may = Permits.changes_alone()
    delegates = Delegation(
        to=[Specialist.of(Finder, Find()), Specialist.of(Deputy, Gather()), Specialist.of(Clerk, Note())], max_pieces=12
    )


class Office:
    """Where letters go: a call that reaches outside, and comes back when the test lets it."""

    now: ClassVar[Office]

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.delivered = asyncio.Event()

    @classmethod
    def opens(cls) -> Office:
        cls.now = Office()
        return cls.now


@action("Send a letter", says="Send {text}")
async def send_letter(text: str) -> str:
    Office.now.sent.append(text)
    await Office.now.delivered.wait()
    return "Delivered."


class Write(Skill[str, Answer]):
    description = "Write a letter."
    tools = [send_letter]


class Writer(Agent):
    purpose = "You write letters."
    roles = {"helper"}
    skills = [Write()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(Finder, Find())])


STAFF: list[Agent] = [Lead(), Deputy(), Finder(), Clerk(), Writer()]
DONE = Says.hand_back(Answer(text="Found."))


def gathers(*legs: Any, more: Sequence[Any] = ()) -> AgentScript:
    """The script of a lead or deputy that hands these legs on in one turn, and hands back once they came back."""
    return AgentScript(Says.together(*legs), *more, Says.hand_back(Answer(text="Gathered.")))


def finders(count: int) -> list[Any]:
    """So many legs, each a `Finder`'s."""
    return [Says.hand_to(Finder, Find(), f"thing {n}") for n in range(count)]


class Staged:
    """A cast of which some agents' answers are held back, each until it is let go. Counts whom it was asked for."""

    def __init__(self, cast: Any, *held_back: type[Agent] | str) -> None:
        self._cast = cast
        self._held_back = {agent if isinstance(agent, str) else agent.__name__ for agent in held_back}
        self._held: list[tuple[ModelRequest, asyncio.Event]] = []
        self.asked: list[ModelRequest] = []

    async def __call__(self, model: str, request: ModelRequest) -> ModelAnswer:
        self.asked.append(request)
        if request.agent in self._held_back:
            go = asyncio.Event()
            self._held.append((request, go))
            try:
                await go.wait()
            finally:
                self._held.remove((request, go))
        return self._cast.answer(model, request)

    async def holds(self, count: int) -> list[UUID]:
        """Wait until so many calls are under way; answers their pieces, in the order they were asked."""
        await until(lambda: len(self._held) == count)
        return [request.piece for request, _ in self._held]

    def let_go(self, *pieces: UUID) -> None:
        """Let these pieces' calls be answered, or all that are under way."""
        for request, go in list(self._held):
            if not pieces or request.piece in pieces:
                go.set()

    def hold_no_more(self) -> None:
        self._held_back.clear()
        self.let_go()

    def asked_of(self, agent: type[Agent]) -> int:
        return sum(request.agent == agent.__name__ for request in self.asked)


async def until(holds: Callable[[], bool | Awaitable[bool]], seconds: float = 10.0) -> None:
    """Wait until something holds. Fails the test where it does not come to hold."""

    async def look() -> bool:
        found = holds()
        return found if isinstance(found, bool) else await found

    async with asyncio.timeout(seconds):
        while not await look():  # noqa: ASYNC110 - what is waited for is in a database, or in another task
            await asyncio.sleep(0.005)


_ROWS = Statement(select(piece).where(piece.c.root == bindparam("root")).order_by(piece.c.depth, piece.c.id))
_CALLS = Statement(select(metered_call).where(metered_call.c.root == bindparam("root")).order_by(metered_call.c.at))

_ACCOUNT = Statement(select(account_table).where(account_table.c.key == bindparam("key")))


async def rows_of(agency: Agency, root: UUID) -> list[Any]:
    """The pieces of a whole as they stand in the table, in one snapshot."""
    return await agency.store.read(lambda tx: tx.all(_ROWS, root=root.hex))


async def calls_of(agency: Agency, root: UUID) -> list[Any]:
    """The whole's entries on the meter."""
    return await agency.store.read(lambda tx: tx.all(_CALLS, root=root.hex))


async def account(agency: Agency, key: str) -> tuple[int, int]:
    """What an account has spent and holds."""
    found = await agency.store.read(lambda tx: tx.one(_ACCOUNT, key=key))
    return found.spent_micros, found.reserved_micros


def asked(desk: Desk, count: int = 1) -> Callable[[], Awaitable[bool]]:
    """Whether so many questions wait for the desk's person: for `until`."""

    async def look() -> bool:
        return len(await desk.questions()) == count

    return look


@asynccontextmanager
async def reopened(
    database: str, answers: Any, agents: Sequence[Agent] = STAFF, **settings: Any
) -> AsyncIterator[Agency]:
    """Another process on a database that has work in it. Its models answer from the start."""
    agency = make(database, agents, **settings)
    agency.script(answers)
    async with agency:
        yield agency


async def sql(agency: Agency, statement: str, **values: Any) -> None:
    await agency.write(lambda session: session.execute(text(statement), values) and None)


def check_money(rows: Sequence[Any]) -> None:
    """What holds of a whole's money at every moment (rules M3, M4, M5)."""
    under = defaultdict(list)
    for row in rows:
        under[row.parent].append(row)
    [top] = under[None]
    assert sum(row.own_micros for row in rows) == top.tree_micros
    for row in rows:
        assert row.tree_micros == row.own_micros + sum(leg.tree_micros for leg in under[row.id])
        assert row.reserved_micros == row.call_micros + sum(leg.reserved_micros for leg in under[row.id])
        assert row.tree_micros + row.reserved_micros <= row.limit_micros
        if row.run in ("ended", "parked", "due"):
            assert row.call_micros == 0, f"{row.agent} holds money for no call"


@asynccontextmanager
async def watching(agency: Agency, root: UUID) -> AsyncIterator[list[list[Any]]]:
    """Read a whole's rows again and again meanwhile; each snapshot's money must add up. Answers the snapshots."""
    seen: list[list[Any]] = []
    over = False

    async def watch() -> None:
        while not over:
            seen.append(await rows_of(agency, root))
            check_money(seen[-1])

    task = asyncio.ensure_future(watch())
    try:
        yield seen
    finally:
        over = True
        await task
    assert len(seen) > 1, "nothing was seen"
