"""Versions of the map: what an app declares is written down when an agency opens with other declarations than the last.

Numbers run from 1 without gaps. Content that was there before and comes back is a version of its own: A, B, A are
three. Two processes that open at once with the same declarations write them once; with different ones, as when an app
is rolled out process by process, each of them that opens after the other writes its own again.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select

from core.clock import from_micros
from core.declare.schemas import canonical
from core.errors import NotFound
from core.house import House
from core.mapping.compare import compare
from core.mapping.declared import Content, fingerprint, tools_in
from core.mapping.earlier import earlier
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import map_version
from core.values import MapCompared, MapThen, MapVersion

MOST = 2**31 - 1  # a number that the column holds

_about = [column for column in map_version.c if column.key != "content"]
_LAST = Statement(
    select(map_version.c.number, map_version.c.fingerprint).order_by(map_version.c.number.desc()).limit(1)
)
_LIST = Statement(
    select(*_about)
    .where(map_version.c.number < bindparam("before"))
    .order_by(map_version.c.number.desc())
    .limit(bindparam("most"))
)
_ONE = Statement(select(map_version).where(map_version.c.number == bindparam("wanted")))
_SINCE = Statement(select(map_version.c.first_seen).where(map_version.c.number == bindparam("wanted")))
_INSERT = insert_into(map_version, or_ignore=True)


def keep(tx: Tx, content: Content) -> int:
    """Write the content down where it is not that of the last version; answers its number."""
    text = canonical(content)
    mark = fingerprint(text)
    while True:
        last = tx.one(_LAST)
        if last is not None and last.fingerprint == mark:
            return int(last.number)
        number = last.number + 1 if last is not None else 1
        row: dict[str, Any] = {
            "number": number,
            "fingerprint": mark,
            "first_seen": tx.now,
            "agents": len(content["agents"]),
            "ways": len(content["ways"]),
            "tools": tools_in(content),
            "content": text,
        }
        # Another process that opens at this moment may have taken the number: then its content is the last.
        if tx.run(_INSERT, **row) == 1:
            return int(number)


def versions(house: House, tx: Tx, before: int, most: int) -> list[MapVersion]:
    """At most so many versions with a number below `before` (0: all), the newest first."""
    found = tx.all(_LIST, before=before if 0 < before < MOST else MOST, most=most)
    return [_version(house, row) for row in found]


def since(house: House, tx: Tx) -> datetime | None:
    """Since when what this agency opened with has been declared; None where it is not open."""
    row = tx.one(_SINCE, wanted=house.map_version)
    return from_micros(int(row.first_seen)) if row is not None else None


def compared(house: House, tx: Tx, before: int, after: int) -> MapCompared:
    """Two versions and what differs. Raises NotFound, in words, for one that is not there."""
    other, one = _one(tx, after), _one(tx, before)
    changes = compare(json.loads(one.content), json.loads(other.content))
    return MapCompared(_version(house, one), _version(house, other), changes)


def then(house: House, tx: Tx, number: int) -> MapThen:
    """The map as one version declared it. Raises NotFound, in words, for one that is not there."""
    row = _one(tx, number)
    content = json.loads(row.content)
    after = tx.one(_SINCE, wanted=min(number + 1, MOST))
    return MapThen(
        version=_version(house, row),
        until=from_micros(int(after.first_seen)) if after is not None else None,
        currency=content["app"]["currency"],
        drawn=replace(earlier(content), since=from_micros(int(row.first_seen))),
    )


def _one(tx: Tx, number: int) -> Any:
    row = tx.one(_ONE, wanted=number) if 0 < number <= MOST else None
    if row is None:
        last = tx.one(_LAST)
        there = f"the last one is {last.number}" if last is not None else "none is kept yet"
        raise NotFound(f"There is no version {number} of the map; {there}.")
    return row


def _version(house: House, row: Any) -> MapVersion:
    return MapVersion(
        number=int(row.number),
        first_seen=from_micros(int(row.first_seen)),
        agents=int(row.agents),
        ways=int(row.ways),
        tools=int(row.tools),
        now=row.number == house.map_version,
    )
