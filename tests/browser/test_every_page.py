"""Every page that axe looks at: narrow and enlarged, read from the right, in forced colours, with motion reduced."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Open, Serve
from tests.browser.many import PAGES
from tests.browser.test_axe import SUPERVISORS, pages  # noqa: F401 - a fixture, and the addresses beside it
from tests.browser.walking import sign_in

pytestmark = pytest.mark.browser

# 1280 by 1024 at 400 %, which is as wide as the narrowest phone.
NARROW = {"width": 320, "height": 256}
# What stands past either edge though nothing there scrolls by itself, such as the picture of the map does.
PAST = """
() => {
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= wide) return [];
  const past = [...document.body.querySelectorAll("*")].filter((node) => {
    const box = node.getBoundingClientRect();
    return box.width && (box.right > wide + 1 || box.left < -1) && !node.closest(".vh, .skip");
  });
  const named = past.slice(-3).map((node) => `${node.localName}.${node.className}`);
  return [`${document.documentElement.scrollWidth} px`, ...named];
}
"""
BARE = """
() => [...document.querySelectorAll(".btn, select, input:not([type=hidden]), textarea")]
  .filter((node) => node.checkVisibility() && !node.matches("[data-is=bare], [type=radio], [type=checkbox]"))
  .filter((node) => getComputedStyle(node).borderTopWidth === "0px" || getComputedStyle(node).borderTopStyle === "none")
  .map((node) => node.outerHTML.slice(0, 80))
"""


@pytest.fixture
def addresses(pages: dict[str, str]) -> dict[str, list[str]]:  # noqa: F811
    """By whom each page is looked at."""
    return {"Mia": list(pages.values()), "Noor": [*SUPERVISORS.values(), "/agents/Buyer", "/agents/Buyer/pause"]}


def test_no_page_scrolls_sideways_at_320_pixels_or_at_400_percent_from_either_side(
    mias: Open, noors: Open, addresses: dict[str, list[str]]
) -> None:
    found = []
    for who, page in (("Mia", mias(viewport=NARROW)), ("Noor", noors(viewport=NARROW))):
        for address in addresses[who]:
            page.goto(address)
            found += _past(page, f"{address}")
            page.evaluate("document.documentElement.dir = 'rtl'")
            found += _past(page, f"{address}, from the right")
    assert found == []


def _past(page: Page, what: str) -> list[str]:
    past = page.evaluate(PAST)
    return [f"{what}: {', '.join(past)}"] if past else []


@pytest.mark.parametrize("app", PAGES)
def test_no_map_scrolls_the_page_sideways_or_has_anything_without_an_edge_however_many_agents_it_shows(
    fresh: Open, serve: Serve, app: str
) -> None:
    server, found = serve(f"tests.browser.many:{app}"), []
    page = fresh(viewport=NARROW, base_url=server.base)
    sign_in(page, server, "Noor")
    for address in PAGES[app].values():
        page.goto(address)
        found += _past(page, address)
        page.evaluate("document.documentElement.dir = 'rtl'")
        found += _past(page, f"{address}, from the right")
        page.emulate_media(forced_colors="active")
        found += [f"{address}: {bare}" for bare in page.evaluate(BARE)]
        page.emulate_media(forced_colors="none")
    assert found == []


def test_in_forced_colours_what_can_be_pressed_has_an_edge_and_with_motion_reduced_nothing_moves(
    mias: Open, noors: Open, addresses: dict[str, list[str]]
) -> None:
    settings = {"forced_colors": "active", "reduced_motion": "reduce"}
    found = []
    for who, page in (("Mia", mias(**settings)), ("Noor", noors(**settings))):
        for address in addresses[who]:
            page.goto(address)
            found += [f"{address}: {bare}" for bare in page.evaluate(BARE)]
            moving = page.evaluate("document.getAnimations().filter((one) => one.playState === 'running').length")
            found += [f"{address}: {moving} moving"] if moving else []
    assert found == []
