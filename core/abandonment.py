"""Work whose process is gone: found by its silence, and closed (rules A).

Judged by time alone: a whole with a piece under way, none of them due, and no new line for `abandoned_after`. So a
tool that runs longer than that looks abandoned; set the time longer than the slowest tool. A process that was only
slow finds its fence taken and does nothing more.
"""

from __future__ import annotations

from sqlalchemy import bindparam, exists, select

from core import receipts, work
from core.errors import NotFound
from core.house import House
from core.receipts import Receipt
from core.record import Tree
from core.sql import Statement
from core.store import Tx
from core.tables import piece, whole
from core.values import Status

_under_way = exists().where(
    piece.c.root == whole.c.id, piece.c.status == "Working", piece.c.run.in_(["held", "parked"])
)
_queued = exists().where(piece.c.root == whole.c.id, piece.c.run == "due")
_QUIET = Statement(
    select(whole.c.id)
    .where(whole.c.ended_at.is_(None), whole.c.last_line_at <= bindparam("before"), _under_way, ~_queued)
    .order_by(whole.c.id)
)
_QUIET_ONE = Statement(
    select(whole.c.id).where(
        whole.c.id == bindparam("root"),
        whole.c.ended_at.is_(None),
        whole.c.last_line_at <= bindparam("before"),
        _under_way,
        ~_queued,
    )
)
_LEFT = Statement(
    select(piece.c.id)
    .where(
        piece.c.root == bindparam("root"),
        piece.c.status == "Working",
        piece.c.run.in_(["held", "parked"]),
        ~piece.c.let_go,
    )
    .order_by(piece.c.depth, piece.c.id)
)
_DUE = Statement(select(piece.c.id).where(piece.c.run == "due").order_by(piece.c.opened_at, piece.c.id).limit(1000))


def _before(house: House, tx: Tx) -> int | None:
    after = house.settings.abandoned_after
    return None if not after else tx.now - int(after.total_seconds() * 1_000_000)


def quiet(house: House, tx: Tx) -> list[str]:
    """The wholes that were abandoned, by id."""
    before = _before(house, tx)
    return [] if before is None else [found.id for found in tx.all(_QUIET, before=before)]


def was_abandoned(house: House, tx: Tx, root: str) -> bool:
    before = _before(house, tx)
    return before is not None and tx.one(_QUIET_ONE, root=root, before=before) is not None


def close(house: House, tx: Tx, root: str) -> bool:
    """Close what was abandoned in a whole; answers whether anything was.

    The topmost of it is said to have given up; what it had handed on goes with it: what was under way fails, what
    waited is called off, proposals are withdrawn. A piece above that had waited for it is told, and goes on.
    """
    try:
        tree = house.tree(tx, root)
    except NotFound:
        return False
    if not was_abandoned(house, tx, root):
        return False
    left = receipts.several(tx, [found.id for found in tx.all(_LEFT, root=root)])
    gone: list[str] = []  # branches that were closed with the piece at their head
    for row in left:
        if any(row.branch.startswith(f"{branch}/") for branch in gone):
            continue
        gone.append(row.branch)
        _close_branch(house, tx, tree, row, left)
    return bool(gone)


def _close_branch(house: House, tx: Tx, tree: Tree, row: Receipt, left: list[Receipt]) -> None:
    below = [under for under in left if under.branch.startswith(f"{row.branch}/")]
    # What waited under it first, and what was under way from the bottom up, so that nobody is told in vain.
    for one in [*reversed(below), row]:
        work.mark_closing(one, Status.CANCELLED if one.closing == "Cancelled" else Status.FAILED, work.GONE)
    row.set(abandoned=True)
    work.call_off_below(house, tx, tree, row, work.GONE, at_once=True)
    work.close_if_quiet(house, tx, tree, row, at_once=True)


def due(tx: Tx) -> list[str]:
    """Pieces that may be taken, the oldest first: for whoever was not told of them."""
    return [found.id for found in tx.all(_DUE)]
