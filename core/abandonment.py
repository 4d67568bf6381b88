"""Work whose process is gone: found by its silence, and closed, or taken up again where the agency is set to resume
(rules A).

Judged by time alone: a whole with a piece under way, none of them due, and no new line for `abandoned_after`. So a
tool that runs longer than that looks abandoned; set the time longer than the slowest tool. A process that was only
slow finds its fence taken and does nothing more.
"""

from __future__ import annotations

from sqlalchemy import and_, bindparam, exists, or_, select

from core import receipts, work
from core.errors import HandonError, NotFound, NotWaiting
from core.house import House
from core.receipts import Receipt
from core.record import Tree
from core.sql import Statement
from core.store import Tx
from core.tables import piece, whole
from core.values import Status, TraceKind

_of_whole = piece.c.root == whole.c.id
_held_long = and_(piece.c.run == "held", piece.c.held_since <= bindparam("before"))  # not taken only just now
_held = exists().where(_of_whole, piece.c.status == "Working", _held_long)
_parked = exists().where(_of_whole, piece.c.status == "Working", piece.c.run == "parked")
_held_at_all = exists().where(_of_whole, piece.c.run == "held")
_due = exists().where(_of_whole, piece.c.run == "due")
_due_now = exists().where(
    _of_whole, piece.c.run == "due", or_(piece.c.due_at.is_(None), piece.c.due_at <= bindparam("now"))
)
_quiet = (
    whole.c.ended_at.is_(None),
    whole.c.last_line_at <= bindparam("before"),
    ~_due_now,
    # What is parked counts by itself only where nothing goes on: no leg is due, now or later, and none was just taken.
    or_(_held, and_(_parked, ~_due, ~_held_at_all)),
)
_QUIET = Statement(select(whole.c.id).where(*_quiet).order_by(whole.c.id))
NOBODY_DOES_IT = _quiet  # for reading: the condition behind `quiet`, with its `before` and `now`
_QUIET_ONE = Statement(select(whole.c.id).where(whole.c.id == bindparam("root"), *_quiet))
_SOME_GO_ON = Statement(
    select(piece.c.id)
    .where(
        piece.c.root == bindparam("root"),
        or_(piece.c.run == "due", and_(piece.c.run == "held", ~_held_long)),
    )
    .limit(1)
)
_LEFT = Statement(
    select(piece.c.id)
    .where(
        piece.c.root == bindparam("root"),
        piece.c.status == "Working",
        or_(_held_long, and_(piece.c.run == "parked", ~piece.c.let_go)),
    )
    .order_by(piece.c.depth, piece.c.id)
)
_DUE = Statement(
    select(piece.c.id)
    .where(piece.c.run == "due", or_(piece.c.due_at.is_(None), piece.c.due_at <= bindparam("now")))
    .order_by(piece.c.opened_at, piece.c.id)
    .limit(1000)
)


def before(house: House, tx: Tx) -> int | None:
    """The time before which a whole must have been silent to be abandoned; None: never."""
    after = house.settings.abandoned_after
    return None if not after else tx.now - int(after.total_seconds() * 1_000_000)


def quiet(house: House, tx: Tx) -> list[str]:
    """The wholes that were abandoned, by id."""
    since = before(house, tx)
    return [] if since is None else [found.id for found in tx.all(_QUIET, before=since, now=tx.now)]


def was_abandoned(house: House, tx: Tx, root: str) -> bool:
    since = before(house, tx)
    return since is not None and tx.one(_QUIET_ONE, root=root, before=since, now=tx.now) is not None


def attend_to(house: House, tx: Tx, root: str) -> bool:
    """Close what was abandoned in a whole, or take it up again, as the agency is set; answers whether anything was."""
    try:
        tree = house.tree(tx, root)
    except NotFound:
        return False
    if not was_abandoned(house, tx, root):
        return False
    left = _left(house, tx, root)
    if house.settings.when_abandoned == "resume":
        return _take_up(house, tx, tree, left, house.settings.takeovers)
    return _close(house, tx, tree, left)


def _left(house: House, tx: Tx, root: str) -> list[Receipt]:
    """The pieces that nobody is doing."""
    since = before(house, tx)
    left = receipts.several(tx, [found.id for found in tx.all(_LEFT, root=root, before=since)])
    if tx.one(_SOME_GO_ON, root=root, before=since) is not None:  # what is parked waits for what goes on
        left = [row for row in left if row.run == "held"]
    return left


def asked_for(house: House, tx: Tx, root: str, by: str | None, who: str, *, close: bool) -> None:
    """Close an abandoned whole now, or let the next process take it up again, because somebody asked for it: whatever
    the agency is set to, and however often it was taken up before. Writes one line more, which says who.

    Raises NotWaiting where it is not abandoned any more, HandonError where nothing of it can be taken up.
    """
    tree = house.tree(tx, root)
    if not was_abandoned(house, tx, root):
        raise NotWaiting("It is not abandoned any more: it goes on, or it has ended.")
    left = _left(house, tx, root)
    label = house.label(receipts.get(tx, root).agent)
    if close:
        summary = f"{who} had {label}'s work closed: whatever was doing it is gone."
        tree.append(tx.now, root, TraceKind.STOP_ASKED, summary, {"by": by, "abandoned": "close"})
        _close(house, tx, tree, left)
        return
    if not any(row.run == "held" and row.closing is None for row in left):
        raise HandonError("Nothing of it can be taken up again. It can be closed.")
    summary = f"{who} had {label}'s work taken up again: whatever was doing it is gone."
    tree.append(tx.now, root, TraceKind.TAKEN_UP, summary, {"by": by, "abandoned": "take up"})
    _take_up(house, tx, tree, left, None)


def _take_up(house: House, tx: Tx, tree: Tree, left: list[Receipt], most: int | None) -> bool:
    """Let the next process go on with each piece that one held which is gone, from its last line (rule A7).

    A piece that was called off, or was taken up `most` times already, is closed instead, and the piece above it
    is told. Money held for a call under way is given back: whether that call was made nobody knows. Writes a line each.
    """
    held = [row for row in left if row.run == "held"]
    if not held:  # parked on legs that are nobody's: nothing can be taken up
        return _close(house, tx, tree, left)
    for row in reversed(held):  # the deepest first: what is closed is told to a piece that is still held
        if row.ended_at is not None:
            continue
        if row.closing is not None or (most is not None and row.takeovers >= most):
            _close_branch(house, tx, tree, row, left)
            continue
        takeovers = row.takeovers + 1
        times = f"{takeovers} of {most}" if most is not None else f"for the {takeovers}. time"
        summary = f"{house.label(row.agent)} was taken up again ({times}): whatever was doing it is gone."
        tree.append(tx.now, row.id, TraceKind.TAKEN_UP, summary, {"takeovers": takeovers})
        work.make_due_again(house, tx, tree, row, takeovers=takeovers)
    return True


def _close(house: House, tx: Tx, tree: Tree, left: list[Receipt]) -> bool:
    """The topmost is said to have given up; what it had handed on goes with it: what was under way fails, what waited
    is called off, proposals are withdrawn. A piece above that had waited for it is told, and goes on (rule A3)."""
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
    return [found.id for found in tx.all(_DUE, now=tx.now)]
