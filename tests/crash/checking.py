"""What must hold of a whole after its processes were killed, wherever they were."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, select

from core.sql import Statement
from core.tables import help, proposal
from handon import Agency, TraceKind
from tests.crash.stories import Ledger
from tests.staging import account, calls_of, check_money, rows_of

_PROPOSALS = Statement(select(proposal).where(proposal.c.root == bindparam("root")))
_HELP = Statement(select(help).where(help.c.root == bindparam("root")))

GONE = "It stopped without reporting back: whatever was doing it is gone."
OUTSIDE = {"post": "post", "order_label": "label"}  # actions that reach outside, and what they add to the ledger


async def check_ended(agency: Agency, root: UUID) -> list[Any]:
    """Everything in the whole has ended, no money is held, the record holds, and nothing is left in an inbox.
    Answers its pieces."""
    rows = await rows_of(agency, root)
    assert [row.agent for row in rows if row.run != "ended"] == [], "something is left going"
    check_money(rows)
    assert [row.agent for row in rows if row.reserved_micros] == [], "money is held for nothing"
    metered = await calls_of(agency, root)
    assert sum(call.micros for call in metered) == rows[0].tree_micros, "the meter says something else than the pieces"
    verdict = await agency.desk(None).verify_trace(root)
    assert verdict.intact, verdict.why
    for table, what in ((_PROPOSALS, "proposal"), (_HELP, "question")):
        left = await agency.store.read(lambda tx, table=table: tx.all(table, root=root.hex))  # type: ignore[misc]
        assert [row.status for row in left if row.status == "Waiting"] == [], f"a {what} of ended work waits"
    return rows


async def check_account(agency: Agency, key: str, micros: int) -> None:
    assert await account(agency, key) == (micros, 0), "the account holds money for nothing, or says another sum"


async def lines_of(agency: Agency, root: UUID) -> list[tuple[TraceKind, dict[str, Any]]]:
    return [(line.kind, json.loads(line.payload)) for line in await agency.desk(None).trace_of(root)]


async def check_changes(agency: Agency, root: UUID, plain: dict[str, int]) -> None:
    """Each change is on the record as often as it was made, and none was made twice. `plain` counts those that were
    made in the database, by action."""
    lines = await lines_of(agency, root)
    ran = Counter(said["tool"] for kind, said in lines if kind is TraceKind.TOOL_RAN and said["ok"])
    begun = Counter(said["tool"] for kind, said in lines if kind is TraceKind.BEGUN)
    for tool, made in plain.items():
        assert ran[tool] == made, f"{tool} is on the record {ran[tool]} times, and was made {made} times"
    for tool, entry in OUTSIDE.items():
        keys = [key for key, *_ in Ledger.now.of(entry)]
        assert len(set(keys)) == len(keys), f"{tool} was made twice for one call"
        assert ran[tool] <= len(keys) <= begun[tool], f"{tool}: {ran[tool]}, {len(keys)}, {begun[tool]}"


async def check_decisions(agency: Agency, root: UUID) -> None:
    """What was approved is on the record once, stands on the proposal, and ran once or is said to be unknown."""
    lines = await lines_of(agency, root)
    decided = Counter(
        said["proposal"] for kind, said in lines if kind is TraceKind.DECIDED and said["decision"] == "approved"
    )
    found = await agency.store.read(lambda tx: tx.all(_PROPOSALS, root=root.hex))
    assert set(decided) <= {row.id for row in found}
    for row in found:
        assert decided[row.id] <= 1, "one proposal was approved twice"
        assert (row.decided_by is not None) == (decided[row.id] == 1), "a decision was lost"
        if row.decided_by is not None:
            assert row.status in ("Done", "Failed"), f"what was approved is {row.status}: {row.note}"


async def check_unknown(agency: Agency, rows: list[Any], told: list[str]) -> None:
    """What was begun outside and never reported back is told as unknown, where anybody is left to be told."""
    lines = await lines_of(agency, UUID(rows[0].root))
    ended = {said["tool"] for kind, said in lines if kind is TraceKind.TOOL_RAN}
    done = {row.agent for row in rows if row.status == "Done"}
    for kind, said in lines:
        if kind is TraceKind.BEGUN and said["tool"] not in ended and "Courier" in done:
            assert any("outcome is unknown" in text for text in told), f"{said['tool']}: unknown, and nobody was told"
