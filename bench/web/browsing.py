"""A served app, people who are signed in, and what the browser itself noted of a page."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

from tests.browser.serving import Server
from tests.browser.walking import sign_in
from tests.browser.watching import WATCH

APP = "tests.browser.busy:busy"
PEOPLE = ("Mia", "Noor")  # who is given the work, and who supervises
QUIET = 400  # milliseconds after a page has loaded in which it may still paint something larger

NOTED = """
() => {
  const visit = performance.getEntriesByType("navigation")[0];
  const paint = performance.getEntriesByType("paint").find((entry) => entry.name === "first-contentful-paint");
  return {
    byte: visit.responseStart - visit.requestStart,
    first: paint ? paint.startTime : NaN,
    largest: window.largest ?? NaN,
    nodes: document.querySelectorAll("*").length,
  };
}
"""
LARGEST = """
new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.largest = entry.startTime; })
  .observe({ type: "largest-contentful-paint", buffered: true });
"""


@dataclass
class Weight:
    """What came over the network for one page, in bytes as they came: compressed. The stream counts as a request."""

    html: int = 0
    css: int = 0
    js: int = 0
    requests: int = 0
    foreign: set[str] = field(default_factory=set)


class Shop:
    """A busy app that is served, with its people signed in."""

    def __init__(self, browser: Browser, folder: Path, errands: Sequence[dict[str, Any]] = ()) -> None:
        self._browser = browser
        self.server = Server(folder, APP, 0, {"HANDON_BUSY": json.dumps(list(errands))})
        self.server.start()
        self._cookies: dict[str, Any] = {}
        for name in PEOPLE:
            with browser.new_context() as context:
                sign_in(context.new_page(), self.server, name)
                self._cookies[name] = context.storage_state()

    @contextmanager
    def page(self, who: str = "Mia", slower: int = 1) -> Iterator[Page]:
        """A page of a browser with nothing in its cache, whose processor is that many times slower."""
        context = self._browser.new_context(base_url=self.server.base, storage_state=self._cookies[who])
        context.add_init_script(WATCH + LARGEST)
        page = context.new_page()
        page.set_default_timeout(120_000)
        slow(context, page, slower)
        yield page
        context.close()

    def whole(self, about: str) -> str:
        """The id of the work that is about this."""
        [(found,)] = self.server.rows("SELECT id FROM whole WHERE about = ?", about)
        text = str(found)
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

    def settled(self, seconds: float = 600) -> None:
        """Wait until every piece has ended or waits for a person."""
        end = time.monotonic() + seconds
        query = "SELECT count(*) FROM piece WHERE status = 'Working'"
        while self.server.rows(query) != [(0,)]:
            if time.monotonic() > end:
                raise SystemExit("The work of the fixture does not come to an end.")
            time.sleep(0.2)


@contextmanager
def shop(browser: Browser, errands: Sequence[dict[str, Any]] = ()) -> Iterator[Shop]:
    with tempfile.TemporaryDirectory() as folder:
        opened = Shop(browser, Path(folder), errands)
        try:
            yield opened
        finally:
            opened.server.stop()


def slow(context: BrowserContext, page: Page, times: int) -> CDPSession:
    session = context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": times})
    return session


def noted(page: Page, address: str) -> dict[str, float]:
    """Go there; milliseconds to the first byte and to the paints, and how many elements there are."""
    page.goto(address, wait_until="load")
    page.wait_for_timeout(QUIET)
    found: dict[str, float] = page.evaluate(NOTED)
    return found


def weigh(page: Page, address: str) -> Weight:
    """Go there with an empty cache, and weigh what comes."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    weight, kinds = Weight(), dict[str, str]()

    def asked(event: Any) -> None:
        weight.requests += 1
        host = event["request"]["url"].split("/")[2] if "//" in event["request"]["url"] else ""
        if host and not host.startswith("127.0.0.1"):
            weight.foreign.add(host)

    def came(event: Any) -> None:
        kinds[event["requestId"]] = event["type"]

    def ended(event: Any) -> None:
        size, kind = int(event["encodedDataLength"]), kinds.get(event["requestId"], "")
        if kind == "Document":
            weight.html += size
        elif kind == "Stylesheet":
            weight.css += size
        elif kind == "Script":
            weight.js += size

    session.on("Network.requestWillBeSent", asked)
    session.on("Network.responseReceived", came)
    session.on("Network.loadingFinished", ended)
    page.goto(address, wait_until="load")
    page.wait_for_timeout(QUIET)
    session.detach()
    return weight


def heap(page: Page) -> float:
    """Megabytes of script's memory in use, after what is not is thrown away."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = float(session.send("Runtime.getHeapUsage")["usedSize"])
    session.detach()
    return used / 1e6


def chromium() -> str | None:
    """Where Chromium is; None for playwright's own."""
    named = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    return named if Path(named).is_file() else None
