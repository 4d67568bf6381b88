"""More than one person, more than one tab, and more than one press."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.walking import WAITS, approve, expect_live, give_with_note, row, times_written

pytestmark = pytest.mark.browser


def test_whoever_decides_second_is_told_who_did_and_when(mias: Open) -> None:
    first, second = mias(), mias(java_script_enabled=False)
    whole = give_with_note(first, "Decided twice")
    second.goto(first.url)
    third = first.context.new_page()  # one more, whose page is live
    third.goto(first.url)
    expect_live(third)

    approve(first)
    expect(third.locator(".receipt")).to_contain_text("You approved")
    expect(third.get_by_role("button", name="Approve")).to_have_count(0)

    second.get_by_role("button", name="Approve", exact=True).click()
    told = second.locator("#card-note")
    expect(told).to_contain_text(re.compile(r"Already approved by Mia, \d\d:\d\d"))
    expect(told).to_contain_text("Your decision changed nothing.")
    assert times_written(second, whole) == 1


def test_the_master_sees_the_work_and_its_note_but_cannot_decide_it(mias: Open, noors: Open) -> None:
    mia, noor = mias(), noors()
    whole = give_with_note(mia, "Seen by the master")
    noor.goto("/work")
    expect(noor.locator("#badge")).to_be_hidden()
    noor.get_by_role("link", name=re.compile("Seen by the master")).click()
    expect(row(noor, "Collator")).to_contain_text("Waits for Mia")
    expect(row(noor, "Collator")).not_to_contain_text(WAITS)

    noor.goto(mia.url)
    expect(noor.locator(".card")).to_contain_text("Mia decides this.")
    expect(noor.get_by_role("button", name=re.compile("Approve|Refuse"))).to_have_count(0)
    token = noor.locator("input[name=_csrf_token]").first.get_attribute("value") or ""
    answer = noor.request.post(f"{mia.url}/approval", form={"_csrf_token": token})
    assert answer.status == 403
    expect(mia.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    assert times_written(noor, whole) == 0


def test_a_button_that_is_pressed_twice_gives_the_work_once(mias: Open) -> None:
    page = mias(java_script_enabled=False)
    page.goto("/work/new?agent=Planner&skill=PlanRebinding")
    page.get_by_label("Volume").select_option(label="MS-15")
    page.get_by_label("About").fill("Given by an eager hand")
    page.get_by_role("button", name="Give work").dblclick()
    page.wait_for_url(re.compile(r"/work/[0-9a-f-]{36}"))
    page.goto("/work?show=all")
    expect(page.get_by_role("link", name="Given by an eager hand")).to_have_count(1)
