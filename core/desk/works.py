"""Wholes and pieces: stopping and reading them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from functools import partial
from typing import Literal
from uuid import UUID

from core import (
    abandonment,
    ids,
    people,
    reading,
    receipts,
    record,
    work,
)
from core.clock import to_micros
from core.desk.base import Part
from core.errors import NotAllowed
from core.reading import Followed, Reader
from core.store import Tx
from core.values import (
    Help,
    Line,
    Pane,
    Piece,
    Span,
    Status,
    ToStopBranch,
    TraceKind,
    TreeAsk,
    TreeNews,
    TreePage,
    Verdict,
    Work,
    WorkNode,
)
from core.words import clean

Show = Literal["going", "finished", "all"]


class Works(Part):
    async def stop(self, id: UUID, reason: str = "") -> None:
        """Call a piece off with everything under it (rules E4, E5). What a model is being asked for ends with that
        answer; abandoned work closes at once. Stopping what has ended does nothing.

        May be done by the person it is for, whoever gave it, and supervisors. Raises NotFound, NotAllowed. Writes one
        line, and one for each piece that ends.
        """

        await self._write(partial(self._stop, key=ids.stored(id), reason=reason))

    def _stop(self, tx: Tx, reader: Reader, key: str, reason: str) -> None:
        of = reading.whole_of(tx, reader, key)
        if not reading.may_stop(reader, of):
            raise NotAllowed("It is stopped by the person it is for, whoever gave it, or a supervisor.")
        tree = self._house.tree(tx, of.id)
        row = receipts.get(tx, key)
        if row.ended_at is not None or row.closing is not None:
            return
        at_once = abandonment.was_abandoned(self._house, tx, of.id)
        name = people.row(tx, reader.id).name if reader.id else "the app"
        words = clean(reason.strip())
        why = f"{name} stopped it{f': {words}' if words else '.'}"
        label = self._house.label(row.agent)
        tree.append(
            tx.now, key, TraceKind.STOP_ASKED, f"{label} was asked to stop: {why}", {"by": reader.id, "why": reason}
        )
        work.call_off(self._house, tx, tree, row, Status.CANCELLED, why, at_once=at_once)

    async def to_stop_branch(self, id: UUID) -> ToStopBranch:
        """What stopping this piece would call off. Changes nothing. Raises NotFound, NotAllowed (rule E5)."""

        def read(tx: Tx, reader: Reader) -> ToStopBranch:
            of = reading.whole_of(tx, reader, ids.stored(id))
            if not reading.may_stop(reader, of):
                raise NotAllowed("It is stopped by the person it is for, whoever gave it, or a supervisor.")
            return reading.to_stop_branch(self._house, tx, reader, of, ids.stored(id))

        return await self._read(read)

    # Reading

    async def works(
        self, show: Show = "going", limit: int = 50, before: tuple[datetime, UUID] | None = None
    ) -> list[Work]:
        """Wholes this person may see, the newest first; `before`: (opened_at, root) of the last one shown."""
        place = (to_micros(before[0]), before[1].hex) if before else None
        return await self._read(lambda tx, reader: reading.works(self._house, tx, reader, show, limit, place))

    async def work(self, id: UUID, *, counted: bool = True) -> Work:
        """The whole that a piece belongs to. Not `counted`: without how many pieces it has, which takes time."""

        def read(tx: Tx, reader: Reader) -> Work:
            return reading.one_work(self._house, tx, reader, ids.stored(id), counted=counted)

        return await self._read(read)

    async def my_work(self) -> list[Piece]:
        return await self._read(lambda tx, reader: reading.my_work(self._house, tx, reader))

    async def piece(self, id: UUID) -> Piece:
        return await self._read(lambda tx, reader: reading.one_piece(self._house, tx, reader, ids.stored(id)))

    async def work_tree(self, id: UUID) -> list[WorkNode]:
        return await self._read(lambda tx, reader: reading.tree(self._house, tx, reader, ids.stored(id)))

    async def tree_page(self, id: UUID, ask: TreeAsk) -> TreePage:
        """The rows of a whole that a page shows, and how many it does not (rule T1)."""
        return await self._read(lambda tx, reader: reading.tree_page(self._house, tx, reader, ids.stored(id), ask))

    async def tree_news(self, followed: Followed, after: int, upto: int) -> TreeNews:
        """What the lines after the first number, up to the second, have changed in the rows that somebody is shown.
        `followed` keeps what it needs for the next time."""
        return await self._read(lambda tx, reader: followed.news(self._house, tx, reader, after, upto))

    async def decided_in(self, id: UUID) -> Mapping[UUID, str]:
        """The pieces of a whole that wait for nobody any more, since the decision they waited for is held; and who
        made it (rule P5)."""

        def read(tx: Tx, reader: Reader) -> Mapping[UUID, str]:
            of = reading.whole_of(tx, reader, ids.stored(id))
            return {ids.to_uuid(piece): name for piece, name in reading.decided(tx, of.id).pieces.items()}

        return await self._read(read)

    async def spans(self, id: UUID, pieces: Collection[UUID]) -> Mapping[UUID, tuple[Span, ...]]:
        """What those pieces of a whole did with their time, from the lines of its record (rule T1)."""
        wanted = [piece.hex for piece in pieces]
        return await self._read(lambda tx, reader: reading.spans(tx, reader, ids.stored(id), wanted))

    async def cost_of(self, id: UUID) -> int:
        """What a piece and everything under it spent, in micros (rules M5, T2)."""

        def cost(tx: Tx, reader: Reader) -> int:
            reading.whole_of(tx, reader, ids.stored(id))
            return int(receipts.get(tx, ids.stored(id)).tree_micros)

        return await self._read(cost)

    async def handed_on_by(self, id: UUID) -> list[Piece]:
        """The pieces that a piece handed on itself, in the order it did."""
        return await self._read(lambda tx, reader: reading.handed_on_by(self._house, tx, reader, ids.stored(id)))

    async def trace_of(self, id: UUID) -> list[Line]:
        """The record of the whole, from any piece of it (rule T3)."""
        return await self.lines(id, 0, 2**31 - 1)

    async def lines(self, id: UUID, after: int = 0, limit: int = 500) -> list[Line]:
        """Lines of the record numbered above `after`, in order."""
        return await self._read(lambda tx, reader: reading.lines(self._house, tx, reader, ids.stored(id), after, limit))

    async def verify_trace(self, id: UUID) -> Verdict:
        """Check every line of the whole's record; names the first that does not fit."""

        def verify(tx: Tx, reader: Reader) -> Verdict:
            of = reading.whole_of(tx, reader, ids.stored(id))
            return record.verify_tree(tx, of.id, self._house.signer)

        return await self._read(verify)

    async def export_trace(self, id: UUID) -> str:
        """The whole's record as JSON Lines, to be checked anywhere by `handon verify` (rule T6).

        Raises NotFound, and NotAllowed where the person may not read its content (R8).
        """

        def export(tx: Tx, reader: Reader) -> str:
            of = reading.whole_of(tx, reader, ids.stored(id))
            if not reader.content(of):
                raise NotAllowed("The record is exported by the person the work is for, whoever gave it, and auditors.")
            return record.export(tx, of.id)

        return await self._read(export)

    async def help_of(self, id: UUID) -> list[Help]:
        """Questions and consults of a whole, the oldest first."""
        return await self._read(lambda tx, reader: reading.helps(self._house, tx, reader, ids.stored(id)))

    async def pane(self, id: UUID, lines: int = 0) -> Pane:
        """One piece, opened. `lines`: those of its record up to that number; 0 for the last ones."""
        return await self._read(lambda tx, reader: reading.pane(self._house, tx, reader, ids.stored(id), lines))

    async def text_of(self, id: UUID, part: str) -> str:
        """A text of a piece whole that its pane cuts: `asked`, `back`, `said`; of the call on line 7 `in-7`, `out-7`.

        Raises NotFound, also where this person may not read its content (rule R8).
        """
        return await self._read(lambda tx, reader: reading.whole_text(tx, reader, ids.stored(id), part))
