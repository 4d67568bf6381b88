"""Seats of agents, how ways of handing on were used, and what an agent did last (rule R8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import and_, bindparam, case, func, or_, select

from core.clock import from_micros
from core.house import House
from core.ids import to_uuid
from core.reading.reader import Reader
from core.reading.requests import for_you
from core.reading.works import node_of
from core.sql import Statement
from core.store import Tx
from core.tables import person, piece, seat, whole
from core.values import WorkNode

DAYS = 30
DAY = 86_400 * 1_000_000
LAST = 8
Used = Mapping[tuple[str, str, str, bool], dict[str, Any]]

_above = piece.alias("above")
_readable = or_(bindparam("everything") == 1, whole.c.person == bindparam("who"), whole.c.given_by == bindparam("who"))
_SEATS = Statement(
    select(seat.c.agent, seat.c.paused, seat.c.sponsor, person.c.name.label("sponsor_name")).select_from(
        seat.outerjoin(person, and_(person.c.id == seat.c.sponsor, person.c.deactivated_at.is_(None)))
    )
)
# A piece that was opened since then is in a whole that goes on, or has ended since then.
_USED = Statement(
    select(
        _above.c.agent.label("origin"),
        piece.c.agent,
        piece.c.skill,
        piece.c.helper,
        func.count().label("pieces"),
        func.sum(piece.c.tree_micros).label("micros"),
        func.sum(case((piece.c.ended_at.is_(None), 1), else_=0)).label("going"),
        func.max(piece.c.opened_at).label("last_at"),
    )
    .select_from(whole.join(piece, piece.c.root == whole.c.id).join(_above, _above.c.id == piece.c.parent))
    .where(
        or_(whole.c.ended_at.is_(None), whole.c.ended_at >= bindparam("since")),
        piece.c.opened_at >= bindparam("since"),
        _readable,
    )
    .group_by(_above.c.agent, piece.c.agent, piece.c.skill, piece.c.helper)
)
# The same, of one agent's own pieces, at the top of a work or below.
_SPENT = Statement(
    select(
        func.count().label("pieces"),
        func.coalesce(func.sum(piece.c.own_micros), 0).label("own"),
    )
    .select_from(whole.join(piece, piece.c.root == whole.c.id))
    .where(
        or_(whole.c.ended_at.is_(None), whole.c.ended_at >= bindparam("since")),
        piece.c.opened_at >= bindparam("since"),
        piece.c.agent == bindparam("agent"),
        _readable,
    )
)
_LAST = Statement(
    select(*piece.c, whole.c.about, whole.c.person, whole.c.given_by)
    .select_from(whole.join(piece, piece.c.root == whole.c.id))
    .where(piece.c.agent == bindparam("agent"), _readable)
    .order_by(whole.c.opened_at.desc(), whole.c.id.desc(), piece.c.opened_at.desc(), piece.c.id.desc())
    .limit(bindparam("most"))
)
_GOING = Statement(
    select(
        func.count().label("going"),
        func.coalesce(func.sum(case((piece.c.status == "Waiting", 1), else_=0)), 0).label("waiting"),
    )
    .select_from(whole.join(piece, piece.c.root == whole.c.id))
    .where(whole.c.ended_at.is_(None), piece.c.ended_at.is_(None), piece.c.agent == bindparam("agent"), _readable)
)


def _whose(reader: Reader) -> dict[str, Any]:
    return {"who": reader.id, "everything": 1 if sees_all(reader) else 0}


def sees_all(reader: Reader) -> bool:
    """Whether the reader may see that anybody's work happened."""
    return reader.id is None or reader.may.supervises_agents or reader.may.audits_agents


def seats(tx: Tx) -> dict[str, dict[str, Any]]:
    """Who answers for each agent, and whether it is paused. A sponsor who was deactivated answers for nothing."""
    return {
        row.agent: {
            "paused": bool(row.paused),
            "sponsor": to_uuid(row.sponsor) if row.sponsor_name else None,
            "sponsor_name": row.sponsor_name or "",
        }
        for row in tx.all(_SEATS)
    }


def used(tx: Tx, reader: Reader) -> Used:
    """How each way (from, to, skill, helper) was used in the last days, in the work that the reader may see."""
    return {
        (row.origin, row.agent, row.skill, bool(row.helper)): {
            "pieces": int(row.pieces),
            "micros": int(row.micros),
            "going": int(row.going),
            "last_at": from_micros(int(row.last_at)),
        }
        for row in tx.all(_USED, since=tx.now - DAYS * DAY, **_whose(reader))
    }


def spent_of(tx: Tx, reader: Reader, agent: str) -> tuple[int, int]:
    """How many pieces it was given in the last days, in the work that the reader may see, and what its own calls for
    them cost so far."""
    found = tx.one(_SPENT, agent=agent, since=tx.now - DAYS * DAY, **_whose(reader))
    return int(found.pieces), int(found.own)


def last_of(house: House, tx: Tx, reader: Reader, agent: str) -> list[tuple[UUID, WorkNode]]:
    """The agent's last pieces, of the newest wholes first."""
    mine = {where for _, where in for_you(tx, reader)}
    return [
        (to_uuid(row.root), node_of(house, row, row, reader.content(row), row.id in mine))
        for row in tx.all(_LAST, agent=agent, most=LAST, **_whose(reader))
    ]


def going_of(tx: Tx, reader: Reader, agent: str) -> tuple[int, int]:
    """How many of its pieces go on, and how many of these wait."""
    found = tx.one(_GOING, agent=agent, **_whose(reader))
    return int(found.going), int(found.waiting)
