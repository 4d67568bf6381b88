"""Receipts in the hands of a transaction: each piece's row is read once and written once, last, with what changed.

Safe because whoever touches a piece holds its tree's lock. A statement that asks the tables about pieces (which are
open, which wait) must see what was changed before it: `tx.flush()` first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import bindparam, select, update

from core.errors import NotFound
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import piece

COLUMNS = tuple(column.key for column in piece.columns)  # `Receipt` lists them in this order

_INSERT = insert_into(piece)
_selects: dict[int, Statement] = {}
_updates: dict[frozenset[str], Statement] = {}


def _select(many: int) -> Statement:
    if many not in _selects:
        ids: list[Any] = [bindparam(f"id{n}") for n in range(many)]
        statement = _selects[many] = Statement(select(piece).where(piece.c.id.in_(ids)))
        statement.make = lambda row: Receipt(*row)
    return _selects[many]


def _update(changed: frozenset[str]) -> Statement:
    if changed not in _updates:
        values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in sorted(changed)}
        _updates[changed] = Statement(update(piece).where(piece.c.id == bindparam("piece_id")).values(values))
    return _updates[changed]


@dataclass(slots=True, eq=False)
class Receipt:
    """One piece's row, column for column. Read its columns as attributes; change them with `set`."""

    id: str
    root: str
    parent: str | None
    depth: int
    branch: str
    agents: str
    agent: str
    skill: str
    skill_version: str
    skill_version_now: str
    helper: bool
    input: str
    status: str
    run: str
    due_at: int | None
    fence: int
    held_since: int | None
    let_go: bool
    closing: str | None
    closing_why: str
    waiting_on: str
    waits_since: int | None
    waited: int
    outcome: str
    abandoned: bool
    takeovers: int
    tries: int
    result: str | None
    turn: int
    messages: int
    begins_after: int
    tokens: int
    model_calls: int
    handed_on: int
    levels_left: int
    failed_in_row: int
    consulted_stuck: bool
    same_calls: int
    last_calls: str
    limit_micros: int
    own_micros: int
    tree_micros: int
    reserved_micros: int
    call_micros: int
    period_accounts: str
    opened_at: int
    ended_at: int | None

    changed: set[str] = field(default_factory=set)
    is_new: bool = False

    def set(self, **changes: Any) -> None:
        for name, value in changes.items():
            setattr(self, name, value)
        self.changed.update(changes)

    @property
    def lineage(self) -> list[str]:
        """Ids from the top to here, both included."""
        return self.branch.split("/")

    @property
    def left(self) -> int:
        """What its own limit leaves, calls under way counted as spent."""
        return self.limit_micros - self.tree_micros - self.reserved_micros


class _Held:
    """The receipts of one transaction."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: dict[str, Receipt] = {}

    def write(self, tx: Tx) -> None:
        new = [receipt for receipt in self.known.values() if receipt.is_new]
        if new:
            tx.many(_INSERT, [{name: getattr(receipt, name) for name in COLUMNS} for receipt in new])
        groups: dict[frozenset[str], list[dict[str, Any]]] = {}
        for receipt in self.known.values():
            if receipt.changed and not receipt.is_new:
                row = {f"new_{name}": getattr(receipt, name) for name in receipt.changed}
                row["piece_id"] = receipt.id
                groups.setdefault(frozenset(receipt.changed), []).append(row)
        for changed, rows in groups.items():
            tx.many(_update(changed), rows)
        for receipt in self.known.values():
            receipt.changed.clear()
            receipt.is_new = False


def _held(tx: Tx) -> _Held:
    held = tx.held.get("receipts")
    if held is None:
        held = tx.held["receipts"] = _Held()
        tx.on_flush(held.write)
    return held


def get(tx: Tx, id: str) -> Receipt:
    """The receipt of a piece. Raises NotFound."""
    return several(tx, (id,))[0]


def several(tx: Tx, ids: Sequence[str]) -> list[Receipt]:
    """Those receipts, in that order; what is not in hand yet is read by one statement. Raises NotFound."""
    known = _held(tx).known
    missing = [id for id in ids if id not in known]
    if missing:
        for receipt in tx.all(_select(len(missing)), **{f"id{n}": id for n, id in enumerate(missing)}):
            known[receipt.id] = receipt
    try:
        return [known[id] for id in ids]
    except KeyError:
        raise NotFound("There is no such work.") from None


def branch(tx: Tx, receipt: Receipt) -> list[Receipt]:
    """The piece and every piece above it, the top first."""
    return several(tx, receipt.lineage)


def new(tx: Tx, values: Mapping[str, Any]) -> Receipt:
    """A receipt that is written with the transaction."""
    receipt = Receipt(*(values[name] for name in COLUMNS))
    receipt.is_new = True
    _held(tx).known[receipt.id] = receipt
    return receipt
