"""Taking a decision back: while it is held, from the receipt or by a key; and what is released is told once."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Serve
from tests.browser.serving import HELD, Server
from tests.browser.test_keys import strike
from tests.browser.walking import (
    expect_live,
    expect_waiting,
    give_with_note,
    reload_until,
    row,
    sign_in,
    times_written,
)

pytestmark = pytest.mark.browser

NARROW = {"viewport": {"width": 390, "height": 844}}


def ages_apart(words: str) -> str:
    return re.sub(r"just now|\d+ min ago", "ago", words)


def opened(serve: Serve, page: Page) -> Server:
    server = serve(HELD)
    sign_in(page, server, "Mia")
    return server


def test_a_yes_is_taken_back_by_z_and_the_card_is_as_it_was(serve: Serve, fresh: Open) -> None:  # P5
    page = fresh()
    server = opened(serve, page)
    give_with_note(page, "Taken back")
    card, words = page.url, page.locator("article.card").inner_text()
    expect_waiting(page, 2)  # another waits since the demo began
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator("#held")).to_contain_text("You approved Write on MS-13")
    expect(page.locator("#held")).to_contain_text("goes to Collator at")
    expect_waiting(page, 1)
    strike(page, "z")
    page.wait_for_url(card)
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    expect_waiting(page, 2)
    assert ages_apart(page.locator("article.card").inner_text()) == ages_apart(words)
    page.wait_for_timeout(5500)  # its time would have come
    assert server.rows("select count(*) from proposal where decided_at is not null") == [(0,)]
    assert server.rows("select count(*) from held_decision") == [(0,)]


def test_a_yes_that_is_left_alone_is_carried_out_once_and_its_receipt_says_so_by_itself(
    serve: Serve, fresh: Open
) -> None:  # P5
    page = fresh(**NARROW)
    opened(serve, page)
    whole = give_with_note(page, "Left alone")
    page.get_by_role("button", name="Approve", exact=True).click()
    receipt = page.locator(".receipt")
    expect(receipt).to_contain_text("You approved")
    expect(receipt).to_contain_text("goes to Collator at")
    expect(receipt.get_by_role("button", name="Undo")).to_be_visible()
    expect(receipt).to_contain_text("released")
    expect(receipt.get_by_role("button", name="Undo")).to_have_count(0)
    assert times_written(page, whole) == 1
    page.goto(whole)
    reload_until(page, "Planner", "Done")


def test_whoever_watches_the_tree_sees_at_once_that_somebody_has_decided_and_that_it_was_taken_back(
    serve: Serve, fresh: Open
) -> None:  # P5
    page = fresh()
    server = serve("tests.browser.at_once:patient")
    sign_in(page, server, "Mia")
    whole = give_with_note(page, "Watched")
    card, watching = page.url, page.context.new_page()
    watching.goto(f"{whole}?piece={whole.rsplit('/', 1)[1]}")
    expect_live(watching)
    expect(row(watching, "Collator")).to_contain_text("Waits for you")
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(row(watching, "Collator")).to_contain_text("Decided by Mia")
    expect(watching.locator("#head")).to_contain_text("Decided by Mia")
    watching.reload()
    expect(row(watching, "Collator")).to_contain_text("Decided by Mia")
    row(watching, "Collator").get_by_role("link", name=re.compile("^Collator ")).click()
    expect(watching.locator("#pane")).to_contain_text(
        "Mia has decided. Until that is carried out, it can be taken back."
    )
    watching.locator("h1").click()  # a row that has the focus in it is left as it is
    page.locator("#held").get_by_role("button", name="Undo").click()
    page.wait_for_url(card)
    expect(row(watching, "Collator")).to_contain_text("Waits for you")
    expect(watching.locator("#pane")).to_contain_text("Waits for a decision from Mia")


def test_what_was_decided_together_is_released_or_taken_back_before_whoever_looks_on(
    serve: Serve, fresh: Open
) -> None:  # P5
    page = fresh()
    server = serve("tests.browser.busy:held", HANDON_BUSY=json.dumps([{"legs": 1, "notes": 6, "about": "Maps"}]))
    sign_in(page, server, "Mia")
    expect_waiting(page, 6)

    def approve_three() -> None:
        page.goto(f"{server.base}/inbox")
        page.get_by_role("link", name=re.compile("together|×")).first.click()
        for box in page.get_by_role("checkbox").all()[:3]:
            box.check()
        page.get_by_role("button", name="Approve 3").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("All 3 decided")
        expect(page.locator(".items")).to_contain_text("goes to Hand at")

    approve_three()
    page.get_by_role("button", name="Undo all 3").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("All 3 taken back")
    expect_waiting(page, 6)
    approve_three()
    items = page.locator(".item")
    for n in range(3):
        expect(items.nth(n)).to_contain_text("Hand was told")
    expect(page.get_by_role("button", name=re.compile("^Undo"))).to_have_count(0)
    expect_waiting(page, 3)


def test_on_a_wide_page_the_next_request_opens_and_the_line_over_it_takes_the_last_decision_back(
    serve: Serve, fresh: Open
) -> None:
    page = fresh()
    server = opened(serve, page)
    give_with_note(page, "The first")
    first = page.url
    page.get_by_role("link", name=re.compile("^Refuse…")).click()
    page.get_by_label("Tell Collator").fill("It is only stained.")
    page.get_by_role("button", name=re.compile("^Refuse and tell")).click()
    line = page.locator("#held")
    expect(line).to_contain_text("You refused")
    expect(page.locator("article.card")).to_contain_text("Rebinding MS-14")
    expect(page).not_to_have_url(first)
    expect(page).to_have_url(re.compile(r"/inbox/[0-9a-f-]{36}$"))
    page.goto(f"{server.base}/work")  # it is there on every page
    expect(line).to_contain_text("goes to Collator at")
    line.get_by_role("button", name="Undo").click()
    page.wait_for_url(first)
    expect(page.locator("article.card")).to_contain_text("You began to write a refusal")
    page.get_by_role("link", name="Go on writing").click()
    expect(page.get_by_label("Tell Collator")).to_have_value("It is only stained.")
    page.get_by_role("button", name=re.compile("^Refuse and tell")).click()
    expect(line).to_contain_text("You refused")
    expect(line).to_contain_text("released")  # by itself, once its time has come
    expect(line.get_by_role("button")).to_have_count(0)


def test_on_a_narrow_page_the_receipt_stays_and_has_a_way_on(serve: Serve, fresh: Open) -> None:
    page = fresh(**NARROW)
    opened(serve, page)
    give_with_note(page, "The first")
    first = page.url
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator(".receipt").get_by_role("button", name="Undo")).to_be_visible()
    assert page.url == first
    page.get_by_role("link", name="Next that waits").click()
    expect(page.locator("article.card")).to_contain_text("Rebinding MS-14")
    expect(page.locator("#held")).to_contain_text("You approved")


def test_without_script_a_decision_is_taken_back_by_a_plain_form(serve: Serve, fresh: Open) -> None:
    page = fresh(java_script_enabled=False)
    opened(serve, page)
    give_with_note(page, "No script")
    page.get_by_role("button", name="Approve", exact=True).click()
    page.locator(".receipt").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    page.get_by_role("button", name="Approve", exact=True).click()
    page.wait_for_timeout(6000)
    page.locator(".receipt").get_by_role("button", name="Undo").click()  # the page does not know that it is too late
    expect(page.locator("article.card")).to_contain_text("It is too late to take it back")
    expect(page.locator(".receipt")).to_contain_text("released")
