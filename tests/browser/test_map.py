"""The map from the keyboard: along the ways, to what is beside, into a pane, to the list; and larger and smaller."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Serve
from tests.browser.walking import give, sign_in

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


def test_a_way_that_is_used_now_is_drawn_so_while_the_page_is_read_and_nothing_else_on_it_moves(mias: Open) -> None:
    page, other = mias(), mias()
    page.goto("/map?lens=money")
    expect(page.locator("#live")).to_have_attribute("data-is", "live")
    label = page.locator('.edge[data-to="Collator"] .lim')
    before = label.text_content()
    page.locator(".canvas").focus()
    assert press(page, "+", "ArrowRight", "ArrowRight") == "Planner > Collator"
    width = page.locator(".picture").get_attribute("width")
    give(other, "MS-13", "Seen on the map")
    expect(label).not_to_have_text(before or "")
    expect(page.locator('.edge[data-to="Collator"]')).to_have_class(re.compile("now"))
    assert focused(page) == "Planner > Collator"
    assert page.locator(".picture").get_attribute("width") == width
    page.keyboard.press("+")
    grown = int(page.locator(".picture").get_attribute("width") or 0) / int(width or 1)
    assert 1.2 < grown < 1.3  # one step, though the page was dressed twice


def test_what_changes_while_the_map_is_paused_is_shown_once_it_goes_on(mias: Open) -> None:
    page, other = mias(), mias()
    page.goto("/map?lens=money")
    label = page.locator('.edge[data-to="Buyer"] .lim')
    page.locator("#live[data-is=live]").get_by_role("button", name="Pause").click()
    before = label.text_content() or ""
    give(other, "MS-12", "Not seen on the map at first")
    expect(page.locator("#live")).to_contain_text("held")
    assert label.text_content() == before
    page.locator("#live").get_by_role("button", name="Go on").click()
    expect(label).not_to_have_text(before)


# Lines of a box that stand past its edge, and labels of ways that lie on a box.
ASTRAY = """
() => {
  const lies = (one, other) =>
    one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
  const boxes = [...document.querySelectorAll(".agent, .person, .tool")].map((box) => ({
    edge: box.querySelector("rect").getBoundingClientRect(), parts: [...box.querySelectorAll("text, use")],
  }));
  const out = boxes.flatMap(({ edge, parts }) => parts.filter((part) => {
    const at = part.getBoundingClientRect();
    return at.left < edge.left || at.right > edge.right || at.top < edge.top || at.bottom > edge.bottom;
  }));
  const one = boxes.flatMap(({ parts }) => {
    const warned = parts.filter((part) => part.matches(".warn")).map((part) => part.getBoundingClientRect());
    return parts.filter((part) => !part.matches("use") && warned.some((at) => lies(at, part.getBoundingClientRect())));
  });
  const on = [...document.querySelectorAll(".edge text")].filter((text) =>
    boxes.some(({ edge }) => lies(text.getBoundingClientRect(), edge)));
  return [...out, ...one, ...on].map((part) => part.textContent || part.getAttribute("href"));
}
"""


@pytest.mark.parametrize("lens", ["limits", "schemas", "approvals", "money"])
def test_no_line_leaves_its_box_however_wide_its_letters_from_whichever_side_the_page_is_read(
    fresh: Open, serve: Serve, lens: str
) -> None:
    server = serve("tests.browser.many:tangled")
    page = fresh(base_url=server.base)
    sign_in(page, server, "Noor")
    page.goto(f"/map?tools=yes&lens={lens}")
    assert page.evaluate(ASTRAY) == []
    page.evaluate("document.documentElement.dir = 'rtl'")
    assert page.evaluate(ASTRAY) == []
    assert page.locator(".canvas").evaluate("(canvas) => canvas.scrollLeft") == 0  # it begins with who is asked first


def test_the_map_is_printed_whole_and_in_forced_colours_is_told_from_its_ground(fresh: Open, serve: Serve) -> None:
    server = serve("tests.browser.many:tangled")
    page = fresh(base_url=server.base, viewport={"width": 800, "height": 1000})
    sign_in(page, server, "Noor")
    page.goto("/map?chosen=Registrar")
    page.emulate_media(media="print")
    box = page.locator(".picture").bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 800
    expect(page.locator(".zoom")).to_be_hidden()
    page.emulate_media(media="screen", forced_colors="active", color_scheme="dark")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for part, paint in ((".picture .pp", "fill"), (".picture .skill", "fill"), (".wire", "stroke"), (".tip", "fill")):
        paints = page.locator(part).evaluate_all(f"(all) => all.map((one) => getComputedStyle(one).{paint})")
        assert paints and ground not in paints and "rgb(0, 0, 0)" not in paints
    assert page.locator(".agent rect").first.evaluate("(box) => getComputedStyle(box).fill") == ground


def test_of_many_agents_the_list_is_first_and_a_group_is_opened_and_walked_from_the_keyboard(
    fresh: Open, serve: Serve
) -> None:
    server = serve("tests.browser.many:many")
    page = fresh(base_url=server.base)
    sign_in(page, server, "Noor")
    page.goto("/map")
    expect(page.get_by_role("link", name="List")).to_have_attribute("aria-current", "page")
    page.get_by_label("Find").fill("leiden store")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("main")).to_contain_text("5 of 275 ways.")
    page.get_by_role("link", name="Picture").click()
    expect(page.locator(".bunches > li")).to_have_count(12)
    page.get_by_role("link", name="House of Leiden").press("Enter")
    expect(page.get_by_role("heading", name="Under House of Leiden")).to_be_visible()
    expect(page.locator(".picture .agent")).to_have_count(26)
    page.locator(".canvas").focus()
    assert press(page, "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight").startswith("Leiden")
    page.keyboard.press("l")
    expect(page.locator(".twin tbody tr")).to_have_count(25)
    page.get_by_role("link", name="The whole map").click()
    expect(page.locator(".twin tbody tr")).to_have_count(275)


def test_single_keys_of_the_map_are_listed_and_switched_off_with_the_others(mias: Open) -> None:
    page = mias()
    page.goto("/help/keys")
    expect(page.get_by_role("heading", name="On the map, while it has the focus")).to_be_visible()
    page.get_by_role("button", name="Switch them off").click()
    page.goto("/map")
    page.locator(".canvas").focus()
    width = page.locator(".picture").get_attribute("width")
    assert press(page, "l", "+", "]") == ""
    assert page.url.endswith("/map") and page.locator(".picture").get_attribute("width") == width
    assert press(page, "ArrowRight") == "Planner"  # that is no letter


def test_a_letter_that_is_typed_elsewhere_on_the_page_moves_nothing(mias: Open) -> None:
    page = mias()
    page.goto("/map")
    page.get_by_role("link", name="What could reach").focus()
    press(page, "l", "+", "ArrowRight")
    assert page.url.endswith("/map")
    assert focused(page) == ""
