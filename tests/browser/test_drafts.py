"""What somebody writes is kept while they write, and nothing that arrives meanwhile touches it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.walking import give_with_note

pytestmark = pytest.mark.browser


def test_a_reason_survives_what_arrives_and_is_there_in_another_browser(mias: Open) -> None:
    page, other = mias(), mias()
    give_with_note(page, "Half refused")
    page.get_by_role("link", name=re.compile("^Refuse…")).click()
    field = page.get_by_label("Tell Collator")
    field.press_sequentially("The stub is still")
    give_with_note(other, "Arrived meanwhile")
    expect(page.locator("#waits")).to_contain_text("Arrived meanwhile")
    expect(field).to_be_focused()
    expect(field).to_have_value("The stub is still")
    field.press_sequentially(" there")
    expect(page.get_by_text("Kept as a draft.")).to_be_visible()

    other.goto(page.url.replace("/refusal", ""))
    other.get_by_role("link", name="Go on writing").click()
    expect(other.get_by_label("Tell Collator")).to_have_value("The stub is still there")
