"""An event loop whose time stands still while anything is to be done.

A pause passes at once when nothing else could happen: no task can go on, and no thread of the database's has anything
in hand. So `await quiet()` comes back when everything stands that the test has not let go, and an example plays the
same way every time, however slow the machine is.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

PAUSE = 0.6  # seconds of the loop's own time: longer than a run waits before it asks for room again


class StandsStill(Exception):
    """Whatever is awaited never comes: nothing is under way and nothing is due."""


class _Selector(selectors.DefaultSelector):  # type: ignore[misc,valid-type]
    passed = 0.0
    busy: Callable[[], bool]

    def select(self, timeout: float | None = None) -> Any:
        if timeout is not None and timeout <= 0:
            return super().select(0)
        if self.busy():
            return super().select(None)
        if timeout is None:
            raise StandsStill
        self.passed += timeout
        return super().select(0)


class StillLoop(asyncio.SelectorEventLoop):
    """`at_work` says whether the database has been asked for something that has not come back."""

    def __init__(self) -> None:
        self._still = _Selector()
        self._still.busy = lambda: self._in_threads > 0 or self.at_work()
        self._in_threads = 0
        self.at_work: Callable[[], bool] = lambda: False
        super().__init__(self._still)

    def time(self) -> float:
        return self._still.passed

    def run_in_executor(self, executor: Executor | None, func: Any, *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        future = super().run_in_executor(executor, func, *args)
        self._in_threads += 1
        future.add_done_callback(self._came_back)
        return future

    async def shutdown_default_executor(self, *args: Any) -> None:
        self._in_threads += 1
        await super().shutdown_default_executor(*args)

    def _came_back(self, _: object) -> None:
        self._in_threads -= 1


async def quiet() -> None:
    """Until nothing moves that the test has not to let go first."""
    await asyncio.sleep(PAUSE)
