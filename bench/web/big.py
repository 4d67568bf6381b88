"""Pages of much: an inbox of 1,000, trees that are large or deep, and a result of 5 MB."""

from __future__ import annotations

import time

from playwright.sync_api import Browser, Page

from bench.web.browsing import Shop, heap, noted, shop, weigh
from bench.web.figures import Figure, part, table

PRESSED = """
() => new Promise((done) => addEventListener("keydown", (event) => {
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - event.timeStamp)));
}, { once: true, capture: true }))
"""
# Opens the first branch that is shut, or shuts and opens the first there is; answers when its rows are painted.
BRANCH = """
async () => {
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const rows = () => document.querySelectorAll("#rows [data-piece]:not([hidden])").length;
  const find = (open) => [...document.querySelectorAll(`#rows [aria-level="2"][aria-expanded="${open}"]`)][0];
  if (!find("false")) { find("true").querySelector("[data-fold]").click(); await painted(); }
  const before = rows(), began = performance.now();
  find("false").querySelector("[data-fold]").click();
  while (rows() < before + 100 && performance.now() - began < 60000) await painted();
  await painted();
  return [performance.now() - began, rows() - before];
}
"""


def measure(browser: Browser, repeat: int) -> None:
    _inbox(browser, repeat)
    errands = [
        {"wide": 50, "legs": 199, "about": "Ten thousand"},
        {"deep": 119, "legs": 1, "about": "Deep"},
        {"letters": 5_000_000, "about": "Heavy"},
    ]
    with shop(browser, errands) as opened:
        began = time.monotonic()
        opened.settled()
        print(f"The fixture of these trees took {time.monotonic() - began:.0f} s.\n")
        _trees(opened)
        _heavy(opened)


def _inbox(browser: Browser, repeat: int) -> None:
    errands = [{"legs": 200, "notes": 1, "about": f"Batch {n}"} for n in range(5)]
    with shop(browser, errands) as opened:
        opened.settled()
        first, pressed = [], []
        for slower in (1, 4):
            with opened.page("Mia", slower) as page:
                page.goto("/health")
                first.append(part([noted(page, "/inbox")["first"] for _ in range(repeat)], 0.75))
                assert page.locator("#badge").inner_text().replace("\u202f", "") == "1000"
                pressed.append(part(_presses(page), 0.75))
        figures = [Figure("first paint", 800, "ms", *first), Figure("j to paint", 50, "ms", *pressed)]
        print(table(f"an inbox of 1,000, p75 of {repeat}", figures), end="\n\n")


def _presses(page: Page, times: int = 20) -> list[float]:
    page.wait_for_timeout(900)  # keys are dead for a moment
    found = []
    for _ in range(times):
        page.evaluate(f"window.pressed = ({PRESSED})()")
        page.keyboard.press("j")
        found.append(float(page.evaluate("window.pressed")))
    return found


def _trees(opened: Shop) -> None:
    for about, pieces in (("Ten thousand", 10_001), ("Deep", 121)):
        address = f"/work/{opened.whole(about)}"
        seen, branch = [], []
        for slower in (1, 4):
            with opened.page("Mia", slower) as page:
                page.goto("/health")
                found = noted(page, address)
                found["heap"] = heap(page)
                seen.append(found)
                if about == "Ten thousand":
                    took, rows = page.evaluate(BRANCH)
                    branch.append(took if rows >= 100 else float("nan"))
        with opened.page("Mia") as page:
            weight = weigh(page, address)
        figures = [
            Figure("first byte", 120, "ms", seen[0]["byte"]),
            Figure("first paint", 1000, "ms", *(one["first"] for one in seen)),
            Figure("html, compressed", 40, "KB", weight.html / 1000),
            Figure("elements", 30_000, "", seen[0]["nodes"]),
            Figure("heap", 120, "MB", seen[0]["heap"]),
        ]
        if branch:
            figures.append(Figure("a branch of 199 opened", 400, "ms", *branch))
        [(count,)] = opened.server.rows("SELECT count(*) FROM piece WHERE root = ?", address[6:].replace("-", ""))
        print(table(f"a tree of {count:,} pieces ({about.lower()})", figures), end="\n\n")
        assert int(str(count)) >= pieces


def _heavy(opened: Shop) -> None:
    address = f"/work/{opened.whole('Heavy')}"
    with opened.page("Mia") as page:
        weight = weigh(page, address)
        raw = len(page.content())
    seen = []
    for slower in (1, 4):
        with opened.page("Mia", slower) as page:
            page.goto("/health")
            seen.append(noted(page, address))
    figures = [
        Figure("first paint", 1000, "ms", *(one["first"] for one in seen)),
        Figure("html, compressed", 40, "KB", weight.html / 1000),
        Figure("html, as it is read", 500, "KB", raw / 1000),
    ]
    print(table("a whole whose result is 5 MB", figures), end="\n\n")
