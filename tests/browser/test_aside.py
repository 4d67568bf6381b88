"""Handing a request over and setting it aside with keys, and finding it again."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open, Serve
from tests.browser.test_keys import strike
from tests.browser.walking import expect_waiting, give_with_note, sign_in

pytestmark = pytest.mark.browser


def test_a_request_is_handed_over_and_set_aside_by_keys_is_counted_no_more_and_is_found_and_brought_back(
    serve: Serve, fresh: Open
) -> None:  # P9
    server, page = serve(), fresh()
    sign_in(page, server, "Mia")
    give_with_note(page, "Not now")
    expect_waiting(page, 2)
    strike(page, "h")
    page.get_by_label("Hand over to").select_option(label="Noor, noor@bindery.test")
    page.get_by_role("button", name="Hand over").click()
    expect_waiting(page, 1)
    page.go_back()
    page.get_by_role("button", name="Take it back").click()
    expect_waiting(page, 2)
    strike(page, "s")
    page.get_by_role("button", name=re.compile("^Tomorrow morning")).click()
    expect_waiting(page, 1)
    page.get_by_text("1 set aside, not counted here").click()
    other = page.context.new_page()
    other.goto(f"{server.base}/work")
    give_with_note(other, "Arrives meanwhile")  # the list is told anew, and what was opened stays so
    expect_waiting(page, 2)
    page.locator("#aside").get_by_role("link", name=re.compile("^Proposal: Write on MS-13")).click()
    expect(page.locator("article.card")).to_contain_text("Collator still waits.")
    page.get_by_role("button", name="Back on the list").click()
    expect(page.locator("article.card")).not_to_contain_text("You set this aside")
    expect_waiting(page, 3)
