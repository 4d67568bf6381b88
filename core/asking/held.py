"""The rows of decisions that are held: whether one is, whose it is, and what came of it (rule P5).

Held means that nothing has come of it yet. A row that ended stays until the next decision on that request is held: a
card says from it when the decision was carried out, or why it was not.
"""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import ColumnElement, bindparam, delete, exists, select, update

from core import people
from core.clock import from_micros
from core.errors import AlreadyDecided
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import held_decision, proposal

HeldAct = Literal["approve", "refuse", "answer", "decline"]

_INSERT = insert_into(held_decision)
_GET = Statement(select(held_decision).where(held_decision.c.request == bindparam("about")))
_DELETE = Statement(delete(held_decision).where(held_decision.c.request == bindparam("about")))
_END = Statement(
    update(held_decision)
    .where(held_decision.c.request == bindparam("about"), held_decision.c.ended_at.is_(None))
    .values(ended_at=bindparam("at"), why_not=bindparam("why"))
)
_OPEN = Statement(
    select(held_decision.c.request, held_decision.c.release_at)
    .where(held_decision.c.ended_at.is_(None))
    .order_by(held_decision.c.release_at, held_decision.c.request)
    .limit(1000)
)
_LAST_OF = Statement(
    select(held_decision)
    .where(held_decision.c.person == bindparam("who"), held_decision.c.ended_at.is_(None))
    .order_by(held_decision.c.made_at.desc(), held_decision.c.request)
    .limit(1)
)
NO_LONGER = "It is no longer needed: the work it belongs to has gone on without it."
_SAID_AS = {"approve": "Done", "refuse": "Refused", "answer": "answered", "decline": "answered"}


def not_held(table: Any) -> ColumnElement[bool]:
    """The condition that no decision on a row of `proposal` or `help` is held."""
    waits = held_decision.c.ended_at.is_(None)
    return ~exists(select(held_decision.c.request).where(held_decision.c.request == table.c.id, waits))


UNDECIDED = (proposal.c.status == "Waiting", proposal.c.decided_at.is_(None), not_held(proposal))


def of(tx: Tx, request: str) -> Any:
    """The last decision on that request that was held, whatever came of it; or None."""
    return tx.one(_GET, about=request)


def still(tx: Tx, request: str) -> Any:
    """The decision on that request that is held now, or None."""
    row = of(tx, request)
    return row if row is not None and row.ended_at is None else None


def refuse_if(tx: Tx, request: str) -> None:
    """Raises AlreadyDecided, with who and when, where a decision on it is held: it counts as decided."""
    row = still(tx, request)
    if row is not None:
        raise AlreadyDecided(_SAID_AS[row.act], people.row(tx, row.person).name, from_micros(row.made_at))


def last_of(tx: Tx, person: str) -> Any:
    """The last decision of that person which is held now, or None."""
    return tx.one(_LAST_OF, who=person)


def open_ones(tx: Tx) -> list[tuple[str, int]]:
    """What is held, with when it is to be carried out: the first one first."""
    return [(row.request, row.release_at) for row in tx.all(_OPEN)]


def keep(tx: Tx, **row: Any) -> None:
    """Hold it, in the place of one that ended."""
    tx.run(_DELETE, about=row["request"])
    tx.run(_INSERT, **row, made_at=tx.now, ended_at=None, why_not="")


def end(tx: Tx, request: str, why_not: str = "") -> None:
    """It is carried out, or dropped for a reason; either way it is held no more."""
    tx.run(_END, about=request, at=tx.now, why=why_not)


def take_back(tx: Tx, request: str) -> None:
    """As if it had never been made."""
    tx.run(_DELETE, about=request)
