"""Calling one piece off: what it would do, and how far it has come (rules E4, E5)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, bindparam, case, func, or_, select, union

from core import receipts
from core.house import House
from core.reading.lines import lines_shown
from core.reading.reader import Reader, at, may_stop
from core.reading.works import NODE, node_of
from core.sql import Statement
from core.store import Tx
from core.tables import help, line, piece, proposal, turn_call
from core.values import StopAsked, ToStopBranch, TraceKind

FIRST = 12  # pieces that are listed

_in_branch = and_(
    piece.c.root == bindparam("root"),
    or_(piece.c.id == bindparam("id"), piece.c.branch.like(bindparam("under"))),
)


def _sum(condition: Any) -> Any:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


_going = piece.c.ended_at.is_(None)
_open_proposal = and_(
    proposal.c.root == bindparam("root"), proposal.c.status == "Waiting", proposal.c.decided_at.is_(None)
)
_open_question = and_(help.c.root == bindparam("root"), help.c.status == "Waiting", help.c.help_from == "Person")
_asking = union(select(proposal.c.piece).where(_open_proposal), select(help.c.piece).where(_open_question))
_counts: Any = select(
    _sum(_going).label("going"),
    _sum(and_(_going, piece.c.run == "held")).label("held"),
    _sum(and_(_going, piece.c.id.in_(_asking))).label("waiting"),
    _sum(piece.c.ended_at.is_not(None)).label("ended"),
)
_COUNTS = Statement(_counts.where(_in_branch))
_ids = select(piece.c.id).where(_in_branch)
_OPEN = Statement(
    select(
        select(func.count()).where(_open_proposal, proposal.c.piece.in_(_ids)).scalar_subquery().label("proposals"),
        select(func.count()).where(_open_question, help.c.piece.in_(_ids)).scalar_subquery().label("questions"),
        select(func.count())
        .where(proposal.c.root == bindparam("root"), proposal.c.status == "Done", proposal.c.piece.in_(_ids))
        .scalar_subquery()
        .label("changes"),
        select(func.count())
        .where(turn_call.c.state == "begun", turn_call.c.piece.in_(_ids.where(_going)))
        .scalar_subquery()
        .label("outside"),
    )
)
_FIRST = Statement(
    select(*(piece.c[name] for name in NODE))
    .where(_in_branch, _going)
    .order_by(piece.c.depth, piece.c.opened_at, piece.c.id)
    .limit(FIRST)
)
_left: Any = select(func.count().label("n"))
_LEFT = Statement(_left.where(_in_branch, _going))
_ASKED = Statement(
    select(line)
    .where(
        line.c.root == bindparam("root"),
        line.c.piece == bindparam("piece"),
        line.c.kind == str(TraceKind.STOP_ASKED),
    )
    .order_by(line.c.n.desc())
    .limit(1)
)


def to_stop_branch(house: House, tx: Tx, reader: Reader, of: Any, id: str) -> ToStopBranch:
    row = receipts.get(tx, id)
    named = {"root": of.id, "id": id, "under": f"{row.branch}/%"}
    counts, opened = tx.one(_COUNTS, **named), tx.one(_OPEN, **named)
    content = reader.content(of)
    return ToStopBranch(
        node=node_of(house, row, of, content, False),
        going=int(counts.going),
        held=int(counts.held),
        waiting=int(counts.waiting),
        requests=opened.proposals + opened.questions,
        outside=opened.outside,
        ended=int(counts.ended),
        changes=opened.changes,
        above=house.label(receipts.get(tx, row.parent).agent) if row.parent else "",
        first=tuple(node_of(house, found, of, content, False) for found in tx.all(_FIRST, **named)),
    )


def stop_asked(house: House, tx: Tx, reader: Reader, of: Any, row: Any) -> StopAsked | None:
    """None where nobody called the piece off."""
    if row.closing is None:
        return None
    asked = lines_shown(house, tx, reader, of, tx.all(_ASKED, root=of.id, piece=row.id))
    left = tx.one(_LEFT, root=of.id, id=row.id, under=f"{row.branch}/%").n if row.ended_at is None else 0
    return StopAsked(
        at=asked[0].at if asked else None,
        words=asked[0].summary if asked else "",
        left=left,
        ended_at=at(row.ended_at),
    )


__all__ = ["may_stop", "stop_asked", "to_stop_branch"]
