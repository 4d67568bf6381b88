"""What a person has set aside: off their own list until a time they chose, after which it is there again.

It decides nothing, is on no record, and is nobody else's business: the agent waits all the same, and whoever else may
decide sees the request as before.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, bindparam, delete, exists, select

from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import set_aside

_INSERT = insert_into(set_aside)
_GET = Statement(
    select(set_aside.c.until).where(set_aside.c.person == bindparam("who"), set_aside.c.request == bindparam("about"))
)
_DELETE = Statement(
    delete(set_aside).where(set_aside.c.person == bindparam("who"), set_aside.c.request == bindparam("about"))
)


def is_aside(table: Any) -> ColumnElement[bool]:
    """The condition that a row of `proposal` or `help` is set aside by the reader (`who`) at this moment (`now`)."""
    return exists(
        select(set_aside.c.request).where(
            set_aside.c.request == table.c.id,
            set_aside.c.person == bindparam("who"),
            set_aside.c.until > bindparam("now"),
        )
    )


def until(tx: Tx, person: str, request: str) -> int | None:
    """Until when that person has set it aside; None where they have not, or that time has come."""
    found = tx.one(_GET, who=person, about=request)
    return found.until if found is not None and found.until > tx.now else None


def put(tx: Tx, person: str, request: str, until: int) -> None:
    """Set it aside until then, in the place of what was said before."""
    take(tx, person, request)
    tx.run(_INSERT, person=person, request=request, until=until)


def take(tx: Tx, person: str, request: str) -> None:
    """Have it on the list again."""
    tx.run(_DELETE, who=person, about=request)
