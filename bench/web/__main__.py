"""`python -m bench.web [PART ...]`: see `--help`. Prints; writes nothing."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence

from playwright.sync_api import sync_playwright

from bench.web import big, live, pages
from bench.web.browsing import chromium

PARTS = {
    "pages": "every page: first byte, paints, weight",
    "live": "a live page at 20 changes a second: commit to page, shift, drift; and a server that comes back",
    "big": "an inbox of 1,000, a tree of 10,000 pieces, one 120 deep, a result of 5 MB",
}


def main(words: Sequence[str] | None = None) -> int:
    listed = "; ".join(f"{name}: {says}" for name, says in PARTS.items())
    parser = argparse.ArgumentParser(prog="python -m bench.web", description=f"What the pages cost. {listed}.")
    parser.add_argument("parts", nargs="*", metavar="PART", help="the ones to measure; all where none is named")
    parser.add_argument("--repeat", type=int, default=10, help="loads of each page (10)")
    parser.add_argument("--seconds", type=int, default=60, help="of live pages (60)")
    given = parser.parse_args(words)
    unknown = [name for name in given.parts if name not in PARTS]
    if unknown or given.repeat < 1 or given.seconds < 5:
        parser.error(f"no part {unknown[0]}; there are {', '.join(PARTS)}" if unknown else "that is too few")
    chosen = given.parts or list(PARTS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        print(
            f"Chromium {browser.version}, Python {platform.python_version()}, {os.cpu_count()} CPUs, SQLite. "
            f"Load of the machine: {os.getloadavg()[0]:.1f} before.\n"
        )
        if "pages" in chosen:
            pages.measure(browser, given.repeat)
        if "live" in chosen:
            live.measure(browser, given.seconds)
        if "big" in chosen:
            big.measure(browser, given.repeat)
        browser.close()
    print(f"Load of the machine: {os.getloadavg()[0]:.1f} after. Above its CPUs, times are too long.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
