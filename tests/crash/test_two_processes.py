"""Two processes on one PostgreSQL at once: each piece runs once, no limit is overrun, and either goes on alone."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select

from core.sql import Statement
from core.tables import account, proposal, whole
from handon import Agency
from tests.crash import yard
from tests.crash.checking import GONE, check_ended
from tests.crash.processes import Processes
from tests.crash.stories import Ledger
from tests.staging import until

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("database", ["postgresql"], indirect=True)]

MANY, FEW = 50, 16  # wholes
ON = "the yard"
_WHOLES = Statement(select(whole.c.id))
_ENDED = Statement(select(func.count().label("given"), func.count(whole.c.ended_at).label("ended")).select_from(whole))
_ACCOUNT = Statement(select(account).where(account.c.key == ON))
_PROPOSALS = Statement(select(proposal))


@dataclass
class Two:
    """Two processes, and an agency of the test's that reads, gives and decides beside them, and runs nothing."""

    agency: Agency
    database: str
    ledger: Ledger
    processes: Processes
    seen: list[int] = field(default_factory=list)  # what the account had spent and held, each time it was looked at

    def serves(self, name: str, keys: int, **order: Any) -> int:
        return self.processes.start(
            "serve",
            database=self.database,
            ledger=str(self.ledger.path),
            plan="in pairs",
            keys=[f"{name}-{n}" for n in range(keys)],
            at_once=MANY,
            on=ON,
            **{"decides": "all", "quick": {"sweep_every": 100}, **order},
        )

    async def come_to_an_end(self, wholes: int) -> None:
        """Wait until so many wholes were given and all have ended."""

        async def look() -> bool:
            kept = await self.charged()
            if kept is not None:
                self.seen.append(kept.spent_micros + kept.reserved_micros)
            await asyncio.sleep(0.05)  # to look takes its share of what the processes need
            found = await self.agency.store.read(lambda tx: tx.one(_ENDED))
            return (found.given, found.ended) == (wholes, wholes)

        await until(look, 60)

    async def roots(self) -> list[UUID]:
        return [UUID(row.id) for row in await self.agency.store.read(lambda tx: tx.all(_WHOLES))]

    async def charged(self) -> Any:
        return await self.agency.store.read(lambda tx: tx.one(_ACCOUNT))

    async def entries(self) -> list[tuple[str, str]]:
        rows = await self.agency.read(lambda session: list(session.scalars(select(yard.Entry))))
        return [(row.key, row.what) for row in rows]

    async def check(self) -> list[Any]:
        """Everything ended, every chain holds, and what was approved was changed once; answers all pieces."""
        pieces = []
        for root in await self.roots():
            pieces += await check_ended(self.agency, root)
        approved = await self.agency.store.read(lambda tx: tx.all(_PROPOSALS))
        entries = [key for key, _ in await self.entries()]
        assert sorted(entries) == sorted(row.id for row in approved if row.status == "Done")
        return pieces


@pytest.fixture
async def two(database: str, tmp_path: Path, processes: Processes) -> AsyncIterator[Two]:
    ledger = Ledger.opens(tmp_path / "ledger")
    async with yard.yard(database, "in pairs", concurrency=0) as agency:
        await yard.prepare(agency)
        yield Two(agency, database, ledger, processes)


def leave(processes: Processes, *running: int) -> None:
    """Tell them to stop, and see that they do."""
    for process in running:
        processes.kill(process, signal.SIGTERM)
    for process in running:
        assert processes.wait(process) == 0


# M5, P5, T3, A5
async def test_two_processes_share_the_work_and_each_piece_runs_once(two: Two) -> None:
    half = MANY // 2
    running = [two.serves("one", half), two.serves("other", half)]
    await two.come_to_an_end(MANY)
    leave(two.processes, *running)
    pieces = await two.check()
    assert [row.status for row in pieces] == ["Done"] * 3 * MANY
    assert {row.model_calls for row in pieces} == {2}, "a model was asked again for a turn it had answered"
    assert len(await two.entries()) == 2 * MANY


# M4, M2, M3
async def test_two_processes_together_spend_no_more_than_what_they_charge_to_allows(two: Two) -> None:
    limit = FEW * 600  # half of what it would all cost
    await two.agency.set_limit(ON, Decimal(limit) / 1_000_000)
    half = FEW // 2
    running = [two.serves("one", half), two.serves("other", half)]
    await two.come_to_an_end(FEW)
    leave(two.processes, *running)
    pieces = await two.check()
    assert max(two.seen) <= limit
    kept = await two.charged()
    assert (kept.spent_micros, kept.reserved_micros) == (sum(row.own_micros for row in pieces), 0)
    assert {"Done", "Stopped"} <= {row.status for row in pieces}, "it never came near its limit"


# P5
async def test_what_two_processes_are_told_to_do_at_once_is_done_once(two: Two) -> None:
    first = two.serves("one", FEW, decides="nothing")

    async def all_wait() -> bool:
        return len(await (await yard.desks(two.agency))[0].proposals()) == 2 * FEW

    await until(all_wait, 60)
    running = [two.serves("none", 0), two.serves("none", 0)]
    await two.come_to_an_end(FEW)
    leave(two.processes, first, *running)
    await two.check()
    assert len(await two.entries()) == 2 * FEW
    approved = two.ledger.of("approved")
    assert len(approved) == len(set(approved)) == 2 * FEW
    assert two.ledger.of("too late"), "nobody was second: the two never met"


# A8, T3, M3
async def test_one_that_is_told_to_stop_leaves_its_work_to_the_other_and_nothing_is_lost(two: Two) -> None:
    leaves = two.serves("one", FEW, decides="nothing")
    await until(lambda: len(two.ledger.of("given")) == FEW, 60)
    stays = two.serves("none", 0)
    leave(two.processes, leaves)
    await two.come_to_an_end(FEW)
    leave(two.processes, stays)
    pieces = await two.check()
    assert [row.status for row in pieces] == ["Done"] * 3 * FEW
    assert {row.model_calls for row in pieces} == {2}, "a model was asked again for a turn it had answered"


# A1, A2, A3, M3, T3
async def test_one_that_is_killed_leaves_what_is_due_and_the_other_closes_what_it_held(two: Two) -> None:
    quick = {"sweep_every": 100, "abandoned_after": 2000, "abandoned_check_every": 200}
    killed = two.serves("one", FEW, quick=quick, decides="nothing")
    await until(lambda: len(two.ledger.of("given")) >= FEW // 2, 60)
    two.processes.kill(killed)
    assert two.processes.wait(killed) == -signal.SIGKILL
    stays = two.serves("one", FEW, quick=quick)  # gives the same again: what was given stays as it is
    await two.come_to_an_end(FEW)
    leave(two.processes, stays)
    pieces = await two.check()
    assert {row.outcome for row in pieces if row.status == "Failed"} <= {GONE}
    assert {row.status for row in pieces if row.parent is None} <= {"Done", "Failed"}
