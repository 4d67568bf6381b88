"""Every page: how soon its first byte and its paints come, and what it weighs."""

from __future__ import annotations

from playwright.sync_api import Browser

from bench.web.browsing import Weight, noted, shop, weigh
from bench.web.figures import Figure, part, table

ERRANDS = (
    {"legs": 50, "notes": 1, "about": "Waits"},  # an inbox of 50
    {"wide": 10, "legs": 29, "looks": 1, "about": "Three hundred"},  # a tree of 311 rows
)

# A page is one line here: who looks at it, and where. {waits}, {big} and {card} are the fixture's own.
PAGES = {
    "/inbox": ("Mia", "/inbox"),
    "/inbox/{id}": ("Mia", "/inbox/{card}"),
    "/inbox/{id}/edit": ("Mia", "/inbox/{card}/edit"),
    "/inbox/{id}/rule": ("Mia", "/inbox/{card}/rule"),
    "/inbox/batch, 50": ("Mia", "/inbox/batch?in={waits}&agent=Hand&action=write_note"),
    "/inbox/answered": ("Mia", "/inbox/answered"),
    "/inbox/standing": ("Mia", "/inbox/standing"),
    "/work": ("Mia", "/work?show=all"),
    "/work/{id}": ("Mia", "/work/{waits}"),
    "/work/{id}, 300 rows": ("Mia", "/work/{big}"),
    "/work/{id}/list, 300 rows": ("Mia", "/work/{big}/list"),
    "/work/{id}/record": ("Mia", "/work/{big}/record"),
    "/work/new": ("Mia", "/work/new?agent=Foreman&skill=Do"),
    "/now": ("Noor", "/now"),
    "/waits": ("Noor", "/waits"),
    "/abandoned": ("Noor", "/abandoned"),
    "/money": ("Noor", "/money"),
    "/money/calls": ("Noor", "/money/calls"),
    "/map": ("Noor", "/map"),
    "/map?view=list": ("Noor", "/map?view=list"),
    "/map?at={version}": ("Noor", "/map?at=1"),
    "/map/compare": ("Noor", "/map/compare"),
    "/agents/{name}": ("Noor", "/agents/Hand"),
    "/stop": ("Noor", "/stop"),
    "/health": ("Noor", "/health"),
    "/help/keys": ("Mia", "/help/keys"),
}
BYTE, LARGEST, FIRST, FIRST_PLAIN = 120, 1200, 800, 300  # milliseconds
HTML, CSS, JS, REQUESTS = 40.0, 12.0, 25.0, 8  # kilobytes compressed


def measure(browser: Browser, repeat: int) -> None:
    with shop(browser, ERRANDS) as opened:
        opened.settled()
        [(card,), *_] = opened.server.rows("SELECT id FROM proposal ORDER BY id")
        places = {"waits": opened.whole("Waits"), "big": opened.whole("Three hundred"), "card": str(card)}
        bytes_, first, largest, weights = [], [], [], dict[str, Weight]()
        for name, (who, pattern) in PAGES.items():
            address = pattern.format(**places)
            seen = {}
            for slower in (1, 4):
                with opened.page(who, slower) as page:
                    page.goto("/health")  # its style and scripts are kept from here on, as by anybody who was here once
                    seen[slower] = [noted(page, address) for _ in range(repeat)]
            with opened.page(who) as page:
                weights[name] = weigh(page, address)
            plain, slowed = seen[1], seen[4]
            bytes_.append(Figure(name, BYTE, "ms", part([one["byte"] for one in plain], 0.95)))
            for key, goal, goal_plain, into in (
                ("first", FIRST, FIRST_PLAIN, first),
                ("largest", LARGEST, None, largest),
            ):
                values = [part([one[key] for one in runs], 0.75) for runs in (plain, slowed)]
                into.append(Figure(name, goal, "ms", *values, goal_plain))
        print(table(f"first byte, p95 of {repeat}", bytes_), end="\n\n")
        print(table(f"first paint of content, p75 of {repeat}", first), end="\n\n")
        print(table(f"largest paint, p75 of {repeat}", largest), end="\n\n")
        heaviest = []
        for what, goal, unit in (("html", HTML, "KB"), ("css", CSS, "KB"), ("js", JS, "KB")):
            most = max(weights, key=lambda name: getattr(weights[name], what))
            heaviest.append(Figure(f"{what}, the heaviest: {most}", goal, unit, getattr(weights[most], what) / 1000))
        busiest = max(weights, key=lambda name: weights[name].requests)
        heaviest.append(Figure(f"requests, the most: {busiest}", REQUESTS, "", weights[busiest].requests))
        heaviest.append(Figure("foreign hosts", 0, "", len(set().union(*(one.foreign for one in weights.values())))))
        print(table("what a page weighs, compressed, nothing kept", heaviest), end="\n\n")
