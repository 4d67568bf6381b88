"""`/inbox/{id}/aside`: off this person's list until a time they choose. Decides nothing; the agent waits still."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from core.errors import BadInput
from web.deps import Visit, aware, go
from web.waiting import Request, Sieve, request_of, what_waits

MORNING, AFTERNOON = time(9), time(15)


@get("/inbox/{item:uuid}/aside")
async def when(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Response[str]:
    """The card with the times at which it may come back."""
    opened = await request_of(visit.desk, item)
    sieve = Sieve.of(visit.request.query_params)
    return await visit.page(
        "inbox/index.html",
        nav="inbox",
        waits=await what_waits(visit.desk, sieve, item),
        sieve=sieve,
        item=item,
        opened=opened,
        mode="aside",
        trouble=None,
        begun={},
        times=times(visit, opened),
    )


@post("/inbox/{item:uuid}/aside")
async def put(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Redirect:
    """Set it aside until the posted time, and on to the list; without a time it is on the list again."""
    keep = Sieve.of(visit.request.query_params).keep
    said = (await visit.form()).get("until", "")
    try:
        until = aware(datetime.fromisoformat(said)) if said else None
    except ValueError:
        raise BadInput({"until": "That is no time."}) from None
    await visit.desk.set_aside(item, until)
    return go(f"/inbox/{item}{keep}" if until is None else f"/inbox{keep}")


def times(visit: Visit, opened: Request) -> list[tuple[str, datetime]]:
    """What is offered, by the person's time zone, or the agency's where they have chosen none. No time at which nobody
    may decide it any more is."""
    zone = ZoneInfo(visit.desk.likes.time_zone or visit.agency.settings.time_zone)
    now = visit.agency.clock.now().astimezone(zone)
    offered = [("In an hour", now + timedelta(hours=1))]
    if now.time() < time(13):
        offered.append(("This afternoon", datetime.combine(now.date(), AFTERNOON, now.tzinfo)))
    offered.append(("Tomorrow morning", datetime.combine(now.date() + timedelta(days=1), MORNING, now.tzinfo)))
    return [(words, at) for words, at in offered if opened.deadline is None or at < opened.deadline]


handlers = (when, put)
