"""`/work`: the wholes this person may see, and one of them: its tree, the foot of its record, and the chosen piece."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, QueryParameter

from core.desk import Show
from web.deps import Visit, aware
from web.following import CHECKED, TAIL
from web.outline import View

PAGE = 50


@get("/work")
async def works(
    visit: NamedDependency[Visit],
    show: FromQuery[Show] = "going",
    before: FromQuery[datetime | None] = None,
    id: FromQuery[UUID | None] = None,
) -> Response[str]:
    """One line for each whole, newest first; `before` and `id` name the last one of the page before."""
    last = (aware(before), id) if before is not None and id is not None else None
    found = await visit.desk.works(show=show, limit=PAGE + 1, before=last)
    return await visit.page(
        "work/list.html", nav="work", works=found[:PAGE], more=len(found) > PAGE, show=show, first=last is None
    )


@get("/work/{root:uuid}")
async def whole(visit: NamedDependency[Visit], root: FromPath[UUID]) -> Response[str]:
    """A whole, as far as the address asks for it (`web.outline`). The page says which line it was made at, so that its
    stream goes on from there."""
    desk = visit.desk
    work = await desk.work(root)  # before the rows: the stream then repeats a change rather than missing one
    decided = await desk.decided_in(work.root)
    view = View.of(work.root, visit.request.query_params)
    view = view.holding(await desk.tree_page(work.root, view.ask))
    return await visit.page(
        "work/whole.html",
        nav="work",
        work=work,
        view=view,
        decided=decided,
        pane=await desk.pane(view.ask.chosen or work.root),
        lines=await desk.lines(work.root, after=max(0, work.lines - TAIL), limit=TAIL),
        verdict=await desk.verify_trace(work.root) if work.lines <= CHECKED else None,
    )


@get("/work/{root:uuid}/piece/{piece:uuid}")
async def piece(
    visit: NamedDependency[Visit],
    root: FromPath[UUID],
    piece: FromPath[UUID],
    lines: Annotated[int, QueryParameter(ge=0)] = 0,
) -> Response[str]:
    """One piece: as the pane beside the tree when htmx asks for it, else as a page of its own. `lines`: those of its
    record up to that one; 0 for the last ones."""
    pane = await visit.desk.pane(piece, lines)
    if visit.wants_part:
        return visit.fragment("work/pane.html", pane=pane)
    return await visit.page("work/piece.html", nav="work", pane=pane, work=await visit.desk.work(pane.root))


@get("/work/{root:uuid}/piece/{piece:uuid}/text/{part:str}")
async def text(
    visit: NamedDependency[Visit], root: FromPath[UUID], piece: FromPath[UUID], part: FromPath[str]
) -> Response[str]:
    """A text of a piece that its page cuts, as it is."""
    return Response(await visit.desk.text_of(piece, part), media_type="text/plain; charset=utf-8")


handlers = (works, whole, piece, text)
