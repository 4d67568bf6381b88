"""The stream of one record: each line as it is written, once and in its order, under those that the page shows.

The id of a message is its last line, so a reader whose stream was cut goes on after it. A page holds so many lines:
what comes after them is counted, and waits on the next.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from uuid import UUID

from sse_starlette import ServerSentEvent

from web.deps import Visit

AT_ONCE = 40  # lines in a message
VERIFY_AGAIN = 10.0  # seconds after which the record is verified anew, where lines came


@dataclass
class RecordWatch:
    """Lines after `after`, up to the last that the page holds (`until`)."""

    root: UUID | None
    after: int
    until: int
    rest: float
    owes: bool = False  # there are more lines, or what came was not verified yet
    stood: object = None  # how the whole stood when it was last told
    verified: int = -1  # lines
    verified_at: float = -math.inf

    async def news(self, visit: Visit) -> list[ServerSentEvent]:
        assert self.root is not None
        work = await visit.desk.work(self.root, counted=False)
        room = min(AT_ONCE, self.until - self.after)
        lines = await visit.desk.lines(self.root, after=self.after, limit=room) if room > 0 else []
        if lines:
            self.after = lines[-1].n
        more = work.lines > self.after and self.after < self.until
        verdict = None
        now = asyncio.get_running_loop().time()
        if not more and self.verified < work.lines and now - self.verified_at >= VERIFY_AGAIN:
            verdict = await visit.desk.verify_trace(self.root)
            self.verified, self.verified_at = verdict.lines, now
        self.owes = more or self.verified < work.lines
        stands = (work.status, work.lines, waiting := await visit.desk.waiting_count())
        if not lines and verdict is None and stands == self.stood:
            return []
        self.stood = stands
        html = visit.renderer.html(
            "live/record.html",
            visit.request,
            work=work,
            lines=lines,
            last=self.after,
            full=self.after >= self.until,
            verdict=verdict,
            waiting=waiting,
        )
        return [ServerSentEvent(id=str(self.after), data=html)]
