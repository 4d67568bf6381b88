"""A real Chromium and real servers. Without a Chromium these tests are skipped, and say so.

`CHROMIUM` names another one than `/usr/bin/chromium`. Stories that end their server or count what waits have one of
their own (`serve`); the others share one (`shop`), where each gives work of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Response, StorageState, expect, sync_playwright

from tests.browser.earlier import open_earlier
from tests.browser.serving import BINDERY, Server
from tests.browser.walking import sign_in

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
WAIT = 20_000  # milliseconds that anything on a page may take on a busy machine

Serve = Callable[..., Server]
Open = Callable[..., Page]


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser for the folder. It ends with it: no other test shares a thread with playwright's loop."""
    if not CHROMIUM.is_file():
        pytest.skip(f"there is no Chromium at {CHROMIUM}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        expect.set_options(timeout=WAIT)
        yield browser
        browser.close()


@pytest.fixture
def serve(chromium: Browser, tmp_path: Path) -> Iterator[Serve]:
    """Start a server for this story alone: `serve()`, or `serve(app, pace=0.3, HANDON_X="y")`."""
    started: list[Server] = []

    def start(app: str = BINDERY, pace: float = 0, **environment: str) -> Server:
        folder = tmp_path / str(len(started))
        folder.mkdir()
        started.append(Server(folder, app, pace, environment))
        return started[-1].start()

    yield start
    for server in started:
        server.stop()
    assert [server.errors() for server in started if server.errors()] == []


@pytest.fixture(scope="package")
def shop(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that stories share. Its app was declared otherwise once."""
    server = Server(tmp_path_factory.mktemp("shop"))
    open_earlier(server.file)
    yield server.start()
    server.stop()
    assert server.errors() == ""


@pytest.fixture(scope="package")
def signed_in(chromium: Browser, shop: Server) -> dict[str, StorageState]:
    """The cookies of Mia and of Noor in the shop."""
    states: dict[str, StorageState] = {}
    for name in ("Mia", "Noor"):
        with chromium.new_context() as context:
            sign_in(context.new_page(), shop, name)
            states[name] = context.storage_state()
    return states


@pytest.fixture
def fresh(chromium: Browser) -> Iterator[Open]:
    """A page of a browser that nobody used before: `fresh()`, with settings as for a context of playwright's.

    At the end no page may have had an error in its script, broken its own security policy, or asked for a stream that
    there is not.
    """
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def heard(message: Any) -> None:
        if "Content Security Policy" in message.text:
            faults.append(message.text)

    def answered(response: Response) -> None:
        if "/live?" in response.url and response.status in (400, 422, 500):
            faults.append(f"{response.status}: {response.url}")

    def open_page(**settings: Any) -> Page:
        context = chromium.new_context(**settings)
        context.set_default_timeout(WAIT)
        context.on("weberror", lambda error: faults.append(str(error.error)))
        context.on("console", heard)
        context.on("response", answered)
        contexts.append(context)
        return context.new_page()

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def mias(fresh: Open, shop: Server, signed_in: dict[str, StorageState]) -> Open:
    """A page of Mia's in the shop."""
    return lambda **settings: fresh(storage_state=signed_in["Mia"], base_url=shop.base, **settings)


@pytest.fixture
def noors(fresh: Open, shop: Server, signed_in: dict[str, StorageState]) -> Open:
    """A page of Noor's in the shop."""
    return lambda **settings: fresh(storage_state=signed_in["Noor"], base_url=shop.base, **settings)
