"""The bus: says that a tree has new lines, and that a whole has come to a stand.

In-process. Another process's changes are not heard here: whoever follows also looks by itself now and then.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from uuid import UUID


class Following:
    """Iterate to be woken when the followed tree has new lines: once for however many there were meanwhile.

    The iteration ends when the agency leaves.
    """

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._over = False

    def tell(self, *, over: bool = False) -> None:
        self._over = self._over or over
        self._event.set()

    async def wait(self, seconds: float) -> bool:
        """Wait for a change at most so long; answers whether there was one."""
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return False
        self._event.clear()
        return True

    def __aiter__(self) -> Following:
        return self

    async def __anext__(self) -> None:
        if not self._over:
            await self._event.wait()
            self._event.clear()
        if self._over:
            raise StopAsyncIteration


class Bus:
    def __init__(self) -> None:
        self._followers: dict[str | None, set[Following]] = {}
        self._standing: dict[str, set[asyncio.Future[None]]] = {}
        self._over = False

    @asynccontextmanager
    async def follow(self, root: UUID | None) -> AsyncIterator[Following]:
        """Follow one tree, by the id of its whole, or with None all of them."""
        key = root.hex if root is not None else None
        following = Following()
        if self._over:
            following.tell(over=True)
        self._followers.setdefault(key, set()).add(following)
        try:
            yield following
        finally:
            mine = self._followers[key]
            mine.discard(following)
            if not mine:
                del self._followers[key]

    def told(self, root: str) -> None:
        """The tree has new lines."""
        for key in (root, None):
            for following in self._followers.get(key, ()):
                following.tell()

    def stands(self, root: str) -> None:
        """The top of the tree waits or has ended."""
        for future in self._standing.pop(root, ()):
            if not future.done():
                future.set_result(None)

    def died(self, root: str, error: BaseException) -> None:
        """A run in the tree was ended on the spot: whoever waits for the tree is raised it."""
        for future in self._standing.pop(root, ()):
            if not future.done():
                future.set_exception(error)

    @contextmanager
    def standing(self, root: str) -> Iterator[asyncio.Future[None]]:
        """A future that is done once the top waits or has ended. Ask for it before the tree is looked at."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._standing.setdefault(root, set()).add(future)
        try:
            yield future
        finally:
            waiting = self._standing.get(root)
            if waiting is not None:
                waiting.discard(future)
                if not waiting:
                    del self._standing[root]

    def close(self) -> None:
        """Wake all who follow, for the last time: streams end."""
        self._over = True
        for followers in self._followers.values():
            for following in followers:
                following.tell(over=True)
