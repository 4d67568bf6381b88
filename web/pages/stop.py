"""`/work/{id}/stop`: what stopping does, on a page of its own; then the act."""

from __future__ import annotations

from uuid import UUID

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect

from web.deps import Visit, go
from web.outline import with_above


@get("/work/{root:uuid}/stop")
async def consequences(
    visit: NamedDependency[Visit], root: FromPath[UUID], piece: FromQuery[UUID | None] = None
) -> Response[str]:
    """What would be called off, what stays done, what cannot be taken back. Changes nothing."""
    nodes = await visit.desk.work_tree(root)
    top = piece or nodes[0].piece
    under = [node for node in nodes if top in with_above(nodes, [node.piece])]
    return await visit.page(
        "work/stop.html",
        nav="work",
        work=await visit.desk.work(root),
        piece=next(node for node in under if node.piece == top) if under else nodes[0],
        going=[node for node in under if not node.status.final],
        ended=[node for node in under if node.status.final],
    )


@post("/work/{root:uuid}/stop")
async def stop(visit: NamedDependency[Visit], root: FromPath[UUID]) -> Redirect:
    """Call the piece off, with everything under it."""
    form = await visit.form()
    work = await visit.desk.work(root)
    named = form.get("piece", "")
    nodes = {str(node.piece): node.piece for node in await visit.desk.work_tree(work.root)}
    await visit.desk.stop(nodes.get(named, work.root), form.get("reason", "").strip())
    return go(f"/work/{work.root}")


handlers = (consequences, stop)
