"""The live stream: what changed on the page that is being read, as the same fragments the page was made of.

One stream a page. A stream of a whole is its record read forward: the id of a message is the number of its last line,
so a reader who comes back misses nothing and repeats nothing, and the page carries the number it was made at. What is
sent replaces what is there by its id, so sending it twice does no harm. Streams of lists have no number: they send how
the list stands when they start, and after each change.

Only what the reader's own desk gives is sent; whether they are still signed in is asked again while the stream runs.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Protocol, cast
from uuid import UUID

import anyio
from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromQuery, QueryParameter
from litestar.types import ASGIApp
from sse_starlette import EventSourceResponse, ServerSentEvent

from core.desk import Show
from core.errors import HandonError
from core.reading import Followed
from core.values import Stopping
from web.came import CameWatch
from web.deps import Visit, aware, visit
from web.following import WholeWatch
from web.naming import uuid_in
from web.needs import Needs, what_needs
from web.outline import View, marks_in, pieces_in
from web.recording import RecordWatch
from web.using import UseWatch, mark_of, mark_of_agent
from web.waiting import Sieve, request_of, stands, what_waits

REPLAY = 500  # lines; whoever is further behind is told to read the page again
LOOK = 2.0  # seconds after which a stream looks by itself: what another process changed is not heard here
REST = 0.1  # seconds between two messages of one stream
REST_NOW = 1.0  # of a stream that reads much for each
ADD_UP_AGAIN = 10.0  # seconds after which it has what is spent added up again
CHECK_AGAIN = timedelta(minutes=1)  # after which a stream has the records read again
ASK_AGAIN = 30.0  # seconds after which the session and the rights are read anew
TOGETHER = 50  # requests that were decided together
BEAT = 15  # seconds of silence after which the reader is told that the stream still stands


class Watch(Protocol):
    """What one stream looks at."""

    root: UUID | None
    rest: float  # seconds between two messages: changes in between are sent together
    owes: bool  # there is more to send, without waiting for a change

    async def news(self, visit: Visit) -> list[ServerSentEvent]:
        """What has changed since it was last asked, as messages; nothing where nothing has."""
        ...


@dataclass
class ListWatch:
    """A list as it stands: the inbox, or the list of wholes. Told only where it differs. The card of `item` is told
    only when it is no longer what its reader was shown (`was`), and never where they write: nothing is replaced under
    somebody who decides."""

    inbox: bool
    item: UUID | None
    was: str
    works: Show | None
    sieve: Sieve
    root: UUID | None = None
    rest: float = REST
    owes: bool = False
    said: object = None  # what the list was made of: its text differs whenever time has passed

    async def news(self, visit: Visit) -> list[ServerSentEvent]:
        waits = await what_waits(visit.desk, self.sieve, self.item) if self.inbox or self.item else None
        opened = await request_of(visit.desk, self.item) if self.item and self.was else None
        opened = opened if opened is not None and stands(opened) != self.was else None
        works = await visit.desk.works(self.works) if self.works else None
        waiting = waits.total if waits is not None else await visit.desk.waiting_count()
        if (waits, opened, works, waiting) == self.said:
            return []
        self.said = waits, opened, works, waiting
        html = visit.renderer.html(
            "live/list.html",
            visit.request,
            waits=waits,
            listed=self.inbox,
            sieve=self.sieve,
            item=self.item,
            opened=opened,
            me=visit.desk.person,
            works=works,
            waiting=waiting,
        )
        return [ServerSentEvent(data=html)]


@dataclass
class NowWatch:
    """What needs a supervisor. The rows that the page shows stay in their places and are told as they stand; that
    others would stand there now is said in words, so that nothing moves under whoever reads. Records, and what is
    spent, are read again only now and then: that is dear."""

    root: UUID | None = None
    rest: float = REST_NOW
    owes: bool = False
    shown: tuple[UUID, ...] | None = None  # the rows of the page
    said: Needs | None = None
    waiting: int | None = None
    added_up: float = -math.inf  # when what is spent was read last

    async def news(self, visit: Visit) -> list[ServerSentEvent]:
        was = self.said
        checked = was.checked if was and visit.agency.clock.now() - was.checked.at < CHECK_AGAIN else None
        added_up = asyncio.get_running_loop().time() - self.added_up < ADD_UP_AGAIN
        needs = await what_needs(visit.desk, self.shown or (), checked, was.meter if was and added_up else None)
        if not added_up:
            self.added_up = asyncio.get_running_loop().time()
        waiting = await visit.desk.waiting_count()
        if needs == self.said and waiting == self.waiting:
            return []
        if self.shown is None:
            self.shown = tuple(one.root for one in needs.now.active)
        self.said, self.waiting = needs, waiting
        rows = [row for root in self.shown if (row := needs.row(root)) and (was is None or was.row(root) != row)]
        html = visit.renderer.html(
            "live/now.html",
            visit.request,
            needs=needs,
            rows=rows,
            first=was is None,
            fresh=sum(1 for one in needs.now.active if one.root not in self.shown),
            waiting=waiting,
        )
        return [ServerSentEvent(data=html)]


@dataclass
class StoppedWatch:
    """How far stopping everything has come, until the last piece has ended."""

    since: datetime
    root: UUID | None = None
    rest: float = REST
    owes: bool = False
    said: tuple[Stopping, int] | None = None

    async def news(self, visit: Visit) -> list[ServerSentEvent]:
        stopping, waiting = await visit.desk.stopping(self.since), await visit.desk.waiting_count()
        if (stopping, waiting) == self.said:
            return []
        self.said = stopping, waiting
        html = visit.renderer.html("live/stopped.html", visit.request, stopping=stopping, waiting=waiting)
        return [ServerSentEvent(data=html)]


@dataclass
class AuditWatch:
    """What was proven about all records, and how many lines there are that the page, made at `lines`, has not shown."""

    lines: int
    root: UUID | None = None
    rest: float = REST_NOW
    owes: bool = False
    said: object = None

    async def news(self, visit: Visit) -> list[ServerSentEvent]:
        recorded, check = await visit.desk.recorded(), await visit.desk.verification()
        waiting = await visit.desk.waiting_count()
        if (recorded, check, waiting) == self.said:
            return []
        self.said = recorded, check, waiting
        html = visit.renderer.html(
            "live/audit.html",
            visit.request,
            recorded=recorded,
            check=check,
            key=visit.agency.public_key,
            fresh=max(0, recorded.lines - self.lines),
            waiting=waiting,
        )
        return [ServerSentEvent(data=html)]


@dataclass
class StartWatch:
    """How far somebody who is new here has come."""

    root: UUID | None = None
    rest: float = REST_NOW
    owes: bool = False
    said: str = ""

    async def news(self, visit: Visit) -> list[ServerSentEvent]:
        html = visit.renderer.html(
            "live/start.html",
            visit.request,
            found=await visit.desk.beginning(),
            may=visit.desk.may,
            waiting=await visit.desk.waiting_count(),
        )
        if html == self.said:
            return []
        self.said = html
        return [ServerSentEvent(data=html)]


@get("/live")
async def stream(
    visit: NamedDependency[Visit],
    work: FromQuery[UUID | None] = None,
    after: FromQuery[str] = "0",
    inbox: FromQuery[bool] = False,
    item: FromQuery[UUID | None] = None,
    was: FromQuery[str] = "",
    works: FromQuery[Show | None] = None,
    now: FromQuery[bool] = False,
    stopped: FromQuery[datetime | None] = None,
    audit: Annotated[int | None, QueryParameter(ge=0)] = None,
    record: FromQuery[UUID | None] = None,
    until: Annotated[int, QueryParameter(ge=0)] = 0,
    start: FromQuery[bool] = False,
    came: FromQuery[str] = "",
    drawn: Annotated[str, QueryParameter(name="map")] = "",
    used: FromQuery[str] = "",
    agent: FromQuery[str] = "",
    group: Annotated[str, QueryParameter(name="open")] = "",
) -> ASGIApp:
    """The stream of one page. What its reader may not see is not found, before anything is sent."""
    watch: Watch
    if work is not None:
        watch = await _whole(visit, work, _cursor(visit, after))
    elif record is not None:
        watch = RecordWatch((await visit.desk.work(record)).root, _cursor(visit, after), until, REST)
    elif now:
        await visit.desk.now()
        watch = NowWatch()
    elif stopped is not None:
        watch = StoppedWatch(aware(stopped))
        await visit.desk.stopping(watch.since)
    elif audit is not None:
        watch = AuditWatch(audit)
        await visit.desk.recorded()
    elif came:
        ids = tuple(id for part in came.split(",")[:TOGETHER] if (id := uuid_in(part)))
        for id in ids:
            await visit.desk.proposal(id)
        watch = CameWatch(ids, REST)
    elif start:
        watch = StartWatch()
    elif drawn or used:
        watch = UseWatch(drawn or used, partial(_use, agent=agent, group=group, alone=not drawn), REST_NOW)
        await watch.read(visit)
    else:
        if item is not None:
            await request_of(visit.desk, item)
        watch = ListWatch(inbox, item, was, works, Sieve.of(visit.request.query_params))
    stop = anyio.Event()
    answer = EventSourceResponse(
        _events(visit, watch, stop),
        ping=BEAT,
        ping_message_factory=lambda: ServerSentEvent(event="beat", data=""),
        send_timeout=10,
        shutdown_event=stop,
        shutdown_grace_period=2,
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )
    return cast(ASGIApp, answer)  # Starlette spells the types of ASGI in another way


async def _whole(visit: Visit, work: UUID, after: int) -> WholeWatch:
    """Of the rows that the address says the page shows."""
    params = visit.request.query_params
    root = (await visit.desk.work(work)).root
    place = next((f"/{place}" for place in ("timeline", "list") if params.get("place") == place), "")
    view = View.of(root, params, place)
    marks = marks_in(str(params.get("shown", "")))
    held = dict.fromkeys(pieces_in(str(params.get("held", ""))), "")
    followed = Followed(root.hex, view.ask, view.ask.show or "all", marks, [piece.hex for piece in held])
    return WholeWatch(root, after, view, followed, REPLAY, REST, held)


async def _use(visit: Visit, agent: str, group: str, alone: bool) -> str:
    """The mark of the map, or of the page of an agent alone."""
    if alone:
        return mark_of_agent(await visit.desk.agent(agent))
    return mark_of(await visit.desk.agents_map(around=agent, under=group))


def _cursor(visit: Visit, after: str) -> int:
    """Where a reader who comes back left off; else where the page was made. (The pages of the inbox name a place in
    the list by the same word, which is no number.)"""
    last = visit.request.headers.get("last-event-id", "")
    return int(next((text for text in (last, after) if text.isascii() and text.isdigit() and len(text) < 16), 0))


async def _events(first: Visit, watch: Watch, stop: anyio.Event) -> AsyncIterator[ServerSentEvent]:
    """Follow before reading, so that nothing falls between; then what was missed, then each change as it comes."""
    here: Visit | None = first
    loop = asyncio.get_running_loop()
    asked = loop.time()
    yield ServerSentEvent(event="beat", data="")  # so that the answer begins at once, also through a compressor
    async with first.agency.bus.follow(watch.root) as changes, aclosing(_until(changes, stop, watch)) as wakes:
        async for _ in wakes:
            if loop.time() - asked > ASK_AGAIN:
                here, asked = await _still(first), loop.time()
            if here is None:
                yield ServerSentEvent(event="signed-out", data="")
                return
            try:
                messages = await watch.news(here)
            except HandonError:  # it may not be read any more
                yield ServerSentEvent(event="signed-out", data="")
                return
            for message in messages:
                yield message
    yield ServerSentEvent(event="bye", data="")


async def _until(changes: AsyncIterator[object], stop: anyio.Event, watch: Watch) -> AsyncGenerator[None]:
    """Once at the start, then for every change and now and then, until the server or the agency stops. A change after
    some silence is told at once; those that follow soon are told together."""
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[object] = asyncio.ensure_future(_end(stop))
    change: asyncio.Future[object] | None = None
    try:
        while not stop.is_set():
            told = loop.time()
            yield
            change = change or asyncio.ensure_future(_next(changes))
            look = watch.rest if watch.owes else LOOK
            await asyncio.wait([change, stopped], timeout=look, return_when=asyncio.FIRST_COMPLETED)
            if change.done():
                if change.result() is _END:
                    return
                change = None
                if (rest := told + watch.rest - loop.time()) > 0:
                    await asyncio.wait({stopped}, timeout=rest)
    finally:
        for task in (stopped, change):
            if task is not None and not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


_END = object()


async def _end(stop: anyio.Event) -> object:
    await stop.wait()
    return _END


async def _next(changes: AsyncIterator[object]) -> object:
    return await anext(changes, _END)


async def _still(first: Visit) -> Visit | None:
    """The visit as it stands now, or None when the session has ended."""
    token = first.request.auth
    person = await first.agency.signed_in(token) if token else None
    return await visit(first.request) if person is not None and person == first.request.user else None
