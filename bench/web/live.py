"""Pages that are looked at while work goes on: how soon a line stands there, what shifts, how soon it is live again."""

from __future__ import annotations

import time

from playwright.sync_api import Browser, Page

from bench.web.browsing import Shop, shop
from bench.web.figures import Figure, part, table
from tests.browser.walking import give_errand, unfold
from tests.browser.watching import delays, drift, follow, shifts

LEGS, PAUSE = 20, 2000  # milliseconds: each leg writes two lines in so many, so all of them twenty a second
AWAY = 3  # seconds that the server is gone


def measure(browser: Browser, seconds: int) -> None:
    with shop(browser, [{"legs": 30, "notes": 1, "about": "Waits"}]) as opened:
        opened.settled()
        late = {slower: _late(opened, seconds, slower) for slower in (1, 4)}
        figures = [
            Figure(
                f"{name} of {len(late[1][0])} lines", goal, "ms", *(part(late[slower][0], share) for slower in (1, 4))
            )
            for name, share, goal in (("median", 0.5, 150), ("p95", 0.95, 500), ("longest", 1.0, 2000))
        ]
        print(table(f"commit to page, {seconds} s of 20 changes each", figures), end="\n\n")
        calm = [("/work/{id}", late[1][1]), *_calm(opened, seconds)]
        moved = [Figure(f"shift of {name}", 0.0049, "of the view", shift) for name, (shift, _) in calm]
        moved += [Figure(f"drift of a middle row of {name}", 1, "px", drifted) for name, (_, drifted) in calm]
        print(table(f"what moves by itself in {seconds} s", moved), end="\n\n")
        print(table("a server that comes back", [_back(opened)]), end="\n\n")


def _steady(opened: Shop, page: Page, seconds: int) -> str:
    return give_errand(
        page, opened.server.base, about="Steady", legs=LEGS, looks=seconds * 1000 // PAUSE + 4, pause=PAUSE
    )


def _live(page: Page) -> None:
    page.locator("#live[data-is=live]").wait_for()


def _late(opened: Shop, seconds: int, slower: int) -> tuple[list[float], tuple[float, float]]:
    with opened.page("Mia", slower) as page:
        root = _steady(opened, page, seconds).rsplit("/", 1)[1]
        _live(page)
        page.locator("#rows [data-piece]").nth(LEGS).wait_for()
        since = follow(page, "#rows > :nth-child(10)")
        page.wait_for_timeout(seconds * 1000)
        found = delays(page, opened.server, root), (sum(much for _, much, _ in shifts(page, since)), drift(page))
    opened.settled()
    return found


def _calm(opened: Shop, seconds: int) -> list[tuple[str, tuple[float, float]]]:
    with opened.page("Noor") as now, opened.page("Mia") as inbox, opened.page("Mia") as giver:
        _steady(opened, giver, seconds)
        for looks in range(2, 10):
            give_errand(giver, opened.server.base, legs=2, looks=looks, notes=1, pause=seconds * 100)
        giver.goto("about:blank")
        watched = [(now, "/now", "#active tbody tr:nth-child(4)"), (inbox, "/inbox", ".reqs li li:nth-child(12) .req")]
        began = []
        for page, address, row in watched:
            page.goto(address)
            _live(page)
            unfold(page)
            began.append(follow(page, row))
        inbox.wait_for_timeout(seconds * 1000)
        found = [
            (address, (sum(much for _, much, _ in shifts(page, since)), drift(page)))
            for (page, address, _), since in zip(watched, began, strict=True)
        ]
    opened.settled()
    return found


def _back(opened: Shop) -> Figure:
    with opened.page("Mia") as page:
        page.goto("/inbox")
        _live(page)
        opened.server.kill()
        page.locator("#live:not([data-is=live])").wait_for()
        time.sleep(AWAY)
        opened.server.start()  # answers once the server does
        began = time.monotonic()
        _live(page)
        return Figure("live again", 2000, "ms", (time.monotonic() - began) * 1000)
