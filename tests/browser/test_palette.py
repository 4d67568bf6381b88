"""The palette: found by the keyboard alone, and the focus goes back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.walking import give_with_note

pytestmark = pytest.mark.browser


def test_the_palette_finds_by_keyboard_and_gives_the_focus_back(mias: Open) -> None:
    page = mias()
    work = give_with_note(page, "Found by the palette")
    page.goto("/work")
    link = page.get_by_role("link", name="Give work").first
    link.focus()
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(link).to_be_focused()

    page.keyboard.press("Control+k")
    page.keyboard.type("found by the pal")
    option = page.get_by_role("option", name=re.compile("Found by the palette"))
    expect(option).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.wait_for_url(work)

    page.get_by_role("link", name=re.compile("^Find")).click()
    page.keyboard.type("answered")
    expect(page.get_by_role("option", name=re.compile("^Answered"))).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/inbox/answered$"))


def test_each_entry_stands_once_in_the_bar_or_in_the_menu_at_every_width(noors: Open) -> None:
    page = noors()
    for width in (1280, 1000, 768, 390):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto("/settings")
        page.locator(".menu > summary").click()
        for address in ("/money", "/work/new", "/search"):
            links = page.locator(f'.top a[href="{address}"]')
            seen = [link.is_visible() for link in links.all()]
            assert seen.count(True) == 1, (width, address)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
