"""With JavaScript switched off: the same acts by plain forms and links."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.walking import approve, give_with_note, reload_until, times_written

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture
def plain(mias: Open) -> Open:
    return lambda: mias(java_script_enabled=False)


def test_work_is_given_and_its_note_approved_by_plain_forms(plain: Open) -> None:
    page = plain()
    whole = give_with_note(page, "Plainly approved")
    expect(page.locator("#live")).to_be_hidden()  # never called live where it is not
    approve(page)
    page.get_by_role("link", name="see the work go on").click()
    reload_until(page, "Planner", "Done")
    assert times_written(page, whole) == 1


def test_a_note_is_refused_with_a_reason_by_plain_forms(plain: Open) -> None:
    page = plain()
    whole = give_with_note(page, "Plainly refused")
    page.get_by_role("link", name="Refuse…").click()
    page.get_by_label("Tell Collator").fill("I know; it is being mended.")
    page.get_by_role("button", name="Refuse and tell Collator").click()
    expect(page.locator(".receipt")).to_contain_text("You refused")
    expect(page.locator(".card")).to_contain_text("I know; it is being mended.")
    page.goto(whole)
    reload_until(page, "Planner", "Done")
    assert times_written(page, whole) == 0


def test_an_argument_is_changed_before_it_runs_by_a_plain_form(plain: Open) -> None:
    page = plain()
    give_with_note(page, "Plainly changed")
    page.get_by_role("link", name="Edit…").click()
    page.get_by_role("textbox", name="Note").fill("Leaf 77 gone")
    page.get_by_role("button", name="Approve with these changes").click()
    expect(page.locator(".receipt")).to_contain_text("You approved, with changes")
    expect(page.locator(".card ins")).to_have_text("Leaf 77 gone")
