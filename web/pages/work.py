"""`/work`: the wholes this person may see, and one of them: its tree, the foot of its record, and the chosen piece."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery

from core.desk import Show
from web.deps import Visit, aware
from web.outline import rows_of

PAGE = 50
TAIL = 5
CLOSED = 50  # how many closed rows an address may name


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
async def whole(
    visit: NamedDependency[Visit],
    root: FromPath[UUID],
    piece: FromQuery[UUID | None] = None,
    closed: FromQuery[list[UUID] | None] = None,
) -> Response[str]:
    """A whole. `piece` is the one whose pane is open, `closed` are rows whose lower ones are not shown. The page says
    which line it was made at, so that its stream goes on from there."""
    desk = visit.desk
    work = await desk.work(root)  # before the rows: the stream then repeats a change rather than missing one
    rows = rows_of(await desk.work_tree(work.root), (closed or [])[:CLOSED])
    return await visit.page(
        "work/whole.html",
        nav="work",
        work=work,
        rows=rows,
        closed=(closed or [])[:CLOSED],
        pane=await desk.pane(piece or work.root),
        lines=await desk.lines(work.root, after=max(0, work.lines - TAIL), limit=TAIL),
        verdict=await desk.verify_trace(work.root),
    )


@get("/work/{root:uuid}/piece/{piece:uuid}")
async def piece(visit: NamedDependency[Visit], root: FromPath[UUID], piece: FromPath[UUID]) -> Response[str]:
    """One piece: as the pane beside the tree when htmx asks for it, else as a page of its own."""
    pane = await visit.desk.pane(piece)
    if visit.wants_part:
        return visit.fragment("work/pane.html", pane=pane)
    return await visit.page("work/piece.html", nav="work", pane=pane, work=await visit.desk.work(pane.root))


handlers = (works, whole, piece)
