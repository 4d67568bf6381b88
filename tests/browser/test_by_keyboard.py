"""From the first page to the last with keys alone: no pointer is used once the link was followed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Open, Serve
from tests.browser.walking import WHOLE, expect_live, expect_waiting, give_errand, sign_in

pytestmark = pytest.mark.browser

CALM = 900  # milliseconds: longer than keys stay dead after a card has opened or somebody typed
CARD = re.compile(r"/inbox/[0-9a-f-]{36}$")


def strike(page: Page, *keys: str) -> None:
    for key in keys:
        page.wait_for_timeout(CALM)
        page.keyboard.press(key)


def tab_to(page: Page, target: Locator, most: int = 80, *, outlined: bool = True) -> None:
    """Press Tab until it has the focus, which is then to be seen."""
    target.wait_for()
    for _ in range(most):
        if target.evaluate("(node) => node === document.activeElement"):
            expect(target).to_be_in_viewport()
            seen = target.evaluate("(node) => getComputedStyle(node).outlineStyle") != "none"
            assert seen == outlined, target
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{target} is not reached by Tab")


def test_with_keys_alone_work_is_given_requests_are_decided_a_branch_is_found_and_a_whole_stopped(
    serve: Serve, fresh: Open
) -> None:
    server, page = serve("tests.browser.busy:busy"), fresh()
    sign_in(page, server, "Mia")
    give_errand(page, server.base, legs=1, notes=3, asks=1)  # what there is to decide
    page.goto(f"{server.base}/work")

    # Work is given.
    tab_to(page, page.locator("main").get_by_role("link", name="Give work"))
    page.keyboard.press("Enter")
    for name, number in (("legs", "2"), ("notes", "1")):
        tab_to(page, page.locator(f'[name="in.{name}"]'))
        page.keyboard.press("Control+a")
        page.keyboard.type(number)
    tab_to(page, page.get_by_label("About"))
    page.keyboard.type("By keys")
    tab_to(page, page.get_by_role("button", name="Give work"))
    strike(page, "Enter")
    page.wait_for_url(WHOLE)
    whole = page.url
    expect_waiting(page, 6)

    # The first is approved, the second refused with a reason, the third edited; the question is answered by number.
    strike(page, "n")
    page.wait_for_url(CARD)
    strike(page, "a", "Enter")
    expect(page.locator(".receipt")).to_contain_text("You approved")
    expect_waiting(page, 5)
    strike(page, "n")
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    strike(page, "r")
    expect(page.get_by_label("Tell Hand")).to_be_focused()
    page.keyboard.type("Not this one.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".receipt")).to_contain_text("You refused")
    strike(page, "n")
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    strike(page, "e")
    tab_to(page, page.get_by_role("textbox", name="Text"))
    page.keyboard.type(", as changed")
    tab_to(page, page.get_by_role("button", name=re.compile("^Approve with")))
    strike(page, "Enter")
    expect(page.locator(".receipt")).to_contain_text("You approved, with changes")
    strike(page, "n")
    expect(page.get_by_role("button", name="Send answer")).to_be_visible()
    strike(page, "2", "Control+Enter")
    expect(page.locator(".receipt")).to_contain_text("You answered")
    expect_waiting(page, 2)

    # A branch is found in the tree, and the whole is stopped.
    tab_to(page, page.locator(".nav").get_by_role("link", name="Work", exact=True))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("link", name="By keys"))
    page.keyboard.press("Enter")
    page.wait_for_url(whole)
    expect_live(page)
    tab_to(page, page.locator("#rows [data-piece]").first)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#pane")).to_contain_text("1 of 2 that Foreman handed on")
    page.goto(whole)
    tab_to(page, page.locator("#head").get_by_role("link", name="Stop…"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_role("button", name="Stop these 3 pieces"))
    strike(page, "Enter")
    expect(page.locator("#head")).to_contain_text("Called off")
    expect_waiting(page, 0)

    # A way on the map says both its ends, and opens.
    page.goto(f"{server.base}/map")
    way = page.locator("a.edge").first
    tab_to(page, way, outlined=False)  # a line, which is drawn thicker
    expect(way.locator(".wire")).to_have_css("stroke-width", "3px")
    expect(way).to_have_attribute("aria-label", re.compile("Foreman.*Hand|Hand.*Foreman"))
    page.keyboard.press("Enter")
    expect(page.locator("#chosen")).to_contain_text("Foreman hands")
