"""Wholes that nobody is doing any more, and pieces that were closed for it (rules A1, A4). No content (rule R8)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, func, or_, select

from core import abandonment
from core.clock import from_micros
from core.house import House
from core.ids import to_uuid
from core.reading.reader import at, skill_label
from core.sql import Statement
from core.store import Tx
from core.tables import person, piece, whole
from core.values import Abandoned, ClosedAbandoned, Status

_top = piece.alias("top")
_held = piece.alias("held")

_ABANDONED = Statement(
    select(
        whole.c.id,
        whole.c.about,
        whole.c.last_line_at,
        _top.c.agent,
        _top.c.skill,
        _top.c.tree_micros,
        _top.c.limit_micros,
        person.c.name,
        _held.c.agent.label("held"),
    )
    .select_from(
        whole.join(_top, _top.c.id == whole.c.id)
        .outerjoin(person, person.c.id == whole.c.person)
        .outerjoin(_held, and_(_held.c.root == whole.c.id, _held.c.run == "held"))
    )
    .where(*abandonment.NOBODY_DOES_IT)
    .order_by(whole.c.last_line_at, whole.c.id, _held.c.depth, _held.c.id)
)
_CLOSED = Statement(
    select(piece, whole.c.about, whole.c.ended_at.label("whole_ended_at"), person.c.name)
    .select_from(piece.join(whole, whole.c.id == piece.c.root).outerjoin(person, person.c.id == whole.c.person))
    .where(
        piece.c.abandoned,
        piece.c.ended_at <= bindparam("ended"),
        or_(piece.c.ended_at < bindparam("ended"), piece.c.id < bindparam("than")),
    )
    .order_by(piece.c.ended_at.desc(), piece.c.id.desc())
    .limit(bindparam("most"))
)
_lately: Any = select(func.count().label("n"), func.max(piece.c.ended_at).label("last"))
_CLOSED_LATELY = Statement(_lately.where(piece.c.abandoned, piece.c.ended_at > bindparam("since")))


def gone(house: House, tx: Tx) -> dict[str, datetime]:
    """The wholes that were abandoned, and since when each is silent."""
    before = abandonment.before(house, tx)
    if before is None:
        return {}
    return {row.id: from_micros(row.last_line_at) for row in tx.all(_ABANDONED, before=before, now=tx.now)}


def abandoned(house: House, tx: Tx) -> list[Abandoned]:
    """The wholes that nobody is doing, the one that is silent longest first."""
    before = abandonment.before(house, tx)
    if before is None:
        return []
    found: dict[str, list[Any]] = {}
    for row in tx.all(_ABANDONED, before=before, now=tx.now):
        found.setdefault(row.id, []).append(row)
    return [
        Abandoned(
            root=to_uuid(id),
            about=rows[0].about,
            agent_label=house.label(rows[0].agent),
            skill_label=skill_label(house, rows[0].agent, rows[0].skill),
            person=rows[0].name or "",
            pieces=tuple(house.label(row.held) for row in rows if row.held),
            last_line_at=from_micros(rows[0].last_line_at),
            tree_micros=rows[0].tree_micros,
            limit_micros=rows[0].limit_micros,
        )
        for id, rows in found.items()
    ]


def closed_as_abandoned(house: House, tx: Tx, most: int, before: tuple[int, str] | None) -> list[ClosedAbandoned]:
    """Pieces that were closed as abandoned, the last first; `before` names the last one shown."""
    ended, than = before or (2**62, "g")
    return [
        ClosedAbandoned(
            piece=to_uuid(row.id),
            root=to_uuid(row.root),
            about=row.about,
            agent_label=house.label(row.agent),
            skill_label=skill_label(house, row.agent, row.skill),
            person=row.name or "",
            status=Status(row.status),
            ended_at=from_micros(row.ended_at),
            whole_goes_on=row.whole_ended_at is None,
            tree_micros=row.tree_micros,
        )
        for row in tx.all(_CLOSED, ended=ended, than=than, most=most)
    ]


def closed_since(tx: Tx, since: int) -> tuple[int, datetime | None]:
    """How many pieces were closed so since then, and when the last one was."""
    row = tx.one(_CLOSED_LATELY, since=since)
    return row.n, at(row.last)
