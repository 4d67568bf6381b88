"""With JavaScript switched off: the same acts by plain forms and links."""

from __future__ import annotations

import re
import sqlite3

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Serve
from tests.browser.serving import Server
from tests.browser.walking import approve, give_errand, give_with_note, reload_until, row, sign_in, times_written

pytestmark = pytest.mark.browser


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


def test_what_was_put_to_somebody_who_has_left_is_taken_over_by_the_sponsor_by_a_plain_form(
    serve: Serve, fresh: Open
) -> None:  # R10, P9
    server = serve()
    mia, noor = fresh(java_script_enabled=False), fresh(java_script_enabled=False)
    sign_in(mia, server, "Mia")
    mia.goto(f"{server.base}/work")
    whole = give_with_note(mia, "Left behind")
    card = mia.url
    with sqlite3.connect(server.file) as database:
        database.execute("UPDATE person SET deactivated_at = 1 WHERE name = 'Mia'")
    sign_in(noor, server, "Noor")
    noor.goto(card)
    expect(noor.locator(".card")).to_contain_text("This was put to Mia, whose account was deactivated.")
    noor.get_by_role("button", name="Take over").click()
    noor.get_by_role("button", name="Approve", exact=True).click()
    expect(noor.locator(".receipt")).to_contain_text("You approved")
    assert times_written(noor, whole) == 1
    assert server.rows("SELECT count(*) FROM line WHERE kind = 'taken over'") == [(1,)]


def open_first(page: Page, server: Server) -> None:
    page.goto(f"{server.base}/inbox")
    page.locator(".req").first.click()


def test_a_question_a_standing_rule_and_a_branch_that_is_stopped_by_plain_forms(serve: Serve, fresh: Open) -> None:
    server, page = serve("tests.browser.busy:busy"), fresh(java_script_enabled=False)
    sign_in(page, server, "Mia")

    # One question is answered with a choice, one declined with a reason.
    asked = give_errand(page, server.base, legs=1, asks=2)
    reload_until(page, "Hand", "Waits for you")
    open_first(page, server)
    page.get_by_label("left").check()
    page.get_by_role("button", name="Send answer").click()
    expect(page.locator(".receipt")).to_contain_text("You answered")
    open_first(page, server)
    page.get_by_role("link", name="I cannot say…").click()
    page.get_by_label("Tell Hand").fill("Ask Noor.")
    page.get_by_role("button", name="Tell Hand").click()
    expect(page.locator(".card")).to_contain_text("Ask Noor.")
    page.goto(asked)
    reload_until(page, "Foreman", "Done")

    # From now on, alone: tried first, given with an approval, used by the next, and revoked.
    give_errand(page, server.base, legs=1, notes=1)
    reload_until(page, "Hand", "Waits for you")
    open_first(page, server)
    page.get_by_role("link", name="From now on, alone…").click()
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#would")).to_contain_text(re.compile(r"\w"))
    page.get_by_role("button", name="Approve, and give this rule").click()
    alone = give_errand(page, server.base, legs=1, notes=1)
    reload_until(page, "Foreman", "Done")
    page.goto(f"{alone}/record")
    expect(page.locator(".lines")).to_contain_text("standing rule")
    page.goto(f"{server.base}/inbox/standing")
    page.get_by_role("link", name=re.compile("Revoke")).click()
    page.get_by_role("button", name=re.compile("Revoke")).click()
    whole = give_errand(page, server.base, legs=3, notes=1)
    reload_until(page, "Hand", "Waits for you")

    # One of three branches is stopped; the others wait on.
    branch = row(page, "Hand").first.get_attribute("data-piece")
    page.goto(f"{whole}/stop?piece={branch}")
    page.get_by_label("Reason").fill("Two are enough.")
    page.get_by_role("button", name="Stop this piece").click()
    expect(page.locator(f"#p-{branch}")).to_contain_text("Called off")
    expect(row(page, "Hand").filter(has_text="Waits for you")).to_have_count(2)
    page.goto(f"{server.base}/inbox")
    expect(page.locator(".req")).to_have_count(2)
