"""The map from the keyboard: along the ways, to what is beside, into a pane, to the list; and larger and smaller."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open

pytestmark = pytest.mark.browser


def focused(page: Page) -> str:
    """The agent that has the focus, or the two ends of the way that has it."""
    found: str = page.evaluate(
        "(({ agent, from, to }) => agent ?? (from && `${from} > ${to}`) ?? '')(document.activeElement.dataset)"
    )
    return found


def press(page: Page, *keys: str) -> str:
    for key in keys:
        page.keyboard.press(key)
    return focused(page)


def test_the_map_is_walked_and_opened_and_sized_from_the_keyboard(mias: Open) -> None:
    page = mias()
    page.goto("/map")
    page.locator(".canvas").focus()
    assert press(page, "ArrowRight") == "Planner"
    assert press(page, "ArrowRight") == "Planner > Collator"
    assert press(page, "]") == "Planner > Buyer"
    assert press(page, "[") == "Planner > Collator"
    assert press(page, "ArrowRight") == "Collator"
    assert press(page, "ArrowDown") == "Buyer"
    assert press(page, "ArrowLeft", "ArrowLeft") == "Planner"
    width = page.locator(".picture").evaluate("(picture) => picture.getBoundingClientRect().width")
    press(page, "+")
    assert page.locator(".picture").evaluate("(picture) => picture.getBoundingClientRect().width") > width
    press(page, "-", "-")
    assert page.locator(".picture").evaluate("(picture) => picture.getBoundingClientRect().width") < width
    press(page, "0")
    assert page.locator(".picture").evaluate("(picture) => picture.getBoundingClientRect().width") == width
    press(page, "ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/map\?chosen=Planner\.Collator\.CountLeaves#chosen$"))
    expect(page.locator("#chosen")).to_contain_text("Planner hands “Count leaves” on to Collator")
    page.locator(".canvas").focus()
    page.keyboard.press("l")
    page.wait_for_url(re.compile(r"view=list"))


def test_a_letter_that_is_typed_elsewhere_on_the_page_moves_nothing(mias: Open) -> None:
    page = mias()
    page.goto("/map")
    page.get_by_role("link", name="What could reach").focus()
    press(page, "l", "+", "ArrowRight")
    assert page.url.endswith("/map")
    assert focused(page) == ""
