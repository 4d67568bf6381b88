"""Pages of much: an inbox of 1,000, trees that are large or deep, and a result of 5 MB."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from playwright.sync_api import Browser, Page
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from bench.big_tree import BIG, DEEP, Shape, plant
from bench.web.browsing import Shop, heap, noted, shop, weigh
from bench.web.figures import Figure, part, table

PRESSED = """
() => new Promise((done) => addEventListener("keydown", (event) => {
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - event.timeStamp)));
}, { once: true, capture: true }))
"""
# Opens a branch of more than 200, of which a page at first shows some; answers how long that took until they were
# painted, and how many they are.
BRANCH = """
async () => {
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const rows = () => document.querySelectorAll('#rows > [role="row"]').length;
  const links = [...document.querySelectorAll("#rows [data-fold]")];
  const more = links.find((link) => /^show 200 more/.test(link.innerText));
  const before = rows(), began = performance.now();
  more.click();
  while (rows() < before + 100 && performance.now() - began < 20000) await painted();
  await painted();
  return [performance.now() - began, rows() - before];
}
"""
CAST = (("Foreman", "Do"), ("Hand", "Do"))
TREES = {"wide": BIG, "deep": DEEP}


def measure(browser: Browser, repeat: int) -> None:
    _inbox(browser, repeat)
    with shop(browser, [{"letters": 5_000_000, "about": "Heavy"}]) as opened:
        opened.settled()
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
        page.evaluate(f"() => {{ window.pressed = ({PRESSED})(); }}")  # not answered: it is kept until the key
        page.keyboard.press("j")
        found.append(float(page.evaluate("window.pressed")))
    return found


def _planted(opened: Shop, shape: Shape) -> UUID:
    [(mia,)] = opened.server.rows("SELECT id FROM person WHERE name = 'Mia'")
    engine = create_engine(f"sqlite:///{opened.server.file}", connect_args={"timeout": 30})
    with Session(engine) as session, session.begin():
        root = plant(session, shape, person=UUID(hex=str(mia)), name="Mia", cast=CAST, now=datetime.now(UTC))
    engine.dispose()
    return root


def _trees(opened: Shop) -> None:
    for name, shape in TREES.items():
        address = f"/work/{_planted(opened, shape)}"
        seen, branch = [], []
        for slower in (1, 4):
            with opened.page("Mia", slower) as page:
                page.goto("/health")
                found = noted(page, address)
                found["heap"] = heap(page)
                seen.append(found)
                if shape is BIG:
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
            figures.append(Figure("200 more of a branch", 400, "ms", *branch))
        print(table(f"a {name} tree of {shape.pieces:,} pieces, {shape.depth} deep", figures), end="\n\n")


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
