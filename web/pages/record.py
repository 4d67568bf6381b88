"""`/work/{id}/record`: every line of a whole, and what was proven about it."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from web.deps import Visit

PAGE = 500


@get("/work/{root:uuid}/record")
async def record(
    visit: NamedDependency[Visit], root: FromPath[UUID], after: Annotated[int, QueryParameter(ge=0)] = 0
) -> Response[str]:
    """The lines in their order, a page at a time; the stream adds those that come. The sentence says what was proven
    and what was not."""
    work = await visit.desk.work(root)
    lines = await visit.desk.lines(work.root, after=after, limit=PAGE)
    return await visit.page(
        "work/record.html",
        nav="work",
        work=work,
        after=after,
        lines=lines,
        last=lines[-1].n if lines else after,
        full=len(lines) == PAGE,
        verdict=await visit.desk.verify_trace(work.root),
        page=PAGE,
    )


handlers = (record,)
