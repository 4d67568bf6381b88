"""`/work/{id}/list`: the rows of the tree as headings under headings, for whoever reads it aloud, or prints it."""

from __future__ import annotations

from uuid import UUID

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from web.deps import Visit
from web.outline import View


@get("/work/{root:uuid}/list")
async def plain(visit: NamedDependency[Visit], root: FromPath[UUID]) -> Response[str]:
    """The same rows as the tree has at the same address, with the same words; nothing moves, and nothing need be
    opened by hand but what the tree leaves closed too."""
    desk = visit.desk
    work = await desk.work(root)
    view = View.of(work.root, visit.request.query_params, "/list")
    view = view.holding(await desk.tree_page(work.root, view.ask))
    return await visit.page("work/plain.html", nav="work", work=work, view=view)


handlers = (plain,)
