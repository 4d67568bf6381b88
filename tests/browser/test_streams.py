"""Streams that are cut, held by tabs that nobody looks at, passed on by nginx, or open when the server ends."""

from __future__ import annotations

import os
import random
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Serve
from tests.browser.cutting import Wire
from tests.browser.serving import ROOT, free_port
from tests.browser.walking import approve, expect_live, give_errand, sign_in
from tests.browser.watching import WATCH, delays, shown

pytestmark = pytest.mark.browser

APP = "tests.browser.busy:busy"
CUTS = 50
NGINX = shutil.which("nginx") or "/usr/sbin/nginx"


# What is not in view yet has no innerText.
SEEN = """
() => {
  const words = (found) => [...found].map((one) => `${one.id} ${one.textContent.replace(/\\s+/g, " ")}`);
  return {
    head: document.querySelector("#head .st").innerText,
    pieces: document.querySelector("#pieces").innerText,
    rows: words(document.querySelectorAll("#rows [data-piece]")),
    lines: words(document.querySelectorAll("#lines > li")),
    count: document.querySelector("#count").innerText,
    proof: document.querySelector("#proof").innerText,
  };
}
"""


def test_a_stream_cut_fifty_times_loses_no_line_doubles_none_and_ends_as_the_server_has_it(
    serve: Serve, fresh: Open
) -> None:
    server, chance = serve(APP), random.Random(11)
    wire = Wire(int(server.base.rsplit(":", 1)[1]))
    giver = fresh()
    sign_in(giver, server, "Mia")
    cookies: Any = giver.context.storage_state()
    readers = [fresh(storage_state=cookies, base_url=f"http://127.0.0.1:{wire.port}") for _ in range(5)]
    records = {after: readers.pop() for after in (0, 500)}  # a page of a record holds so many lines
    root = give_errand(giver, server.base, legs=50, looks=8, pause=1200).rsplit("/", 1)[1]
    for reader in readers:
        reader.context.add_init_script(WATCH)
        reader.goto(f"/work/{root}")
    for after, reader in records.items():
        reader.context.add_init_script(WATCH)
        reader.goto(f"/work/{root}/record?after={after}")
    while wire.cuts < CUTS:
        wire.cut(chance)
        readers[0].wait_for_timeout(chance.uniform(10, 160))
    expect(giver.locator("#head")).to_contain_text("Done")
    giver.goto(f"{server.base}/work/{root}")
    now = giver.evaluate(SEEN)
    assert int(re.sub(r"\D", "", now["count"])) >= 1000
    for reader in readers:
        expect(reader.locator("#head")).to_contain_text("Done")
        expect_live(reader)
        assert reader.evaluate(SEEN) == now
        foot = [numbers for _, numbers in shown(reader)]
        assert all(numbers == list(range(numbers[0], numbers[-1] + 1)) for numbers in foot if numbers)
        assert [numbers[-1] for numbers in foot if numbers] == sorted(numbers[-1] for numbers in foot if numbers)
    for after, reader in records.items():
        expect(reader.locator("#stands")).to_contain_text("Done")
        expect(reader.locator("#lines > li")).to_have_count(500)
        seen = [numbers for _, numbers in shown(reader)]
        assert all(numbers == list(range(after + 1, after + 1 + len(numbers))) for numbers in seen)
        assert len(seen) > 5  # they came one after the other
        expect(reader.locator("#later")).to_contain_text("later")
    wire.close()


def test_a_page_whose_script_comes_after_its_stream_says_that_it_is_live(serve: Serve, fresh: Open) -> None:
    server, page = serve(APP), fresh()
    sign_in(page, server, "Mia")
    late = fresh(storage_state=page.context.storage_state(), base_url=server.base)  # with nothing kept
    late.route("**/js/live.js", lambda route: (late.wait_for_timeout(1500), route.continue_()))
    with late.expect_response("**/live*"):
        late.goto("/inbox")
    expect_live(late)


# Chromium without a screen shows every tab at once; a person's shows one of a window's. So the tabs are told.
BEHIND = """
(() => {
  let behind = BEGINS;
  Object.defineProperty(document, "hidden", { get: () => behind });
  Object.defineProperty(document, "visibilityState", { get: () => (behind ? "hidden" : "visible") });
  window.look = (at) => { behind = !at; document.dispatchEvent(new Event("visibilitychange")); };
})();
"""


def look_at(page: Page, tabs: list[Page]) -> None:
    """Bring one tab to the front, and the others behind it."""
    for tab in tabs:
        if tab is not page:
            tab.evaluate("window.look(false)")
    page.evaluate("window.look(true)")
    page.bring_to_front()


def test_of_eight_tabs_each_opens_and_decides_though_a_browser_has_six_connections(serve: Serve, fresh: Open) -> None:
    server, first = serve(APP), fresh()
    sign_in(first, server, "Mia")
    give_errand(first, server.base, notes=8, legs=1)
    first.goto(f"{server.base}/inbox")
    expect(first.locator(".req")).to_have_count(8)
    cards = [card.get_attribute("href") for card in first.locator(".req").all()]
    first.goto("about:blank")
    first.context.add_init_script(BEHIND.replace("BEGINS", "true"))  # opened behind, as with a middle click
    tabs = [first, *(first.context.new_page() for _ in range(7))]
    for tab, card in zip(tabs, cards, strict=True):
        tab.goto(f"{server.base}{card}")
    for n, tab in enumerate(tabs):
        look_at(tab, tabs)
        expect_live(tab)
        expect(tab.locator("#badge")).to_have_text(str(8 - n))
        approve(tab)
    assert server.rows("SELECT count(*) FROM proposal WHERE decided_at IS NOT NULL") == [(8,)]


def test_eight_open_streams_do_not_hold_up_a_server_that_is_told_to_end(serve: Serve, fresh: Open) -> None:
    server, page = serve(APP), fresh()
    sign_in(page, server, "Mia")
    whole = give_errand(page, server.base, legs=1, notes=1)
    other = fresh(storage_state=page.context.storage_state())
    tabs = [page, other, *(one.context.new_page() for one in (page, other) for _ in range(3))]
    for tab, address in zip(
        tabs, [whole, "/inbox", "/work", "/work/new", "/inbox/answered", whole, "/inbox", "/work"], strict=True
    ):
        tab.goto(address if address == whole else f"{server.base}{address}")
        expect_live(tab)
    assert server.terminate(within=15) < 5
    expect(page.locator("#live")).not_to_contain_text("Live")


@contextmanager
def nginx(folder: Path, port: int) -> Iterator[str]:
    """nginx in front of the server, with the settings the docs give; answers its address."""
    if not Path(NGINX).is_file():
        pytest.skip(f"there is no nginx at {NGINX}: apt-get install nginx-light")
    front = free_port()
    site = (ROOT / "deploy" / "nginx.conf").read_text("utf-8")
    site = site.replace("listen 80;", f"listen 127.0.0.1:{front};").replace("127.0.0.1:8100", f"127.0.0.1:{port}")
    places = " ".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    root = "user root; " if os.geteuid() == 0 else ""  # else its workers are somebody who may not write here
    settings = (
        f"{root}daemon off; pid {folder}/pid; error_log {folder}/errors; worker_processes 1; events {{}}",
        f"http {{ access_log off; gzip on; gzip_types *; gzip_proxied any; {places}",
        f"{site}}}",
    )
    (folder / "nginx.conf").write_text("\n".join(settings))
    running = subprocess.Popen(
        [NGINX, "-c", str(folder / "nginx.conf"), "-e", str(folder / "errors")],
        env=os.environ,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", front)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{front}"
    finally:
        running.terminate()
        running.wait(10)


def test_behind_nginx_that_compresses_a_line_shows_within_two_seconds(
    serve: Serve, fresh: Open, tmp_path: Path
) -> None:
    server, page = serve(APP), fresh()
    with nginx(tmp_path, int(server.base.rsplit(":", 1)[1])) as base:
        page.context.add_init_script(WATCH)
        page.goto(server.links["Mia"].replace(server.base, base))
        page.get_by_role("button", name="Sign in as Mia").click()
        page.wait_for_url(re.compile(r"/(inbox|now|work)$"))
        root = give_errand(page, base, legs=2, looks=12, pause=300).rsplit("/", 1)[1]
        expect(page.locator("#head")).to_contain_text("Done")
        late = delays(page, server, root)
        assert len(late) > 20
        assert max(late) < 2000
        page.goto(f"{base}/inbox")  # so that no stream is open when nginx ends
