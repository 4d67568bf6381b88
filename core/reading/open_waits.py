"""Requests that wait for people, as a supervisor reads them: who waits for whom, and nothing of what (rule R8)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, bindparam, func, literal, literal_column, or_, select, union_all

from core.asking import held
from core.clock import from_micros
from core.house import House
from core.ids import to_uuid
from core.reading.reader import at
from core.sql import Statement
from core.store import Tx
from core.tables import help, person, piece, proposal, whole
from core.values import Wait

CROWD = 200  # more than so many for one person, and nobody reads them all

# Requests that wait for a person: one statement behind list and count.
_open = union_all(
    *(
        select(
            table.c.id,
            literal(what).label("what"),
            table.c.root,
            table.c.piece,
            table.c.asked_of,
            table.c.asked_at,
            table.c.deadline,
        ).where(*conditions)
        for table, what, conditions in (
            (proposal, "a decision", held.UNDECIDED),
            (help, "an answer", (help.c.help_from == "Person", help.c.status == "Waiting", held.not_held(help))),
        )
    )
).subquery()
_OPEN_COUNT = Statement(select(func.count().label("n")).select_from(_open))
_CROWDED = Statement(
    select(person.c.name, func.count().label("n"))
    .select_from(_open.join(person, person.c.id == _open.c.asked_of))
    .group_by(person.c.id, person.c.name)
    .having(func.count() > CROWD)
    .order_by(func.count().desc(), person.c.name)
    .limit(3)
)
_open_page = (
    select(_open)
    .where(
        or_(
            _open.c.asked_at > bindparam("asked"),
            and_(_open.c.asked_at == bindparam("asked"), _open.c.id > bindparam("than")),
        )
    )
    .order_by(_open.c.asked_at, _open.c.id)
    .limit(bindparam("most"))
    .subquery()
)
_above = piece.alias("above")
_SLASH: Any = literal_column("'/'")
# Every piece above that waits, as "id=agent", joined by "/": found for each request by itself, not by a join of all.
_waiting_above = (
    select(func.aggregate_strings(_above.c.id + "=" + _above.c.agent, _SLASH))
    .where(
        _above.c.root == _open_page.c.root, _above.c.status == "Waiting", piece.c.branch.like(_above.c.branch + "/%")
    )
    .correlate(_open_page, piece)
    .scalar_subquery()
)
_WAITS = Statement(
    select(
        _open_page,
        whole.c.about,
        piece.c.agent,
        piece.c.branch,
        person.c.name,
        _waiting_above.label("above"),
    )
    .select_from(
        _open_page.join(piece, piece.c.id == _open_page.c.piece)
        .join(whole, whole.c.id == _open_page.c.root)
        .outerjoin(person, person.c.id == _open_page.c.asked_of)
    )
    .order_by(_open_page.c.asked_at, _open_page.c.id)
)


def open_waits(house: House, tx: Tx, most: int, after: tuple[int, str] | None) -> list[Wait]:
    """What waits for people, the longest first; `after` names the last one shown."""
    asked, than = after or (-1, "")
    return [_wait(house, row) for row in tx.all(_WAITS, asked=asked, than=than, most=most)]


def _wait(house: House, row: Any) -> Wait:
    """One request. Its chain ends at the first piece above that does not wait: that one has other things to do."""
    waiting = dict(one.split("=", 1) for one in (row.above or "").split("/") if one)
    chain = [house.label(row.agent)]
    for above in reversed(row.branch.split("/")[:-1]):
        if above not in waiting:
            break
        chain.append(house.label(waiting[above]))
    return Wait(
        id=to_uuid(row.id),
        piece=to_uuid(row.piece),
        root=to_uuid(row.root),
        about=row.about,
        chain=tuple(reversed(chain)),
        what=row.what,
        person=row.name or "",
        asked_at=from_micros(row.asked_at),
        deadline=at(row.deadline),
    )


def open_count(tx: Tx) -> int:
    """How many there are."""
    return int(tx.one(_OPEN_COUNT).n)


def crowded(tx: Tx) -> tuple[tuple[str, int], ...]:
    """The people for whom more wait than anybody reads, by name, each with how many: at most three."""
    return tuple((row.name, row.n) for row in tx.all(_CROWDED))
