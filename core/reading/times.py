"""What pieces did with their time, told from their lines.

A line says when something happened, not what was done until then; that follows from its kind and from the one before.
Of a record written before a model's answer said when it was asked for, queuing counts as waiting for that model.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, func, select

from core.clock import from_micros
from core.ids import to_uuid
from core.reading.outline import AT_ONCE, in_hundreds
from core.reading.reader import Reader, whole_of
from core.sql import Statement
from core.store import Tx
from core.tables import line, piece
from core.values import Doing, Span, TraceKind

LINES = 5000  # of a hundred pieces: what has more is told as far as they go
SPANS = 100  # of one piece: the last ones

_ids: list[Any] = [bindparam(f"id{n}") for n in range(AT_ONCE)]
_LINES = Statement(
    select(
        line.c.piece,
        line.c.at,
        line.c.kind,
        func.substr(line.c.payload, 1, 40).label("begins"),  # "asked_at" is its first key
        line.c.summary.like("%, which waits for %").label("below"),
    )
    .where(line.c.root == bindparam("root"), line.c.piece.in_(_ids))
    .order_by(line.c.n)
    .limit(LINES)
)
_PIECES = Statement(
    select(
        piece.c.id,
        piece.c.root,
        piece.c.run,
        piece.c.held_since,
        piece.c.call_micros,
        piece.c.opened_at,
        piece.c.ended_at,
    ).where(piece.c.id.in_(_ids))
)
_ASKED_AT = re.compile(r'\{"asked_at":\s?(\d+)')

_WORK = (TraceKind.TOOL_RAN, TraceKind.BEGUN, TraceKind.CONSULTED, TraceKind.RULE_USED, TraceKind.REDEFINED)
_GOES_ON = (TraceKind.DECIDED, TraceKind.ANSWERED, TraceKind.EXPIRED, TraceKind.RESUMED, TraceKind.CAME_BACK)


def spans(tx: Tx, reader: Reader, id: str, pieces: Collection[str]) -> dict[UUID, tuple[Span, ...]]:
    """By piece, in their order. Nothing of it is content (rule R8)."""
    of = whole_of(tx, reader, id)
    lines: dict[str, list[Any]] = {}
    for row in in_hundreds(tx, _LINES, pieces, root=of.id):
        lines.setdefault(row.piece, []).append(row)
    found = [row for row in in_hundreds(tx, _PIECES, pieces) if row.root == of.id]
    return {to_uuid(row.id): _of_piece(row, lines.get(row.id, ()), tx.now) for row in found}


def _of_piece(row: Any, lines: Sequence[Any], now: int) -> tuple[Span, ...]:
    told = _Telling(row.opened_at)
    for one in lines:
        told.line(TraceKind(one.kind), one.at, one.begins, bool(one.below))
    if row.ended_at is not None:
        told.until(row.ended_at)
    elif row.run == "held" and told.doing in (Doing.QUEUED, Doing.WORKS):
        told.until(max(told.since, row.held_since or told.since))
        told.doing = Doing.MODEL if row.call_micros else Doing.WORKS
        told.until(now)
    else:
        told.until(now)
    return tuple(Span(what, from_micros(start), from_micros(end)) for what, start, end in told.spans[-SPANS:])


class _Telling:
    """One piece's lines, read in their order."""

    def __init__(self, opened: int) -> None:
        self.spans: list[tuple[Doing, int, int]] = []
        self.since = opened
        self.doing = Doing.QUEUED
        self._legs = 0  # that have not come back

    def until(self, at: int, doing: Doing | None = None) -> None:
        """What it did until then."""
        what = doing or self.doing
        if at <= self.since:
            return
        if self.spans and self.spans[-1][0] is what and self.spans[-1][2] == self.since:
            self.spans[-1] = (what, self.spans[-1][1], at)
        else:
            self.spans.append((what, self.since, at))
        self.since = at

    def line(self, kind: TraceKind, at: int, payload: str, below: bool) -> None:
        if kind is TraceKind.MODEL_ANSWERED:
            asked = _ASKED_AT.match(payload)
            if asked:
                self.until(int(asked[1]))
            self.until(at, Doing.MODEL)
            self.doing = Doing.WORKS
        elif kind is TraceKind.HANDED_ON:
            self.until(at)
            self._legs += 1
            self.doing = Doing.AGENT
        elif kind is TraceKind.WAITING:
            self.until(at)
            self.doing = Doing.AGENT if below else Doing.PERSON
        elif kind in _GOES_ON:
            self._legs -= kind is TraceKind.CAME_BACK
            self.until(at)
            self.doing = Doing.AGENT if self._legs > 0 else Doing.QUEUED
        elif kind in _WORK:
            self.until(at)
            self.doing = Doing.WORKS
        elif kind is TraceKind.RETRIED:
            self.until(at)
            self.doing, self._legs = Doing.QUEUED, 0
        elif kind is TraceKind.TAKEN_UP:
            self.until(at, Doing.SILENT)
            self.doing = Doing.QUEUED
        elif kind is TraceKind.ABANDONED:
            self.until(at, Doing.SILENT)
        elif kind is TraceKind.STOP_ASKED:
            self.until(at)
            self.doing = Doing.STOPPING
