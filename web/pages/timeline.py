"""`/work/{id}/timeline`: the rows of the tree over time, with what each piece did with it."""

from __future__ import annotations

from uuid import UUID

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from core.values import TreeRow
from web.deps import Visit
from web.outline import View
from web.timeline import SHAPES, Axis


@get("/work/{root:uuid}/timeline")
async def timeline(visit: NamedDependency[Visit], root: FromPath[UUID]) -> Response[str]:
    """The same rows as the tree has at the same address, from when the work was given until now, or until it ended."""
    desk = visit.desk
    work = await desk.work(root)
    view = View.of(work.root, visit.request.query_params, "/timeline")
    view = view.holding(await desk.tree_page(work.root, view.ask))
    assert view.page is not None
    pieces = [row.node.piece for row in view.page.rows if isinstance(row, TreeRow) and row.node is not None]
    return await visit.page(
        "work/timeline.html",
        nav="work",
        work=work,
        view=view,
        spans=await desk.spans(work.root, pieces),
        axis=Axis(work.opened_at, work.ended_at or visit.agency.clock.now()),
        shapes=SHAPES,
    )


handlers = (timeline,)
