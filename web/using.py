"""The stream of the map and of the page of an agent: that these are used otherwise than the page shows, or that
somebody else answers for an agent.

Nothing of the page is sent. One that is told so asks for itself anew, and what stays the same is not touched.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

from sse_starlette import ServerSentEvent

from core.values import AgentMap, AgentPage
from web.deps import Visit

READ_AGAIN = 3.0  # seconds after which use is added up again: that is dear


def mark_of(drawn: AgentMap) -> str:
    """A mark over all of a map that changes while an app runs."""
    use = [(way.key, way.pieces, way.micros, way.going, way.last_at) for way in drawn.ways]
    seats = [(agent.name, agent.paused, agent.sponsor_name, agent.day_micros) for agent in drawn.agents]
    return _mark(use, seats)


def mark_of_agent(page: AgentPage) -> str:
    """The same of the page of an agent."""
    works = [(node.piece, node.status, node.waits_since, node.tree_micros) for _, node in page.works]
    rules = [(rule.id, rule.holds, rule.uses) for rule in page.rules]
    limits = [(limit.period, limit.limit_micros, limit.spent_micros) for limit in page.limits or ()]
    seat = (page.agent.paused, page.agent.sponsor_name, page.agent.day_micros)
    came = [(way.key, way.pieces) for way in page.handed_by]
    return _mark(works, rules, limits, seat, came, page.working, page.waiting, page.pieces, page.spent_micros)


def _mark(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


@dataclass
class UseWatch:
    """A page with that mark; `read` makes the mark anew."""

    mark: str
    read: Callable[[Visit], Awaitable[str]]
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
            mark = await self.read(visit)
            if mark != self.mark:
                self.mark = mark
                found.append(ServerSentEvent(event="resync", data=""))
        return found
