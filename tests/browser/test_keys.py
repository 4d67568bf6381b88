"""Keys: what they do on purpose, and that no typing decides anything by accident."""

from __future__ import annotations

import json
import random
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Serve
from tests.browser.serving import Server
from tests.browser.walking import expect_live, expect_waiting, give_with_note, sign_in, unfold

pytestmark = pytest.mark.browser

CALM = 900  # milliseconds: longer than keys stay dead after a card has opened or somebody typed


def decided(shop: Server) -> int:
    [(number,)] = shop.rows("select count(*) from proposal where decided_at is not null")
    return int(str(number))


def strike(page: Page, *keys: str) -> None:
    """Press each key as somebody does who means it."""
    for key in keys:
        page.wait_for_timeout(CALM)
        page.keyboard.press(key)


def test_a_arms_and_only_enter_decides(mias: Open, shop: Server) -> None:
    page = mias()
    give_with_note(page, "Decided by keys")
    before = decided(shop)
    armed = page.get_by_role("button", name="Enter to approve", exact=True)

    page.keyboard.press("a")  # the card has only just come: dead
    expect(armed).to_have_count(0)
    strike(page, "a")
    expect(armed).to_be_visible()
    page.keyboard.press("x")
    expect(armed).to_have_count(0)
    strike(page, "Enter")
    assert decided(shop) == before

    strike(page, "r")
    expect(page.get_by_label("Tell Collator")).to_be_focused()
    page.keyboard.type("an apple a day")  # what is written is written
    expect(page.get_by_label("Tell Collator")).to_have_value("an apple a day")
    strike(page, "Escape", "u")
    page.wait_for_url(re.compile(r"/inbox$"))
    assert decided(shop) == before

    page.get_by_role("link", name=re.compile("^Proposal: Write on MS-13")).first.click()
    page.wait_for_selector("article.card")
    strike(page, "a", "Enter")
    expect(page.locator(".receipt")).to_contain_text("You approved")
    assert decided(shop) == before + 1


def test_a_storm_of_typing_decides_nothing_while_requests_arrive_and_cards_change(mias: Open, shop: Server) -> None:
    page = mias()
    give_with_note(page, "Stormed at")
    other = page.context.new_page()
    before = decided(shop)
    storm = random.Random(7)
    for round in range(4):
        for _ in range(90):
            page.keyboard.press(storm.choice([*"aaaaarejknuow19 A?", "Enter", "Enter", "Enter", "Escape", "Tab"]))
            page.wait_for_timeout(storm.choice([0, 5, 15, 40, 120]))
        give_with_note(other, f"Arrived in round {round}")
        page.goto(other.url if round % 2 else "/inbox")
    assert decided(shop) == before


def test_a_form_that_answers_no_request_takes_enter_at_once(mias: Open) -> None:
    page = mias()
    page.goto("/work/new?agent=Collator&skill=CountLeaves")
    page.get_by_label("Volume").select_option(index=1)
    page.get_by_label("Limit").focus()
    page.keyboard.type("0.01")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # in less than half a second
    page.wait_for_url(re.compile(r"/work/[0-9a-f-]{36}$"))


def test_the_list_of_keys_opens_over_the_page_and_single_keys_can_be_switched_off(mias: Open, shop: Server) -> None:
    page = mias()
    give_with_note(page, "Kept still")
    strike(page, "?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("None decides by itself")
    dialog.get_by_role("button", name="Switch them off").click()
    dialog.get_by_role("button", name="Close").click()
    strike(page, "a")
    expect(page.get_by_role("button", name="Enter to approve")).to_have_count(0)
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()


def test_keys_that_somebody_has_chosen_count_and_the_usual_ones_do_not(mias: Open, shop: Server) -> None:
    page = mias()
    page.goto("/settings/keys")
    page.get_by_label("a", exact=True).fill("y")
    page.get_by_role("button", name="Keep").click()
    try:
        give_with_note(page, "Decided by other keys")
        expect(page.locator("[data-arms] kbd")).to_have_text("y")
        armed = page.get_by_role("button", name="Enter to approve", exact=True)
        strike(page, "a")
        expect(armed).to_have_count(0)
        strike(page, "y")
        expect(armed).to_be_visible()
    finally:
        page.goto("/settings/keys")
        page.get_by_role("button", name="The usual ones").click()
        expect(page.get_by_text("They count so from now on.")).to_be_visible()


def test_g_and_a_letter_go_to_a_page(mias: Open, shop: Server) -> None:
    page = mias()
    page.goto("/inbox")
    strike(page, "g")
    page.keyboard.press("w")
    page.wait_for_url(re.compile(r"/work$"))


def test_a_selection_lasts_over_the_pages_of_the_list_and_drops_what_somebody_decided(
    serve: Serve, fresh: Open
) -> None:
    errands = [{"legs": 70, "notes": 1, "about": "Maps"}]
    server, page = serve("tests.browser.busy:busy", HANDON_BUSY=json.dumps(errands)), fresh()
    sign_in(page, server, "Mia")
    expect_waiting(page, 70)

    def take(row: int) -> None:
        unfold(page)
        page.locator(".singles .req").nth(row).focus()
        strike(page, "x")

    page.goto(f"{server.base}/inbox")
    bar = page.locator("#picks b")
    take(1)
    take(2)
    expect(bar).to_have_text("2 selected")
    page.get_by_role("link", name=re.compile("^(More|Next|Older|Later)")).last.click()
    expect(bar).to_have_text("2 selected, 2 of them not on this page")
    expect_live(page)
    take(3)
    expect(bar).to_have_text("3 selected, 2 of them not on this page")
    page.reload()
    expect(bar).to_have_text("3 selected, 2 of them not on this page")
    unfold(page)
    other = page.context.new_page()
    other.goto(f"{server.base}{page.locator('.req[data-picked]').get_attribute('href')}")
    other.get_by_role("button", name="Approve", exact=True).click()
    expect(bar).to_have_text("2 selected, 2 of them not on this page")  # that one was decided
    page.locator("#picks").get_by_role("link").click()
    expect(page.get_by_role("checkbox")).to_have_count(2)
    page.get_by_role("button", name="Check all 2").click()
    page.get_by_role("button", name="Approve 2").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("All 2 decided")
    page.goto(f"{server.base}/inbox")
    expect(page.locator("#picks")).to_be_hidden()
    expect_waiting(page, 67)


def test_x_and_shift_select_rows_of_one_work_that_are_decided_together(serve: Serve, fresh: Open) -> None:
    errands = [{"legs": 1, "notes": 6, "asks": 1, "about": "Maps"}, {"legs": 1, "notes": 1, "about": "Prints"}]
    server, page = serve("tests.browser.busy:busy", HANDON_BUSY=json.dumps(errands)), fresh()
    sign_in(page, server, "Mia")
    expect_waiting(page, 8)
    page.goto(f"{server.base}/inbox")
    unfold(page)
    bar = page.locator("#picks")
    page.locator(".singles .req").nth(1).focus()
    strike(page, "J")
    expect(bar.locator("b")).to_have_text("2 selected")
    expect(page.locator("#say")).to_have_text("2 selected.")
    page.locator(".req").last.focus()
    strike(page, "x")
    expect(page.locator("#say")).to_contain_text("It belongs to another work")
    expect(page.locator("[data-picked]")).to_have_count(2)
    bar.get_by_role("link", name="Look at them together").click()

    boxes = page.get_by_role("checkbox")
    expect(boxes).to_have_count(2)
    assert not any(box.is_checked() for box in boxes.all())
    expect(page.get_by_role("button", name="Approve those checked")).to_be_disabled()
    page.get_by_role("button", name="Check all 2").click()
    boxes.first.focus()
    page.keyboard.press("Enter")  # a box is no button
    strike(page, "a")
    assert decided(server) == 0
    strike(page, "Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("All 2 decided")
    expect_waiting(page, 6)
    assert decided(server) == 2
