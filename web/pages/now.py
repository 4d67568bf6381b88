"""`/now`: what needs a supervisor; `/waits`: who waits for whom."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromQuery

from core.values import Wait
from web.deps import Visit, aware
from web.needs import what_needs

PAGE = 50


@get("/now")
async def now(visit: NamedDependency[Visit]) -> Response[str]:
    """Four sentences, the works that need somebody first, who waits for whom, and what models cost today."""
    needs = await what_needs(visit.desk)
    return await visit.page("now/index.html", nav="now", needs=needs, rows=needs.now.active, fresh=0)


@get("/waits")
async def waits(
    visit: NamedDependency[Visit], after: FromQuery[datetime | None] = None, id: FromQuery[UUID | None] = None
) -> Response[str]:
    """What waits for people, the longest first; `after` and `id` name the last one of the page before."""
    last = _place(aware(after), id) if after is not None and id is not None else None
    found = await visit.desk.waits(limit=PAGE + 1, after=last)
    return await visit.page("now/waits.html", nav="now", waits=found[:PAGE], more=len(found) > PAGE, first=last is None)


def _place(asked_at: datetime, id: UUID) -> Wait:
    """A place in the list: what stands after it was asked later."""
    return Wait(id, id, id, "", (), "", "", asked_at, None)


handlers = (now, waits)
