"""The in-process dispatcher: runs due pieces as tasks of the agency's loop, so many at once.

`wake` is heard after the commit that made a piece due. What was not heard (another process, a restart) is found by
the sweep, which the agency's clock calls: it asks the database which pieces are due.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from core.errors import Abort

log = logging.getLogger(__name__)

WRITES = 10.0  # seconds a cancelled run gets for its last commits

Run = Callable[[str], Awaitable[None]]


class LocalDispatcher:
    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency
        self._run: Run | None = None
        self._due: deque[str] = deque()
        self._known: set[str] = set()  # due here, not begun yet
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._beside: set[asyncio.Future[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._stopping = False
        self.aborted: Callable[[str, Abort], None] = lambda piece, error: None

    def start(self, run: Run) -> None:
        self._run = run
        self._stopping = False

    def wake(self, piece: str) -> None:
        """Run this piece soon. Said twice before it is begun, it is run once."""
        if self._run is None or self._stopping or piece in self._known:
            return
        self._known.add(piece)
        self._due.append(piece)
        self._idle.clear()
        self._begin()

    def _begin(self) -> None:
        assert self._run is not None
        while self._due and len(self._tasks) < self._concurrency and not self._stopping:
            piece = self._due.popleft()
            self._known.discard(piece)
            task: asyncio.Task[None] = asyncio.ensure_future(self._run(piece))
            self._tasks[task] = piece
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        piece = self._tasks.pop(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Abort):
            self.aborted(piece, error)
        elif error is not None:
            log.error("the run of piece %s broke off: %r", piece, error)
        self._begin()
        if not self._tasks and not self._due:
            self._idle.set()

    def also(self, work: Coroutine[Any, Any, None]) -> None:
        """Do this beside the runs, before the dispatcher stops."""
        task = asyncio.ensure_future(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    @property
    def busy(self) -> bool:
        return bool(self._tasks or self._due)

    async def idle(self) -> None:
        """Wait until nothing is due or running here."""
        await self._idle.wait()

    async def stop(self, grace: float) -> None:
        """Begin nothing more; let running steps end, so many seconds at most, then cancel them."""
        self._stopping = True
        self._due.clear()
        self._known.clear()
        if self._tasks:
            _, late = await asyncio.wait(list(self._tasks), timeout=grace)
            for task in late:
                task.cancel()
            if late:
                # What is cancelled still writes what it gives back: a commit or two.
                await asyncio.wait(late, timeout=max(grace, WRITES))
        for beside in list(self._beside):
            beside.cancel()
        self._idle.set()
