"""`/inbox/{id}/hand-over`: have somebody else decide it. Decides nothing; the agent waits still."""

from __future__ import annotations

from uuid import UUID

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from core.errors import AlreadyDecided, BadInput, NotWaiting
from web.deps import Visit, go
from web.waiting import Sieve, request_of, what_waits


@get("/inbox/{item:uuid}/hand-over")
async def whom(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Response[str]:
    """The card with whom it can be handed over to, and a note."""
    return await _show(visit, item)


@post("/inbox/{item:uuid}/hand-over")
async def hand_over(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Response[str] | Redirect:
    """Hand it over, and on to the list, which says so; what does not fit is said beside it, and nothing is lost."""
    posted = await visit.form()
    try:
        to = UUID(posted.get("to", ""))
    except ValueError:
        return await _show(visit, item, posted, {"to": "Choose somebody."})
    try:
        await visit.desk.hand_over(item, to, posted.get("note", "").strip())
    except BadInput as error:
        return await _show(visit, item, posted, error.fields)
    return go(f"/inbox{Sieve.of(visit.request.query_params).keep}")


@post("/inbox/{item:uuid}/put-back")
async def put_back(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Redirect:
    """Have it put to oneself again, or to whom it was put; where the receiver was first, the card says so."""
    try:
        await visit.desk.put_back(item)
    except (AlreadyDecided, NotWaiting):
        await request_of(visit.desk, item)  # not there for whoever may not see it any more
    return go(f"/inbox/{item}{Sieve.of(visit.request.query_params).keep}")


async def _show(
    visit: Visit, item: UUID, posted: dict[str, str] | None = None, wrong: dict[str, str] | None = None
) -> Response[str]:
    sieve = Sieve.of(visit.request.query_params)
    return await visit.page(
        "inbox/index.html",
        nav="inbox",
        status=422 if wrong else 200,
        waits=await what_waits(visit.desk, sieve, item),
        sieve=sieve,
        item=item,
        opened=await request_of(visit.desk, item),
        mode="hand",
        trouble=None,
        begun={},
        people=await visit.desk.could_take(item),
        posted=posted or {},
        wrong=wrong or {},
    )


handlers = (whom, hand_over, put_back)
