"""What time it is, and what is done every so often. The engine asks its clock and never the system.

A clock stamps rows and wakes the agency's timers. `WallClock` is the one of a running agency; `handon.testing` has
one that is set and advanced.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

log = logging.getLogger(__name__)

Timer = Callable[[], Awaitable[object]]


def to_micros(at: datetime) -> int:
    """A time as whole microseconds since 1970 in UTC: what is stored and hashed."""
    return (at - EPOCH) // MICROSECOND


def from_micros(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


class Clock(Protocol):
    def now(self) -> datetime: ...

    def every(self, interval: timedelta, timer: Timer) -> None:
        """Await `timer` once per interval from now on, one call at a time, until `stop`. What it raises ends that call
        alone."""

    def at(self, moment: datetime, timer: Timer) -> None:
        """Await `timer` once when that moment has come, unless `stop` comes first."""

    async def stop(self) -> None:
        """End every timer; a call under way is cancelled."""


async def _logged(timer: Timer) -> None:
    """A database that was away for a moment must not end the looking for good."""
    try:
        await timer()
    except Exception:
        log.exception("a timer failed")


class WallClock:
    """The system's time. Its timers are tasks of the running loop."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def every(self, interval: timedelta, timer: Timer) -> None:
        async def tick() -> None:
            while True:
                await asyncio.sleep(interval.total_seconds())
                await _logged(timer)

        self._keep(tick())

    def at(self, moment: datetime, timer: Timer) -> None:
        async def once() -> None:
            while (left := (moment - self.now()).total_seconds()) > 0:  # noqa: ASYNC110 - a sleep may end early
                await asyncio.sleep(left)
            await _logged(timer)

        self._keep(once())

    def _keep(self, timer: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(timer)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
