"""What a supervisor oversees: what needs somebody now, who waits for whom, abandoned work, and stopping everything."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import datetime
from functools import partial
from uuid import UUID

from core import abandonment, ids, people, reading
from core.clock import to_micros
from core.desk.works import Works
from core.errors import BadInput, NotAllowed
from core.reading import Reader
from core.store import Tx
from core.values import Abandoned, Checked, ClosedAbandoned, NearLimit, Now, Stopping, ToStop, Wait
from core.words import clean

AT_ONCE = 64  # wholes that are called off side by side


def _must_supervise(reader: Reader) -> None:
    if not reader.may.supervises_agents:
        raise NotAllowed("That is for those who supervise agents.")


class Oversees(Works):
    """All of it raises NotAllowed unless the app says that this person supervises agents (rule R9)."""

    async def now(self, keep: Collection[UUID] = ()) -> Now:
        """What needs a supervisor at this moment. `keep`: wholes to be told of too where they are not among the first
        any more, ended ones as well."""

        def read(tx: Tx, reader: Reader) -> Now:
            _must_supervise(reader)
            return reading.now(self._house, tx, reader, [root.hex for root in keep])

        return await self._read(read)

    async def check_records(self) -> Checked:
        """Read the records that changed last, line by line: a few whole ones, not all there are (rule T3)."""

        def read(tx: Tx, reader: Reader) -> Checked:
            _must_supervise(reader)
            return reading.check(tx)

        return await self._read(read)

    async def waits(self, limit: int = 50, after: Wait | None = None) -> list[Wait]:
        """What waits for people, and who waits for it (rule P3), the longest first; `after`: the last one shown."""
        place = (to_micros(after.asked_at), after.id.hex) if after else None

        def read(tx: Tx, reader: Reader) -> list[Wait]:
            _must_supervise(reader)
            return reading.open_waits(self._house, tx, limit, place)

        return await self._read(read)

    async def near_limit(self, limit: int = 50) -> list[NearLimit]:
        """Wholes near their limit, the one with least left first. For those who read model usage too."""

        def read(tx: Tx, reader: Reader) -> list[NearLimit]:
            if not (reader.may.reads_model_usage or reader.may.manages_model_spend):
                _must_supervise(reader)
            return reading.near(self._house, tx, reader, limit)

        return await self._read(read)

    async def abandoned(self) -> list[Abandoned]:
        """Wholes under way that nobody is doing (rule A1)."""

        def read(tx: Tx, reader: Reader) -> list[Abandoned]:
            _must_supervise(reader)
            return reading.abandoned(self._house, tx)

        return await self._read(read)

    async def closed_as_abandoned(
        self, limit: int = 50, before: tuple[datetime, UUID] | None = None
    ) -> list[ClosedAbandoned]:
        """Pieces that were closed as abandoned, the last first; `before`: when the last one shown ended, and its id."""
        place = (to_micros(before[0]), before[1].hex) if before else None

        def read(tx: Tx, reader: Reader) -> list[ClosedAbandoned]:
            _must_supervise(reader)
            return reading.closed_as_abandoned(self._house, tx, limit, place)

        return await self._read(read)

    async def close_abandoned(self, id: UUID) -> None:
        """Close an abandoned whole now, as the agency's clock would (rule A2). Writes one line more, which says who.

        Raises NotFound, and NotWaiting where it is not abandoned any more.
        """
        await self._attend(id, close=True)

    async def take_up_abandoned(self, id: UUID) -> None:
        """Let the next process take an abandoned whole up from its last line (rule A7), also where the agency is set to
        close such work. Writes one line more, which says who.

        Raises NotFound, NotWaiting, and HandonError where nothing of it can be taken up.
        """
        await self._attend(id, close=False)

    async def _attend(self, id: UUID, *, close: bool) -> None:
        def attend(tx: Tx, reader: Reader) -> None:
            _must_supervise(reader)
            of = reading.whole_of(tx, reader, ids.stored(id))
            who = people.row(tx, reader.id).name if reader.id else "The app"
            abandonment.asked_for(self._house, tx, of.id, reader.id, who, close=close)

        await self._write(attend)

    async def to_stop(self) -> ToStop:
        """What stopping everything would call off. Changes nothing."""

        def read(tx: Tx, reader: Reader) -> ToStop:
            _must_supervise(reader)
            return reading.to_stop(self._house, tx)

        return await self._read(read)

    async def stop_everything(self, works: int, reason: str = "") -> datetime:
        """Call off every whole under way (rules E4, E5): `works` is how many whoever asks believes there are. Answers
        when it began, for `stopping`. Each whole is called off in a transaction of its own, and its record says so.

        Raises BadInput where there are more or fewer of them now: nothing is stopped then.
        """

        def read(tx: Tx, reader: Reader) -> list[str]:
            _must_supervise(reader)
            found = reading.going(tx)
            if len(found) != works:
                are = "1 work is" if len(found) == 1 else f"{len(found)} works are"
                raise BadInput({"works": f"{are} under way. Nothing was stopped."})
            return found

        roots = await self._read(read)
        since = self._house.clock.now()
        for place in range(0, len(roots), AT_ONCE):
            several = roots[place : place + AT_ONCE]
            await asyncio.gather(*(self._write(partial(self._stop, key=key, reason=clean(reason))) for key in several))
        return since

    async def stopping(self, since: datetime) -> Stopping:
        """How far stopping has come that began at `since`."""

        def read(tx: Tx, reader: Reader) -> Stopping:
            _must_supervise(reader)
            return reading.stopping(self._house, tx, to_micros(since))

        return await self._read(read)
