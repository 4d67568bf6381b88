"""Lines of the record, each narrowed to what its reader may know."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, select

from core import receipts, record
from core.clock import from_micros
from core.house import House
from core.ids import to_uuid
from core.reading.reader import Reader, whole_of
from core.sql import Statement
from core.store import Tx
from core.tables import line
from core.values import (
    Line,
    TraceKind,
)

_LINES = Statement(
    select(line)
    .where(line.c.root == bindparam("root"), line.c.n > bindparam("after"))
    .order_by(line.c.n)
    .limit(bindparam("most"))
)

# Kinds of line that tell of a call that was paid for.
PAID = (TraceKind.MODEL_ANSWERED, TraceKind.LATE_ANSWER, TraceKind.ANSWER_LOST, TraceKind.CONSULTED)


def lines(house: House, tx: Tx, reader: Reader, id: str, after: int, most: int) -> list[Line]:
    """Lines of the whole's record after number `after`, in order."""
    of = whole_of(tx, reader, id)
    return lines_shown(house, tx, reader, of, tx.all(_LINES, root=of.id, after=after, most=most))


def lines_shown(house: House, tx: Tx, reader: Reader, of: Any, rows: Sequence[Any]) -> list[Line]:
    content = reader.content(of)
    agents: dict[str, str] = {}
    for row in rows:
        if row.piece not in agents:
            agents[row.piece] = house.label(receipts.get(tx, row.piece).agent)
    return [shown(row, agents[row.piece], content) for row in rows]


def shown(row: Any, agent: str, content: bool) -> Line:
    """A row of the record as its reader may know it."""
    kind = TraceKind(row.kind)
    return Line(
        n=row.n,
        at=from_micros(row.at),
        piece=to_uuid(row.piece),
        agent_label=agent,
        kind=kind,
        summary=row.summary if content else record.bare(kind, agent),
        payload=row.payload if content else "",
        hash=row.hash,
        before=row.before,
        micros=json.loads(row.payload).get("micros") if kind in PAID else None,
    )
