"""Wholes and pieces: lists, receipts, and the tree (rules T1, T2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import and_, bindparam, func, literal, or_, select

from core import receipts
from core.clock import from_micros
from core.house import House
from core.ids import to_uuid
from core.reading.decided import Decided, decided
from core.reading.reader import Reader, at, may_stop, skill_label, whole_of
from core.reading.requests import for_you
from core.sql import Statement
from core.store import Tx
from core.tables import person, piece, whole
from core.values import (
    Piece,
    Status,
    Work,
    WorkNode,
)

_PIECES = Statement(
    select(piece).where(piece.c.root == bindparam("root")).order_by(piece.c.depth, piece.c.opened_at, piece.c.id)
)
_CHILDREN = Statement(
    select(piece).where(piece.c.parent == bindparam("parent")).order_by(piece.c.opened_at, piece.c.id)
)
_MINE = Statement(
    select(piece)
    .join(whole, whole.c.id == piece.c.root)
    .where(or_(whole.c.person == bindparam("who"), whole.c.given_by == bindparam("who")))
    .order_by(whole.c.opened_at.desc(), whole.c.id.desc(), piece.c.depth, piece.c.opened_at, piece.c.id)
    .limit(1000)
)

_top = piece.alias("top")
_person_of = person.alias("person_of")
_giver = person.alias("giver")


def _count(*conditions: Any) -> Any:
    return select(func.count()).where(piece.c.root == whole.c.id, *conditions).scalar_subquery()


_COUNTED = (
    ("pieces", _count()),
    ("going", _count(piece.c.ended_at.is_(None))),
    ("waiting", _count(piece.c.status == "Waiting")),
)
_NOT_COUNTED = tuple((name, literal(0)) for name, _ in _COUNTED)


def _works(condition: Any, *, counted: bool = True) -> Statement:
    names = (
        whole.join(_top, _top.c.id == whole.c.id)
        .outerjoin(_person_of, _person_of.c.id == whole.c.person)
        .outerjoin(_giver, _giver.c.id == whole.c.given_by)
    )
    of_top = (
        "agent",
        "skill",
        "status",
        "waiting_on",
        "outcome",
        "tree_micros",
        "limit_micros",
        "closing",
        "abandoned",
        "ended_at",
    )
    return Statement(
        select(
            *whole.c,
            *(_top.c[name].label(f"top_{name}") for name in of_top),
            *(number.label(name) for name, number in (_COUNTED if counted else _NOT_COUNTED)),
            _person_of.c.name.label("person_name"),
            _giver.c.name.label("giver_name"),
        )
        .select_from(names)
        .where(condition)
        .order_by(whole.c.opened_at.desc(), whole.c.id.desc())
        .limit(bindparam("most"))
    )


_older = or_(
    whole.c.opened_at < bindparam("opened"),
    and_(whole.c.opened_at == bindparam("opened"), whole.c.id < bindparam("than")),
)
_readable = or_(bindparam("everything") == 1, whole.c.person == bindparam("who"), whole.c.given_by == bindparam("who"))
_WORKS = {
    "going": _works(and_(_readable, _older, whole.c.ended_at.is_(None))),
    "finished": _works(and_(_readable, _older, whole.c.ended_at.is_not(None))),
    "all": _works(and_(_readable, _older)),
}
_WORK = _works(whole.c.id == bindparam("root"))
_HEAD = _works(whole.c.id == bindparam("root"), counted=False)


def works(house: House, tx: Tx, reader: Reader, show: str, most: int, before: tuple[int, str] | None) -> list[Work]:
    """Wholes the reader may see, the newest first; `before` is the place after which to go on."""
    opened, than = before or (2**62, "g")
    everything = 1 if reader.id is None or reader.may.supervises_agents or reader.may.audits_agents else 0
    found = tx.all(_WORKS[show], who=reader.id, everything=everything, opened=opened, than=than, most=most)
    yours, held = for_you(tx, reader), decided(tx)
    return [_work(house, reader, row, yours, held) for row in found]


def one_work(house: House, tx: Tx, reader: Reader, id: str, *, counted: bool) -> Work:
    of = whole_of(tx, reader, id)
    row = tx.one(_WORK if counted else _HEAD, root=of.id, most=1)
    return _work(house, reader, row, for_you(tx, reader), decided(tx, of.id))


def _work(house: House, reader: Reader, row: Any, yours: Sequence[tuple[str, str]], held: Decided) -> Work:
    content = reader.content(row)
    mine = may_stop(reader, row)
    return Work(
        root=to_uuid(row.id),
        about=row.about,
        agent_label=house.label(row.top_agent),
        skill_label=skill_label(house, row.top_agent, row.top_skill),
        person=row.person_name or "",
        given_by=row.giver_name or "",
        status=Status(row.top_status),
        waiting_on=row.top_waiting_on,
        outcome=row.top_outcome if content else "",
        tree_micros=row.top_tree_micros,
        limit_micros=row.top_limit_micros,
        pieces=row.pieces,
        going=row.going,
        waiting=row.waiting,
        for_you=sum(1 for root, _ in yours if root == row.id),
        lines=row.lines,
        opened_at=from_micros(row.opened_at),
        ended_at=from_micros(row.top_ended_at) if row.top_ended_at is not None else None,
        stopping=row.top_closing is not None and row.top_ended_at is None,
        may_stop=mine and row.top_ended_at is None,
        content=content,
        decided_by=held.wholes.get(row.id, ""),
    )


def as_piece(house: House, row: Any, of: Any, content: bool) -> Piece:
    return Piece(
        id=to_uuid(row.id),
        parent=to_uuid(row.parent) if row.parent else None,
        root=to_uuid(row.root),
        depth=row.depth,
        lineage=tuple(to_uuid(id) for id in row.branch.split("/")),
        agent=row.agent,
        agent_label=house.label(row.agent),
        skill=row.skill,
        skill_label=skill_label(house, row.agent, row.skill),
        skill_version=row.skill_version,
        skill_version_now=row.skill_version_now,
        about=of.about,
        status=Status(row.status),
        waiting_on=row.waiting_on,
        outcome=row.outcome if content else "",
        requester=to_uuid(of.person) if of.person else None,
        given_by=to_uuid(of.given_by) if of.given_by else None,
        limit_micros=row.limit_micros,
        spent_micros=row.own_micros,
        model_calls=row.model_calls,
        result_json=row.result if content else None,
        opened_at=from_micros(row.opened_at),
        ended_at=at(row.ended_at),
    )


def one_piece(house: House, tx: Tx, reader: Reader, id: str) -> Piece:
    of = whole_of(tx, reader, id)
    return as_piece(house, receipts.get(tx, id), of, reader.content(of))


def handed_on_by(house: House, tx: Tx, reader: Reader, id: str) -> list[Piece]:
    of = whole_of(tx, reader, id)
    return [as_piece(house, row, of, reader.content(of)) for row in tx.all(_CHILDREN, parent=id)]


def my_work(house: House, tx: Tx, reader: Reader) -> list[Piece]:
    """Every piece of the wholes that are for the reader or that the reader gave, the newest whole first."""
    rows = tx.all(_MINE, who=reader.id)
    wholes = {root: whole_of(tx, reader, root) for root in {row.root for row in rows}}
    return [as_piece(house, row, wholes[row.root], True) for row in rows]


def tree(house: House, tx: Tx, reader: Reader, id: str) -> list[WorkNode]:
    """Every piece of the whole, the top first, each followed by what it handed on (rule T1)."""
    of = whole_of(tx, reader, id)
    return _nodes(house, tx, reader, of, tx.all(_PIECES, root=of.id))


def _nodes(house: House, tx: Tx, reader: Reader, of: Any, rows: Iterable[Any]) -> list[WorkNode]:
    below: dict[str | None, list[Any]] = {}
    for row in rows:
        below.setdefault(row.parent, []).append(row)
    mine = {where for root, where in for_you(tx, reader) if root == of.id}
    content, held = reader.content(of), decided(tx, of.id).pieces
    nodes: list[WorkNode] = []
    todo = list(reversed(below.get(None, [])))
    while todo:
        row = todo.pop()
        nodes.append(node_of(house, row, of, content, row.id in mine, held.get(row.id, "")))
        todo.extend(reversed(below.get(row.id, [])))
    return nodes


# The columns that a row of a tree is made of: without what was said, which may be large.
NODE = (
    *(
        "id",
        "root",
        "parent",
        "depth",
        "agent",
        "skill",
        "status",
        "waiting_on",
        "outcome",
        "own_micros",
        "tree_micros",
    ),
    *("reserved_micros", "limit_micros", "model_calls", "opened_at", "ended_at", "closing", "abandoned", "waits_since"),
)


def node_of(house: House, row: Any, of: Any, content: bool, yours: bool, decided_by: str = "") -> WorkNode:
    return WorkNode(
        piece=to_uuid(row.id),
        parent=to_uuid(row.parent) if row.parent else None,
        depth=row.depth,
        agent=row.agent,
        agent_label=house.label(row.agent),
        skill=row.skill,
        skill_label=skill_label(house, row.agent, row.skill),
        about=of.about,
        status=Status(row.status),
        waiting_on=row.waiting_on,
        outcome=row.outcome if content else "",
        own_micros=row.own_micros,
        tree_micros=row.tree_micros,
        reserved_micros=row.reserved_micros,
        limit_micros=row.limit_micros,
        model_calls=row.model_calls,
        opened_at=from_micros(row.opened_at),
        ended_at=at(row.ended_at),
        stopping=row.closing is not None and row.ended_at is None,
        abandoned=row.abandoned,
        waits_for_you=yours,
        waits_since=at(row.waits_since),
        decided_by=decided_by,
    )
