"""One whole, followed by somebody who is shown some rows of it: what of those rows has changed.

Kept for the length of a stream, as the outline is. Each question costs what was touched and what stands above it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import bindparam, case, select

from core.house import House
from core.ids import to_uuid
from core.reading import outline as outlines
from core.reading.decided import decided
from core.reading.outline import mark_of
from core.reading.reader import Reader, whole_of
from core.reading.rows import Maker, yours_of
from core.sql import Statement
from core.store import Tx
from core.tables import line as line_table
from core.values import TraceKind, TreeAsk, TreeNews, TreeRow, TreeShow

ROWS = 40  # of one message; the others follow with the next

# After these, pieces below may be closing, of which there is no line before they end.
_CALLS_OFF = (TraceKind.STOP_ASKED, TraceKind.ENDED, TraceKind.ABANDONED, TraceKind.RETRIED, TraceKind.EXPIRED)


_LINES = Statement(
    select(
        line_table.c.piece,
        line_table.c.kind,
        case((line_table.c.kind == str(TraceKind.HANDED_ON), line_table.c.payload), else_="").label("payload"),
    )
    .where(
        line_table.c.root == bindparam("root"),
        line_table.c.n > bindparam("after"),
        line_table.c.n <= bindparam("upto"),
    )
    .order_by(line_table.c.n)
)


class Followed:
    """Made with what the page shows, and with which pieces it shows as decided; then asked for `news` whenever lines
    have come, or what is held has changed."""

    def __init__(
        self, root: str, ask: TreeAsk, show: TreeShow, marks: frozenset[str] | None, decided: Iterable[str] = ()
    ) -> None:
        self.root = root
        self._ask = ask
        self._show = show
        self._marks = marks
        self._outline: outlines.Outline | None = None
        self._shown: set[str] = set()
        self._open: set[str] = set()
        self._by_hand: set[str] = set()
        self._ended: set[str] = set()  # rows that had ended when the page was made
        self._fresh: set[str] = set()
        self._gone: set[str] = set()
        self._decided = dict.fromkeys(decided, "")  # pieces on which a decision is held, and whose
        self._owed: dict[str, bool] = {}  # rows to be sent; whether it happened to them themselves

    def news(self, house: House, tx: Tx, reader: Reader, after: int, upto: int) -> TreeNews:
        """What the lines numbered from `after` up to `upto` have changed, and what is still owed from before."""
        of = whole_of(tx, reader, self.root)
        yours = yours_of(tx, reader, self.root)
        was, self._decided = self._decided, decided(tx, self.root).pieces
        lines = tx.all(_LINES, root=self.root, after=after, upto=upto)
        new = {json.loads(line.payload)["to"] for line in lines if line.payload}
        changed = {id for id in {*was, *self._decided} if was.get(id) != self._decided.get(id)}
        touched = list(dict.fromkeys([*(line.piece for line in lines), *sorted(new), *sorted(changed)]))
        if self._outline is None:
            self._outline = outlines.read(tx, self.root, yours, self._decided)
            self._begin(self._outline, new)
        else:
            called_off = [line.piece for line in lines if line.kind in _CALLS_OFF and line.piece in self._outline.of]
            below = {id for piece in called_off for id in self._outline.going_under(piece)}
            touched += below.difference(touched)
            outlines.catch_up(tx, self._outline, touched, yours, self._decided)
        seen = self._seen(self._outline, touched)
        self._owe(seen, touched)
        self._look_for_new(self._outline, new, lines)
        self._look_for_gone(self._outline, seen)
        sent = list(self._owed.items())[:ROWS]
        for key, _ in sent:
            del self._owed[key]
        levels = {key: self._level(self._outline, key) for key, _ in sent}
        maker = Maker(house, tx, of, reader, self._outline, self._decided)
        made = maker.rows(levels, self._open)
        at_end = bool(self._fresh) and not self._gone and self._all_at_end(self._outline)
        new_rows = self._new_rows(self._outline, maker) if at_end else ()
        return TreeNews(
            rows=tuple(made[key] for key, _ in sent if key in made),
            pieces=frozenset(to_uuid(key) for key in seen if "~" not in key),
            touched=frozenset(key for key, itself in sent if itself),
            fresh=len(self._fresh),
            gone=len(self._gone),
            at_end=at_end,
            new=new_rows,
            owes=bool(self._owed),
            all=len(self._outline.of),
        )

    def _begin(self, outline: outlines.Outline, new: set[str]) -> None:
        if self._marks is None:
            self._shown = {id for id in outline.of if id not in new}
        else:
            groups = {
                outlines.group_of(parent, *kind)
                for parent, kinds in outline.kinds.items()
                for kind, alike in kinds.items()
                if len(alike) > outlines.GROUPED
            }
            self._shown = {key for key in (*outline.of, *groups) if mark_of(key) in self._marks and key not in new}
        self._open = {above for key in self._shown if (above := outline.above(key)) is not None}
        named = (outline.find(name) for name, _ in self._ask.opened)
        self._by_hand = {key for key in named if key is not None}
        self._ended = {key for key in self._shown if outline.final(key)}

    def _seen(self, outline: outlines.Outline, touched: Iterable[str]) -> dict[str, None]:
        """Those pieces, and every row above them in which it is seen."""
        seen: dict[str, None] = {}
        for id in touched:
            at: str | None = id if id in outline.of else None
            while at is not None and at not in seen:
                seen[at] = None
                at = outline.above(at)
        return seen

    def _owe(self, seen: Iterable[str], touched: Sequence[str]) -> None:
        itself = set(touched)
        for key in seen:
            if key in self._shown:
                self._owed[key] = self._owed.get(key, False) or key in itself

    def _level(self, outline: outlines.Outline, key: str) -> int:
        """As the page has it: a group that has come about since has no row there."""
        return sum(1 for above in outline.path(key) if above in self._shown)

    def _look_for_new(self, outline: outlines.Outline, new: Iterable[str], lines: Sequence[Any]) -> None:
        if self._ask.find:
            return
        if self._show == "needs":
            asked = {line.piece for line in lines if line.kind in (TraceKind.PROPOSED, TraceKind.ASKED)}
            self._fresh |= {id for id in asked if id in outline.of and id not in self._shown}
            return
        passing = {id for id in new if id in outline.of and not (self._show == "going" and outline.final(id))}
        self._fresh |= passing
        for id in passing:
            branch, parent = outline.branch_of(id), outline.of[id].parent
            if branch is None or not {branch, parent} & self._shown:
                self._fresh.discard(id)
            elif branch in self._shown and branch not in self._open and self._had_rows(outline, branch, passing):
                self._fresh.discard(id)  # it is closed: what is below it is counted there

    def _had_rows(self, outline: outlines.Outline, branch: str, new: set[str]) -> bool:
        """Whether anything stood under a branch when the page was made."""
        return any(key not in self._fresh and key not in new for key in outline.entries(branch))

    def _look_for_gone(self, outline: outlines.Outline, seen: Iterable[str]) -> None:
        if self._show != "going" or self._ask.find:
            return
        for key in seen:
            if key not in self._shown or key in self._ended or key == self.root or not outline.final(key):
                continue
            if outline.above(key) not in self._by_hand and key != (self._ask.chosen.hex if self._ask.chosen else ""):
                self._gone.add(key)
        self._fresh = {id for id in self._fresh if not outline.of[id].stand.final}

    def _new_rows(self, outline: outlines.Outline, maker: Maker) -> tuple[TreeRow, ...]:
        """What is new, in the order of the tree."""
        first = sorted(self._fresh, key=lambda id: self._rank(outline, id))[:ROWS]
        seen = self._shown | self._fresh
        made = maker.rows({id: sum(1 for above in outline.path(id) if above in seen) for id in first}, self._open)
        return tuple(made[id] for id in first if id in made)

    def _rank(self, outline: outlines.Outline, key: str) -> list[int]:
        """Its place in the order of the tree."""
        return [outline.of[id].at for id in outline.path(key) if "~" not in id]

    def _all_at_end(self, outline: outlines.Outline) -> bool:
        last = max(self._rank(outline, key) for key in self._shown if "~" not in key)
        return all(self._rank(outline, id) > last for id in self._fresh)
