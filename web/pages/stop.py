"""`/work/{id}/stop`: what stopping a piece does, on a page of its own; then the act."""

from __future__ import annotations

from uuid import UUID

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect

from core.errors import NotFound
from core.values import Work
from web.deps import Visit, go


@get("/work/{root:uuid}/stop")
async def consequences(
    visit: NamedDependency[Visit], root: FromPath[UUID], piece: FromQuery[UUID | None] = None
) -> Response[str]:
    """What would be called off, what stays done, what cannot be taken back. Changes nothing."""
    work = await visit.desk.work(root)
    found = await visit.desk.to_stop_branch(await _piece(visit, work, str(piece or "")))
    return await visit.page("work/stop.html", nav="work", work=work, found=found)


@post("/work/{root:uuid}/stop")
async def stop(visit: NamedDependency[Visit], root: FromPath[UUID]) -> Redirect:
    """Call the piece off, with everything under it. The page it goes on to says how far that has come."""
    form = await visit.form()
    work = await visit.desk.work(root)
    piece = await _piece(visit, work, form.get("piece", ""))
    await visit.desk.stop(piece, form.get("reason", "").strip())
    return go(f"/work/{work.root}" if piece == work.root else f"/work/{work.root}?piece={piece}")


async def _piece(visit: Visit, work: Work, named: str) -> UUID:
    """The piece of this whole that is named; its top where none is. Raises NotFound."""
    if not named:
        return work.root
    try:
        found = await visit.desk.piece(UUID(named))
    except ValueError:
        raise NotFound("There is no such work.") from None
    if found.root != work.root:
        raise NotFound("There is no such work.")
    return found.id


handlers = (consequences, stop)
