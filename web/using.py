"""The stream of the map: that it is used otherwise than the page shows, or that somebody else answers for an agent.

The picture is not sent. A page that is told so asks for itself anew, and what stays the same is not touched.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from dataclasses import dataclass
from uuid import UUID

from sse_starlette import ServerSentEvent

from core.values import AgentMap
from web.deps import Visit

READ_AGAIN = 3.0  # seconds after which use is added up again: that is dear


def mark_of(drawn: AgentMap) -> str:
    """A mark over all of a map that changes while an app runs."""
    use = [(way.key, way.pieces, way.micros, way.going, way.last_at) for way in drawn.ways]
    seats = [(agent.name, agent.paused, agent.sponsor_name, agent.day_micros) for agent in drawn.agents]
    return hashlib.sha256(repr((use, seats)).encode()).hexdigest()[:16]


@dataclass
class MapWatch:
    """The map, or a part of it, as a page with that mark shows it."""

    mark: str
    around: str
    under: str
    rest: float
    root: UUID | None = None
    owes: bool = False
    waiting: int | None = None
    read_at: float = -math.inf

    async def news(self, visit: Visit) -> list[ServerSentEvent]:
        found = []
        waiting = await visit.desk.waiting_count()
        if waiting != self.waiting:
            self.waiting = waiting
            found.append(ServerSentEvent(data=visit.renderer.html("live/badge.html", visit.request, waiting=waiting)))
        now = asyncio.get_running_loop().time()
        if now - self.read_at >= READ_AGAIN:
            self.read_at = now
            mark = mark_of(await visit.desk.agents_map(around=self.around, under=self.under))
            if mark != self.mark:
                self.mark = mark
                found.append(ServerSentEvent(event="resync", data=""))
        return found
