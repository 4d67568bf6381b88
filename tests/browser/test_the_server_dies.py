"""The server dies while somebody looks on, and comes back on the same database."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open, Serve
from tests.browser.walking import WAITS, approve, expect_live, expect_waiting, give, row, sign_in, times_written

pytestmark = pytest.mark.browser


def test_a_server_killed_while_a_note_waits_comes_back_with_it_and_the_note_is_written_once(
    serve: Serve, fresh: Open
) -> None:
    server, page = serve(), fresh()
    sign_in(page, server, "Mia")
    whole = give(page, "MS-13")
    expect(row(page, "Collator")).to_contain_text(WAITS)
    expect_live(page)
    expect_waiting(page, 2)

    server.kill()
    expect(page.locator("#live")).to_contain_text(re.compile(r"Not connected since \d\d:\d\d"))

    server.start()
    expect_live(page)  # by itself
    other = page.context.new_page()  # still signed in
    other.goto(f"{server.base}/inbox")
    other.get_by_role("link", name=re.compile("Write on MS-13: Leaf 77 missing")).click()
    expect_waiting(other, 2)
    approve(other)
    other.reload()
    expect(other.get_by_role("button", name="Approve")).to_have_count(0)

    for agent in ("Collator", "Buyer", "Planner"):
        expect(row(page, agent)).to_contain_text("Done")
    expect_waiting(page, 1)
    assert server.rows("SELECT note FROM volume WHERE shelfmark = 'MS-13'") == [("Leaf 77 missing",)]
    assert times_written(other, whole) == 1


def test_a_server_told_to_end_does_so_with_pages_open(serve: Serve, fresh: Open) -> None:
    server, page = serve(), fresh()
    sign_in(page, server, "Mia")
    tabs = [page, page.context.new_page(), page.context.new_page()]
    for tab, address in zip(tabs, ("/inbox", "/work", "/work/new"), strict=True):
        tab.goto(f"{server.base}{address}")
        expect_live(tab)
    assert server.terminate(within=10) < 5
    expect(page.locator("#live")).not_to_contain_text("Live")
