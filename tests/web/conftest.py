"""A site to test: a real agency on SQLite behind the real application, all in one event loop.

Requests go straight into the application. Litestar's own test client runs it in a loop of its own and reads an answer
to its end, which a stream has not: so plain httpx is used for pages, and `read_stream` for streams.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

import httpx
import pytest
from litestar import Litestar

from core.clock import Clock
from handon import Agency, Agent, Desk, Person, has_role
from handon.testing import AgentCast, AgentScript, Says
from tests import builders
from tests.builders import Answer, Clerk, Note, Shelf, note_shelf
from web.app import create_app

BASE = "http://site.test"
TOKEN = re.compile(r'name="_csrf_token" value="([^"]+)"')


class Browser(httpx.AsyncClient):
    """A browser without script: follows redirects, keeps cookies, and posts forms with the token of the page."""

    async def submit(self, page: str, action: str, **fields: str) -> httpx.Response:
        """Open a page and post one of its forms; `fields` are what a person wrote over what stood there."""
        found = await self.get(page)
        form = re.search(rf'<form[^>]*action="{re.escape(action)}".*?</form>', found.text, re.S)
        assert form, f"{page} has no form for {action}"
        kept = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form[0]))
        return await self.post(action, data=kept | fields)


@dataclass
class Site:
    """An open site with Mia (a binder), Noor (a master, who supervises and may not read content) and a shelf."""

    app: Litestar
    agency: Agency
    mia: Person
    noor: Person
    shelf: UUID

    def browser(self, **settings: Any) -> Browser:
        transport = httpx.ASGITransport(cast(Any, self.app), raise_app_exceptions=False)
        return Browser(transport=transport, base_url=BASE, follow_redirects=True, **settings)

    async def signed_in(self, person: Person) -> Browser:
        browser = self.browser()
        link = f"/sign-in/link/{await self.agency.sign_in_link(person.id)}"
        answer = await browser.submit(link, link)
        assert answer.status_code == 200, answer.text
        return browser

    async def desk(self, person: Person) -> Desk:
        return await self.agency.desk_of(person.id)

    async def wants_to_write(self, *notes: str, about: str = "Shelf A-1") -> UUID:
        """Give work for Mia whose clerk proposes these notes, one after another; answers its id once it waits."""
        turns = [Says.tool(note_shelf, {"shelf": self.shelf, "note": note}, said="It is so.") for note in notes]
        self.agency.script(AgentCast().plays(Clerk, AgentScript(*turns, Says.hand_back(Answer(text="written")))))
        shelf = await self.agency.read(lambda session: session.get(Shelf, self.shelf))
        assert shelf is not None
        outcome = await (await self.desk(self.mia)).of(Clerk).do(Note(), shelf, about=about)
        return outcome.task

    async def asks(self, question: str, *choices: str | tuple[str, str]) -> UUID:
        """Give work for Mia whose clerk asks her something; answers the whole's id once it waits."""
        script = AgentScript(Says.ask(question, choices), Says.hand_back(Answer(text="so be it")))
        self.agency.script(AgentCast().plays(Clerk, script))
        shelf = await self.agency.read(lambda session: session.get(Shelf, self.shelf))
        assert shelf is not None
        outcome = await (await self.desk(self.mia)).of(Clerk).do(Note(), shelf, about="Shelf A-1")
        return outcome.task

    async def the_note(self) -> str:
        shelf = await self.agency.read(lambda session: session.get(Shelf, self.shelf))
        assert shelf is not None
        return shelf.note

    @asynccontextmanager
    async def stream(self, browser: Browser, address: str, **headers: str) -> AsyncIterator[Stream]:
        """Drive a stream in this loop; leaving is the reader's closing of it."""
        stream = Stream()
        task = asyncio.ensure_future(stream.run(self.app, browser, address, headers))
        try:
            yield stream
        finally:
            stream.gone.set()
            with suppress(asyncio.CancelledError):
                await asyncio.wait_for(task, 5)


class Stream:
    """What a reader of a stream is sent: its status and headers, and its messages one by one."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        self.status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.headers: dict[str, str] = {}
        self.ended = asyncio.Event()
        self._parts: asyncio.Queue[str | None] = asyncio.Queue(1000)
        self._text = ""

    async def run(self, app: Any, browser: Browser, address: str, headers: dict[str, str]) -> None:
        request = browser.build_request("GET", address, headers={**headers, "accept-encoding": "identity"})
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": request.url.path,
            "raw_path": request.url.raw_path,
            "query_string": request.url.query,
            "root_path": "",
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "client": ("127.0.0.1", 1),
            "server": ("site.test", 80),
        }
        asked = False

        async def receive() -> dict[str, Any]:
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "http.request", "body": b"", "more_body": False}
            await self.gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.headers = {name.decode().lower(): value.decode() for name, value in message["headers"]}
                self.status.set_result(message["status"])
            elif message["type"] == "http.response.body":
                await self._parts.put(message.get("body", b"").decode())
                if not message.get("more_body"):
                    await self._parts.put(None)

        await app(scope, receive, send)
        self.ended.set()

    async def message(self, wanted: Callable[[dict[str, str]], bool] = lambda message: True) -> dict[str, str]:
        """The next message that is wanted: its `id`, `event` and `data`."""
        while True:
            while "\r\n\r\n" not in self._text:
                part = await asyncio.wait_for(self._parts.get(), 5)
                if part is None:
                    raise EOFError("the stream has ended")
                self._text += part
            block, self._text = self._text.split("\r\n\r\n", 1)
            found: dict[str, str] = {"id": "", "event": "", "data": ""}
            for line in block.split("\r\n"):
                name, _, value = line.partition(": ")
                found[name] = f"{found[name]}\n{value}".lstrip("\n") if found.get(name) else value
            if wanted(found):
                return found

    async def html(self) -> dict[str, str]:
        """The next message that carries fragments."""
        return await self.message(lambda message: not message["event"] and bool(message["data"]))


@pytest.fixture
async def site(sqlite_database: str) -> AsyncIterator[Site]:
    async with open_site(sqlite_database) as site:
        yield site


@asynccontextmanager
async def open_site(
    database: str,
    clock: Clock | None = None,
    undo_for: timedelta = timedelta(0),
    agents: Iterable[Agent] = (),
    **settings: Any,
) -> AsyncIterator[Site]:
    """A site whose application is made with these settings. A decision is carried out at once, unless `undo_for` says
    how long it is held."""
    policies = replace(builders.POLICIES, audits_agents=has_role("auditor"))
    agency = builders.make(database, agents, policies=policies, name="The Shelves", clock=clock, undo_for=undo_for)
    app = create_app(agency, **settings)
    async with opened(app):
        mia = await agency.add_person("mia@bindery.test", "Mia", roles=["binder"])
        noor = await agency.add_person("noor@bindery.test", "Noor", roles=["master"])
        for name in agency.agents:
            await agency.seat(name, sponsor=noor)

        def one_shelf(session: Any) -> UUID:
            shelf = Shelf(mark="A-1")
            session.add(shelf)
            session.flush()
            return shelf.id

        yield Site(app, agency, mia, noor, await agency.write(one_shelf))


@asynccontextmanager
async def opened(app: Litestar) -> AsyncIterator[None]:
    """The application's lifespan in a task of its own: a fixture is left in another task than it was entered in."""
    ready, over = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        async with app.lifespan():
            ready.set()
            await over.wait()

    task = asyncio.ensure_future(live())
    waiting = asyncio.ensure_future(ready.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    try:
        yield
    finally:
        over.set()
        await task


def text_of(html: str) -> str:
    """The words on a page, without its markup."""
    body = re.sub(r"<(script|style|title|noscript)\b.*?</\1>", " ", html, flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", body)).strip()
