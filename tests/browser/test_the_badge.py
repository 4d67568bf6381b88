"""The badge, the rows under it and the database say one number: after fan-out, decisions, stops and deadlines."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import Page, expect

from tests.browser.busy import SOON
from tests.browser.conftest import Open, Serve
from tests.browser.serving import Server
from tests.browser.walking import approve, expect_live, expect_waiting, give_errand, sign_in, unfold

pytestmark = pytest.mark.browser

APP = "tests.browser.busy:busy"
OPEN = """
SELECT count(*) FROM proposal JOIN person ON person.id = proposal.asked_of
WHERE person.name = ? AND proposal.status = 'Waiting' AND proposal.decided_at IS NULL
"""


def expect_one_number(page: Page, server: Server, name: str, number: int) -> None:
    """What lies in the database, the badge of a page that was open all the time, and the list as it is read anew."""
    deadline = time.monotonic() + 20
    while server.rows(OPEN, name) != [(number,)]:
        assert time.monotonic() < deadline, server.rows(OPEN, name)
        page.wait_for_timeout(50)
    expect_waiting(page, number)
    expect(page.locator(".req")).to_have_count(number)  # the list of this page, which the stream keeps
    page.reload()
    expect_waiting(page, number)
    expect(page.locator(".req")).to_have_count(number)
    expect(page.locator(".h1").first).to_contain_text(re.compile(rf"^{number or 'Nothing'} waits?\b"))
    expect_live(page)


def test_badge_rows_and_database_agree_after_fan_out_decisions_of_two_a_stop_and_deadlines(
    serve: Serve, fresh: Open
) -> None:
    server, pages, acts = serve(APP), {}, {}
    for name in ("Mia", "Noor"):
        acts[name] = fresh()
        sign_in(acts[name], server, name)
        pages[name] = fresh(storage_state=acts[name].context.storage_state())
        pages[name].goto(f"{server.base}/inbox")
        expect_live(pages[name])

    # Two people have work fanned out at once.
    give_errand(acts["Mia"], server.base, legs=20, notes=1)
    stopped = give_errand(acts["Mia"], server.base, legs=5, notes=2)
    give_errand(acts["Noor"], server.base, legs=6, notes=1)
    expect_one_number(pages["Mia"], server, "Mia", 30)
    expect_one_number(pages["Noor"], server, "Noor", 6)

    # Both decide.
    for name, times in (("Mia", 3), ("Noor", 2)):
        for _ in range(times):
            acts[name].goto(f"{server.base}/inbox")
            unfold(acts[name])
            acts[name].locator(".req").first.click()
            approve(acts[name])
    expect_one_number(pages["Mia"], server, "Mia", 27)
    expect_one_number(pages["Noor"], server, "Noor", 4)

    # A whole is stopped: what it asked is withdrawn.
    acts["Mia"].goto(f"{stopped}/stop")
    acts["Mia"].get_by_role("button", name=re.compile("^Stop")).click()
    expect_one_number(pages["Mia"], server, "Mia", 17)

    # What has a deadline comes and goes by itself.
    give_errand(acts["Mia"], server.base, legs=4, hasty=1)
    expect_waiting(pages["Mia"], 21)
    pages["Mia"].wait_for_timeout(SOON.total_seconds() * 1000)
    expect_one_number(pages["Mia"], server, "Mia", 17)
    expect_one_number(pages["Noor"], server, "Noor", 4)
