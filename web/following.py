"""The stream of one whole: of the rows that its page shows, those that have changed, and how many it does not show."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from sse_starlette import ServerSentEvent

from core.reading import Followed
from core.values import Line, TreeNews
from web.deps import Visit
from web.outline import View

TAIL = 5  # lines at the foot of a whole's page
CHECKED = 2000  # lines: a longer record is not read line by line for the foot of a page


@dataclass
class WholeWatch:
    """One whole: rows, its head, the foot of its record and the reader's badge, which other wholes change too."""

    root: UUID | None
    after: int
    view: View
    followed: Followed
    replay: int  # lines; whoever is further behind is told to read the page again
    rest: float
    decided: Mapping[UUID, str]  # pieces on which a decision is held, and whose: of that there is no line
    owes: bool = False  # more has changed than was sent
    waiting: int | None = None  # as it was last told
    tail: deque[Line] = field(default_factory=lambda: deque(maxlen=TAIL))

    async def news(self, visit: Visit) -> list[ServerSentEvent]:
        assert self.root is not None
        lines = await visit.desk.lines(self.root, after=self.after, limit=self.replay + 1)
        was, self.decided = self.decided, await visit.desk.decided_in(self.root)
        if not lines and not self.owes and was == self.decided:
            return await self._badge(visit)
        if len(lines) > self.replay:
            self.after = (await visit.desk.work(self.root, counted=False)).lines
            self.tail.clear()
            return [ServerSentEvent(id=str(self.after), event="resync", data="")]
        if not self.tail:
            self.tail.extend(await visit.desk.lines(self.root, after=max(0, self.after - TAIL), limit=TAIL))
        self.tail.extend(line for line in lines if not self.tail or line.n > self.tail[-1].n)
        before, self.after = self.after, lines[-1].n if lines else self.after
        news = await visit.desk.tree_news(self.followed, before, self.after)
        self.owes = news.owes
        return await self._messages(visit, news)

    async def _badge(self, visit: Visit) -> list[ServerSentEvent]:
        waiting = await visit.desk.waiting_count()
        if waiting == self.waiting:
            return []
        self.waiting = waiting
        return [ServerSentEvent(data=visit.renderer.html("live/badge.html", visit.request, waiting=waiting))]

    async def _messages(self, visit: Visit, news: TreeNews) -> list[ServerSentEvent]:
        assert self.root is not None
        work = await visit.desk.work(self.root, counted=False)
        self.waiting = await visit.desk.waiting_count()
        html = visit.renderer.html(
            "live/whole.html",
            visit.request,
            work=work,
            view=self.view,
            news=news,
            lines=list(self.tail),
            verdict=await visit.desk.verify_trace(self.root) if work.status.final and work.lines <= CHECKED else None,
            waiting=self.waiting,
        )
        told = ServerSentEvent(event="pieces", data=" ".join(str(piece) for piece in news.pieces))
        return [told, ServerSentEvent(id=str(self.after), data=html)]
