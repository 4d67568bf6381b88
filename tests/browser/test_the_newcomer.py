"""The story of somebody who has just started Handon and follows the printed link."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open, Serve
from tests.browser.walking import WAITS, approve, expect_live, expect_waiting, give, row, sign_in

pytestmark = pytest.mark.browser


def test_a_newcomer_gives_work_watches_it_decides_and_sees_it_end(serve: Serve, fresh: Open) -> None:
    server, page = serve(pace=0.5), fresh()
    loads: list[str] = []
    page.on("load", lambda loaded: loads.append(loaded.url))
    sign_in(page, server, "Mia")

    # One whole is under way already.
    page.goto(f"{server.base}/work")
    expect(page.get_by_role("row").filter(has_text="Rebinding MS-14")).to_be_visible()
    page.get_by_role("link", name=re.compile("Rebinding MS-14")).click()
    expect(row(page, "Collator")).to_contain_text(WAITS)

    whole = give(page, "MS-13")
    loads.clear()

    # Two pieces under the planner, side by side.
    page.locator("[role=row][aria-level='2']").filter(has_text="Working").nth(1).wait_for()
    expect(page.locator("#pieces")).to_have_text("3 in all")
    expect_live(page)

    # The collator's note waits for Mia, and everything above it for the collator.
    expect(row(page, "Collator")).to_contain_text(WAITS)
    expect(row(page, "Planner")).to_contain_text("Waits for Collator")
    expect(row(page, "Buyer")).to_contain_text("Done")
    expect_waiting(page, 2)
    assert loads == []  # all of it came over the stream

    # She decides in another tab; this one stays where it is.
    inbox = page.context.new_page()
    inbox.goto(f"{server.base}/inbox")
    expect(inbox.locator(".req")).to_have_count(2)  # as the badge says
    inbox.get_by_role("link", name=re.compile("Write on MS-13")).click()
    expect(inbox.locator(".card .through")).to_contain_text("Collator, working for Planner")
    expect(inbox.get_by_role("heading", level=1)).to_contain_text("Write on MS-13: Leaf 77 missing")
    approve(inbox)
    expect_waiting(inbox, 1)

    for agent in ("Collator", "Buyer", "Planner"):
        expect(row(page, agent)).to_contain_text("Done")
    expect(page.locator("#head")).to_contain_text("Done")
    expect(page.locator("#head .money")).to_contain_text(re.compile(r"€0\.00\d+ of €"))
    expect(page.locator("#proof")).to_contain_text("Unbroken to line")
    expect_waiting(page, 1)
    assert loads == []
    assert page.url.startswith(whole)

    # Nothing waits any more once the other is decided, and no page says otherwise.
    inbox.goto(f"{server.base}/inbox")
    inbox.get_by_role("link", name=re.compile("Write on MS-14")).click()
    approve(inbox)
    for tab in (inbox, page):
        expect_waiting(tab, 0)
    assert server.rows("SELECT note FROM volume WHERE shelfmark = 'MS-13'") == [("Leaf 77 missing",)]


def test_the_record_is_read_to_its_last_line_and_says_what_was_proven(serve: Serve, fresh: Open) -> None:
    server, page = serve(), fresh()
    sign_in(page, server, "Mia")
    give(page, "MS-15")
    expect(page.locator("#head")).to_contain_text("Done")
    lines = page.locator("#count").inner_text()
    page.get_by_role("link", name="Record", exact=True).click()
    expect(page.locator(".lines > li")).to_have_count(int(lines))
    expect(page.get_by_role("status").first).to_contain_text("Unbroken.")
