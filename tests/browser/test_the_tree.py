"""The tree of a whole in a browser: large ones, keys, what is new, and that nothing moves under whoever reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from playwright.sync_api import Error, Route, expect
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from bench.big_tree import BIG, DEEP, Shape, grow, plant, touch
from tests.browser.conftest import Open
from tests.browser.serving import Server
from tests.browser.walking import give_with_note, row

pytestmark = pytest.mark.browser

CAST = (("Planner", "PriceCloth"), ("Buyer", "PriceCloth"), ("Collator", "PriceCloth"))
SMALL = Shape(pieces=60, heads=8, depth=3, under=7, live=0.5, waiting=2)
ROWS = "#rows > [role=row]"


@pytest.fixture
def write(shop: Server) -> Iterator[Callable[[Callable[[Session], object]], object]]:
    """Write to the shop's database as another server on it does: the shop hears of it within seconds."""
    engine = create_engine(f"sqlite:///{shop.file}", connect_args={"timeout": 30})

    def inside(fn: Callable[[Session], object]) -> object:
        with Session(engine) as session, session.begin():
            return fn(session)

    yield inside
    engine.dispose()


def planted(write: Callable[[Callable[[Session], object]], object], shop: Server, shape: Shape) -> UUID:
    [(mia,)] = shop.rows("select id from person where name = 'Mia'")
    person, now = UUID(hex=str(mia)), datetime.now(UTC)
    made = write(lambda session: plant(session, shape, person=person, name="Mia", cast=CAST, now=now))
    assert isinstance(made, UUID)
    return made


def test_ten_thousand_pieces_open_as_one_page_and_unfold_a_branch_at_a_time(
    mias: Open, shop: Server, write: Callable[..., object]
) -> None:
    root = planted(write, shop, BIG)
    page = mias()
    page.goto(f"/work/{root}")
    assert page.locator(ROWS).count() <= 200
    expect(page.get_by_role("treegrid")).to_have_attribute("aria-rowcount", "10001")
    expect(page.locator("[data-tree]")).to_contain_text("Waits for you")
    before = page.locator(ROWS).count()
    page.get_by_role("link", name=re.compile("^show 200 more")).first.click()
    expect(page.locator(ROWS)).not_to_have_count(before)
    assert before < page.locator(ROWS).count() <= 1000
    assert "open=" in page.url
    shared = page.locator(ROWS).count()
    page.reload()
    assert page.locator(ROWS).count() == shared  # the address holds it
    page.get_by_role("link", name=re.compile("^Needs somebody")).click()
    page.wait_for_url(re.compile("show=needs"))
    assert page.locator(ROWS).count() < 20


def test_a_hundred_and_twenty_levels_are_found_and_say_their_level(
    mias: Open, shop: Server, write: Callable[..., object]
) -> None:
    root = planted(write, shop, DEEP)
    [(lowest,)] = shop.rows("select id from piece where root = ? order by depth desc limit 1", root.hex)
    page = mias()
    page.goto(f"/work/{root}?piece={UUID(hex=str(lowest))}")
    found = page.locator(f"#p-{UUID(hex=str(lowest))}")
    expect(found).to_have_attribute("aria-level", "120")
    expect(found).to_contain_text("level 120")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_tree_is_walked_by_keys_and_the_focus_stays(mias: Open, shop: Server, write: Callable[..., object]) -> None:
    root = planted(write, shop, Shape(pieces=150, heads=5, depth=4, under=4, live=0.0, waiting=1))
    page = mias()
    page.goto(f"/work/{root}?show=all")
    page.locator(f"#p-{root}").focus()
    focused = "document.activeElement.closest('[role=row]')"
    page.keyboard.press("ArrowDown")
    first = page.evaluate(f"{focused}.id")
    assert first != f"p-{root}"
    closed = page.locator(f"{ROWS}[aria-expanded=false]").first
    closed.focus()
    name, below = closed.get_attribute("id"), page.locator(ROWS).count()
    page.keyboard.press("ArrowRight")
    expect(page.locator(f"#{name}")).to_have_attribute("aria-expanded", "true")
    assert page.evaluate(f"{focused}.id") == name
    assert page.locator(ROWS).count() > below
    page.keyboard.press("ArrowRight")
    assert page.evaluate(f"{focused}.getAttribute('aria-level')") == str(
        int(page.locator(f"#{name}").get_attribute("aria-level") or 0) + 1
    )
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(f"{focused}.id") == name
    page.keyboard.press("ArrowLeft")
    expect(page.locator(f"#{name}")).to_have_attribute("aria-expanded", "false")
    assert page.evaluate(f"{focused}.id") == name
    page.keyboard.press("Enter")
    expect(page.locator(f"#{name}")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    page.wait_for_timeout(900)
    page.keyboard.press("/")
    expect(page.get_by_label("Find in this tree")).to_be_focused()
    page.keyboard.type("no such thing")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="No piece matches “no such thing”.")).to_be_visible()
    page.get_by_role("link", name="Show the tree").click()
    expect(page.locator(f"#p-{root}")).to_be_visible()


def test_nothing_moves_while_rows_change_and_the_row_with_the_focus_is_left_as_it_is(
    mias: Open, shop: Server, write: Callable[..., object]
) -> None:
    root = planted(write, shop, SMALL)
    page = mias(viewport={"width": 1280, "height": 700})
    page.goto(f"/work/{root}?show=all")
    expect(page.locator("#live")).to_have_attribute("data-is", "live")
    going = shop.rows("select id from piece where root = ? and run = 'held'", root.hex)
    pieces = [UUID(hex=str(id)) for (id,) in going]
    kept = page.locator(f"#p-{pieces[0]}")
    kept.scroll_into_view_if_needed()
    kept.focus()
    page.evaluate(
        """(id) => {
          window.shift = 0;
          new PerformanceObserver((list) => { for (const one of list.getEntries()) window.shift += one.value; })
            .observe({ type: "layout-shift", buffered: false });
          window.row = document.getElementById(id);
          window.top0 = window.row.getBoundingClientRect().top;
          window.words = window.row.innerText;
        }""",
        f"p-{pieces[0]}",
    )
    lines = int(str(shop.rows("select lines from whole where id = ?", root.hex)[0][0]))
    for n in range(60):
        write(lambda session, n=n: touch(session, root, pieces[n % len(pieces)], datetime.now(UTC)))
    expect(page.locator(f"#l-{lines + 60}")).to_be_visible()
    assert page.evaluate("window.shift") == 0
    assert abs(page.evaluate("window.row.getBoundingClientRect().top - window.top0")) <= 1
    assert page.evaluate("document.activeElement === window.row && window.row.isConnected")
    money = kept.locator(".sigma").inner_text()
    expect(kept).to_have_attribute("data-changed", "")
    page.keyboard.press("ArrowDown")  # it is put right once it is left
    expect(kept.locator(".sigma")).not_to_have_text(money)


def test_what_is_new_waits_behind_a_bar_of_fixed_height_until_it_is_asked_for(
    mias: Open, shop: Server, write: Callable[..., object]
) -> None:
    root = planted(write, shop, SMALL)
    page = mias(viewport={"width": 1280, "height": 420})
    page.goto(f"/work/{root}?show=all")
    expect(page.locator("#live")).to_have_attribute("data-is", "live")
    tools, rows = page.locator(".tools").bounding_box(), page.locator(ROWS).count()
    [(above,)] = shop.rows(
        "select id from piece where root = ? and depth = 1 and ended_at is null order by id limit 1", root.hex
    )
    new = write(lambda session: grow(session, root, UUID(hex=str(above)), datetime.now(UTC)))
    expect(page.locator("#fresh")).to_contain_text("1 new")
    assert page.locator(".tools").bounding_box() == tools
    assert page.locator(ROWS).count() == rows
    page.wait_for_timeout(900)
    page.keyboard.press(".")
    expect(page.locator(f"#p-{new}")).to_be_attached()
    expect(page.locator("#fresh")).to_be_empty()
    expect(page.locator("#live")).to_have_attribute("data-is", "live")


def test_what_is_new_after_the_last_row_is_appended_where_that_row_is_in_view(
    mias: Open, shop: Server, write: Callable[..., object]
) -> None:
    root = planted(write, shop, Shape(pieces=4, heads=3, live=1.0, waiting=0))
    page = mias()
    page.goto(f"/work/{root}")
    expect(page.locator("#live")).to_have_attribute("data-is", "live")
    new = write(lambda session: grow(session, root, root, datetime.now(UTC)))
    expect(page.locator(f"#p-{new}")).to_be_visible()
    again = write(lambda session: grow(session, root, root, datetime.now(UTC)))
    expect(page.locator(f"#p-{again}")).to_be_visible()


def test_a_branch_is_stopped_after_its_consequences_are_said(mias: Open, shop: Server) -> None:
    page = mias()
    whole = give_with_note(page, "Stopped in part")
    page.goto(whole)
    row(page, "Collator").get_by_role("link", name=re.compile("^Collator ")).click()
    page.locator("#pane").get_by_role("link", name="Stop this branch…").click()
    expect(page.get_by_role("main")).to_contain_text("It is called off. Planner is told, and goes on without it.")
    expect(page.get_by_role("main")).to_contain_text("1 proposal or question is withdrawn")
    page.get_by_label("Reason").fill("Not this one")
    page.get_by_role("button", name="Stop this piece").click()
    page.wait_for_url(re.compile(r"/work/[0-9a-f-]{36}\?piece="))
    expect(page.locator("#pane")).to_contain_text("the last piece has confirmed")
    expect(row(page, "Collator")).to_contain_text("Called off")


def test_the_timeline_has_the_same_rows_and_says_each_stretch_in_words(mias: Open, shop: Server) -> None:
    page = mias()
    whole = give_with_note(page, "Over time")
    page.goto(whole)
    rows = page.locator(ROWS).count()
    page.get_by_role("link", name="Timeline").click()
    assert page.locator(ROWS).count() == rows
    expect(row(page, "Collator")).to_contain_text("waits for a person")
    expect(page.locator("#zone")).not_to_contain_text("UTC")
    assert page.context.browser is not None
    elsewhere = page.context.browser.new_context(
        base_url=shop.base, storage_state=page.context.storage_state(), timezone_id="Asia/Kolkata"
    )
    there = elsewhere.new_page()
    there.goto(f"{whole}/timeline")
    tick = there.locator("text[data-at]").first
    at, half_past = datetime.fromisoformat(tick.get_attribute("data-at") or ""), timedelta(hours=5, minutes=30)
    expect(tick).to_have_text(re.compile(f"^{at + half_past:%H:%M}"))
    told = row(there, "Collator").locator(".axis time").first  # what is read out of a row is in that zone too
    at = datetime.fromisoformat(told.get_attribute("datetime") or "")
    expect(told).to_have_text(re.compile(f"{at + half_past:%H:%M}:"))
    elsewhere.close()


def test_of_pieces_that_are_chosen_in_haste_the_last_is_shown_whatever_comes_back_first(
    mias: Open, shop: Server, write: Callable[..., object]
) -> None:
    root = planted(write, shop, SMALL)
    page = mias()
    page.goto(f"/work/{root}")
    held: list[Route] = []
    page.route("**/piece/*", lambda route: route.continue_() if held else held.append(route))
    pieces = page.locator(f"{ROWS}[data-piece]")
    for n in (1, 2, 3):
        pieces.nth(n).locator("[data-choose]").click()
    last = pieces.nth(3).get_attribute("data-piece")
    expect(page.locator("#pane [data-pane]")).to_have_attribute("data-pane", str(last))
    with suppress(Error):
        held[0].continue_()
    page.wait_for_timeout(500)
    expect(page.locator("#pane [data-pane]")).to_have_attribute("data-pane", str(last))


def test_a_piece_that_is_chosen_while_the_page_is_asked_for_anew_stays_chosen(
    mias: Open, shop: Server, write: Callable[..., object]
) -> None:
    root = planted(write, shop, SMALL)
    page = mias()
    page.goto(f"/work/{root}")
    branch = str(page.locator(f"{ROWS}[aria-expanded=true]").last.get_attribute("id"))
    held: list[Route] = []

    def hold(route: Route) -> None:
        if held or not route.request.header_value("hx-request"):
            route.continue_()
        else:
            held.append(route)

    page.route(f"**/work/{root}?*", hold)
    page.locator(f"#{branch} [data-fold]").click()  # asks for the whole page
    chosen = page.locator(f"{ROWS}[data-piece]").nth(1)
    chosen.locator("[data-choose]").click()
    piece = str(chosen.get_attribute("data-piece"))
    pane = page.locator("#pane [data-pane]")
    expect(pane).to_have_attribute("data-pane", piece)
    [late] = held
    late.continue_()  # what comes now was asked for before anything was chosen
    expect(page.locator(f"#{branch}")).to_have_attribute("aria-expanded", "false")
    expect(pane).to_have_attribute("data-pane", piece)
    expect(page.locator(f"#p-{piece}")).to_have_attribute("aria-selected", "true")
    assert f"piece={piece}" in page.url
    page.reload()
    expect(pane).to_have_attribute("data-pane", piece)
