"""What the agency's clock does again and again: held decisions, deadlines, due pieces, abandoned wholes, verification.

Each whole or request is attended to in a transaction of its own. One that this fails for is told in the log and does
not keep the others from being attended to: the next round tries it again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from core import abandonment, verifying
from core.asking import deadlines, held, holding
from core.clock import Clock, from_micros
from core.errors import HandonError
from core.house import House
from core.store import Store

log = logging.getLogger(__name__)

_BROKE = "Something went wrong on our side. What it was is in the log."


class Rounds:
    """Raises nothing but what keeps the store from being read at all."""

    def __init__(self, house: House, store: Store) -> None:
        self._house = house
        self._store = store

    async def begin(self, clock: Clock) -> None:
        """Make one round at once, and let the clock make the others."""
        settings = self._house.settings
        await self.sweep()
        for _, at in await self._store.read(held.open_ones):
            self.release_at(clock, at)
        if settings.sweep_every:
            clock.every(settings.sweep_every, self.sweep)
            clock.every(settings.sweep_every, self.verify_on)
        if settings.abandoned_check_every and settings.abandoned_after:
            clock.every(settings.abandoned_check_every, self.abandoned)

    def release_at(self, clock: Clock, at: int) -> None:
        """Look for held decisions at that time, too."""
        if not self._house.stopping:
            clock.at(from_micros(at), self.release)

    async def sweep(self) -> int:
        """Carry out held decisions whose time has come, end requests whose deadline has passed (rule P11), and tell the
        dispatcher of every due piece; answers how many of these there are."""
        await self.release()
        await self._each(await self._store.read(deadlines.passed), deadlines.expire)
        due = await self._store.read(abandonment.due)
        for piece in due:
            self._house.dispatcher.wake(piece)
        return len(due)

    async def release(self) -> int:
        """Carry out held decisions whose time has come, or drop what cannot be done any more; answers how many were
        carried out."""
        done = 0
        for request in await self._store.read(holding.due):
            if self._house.stopping:  # what is held stays so for the next process
                break
            try:
                done += await self._store.write(partial(holding.release, self._house, id=request))
            except HandonError as error:
                await self._drop(request, error)
            except Exception:
                log.exception("a held decision on %s could not be carried out", request)
                await self._drop(request, HandonError(_BROKE))
        return done

    async def _drop(self, request: str, error: HandonError) -> None:
        try:
            await self._store.write(partial(holding.drop, self._house, id=request, error=error))
        except Exception:
            log.exception("a held decision on %s could not be let go of", request)

    async def abandoned(self) -> int:
        """Look for abandoned wholes and close them, or take them up again where `when_abandoned` is "resume"; answers
        how many (rules A4, A7)."""
        quiet = await self._store.read(lambda tx: abandonment.quiet(self._house, tx))
        return await self._each(quiet, abandonment.attend_to)

    async def verify_on(self, within: timedelta | None = None, lines: int = verifying.STEP) -> None:
        """Go on with the verification of all records that is under way (`desk.verify_all`), to its end or for about so
        long; after so many lines it is written down how far it has come."""
        began = time.monotonic()
        while not self._house.stopping and (
            step := await self._store.read(partial(verifying.read_on, self._house, lines=lines))
        ):
            kept = await self._store.write(partial(verifying.keep, step=step))
            if step.over or not kept:
                return
            if within is not None and time.monotonic() - began > within.total_seconds():
                return

    async def _each(self, roots: Sequence[str], attend: Callable[..., Any]) -> int:
        done = 0
        for root in roots:
            try:
                done += await self._store.write(partial(attend, self._house, root=root))
            except Exception:
                log.exception("the whole %s could not be attended to", root)
        return done
