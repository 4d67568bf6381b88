"""`/audit`: the lines of all records with a filter, what was proven about them, one line opened, and files of both.

Every address is a whole state: the filter, and where the list begins. A file of lines holds what the page would list.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, timedelta
from typing import Annotated
from uuid import UUID

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, PathParameter
from litestar.response import Redirect, Stream

from core.clock import from_micros
from core.desk.auditing import place_of
from core.errors import BadInput
from core.values import AuditLine, TraceKind, Work
from web import sheet
from web.audit_sieve import Asked
from web.deps import Visit, go
from web.moments import span

PAGE = 100
PART = 500  # rows of a file that are read at once
WORKS = 50  # that can be chosen from: the newest
AT_ONCE = timedelta(seconds=1)  # so long a verification may take before its page is shown
LARGEST = 2**31 - 1
Place = tuple[int, str, int]
HEADS = ("time (UTC)", "work", "about", "line", "kind", "agent", "says", "micros", "hash", "hash of the line before")


@get("/audit")
async def lines(
    visit: NamedDependency[Visit], before: FromQuery[str] = "", after: FromQuery[str] = "", go_to: FromQuery[str] = ""
) -> Response[str]:
    """A page of lines, the newest first. `before` and `after` name a place that a link has written; `go_to` is a time
    that somebody wrote: the list begins with the last line up to it."""
    desk = visit.desk
    asked = _asked(visit)
    wrong = dict(asked.wrong)
    start, end, sieve = _place(before), _place(after), asked.sieve
    if go_to.strip():
        try:
            up_to = span(go_to, asked.zone).ends
            sieve = replace(sieve, until=min(sieve.until or up_to, up_to))
        except ValueError as error:
            wrong["go_to"] = str(error)
    newer = end is not None and start is None
    recorded = await desk.recorded()
    found = [] if wrong else await desk.audit(sieve, PAGE + 1, before=start, after=end if newer else None)
    more = len(found) > PAGE
    shown = (found[-PAGE:] if newer else found[:PAGE]) if more else found
    works = await desk.works(show="all", limit=WORKS)
    return await visit.page(
        "audit/index.html",
        nav="audit",
        status=422 if wrong else 200,
        lines=shown,
        older=_mark(shown[-1]) if shown and (more or newer) else "",
        newer=_mark(shown[0]) if shown and ((newer and more) or start is not None or go_to.strip()) else "",
        asked=asked,
        wrong=wrong,
        go_to=go_to,
        recorded=recorded,
        check=await desk.verification(),
        works=works,
        chosen=await _chosen(visit, asked, works),
        people=await visit.agency.people(),
        agents=sorted((agent.shown_as, name) for name, agent in visit.agency.agents.items()),
        kinds=list(TraceKind),
        key=visit.agency.public_key,
    )


def _asked(visit: Visit) -> Asked:
    return Asked.of(dict(visit.request.query_params), visit.desk.likes.time_zone or visit.agency.settings.time_zone)


async def _chosen(visit: Visit, asked: Asked, works: list[Work]) -> Work | None:
    """The work that the filter names."""
    if asked.sieve.work is None:
        return None
    return next((work for work in works if work.root == asked.sieve.work), None) or await visit.desk.work(
        asked.sieve.work
    )


def _mark(one: AuditLine) -> str:
    return ".".join(str(part) for part in place_of(one))


def _place(mark: str) -> Place | None:
    """A place that a link names; None for none, and for what no link of ours has written."""
    at, _, rest = mark.partition(".")
    root, _, n = rest.partition(".")
    try:
        found = (int(at), UUID(root).hex, int(n))
        from_micros(found[0])
    except (ValueError, OverflowError):
        return None
    return found if 0 < found[2] < LARGEST else None


@post("/audit/verification")
async def verify(visit: NamedDependency[Visit]) -> Redirect:
    """Have every record read again. What is not done in a moment goes on in the background, and the page says how far
    it has come."""
    await visit.desk.verify_all()
    await visit.agency.verify_on(AT_ONCE)
    return go("/audit")


@get("/audit/lines.csv")
async def as_file(visit: NamedDependency[Visit]) -> Stream:
    """The lines that the filter leaves, all of them, as a file."""
    asked = _asked(visit)
    if asked.wrong:
        raise BadInput(asked.wrong)
    first = await visit.desk.audit(asked.sieve, PART)
    at = visit.agency.clock.now().astimezone(UTC)
    return _file(_rows(visit, asked, first), "text/csv; charset=utf-8", f"lines-{at:%Y-%m-%d-%H%M%S}.csv")


async def _rows(visit: Visit, asked: Asked, found: list[AuditLine]) -> AsyncIterator[str]:
    yield sheet.rows([HEADS])
    while found:
        yield sheet.rows(_row(one) for one in found)
        if len(found) < PART:
            return
        found = await visit.desk.audit(asked.sieve, PART, before=place_of(found[-1]))


def _row(one: AuditLine) -> tuple[object, ...]:
    line = one.line
    at = line.at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    cost = "" if line.micros is None else line.micros
    return (
        at,
        str(one.root),
        one.about,
        line.n,
        str(line.kind),
        line.agent_label,
        line.summary,
        cost,
        line.hash,
        line.before,
    )


def _file(parts: AsyncIterator[str], kind: str, name: str) -> Stream:
    return Stream(parts, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@get("/work/{root:uuid}/record.jsonl")
async def export(visit: NamedDependency[Visit], root: FromPath[UUID]) -> Stream:
    """One record as a file that `handon verify` checks anywhere, for whoever may read its content."""
    work = await visit.desk.work(root)
    parts = await visit.desk.export(work.root)
    return _file(parts, "application/jsonl; charset=utf-8", f"record-{work.root}.jsonl")


@get("/audit/{root:uuid}/{n:int}")
async def one_line(
    visit: NamedDependency[Visit], root: FromPath[UUID], n: Annotated[int, PathParameter(ge=1, le=LARGEST)]
) -> Response[str]:
    """One line: what it says, what its hash is made of, and the lines beside it. For whoever may see the whole."""
    found = await visit.desk.line(root, n)
    may = visit.desk.may
    return await visit.page(
        "audit/line.html",
        nav="audit" if may.supervises_agents or may.audits_agents else "work",
        found=found,
        payload=list(json.loads(found.of.line.payload).items()) if found.of.content else [],
        key=visit.agency.public_key,
    )


@get("/audit/{root:uuid}")
async def go_to_line(visit: NamedDependency[Visit], root: FromPath[UUID], n: FromQuery[str] = "") -> Redirect:
    """To a line by its number; the nearest there is where the record has no such line."""
    work = await visit.desk.work(root)
    text = n.strip()
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 1
    return go(f"/audit/{work.root}/{max(1, min(number, work.lines))}")


handlers = (lines, verify, as_file, export, one_line, go_to_line)
