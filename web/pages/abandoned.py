"""`/abandoned`: work that nobody is doing any more: to be closed or taken up again, and what was closed."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect

from core.errors import HandonError, NotAllowed, NotFound
from web.deps import Visit, aware, go

PAGE = 50


@get("/abandoned")
async def abandoned(
    visit: NamedDependency[Visit], before: FromQuery[datetime | None] = None, id: FromQuery[UUID | None] = None
) -> Response[str]:
    """What is abandoned now, and what was closed; `before` and `id` name the last one closed of the page before."""
    return await _show(visit, (aware(before), id) if before is not None and id is not None else None)


@post("/abandoned/{root:uuid}/closing")
async def close(visit: NamedDependency[Visit], root: FromPath[UUID]) -> Response[str] | Redirect:
    """Close it now: what was under way has failed, and whoever waited for it is told."""
    return await _act(visit, root, visit.desk.close_abandoned)


@post("/abandoned/{root:uuid}/taking-up")
async def take_up(visit: NamedDependency[Visit], root: FromPath[UUID]) -> Response[str] | Redirect:
    """Let it go on from its last line."""
    return await _act(visit, root, visit.desk.take_up_abandoned)


async def _act(visit: Visit, root: UUID, act: Any) -> Response[str] | Redirect:
    try:
        await act(root)
    except (NotAllowed, NotFound):
        raise
    except HandonError as error:
        return await _show(visit, None, trouble=str(error))
    return go(f"/work/{root}")


async def _show(visit: Visit, last: tuple[datetime, UUID] | None, trouble: str = "") -> Response[str]:
    closed = await visit.desk.closed_as_abandoned(limit=PAGE + 1, before=last)
    settings = visit.agency.settings
    return await visit.page(
        "abandoned/index.html",
        nav="now",
        status=409 if trouble else 200,
        found=await visit.desk.abandoned(),
        closed=closed[:PAGE],
        more=len(closed) > PAGE,
        after=settings.abandoned_after,
        every=settings.abandoned_check_every,
        resumes=settings.when_abandoned == "resume",
        trouble=trouble,
    )


handlers = (abandoned, close, take_up)
