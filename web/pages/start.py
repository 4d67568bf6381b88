"""`/start`: for somebody who is new here: what there is, what is missing, and the steps to a first decision."""

from __future__ import annotations

from litestar import Response, get
from litestar.di import NamedDependency

from web.deps import Visit


@get("/start")
async def start(visit: NamedDependency[Visit]) -> Response[str]:
    """Each step says how it stands, and turns done by itself. Nothing here is given or spent."""
    gives = await visit.desk.gives()
    return await visit.page(
        "start/index.html",
        nav="start",
        found=await visit.desk.beginning(),
        gives=[giving for giving in gives if giving.row is None or giving.rows],
        signs_in=visit.request.app.state.provider is not None,
        demo=visit.request.app.state.demo,
    )


handlers = (start,)
