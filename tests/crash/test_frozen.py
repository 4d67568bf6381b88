"""A process that is stopped past its abandonment, and goes on afterwards, does nothing more."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import bindparam, select

from core.sql import Statement
from core.tables import line, message, metered_call, piece, turn_call
from handon import Agency, Status, TraceKind
from handon.testing import TestClock
from tests.builders import Shelf
from tests.crash.checking import GONE, check_ended
from tests.crash.processes import Processes
from tests.crash.stories import STORIES, Ledger
from tests.staging import rows_of, until

QUICK = {"abandoned_after": 2000}  # milliseconds: of the process that is stopped
NOTICED = 0.3  # seconds: it does not look again after less than a tenth of that
POLICIES = ["close", "resume"]  # what becomes of work whose process is gone
ERRAND = STORIES["errand"]
TABLES = {
    "pieces": Statement(select(piece).where(piece.c.root == bindparam("root")).order_by(piece.c.id)),
    "lines": Statement(select(line).where(line.c.root == bindparam("root")).order_by(line.c.n)),
    "meter": Statement(select(metered_call).where(metered_call.c.root == bindparam("root")).order_by(metered_call.c.n)),
    "messages": Statement(select(message).where(message.c.piece == bindparam("root")).order_by(message.c.n)),
    "calls": Statement(select(turn_call).where(turn_call.c.piece == bindparam("root"))),
    "shelves": Statement(select(Shelf.__table__)),
}


async def seen(agency: Agency, root: UUID) -> dict[str, list[Any]]:
    """Everything that is kept of a whole of one piece."""

    def read(tx: Any) -> dict[str, list[Any]]:
        return {
            name: [tuple(row) for row in tx.all(table, **({} if name == "shelves" else {"root": root.hex}))]
            for name, table in TABLES.items()
        }

    return await agency.store.read(read)


async def stopped_and_gone_on(
    database: str, folder: Path, processes: Processes, point: tuple[str, int], policy: str, **order: Any
) -> tuple[dict[str, list[Any]], dict[str, list[Any]], list[tuple[str, ...]]]:
    """Stop a process at this point, close its work as abandoned or do it in its place, and let it go on. Answers what
    was kept before it went on and after it ended, and what it added to the ledger."""
    ledger = Ledger.opens(folder / "ledger")
    await ERRAND.prepare(database)
    order |= {"story": "errand", "database": database, "key": "it", "ledger": str(ledger.path), "quick": QUICK}
    process = processes.start("tell", **order, at=point, signal="SIGSTOP")
    processes.stopped(process)
    stopped_at = time.monotonic()
    clock = TestClock()
    async with ERRAND.agency(database, clock=clock, when_abandoned=policy) as agency:
        task = await ERRAND.go_on(agency, clock, "it")
        [row] = await rows_of(agency, task)
        assert (row.status, row.outcome) == ((Status.FAILED, GONE) if policy == "close" else (Status.DONE, ""))
        before, added = await seen(agency, task), ledger.lines()
        await until(lambda: time.monotonic() - stopped_at > NOTICED)
        processes.goes_on(process)
        assert processes.wait(process) == 0
        await check_ended(agency, task)
        return before, await seen(agency, task), ledger.lines()[len(added) :]


# A5, A1, T3
@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
async def test_stopped_in_an_outside_call_it_writes_nothing_more(
    database: str, tmp_path: Path, processes: Processes, policy: str
) -> None:
    before, after, added = await stopped_and_gone_on(database, tmp_path, processes, ("label", 1), policy)
    assert after == before
    assert [entry[0] for entry in added] == ["commits"], "it went on with work that was closed"


# A5, E9, M10
@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("turn", [1, 3])
async def test_stopped_while_its_model_is_asked_only_the_late_answer_is_charged_and_on_the_record(
    database: str, tmp_path: Path, processes: Processes, turn: int, policy: str
) -> None:
    before, after, added = await stopped_and_gone_on(database, tmp_path, processes, ("asked", turn), policy)
    assert [entry[0] for entry in added] == ["commits"], "it went on with work that was closed"
    for kept in ("messages", "calls", "shelves"):
        assert after[kept] == before[kept], kept
    assert after["meter"][:-1] == before["meter"]
    assert after["lines"][:-1] == before["lines"]
    assert str(TraceKind.LATE_ANSWER) in after["lines"][-1]


# A5
@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "commit",
    [
        pytest.param(3, id="taken up, before its model is asked"),
        pytest.param(4, id="a query answered, before its model is asked"),
        pytest.param(5, id="answered, before a label is begun"),
        pytest.param(6, id="a label is begun, before it is ordered"),
        pytest.param(7, id="the label has come back, before its answer is told"),
        pytest.param(8, id="told, before its model is asked"),
        pytest.param(9, id="a change is made, before its model is asked"),
    ],
)
async def test_stopped_between_two_steps_it_does_nothing_more(
    database: str, tmp_path: Path, processes: Processes, commit: int, policy: str
) -> None:
    before, after, added = await stopped_and_gone_on(database, tmp_path, processes, ("after", commit), policy)
    assert after == before
    assert [entry[0] for entry in added] == ["commits"], "it went on with work that was closed"


# A5
@pytest.mark.slow
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
async def test_stopped_in_the_middle_of_a_transaction_it_keeps_nobody_waiting_for_long(
    database: str, tmp_path: Path, processes: Processes
) -> None:
    """The database undoes what stalls, so that its tree is free again; the process finds that out when it goes on."""
    before, after, added = await stopped_and_gone_on(
        database, tmp_path, processes, ("before", 6), "close", stalled_after=0.5
    )
    assert after == before
    assert [entry[0] for entry in added] == ["commits"], "it went on with work that was closed"
