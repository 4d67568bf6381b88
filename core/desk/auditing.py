"""All records together, for those who supervise or audit agents: reading lines, verifying, exporting."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

from core import ids, reading, record, verifying
from core.clock import to_micros
from core.desk.base import Part
from core.errors import NotAllowed
from core.reading import Reader
from core.store import Tx
from core.values import AuditLine, LineOpened, LineSieve, Recorded, Verification

PART = 1000  # lines that an export reads at once
LAST = (2**62, "g", 2**31 - 1)  # a place after every line


def _must_oversee(reader: Reader) -> None:
    if not (reader.may.supervises_agents or reader.may.audits_agents):
        raise NotAllowed("All records together are for those who supervise or audit agents.")


class Audits(Part):
    """Raises NotAllowed unless the app says that this person supervises or audits agents (rule R9), but for what says
    otherwise."""

    async def audit(
        self,
        sieve: LineSieve,
        limit: int = 100,
        *,
        before: tuple[int, str, int] | None = None,
        after: tuple[int, str, int] | None = None,
    ) -> list[AuditLine]:
        """Lines of all records, the newest first. `before` or `after`: the place they lie before or after, as
        microseconds, the whole's id and the line's number."""

        def read(tx: Tx, reader: Reader) -> list[AuditLine]:
            _must_oversee(reader)
            return reading.audit(
                self._house, tx, reader, sieve, limit, after or before or LAST, newer=after is not None
            )

        return await self._read(read)

    async def recorded(self) -> Recorded:
        """How many lines there are in how many records."""

        def read(tx: Tx, reader: Reader) -> Recorded:
            _must_oversee(reader)
            return reading.recorded(tx)

        return await self._read(read)

    async def line(self, id: UUID, n: int) -> LineOpened:
        """One line of a whole's record, for whoever may see the whole. Raises NotFound."""
        return await self._read(lambda tx, reader: reading.line_opened(self._house, tx, reader, ids.stored(id), n))

    async def verification(self) -> Verification | None:
        """The verification of all records that is under way, else the last there was."""

        def read(tx: Tx, reader: Reader) -> Verification | None:
            _must_oversee(reader)
            return reading.verification_last(tx)

        return await self._read(read)

    async def verify_all(self) -> None:
        """Have every record read again (rule T3); `Agency.verify_on` does it, as the agency's clock does. Where that is
        under way already, it goes on."""

        def begin(tx: Tx, reader: Reader) -> None:
            _must_oversee(reader)
            verifying.begin(tx, reader.id)

        await self._write(begin)

    async def export(self, id: UUID, part: int = PART) -> AsyncIterator[str]:
        """What `export_trace` answers, in parts of so many lines. Raises before the first part is asked for."""

        def head(tx: Tx, reader: Reader) -> record.Head:
            of = reading.whole_of(tx, reader, ids.stored(id))
            if not reader.content(of):
                raise NotAllowed("The record is exported by the person the work is for, whoever gave it, and auditors.")
            return record.head_of(tx, of.id)

        kept = await self._read(head)
        return self._parts(kept, part)

    async def _parts(self, kept: record.Head, part: int) -> AsyncIterator[str]:
        yield record.exported_head(kept)
        for after in range(0, kept.lines, part):
            to = min(after + part, kept.lines)
            yield await self._store.read(
                lambda tx, after=after, to=to: record.exported_lines(tx, kept.root, after, to)  # type: ignore[misc]
            )


def place_of(one: AuditLine) -> tuple[int, str, int]:
    """Where a line stands among all."""
    return (to_micros(one.line.at), one.root.hex, one.line.n)
