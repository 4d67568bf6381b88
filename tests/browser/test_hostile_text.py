"""Whatever an agent writes stays text: it makes no element, runs nothing, and looks like nothing of ours."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import hostile
from tests.browser.conftest import Open, Serve
from tests.browser.walking import approve, sign_in

pytestmark = pytest.mark.browser

APP = "tests.browser.hostile:shelves"


def expect_only_text(page: Page) -> None:
    expect(page.locator(".hostile")).to_have_count(0)
    expect(page).not_to_have_title("taken")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{page.url} at {width}"


def test_what_an_agent_writes_is_shown_as_text_wherever_it_stands(serve: Serve, fresh: Open) -> None:
    server, page = serve(APP), fresh()
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    sign_in(page, server, "Mia")
    expect_only_text(page)  # the list, with its sentence
    page.locator(".req").click()
    page.wait_for_url(re.compile(r"/inbox/[0-9a-f-]{36}$"))
    expect_only_text(page)
    expect(page.locator(".card .fields")).to_contain_text([re.compile(re.escape(hostile.SCRIPT)), re.compile("This")])
    expect(page.locator(".card .said")).to_contain_text("Mia approved this already.")
    expect(page.locator(".card .said figcaption")).to_have_text("Clerk’s words")
    expect(page.get_by_role("button", name="Approve")).to_have_count(1)  # the one that is ours
    expect(page.locator(".card .said blockquote")).to_have_css("unicode-bidi", "isolate")
    expect(page.get_by_role("heading", level=1)).to_contain_text("invoice⟨U+202E⟩txt.exe")
    card = page.url

    page.get_by_role("link", name="Edit…").click()
    expect(page.get_by_role("textbox", name="Note")).to_have_value(hostile.NOTE)
    expect_only_text(page)

    for address in ("/now", "/waits", "/map", "/map?view=list", "/agents/Clerk", "/money", "/audit"):
        answer = page.goto(f"{server.base}{address}")
        assert answer is not None and answer.ok, address
        expect_only_text(page)

    page.goto(card)
    approve(page)
    expect_only_text(page)
    page.get_by_role("link", name="see the work go on").click()
    expect(page.locator("#head")).to_contain_text("Done")
    expect_only_text(page)  # tree, pane, record
    whole = page.url.partition("?")[0].removeprefix(server.base)
    for address in (
        "/work?show=all",
        "/inbox/answered",
        f"{whole}/record",
        f"{whole}/timeline",
        "/search?q=Shelf",
        "/audit",
        whole.replace("work", "audit") + "/2",
    ):
        answer = page.goto(f"{server.base}{address}")
        assert answer is not None and answer.ok, address
        expect_only_text(page)
