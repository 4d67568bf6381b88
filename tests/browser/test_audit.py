"""An auditor's story: all records verified, a line found, and its hash made anew in the browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.test_keys import strike
from tests.browser.test_on_a_phone import PHONE, expect_fit
from tests.browser.walking import approve, give_with_note

pytestmark = pytest.mark.browser


def test_an_auditor_verifies_everything_finds_a_decision_and_checks_its_hash(mias: Open, noors: Open) -> None:
    mia = mias()
    give_with_note(mia, "For the auditor")
    approve(mia)

    page = noors()
    page.goto("/work")
    strike(page, "g")
    page.keyboard.press("a")
    page.wait_for_url(re.compile(r"/audit$"))
    page.get_by_role("button", name=re.compile("^Verify")).click()
    expect(page.locator("#proof")).to_contain_text("Every record was read again")

    page.get_by_label("Kind of line").select_option("decided")
    page.get_by_label("Find in what lines say").fill("write on ms-13")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_role("link", name=re.compile("^line ")).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Line")
    page.get_by_role("button", name="Check in my browser").click()
    expect(page.locator("[data-proof] [role=status]")).to_contain_text("It fits: SHA-256")
    page.evaluate("document.getElementById('said').textContent += ' '")
    page.get_by_role("button", name="Check in my browser").click()
    expect(page.locator("[data-proof] [role=status]")).to_contain_text("It does not fit")

    with page.expect_download() as download:
        page.get_by_role("link", name="export it").click()
    assert re.fullmatch(r"record-[0-9a-f-]{36}\.jsonl", download.value.suggested_filename)


def test_the_pages_of_an_auditor_fit_a_phone(mias: Open, noors: Open) -> None:
    mia = mias()
    give_with_note(mia, "For the auditor, on a phone")
    root = mia.url
    page = noors(**PHONE)
    for address in ("/audit", "/audit?q=nothing", "/audit?since=soon", "/now"):
        expect_fit(page, address)
    page.goto("/audit")
    address = page.locator(".lines .n").first.get_attribute("href") or ""
    expect_fit(page, address)
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto("/audit")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320, root
