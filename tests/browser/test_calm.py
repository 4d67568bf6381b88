"""Nothing moves under whoever reads, and nothing is decided by whoever types, while work goes on and requests come."""

from __future__ import annotations

import json
import random
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Serve
from tests.browser.serving import Server
from tests.browser.walking import expect_live, give_errand, sign_in, unfold
from tests.browser.watching import WATCH, delays, drift, follow, shifts

pytestmark = pytest.mark.browser

APP = "tests.browser.busy:busy"
STEADY = {"legs": 20, "looks": 40, "pause": 1600}  # some 20 lines a second
FIGURES = {"#text", "end"}  # what stands at the end of a line begins further left once it has a digit more
GROWS = 0.005  # of the view, that these may shift

Watched = tuple[Page, str]


def decided(server: Server) -> int:
    [(number,)] = server.rows("SELECT count(*) FROM proposal WHERE decided_at IS NOT NULL")
    return int(str(number))


def test_no_page_shifts_and_no_row_drifts_in_ten_seconds_of_twenty_changes_each(serve: Serve, fresh: Open) -> None:
    arriving = [{"legs": 2, "looks": looks, "notes": 1, "pause": 1000} for looks in range(4, 12)]
    errands = [{"legs": 30, "notes": 1, "about": "Waits"}, STEADY | {"about": "Steady"}, *arriving]
    server = serve(APP, HANDON_BUSY=json.dumps(errands))
    whole, now = fresh(base_url=server.base), fresh(base_url=server.base)
    sign_in(whole, server, "Mia")
    sign_in(now, server, "Noor")
    inbox = fresh(base_url=server.base, storage_state=whole.context.storage_state())
    for page in (whole, now, inbox):
        page.context.add_init_script(WATCH)
    whole.goto("/work")
    whole.get_by_role("link", name="Steady").click()
    whole.wait_for_url(re.compile("/work/[0-9a-f]"))
    whole.reload()
    now.goto("/now")
    inbox.goto("/inbox")
    unfold(inbox)
    before = int(inbox.locator("#badge").inner_text())
    rows: list[Watched] = [(whole, "#rows > :nth-child(9)"), (now, "#active tbody tr:nth-child(4)")]
    rows.append((inbox, ".reqs li li:nth-child(12) .req"))
    for page, _ in rows:
        expect_live(page)
    began = [follow(page, row) for page, row in rows]
    whole.wait_for_timeout(10_000)

    assert int(inbox.locator("#badge").inner_text()) > before
    for (page, _), since in zip(rows, began, strict=True):
        moved = shifts(page, since)
        assert [one for one in moved if not set(one[2].split()) <= FIGURES] == [], page.url
        assert sum(much for _, much, _ in moved) <= GROWS, page.url
        assert drift(page) <= 1, page.url
    late = delays(whole, server, whole.url.rsplit("/", 1)[1])
    assert len(late) > 100
    assert max(late) < 2000


STORM = [*"aaaaarejknuow19 A?", "Enter", "Enter", "Enter", "Escape", "Tab"]


def test_who_types_on_keeps_words_and_focus_and_decides_nothing_while_fifty_requests_come(
    serve: Serve, fresh: Open
) -> None:
    server, page = serve(APP), fresh()
    sign_in(page, server, "Mia")
    give_errand(page, server.base, notes=3, legs=1)
    other = page.context.new_page()
    page.goto(f"{server.base}/inbox")
    unfold(page)
    page.locator(".req").first.click()
    page.get_by_role("link", name="Refuse…").click()
    field = page.get_by_label("Tell Hand")
    field.click()
    for looks in range(1, 6):  # ten at a time
        give_errand(other, server.base, legs=10, looks=looks, notes=1, pause=400)
    page.bring_to_front()
    words = "as an apple a day keeps rejection away, never approve it 1 2 3 "
    typed = ""
    while int(page.locator("#badge").inner_text()) < 53 or len(typed) < 3 * len(words):
        page.keyboard.type(words, delay=10)
        typed += words
    expect(field).to_be_focused()
    expect(field).to_have_value(typed)
    assert decided(server) == 0

    # No field has the focus, and cards open under the fingers.
    storm = random.Random(3)
    page.goto(f"{server.base}/inbox")
    for round in range(6):
        for _ in range(40):
            page.keyboard.press(storm.choice(STORM))
            page.wait_for_timeout(storm.choice([0, 5, 15, 40]))
        page.goto(f"{server.base}/inbox")
        unfold(page)
        page.locator(".req").nth(7 * round).click()
    assert decided(server) == 0
