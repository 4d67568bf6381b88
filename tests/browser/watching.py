"""What a page does while nobody touches it: which lines it shows and when, what shifts, and whether a row drifts.

Give `WATCH` to a page as an init script; the functions read what it noted.
"""

from __future__ import annotations

from typing import Any, cast

from playwright.sync_api import Page

from tests.browser.serving import Server

WATCH = """
(() => {
  const seen = window.watched = { lines: [], shifts: [], drift: null };
  const numbers = () => [...document.querySelectorAll("#lines > li")].map((line) => Number(line.id.slice(2)));
  let last = "";
  const look = () => {
    const now = numbers(), said = now.join();
    if (said !== last) seen.lines.push([Date.now(), now]);
    last = said;
  };
  document.addEventListener("DOMContentLoaded", () => {
    look();
    const what = { childList: true, subtree: true, attributes: true, attributeFilter: ["id"] };
    new MutationObserver(look).observe(document.body, what);
  });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.hadRecentInput) continue;
      const who = entry.sources.map(({ node }) => node?.id || node?.className || node?.nodeName || "?");
      seen.shifts.push([entry.startTime, entry.value, who.join(" ")]);
    }
  }).observe({ type: "layout-shift", buffered: true });
})();
"""

FOLLOW = """
(selector) => {
  const row = document.querySelector(selector), top = () => row.getBoundingClientRect().top, began = top();
  window.watched.drift = 0;
  const look = () => {
    window.watched.drift = row.isConnected ? Math.max(window.watched.drift, Math.abs(top() - began)) : Infinity;
    requestAnimationFrame(look);
  };
  look();
  return performance.now();
}
"""


def follow(page: Page, selector: str) -> float:
    """Watch where that element stands from now on; answers the page's time."""
    return cast(float, page.evaluate(FOLLOW, selector))


def drift(page: Page) -> float:
    """The most pixels it was away from where it stood."""
    return cast(float, page.evaluate("window.watched.drift"))


def shifts(page: Page, since: float = 0) -> list[Any]:
    """What shifted by itself since then: when, how much of the view, and what."""
    return cast(list[Any], page.evaluate("(since) => window.watched.shifts.filter(([at]) => at >= since)", since))


def shown(page: Page) -> list[tuple[int, list[int]]]:
    """The numbers of the lines at the foot of a whole's page, each time they changed, with the time in ms."""
    return [(int(at), numbers) for at, numbers in page.evaluate("window.watched.lines")]


def delays(page: Page, server: Server, root: str) -> list[float]:
    """For each line that came while the page looked on: milliseconds from when its transaction began until it, or a
    later one, stood on the page."""
    written = {
        int(str(n)): int(str(at)) / 1000
        for n, at in server.rows("SELECT n, at FROM line WHERE root = ?", root.replace("-", ""))
    }
    changes, found = shown(page), []
    told = changes[0][1][-1] if changes[0][1] else 0
    for at, numbers in changes[1:]:
        found += [at - written[n] for n in range(told + 1, numbers[-1] + 1)]
        told = max(told, numbers[-1])
    return found
