"""`/inbox`: what waits for this person, one card opened beside it, and what was answered."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect

from web.deps import Visit, aware, go
from web.waiting import Sieve, begun_of, request_of, what_waits

PAGE = 50
LATELY = 6


@get("/inbox")
async def inbox(visit: NamedDependency[Visit]) -> Response[str]:
    """The list. Nothing opens by itself."""
    sieve = Sieve.of(visit.request.query_params)
    return await visit.page(
        "inbox/index.html",
        nav="inbox",
        waits=await what_waits(visit.desk, sieve),
        sieve=sieve,
        item=None,
        opened=None,
        decided=await visit.desk.answered(limit=LATELY),
    )


@get("/inbox/{item:uuid}")
async def card(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Response[str]:
    """One card, beside the list: to decide, or as the receipt of what became of it."""
    sieve = Sieve.of(visit.request.query_params)
    return await visit.page(
        "inbox/index.html",
        nav="inbox",
        waits=await what_waits(visit.desk, sieve, item),
        sieve=sieve,
        item=item,
        opened=await request_of(visit.desk, item),
        mode="card",
        trouble=None,
        begun=await begun_of(visit.desk, item),
    )


@get("/inbox/next")
async def next_one(visit: NamedDependency[Visit]) -> Redirect:
    """To the first that waits, from anywhere; to the empty inbox where nothing does."""
    groups = (await what_waits(visit.desk, Sieve())).groups
    return go(f"/inbox/{groups[0].requests[0].id}" if groups else "/inbox")


@post("/inbox/{item:uuid}/takeover")
async def takeover(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Redirect:
    """Have it put to oneself, because whoever was asked is gone. Decides nothing."""
    await visit.desk.take_over(item)
    return go(f"/inbox/{item}{Sieve.of(visit.request.query_params).keep}")


@get("/inbox/answered")
async def answered(
    visit: NamedDependency[Visit],
    before: FromQuery[datetime | None] = None,
    id: FromQuery[UUID | None] = None,
    by: FromQuery[Literal["", "me", "others", "nobody"]] = "",
) -> Response[str]:
    """What was decided, newest first, a page at a time; `before` and `id` name the last one of the page before."""
    found = await visit.desk.answered(PAGE + 1, aware(before) if before else None, id, by)
    return await visit.page("inbox/answered.html", nav="inbox", decided=found[:PAGE], more=len(found) > PAGE, by=by)


handlers = (inbox, card, next_one, takeover, answered)
