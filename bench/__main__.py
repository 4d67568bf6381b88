"""`python -m bench [WORKLOAD ...] [--on ENGINE] [--repeat N] [--profile]`: see `--help`."""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
from collections.abc import Sequence

from bench import profiling, runs
from bench.databases import postgresql_says
from bench.table import readings, table
from bench.workloads import WORKLOADS

STORES = ("sqlite", "postgresql")


def _tell(text: str) -> None:
    """How far it is, for whoever waits; not where the output is kept."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    listed = "; ".join(f"{workload.name}: {workload.says}" for workload in WORKLOADS.values())
    parser = argparse.ArgumentParser(prog="python -m bench", description=f"What the engine costs. {listed}.")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="the ones to run; all where none is named")
    parser.add_argument(
        "--on", action="append", choices=STORES, help="the store to run on; each that answers where none is named"
    )
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; the median is shown (3)")
    parser.add_argument(
        "--seconds", type=float, default=300, help="time to repeat in; each is run once however long it takes (300)"
    )
    parser.add_argument("--profile", action="store_true", help="show where each side's CPU goes instead of the table")
    parser.add_argument("--top", type=int, default=30, help="functions in a profile (30)")
    given = parser.parse_args(words)
    unknown = [name for name in given.workloads if name not in WORKLOADS]
    if unknown:
        parser.error(f"no workload {unknown[0]}; there are {', '.join(WORKLOADS)}")
    if given.repeat < 1:
        parser.error("--repeat is at least 1")
    if given.profile and not profiling.POSSIBLE:
        parser.error("--profile needs Python 3.11: later ones do not profile one thread apart from the others")
    given.workloads = given.workloads or list(WORKLOADS)
    return given


def _stores(wanted: Sequence[str] | None) -> list[str]:
    stores = list(dict.fromkeys(wanted or STORES))
    if "postgresql" in stores:
        says = postgresql_says()
        if says is None:
            stores.remove("postgresql")
        print(says or "No PostgreSQL answers here; it is left out.")
    return stores


def _profile(workloads: Sequence[str], stores: Sequence[str], top: int) -> None:
    for workload in workloads:
        for store in stores:
            for side in profiling.SIDES[store]:
                print(f"\n== {workload} on {store}: {side}, CPU seconds of its threads\n")
                print(runs.profile(store, workload, side, top))


def _measure(workloads: Sequence[str], stores: Sequence[str], repeat: int, seconds: float) -> None:
    load = os.getloadavg()[0]
    print(
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {os.cpu_count()} CPUs; "
        f"each run in a fresh process, {repeat} times at most: the median, the best in brackets.\n"
        "Milliseconds are for each model call; CPU is of this process, the server's apart. SQLite commits in full.\n"
        "floor: a bare loop with one durable row for each event. x floor: CPU against its CPU.\n"
    )
    summaries = runs.run_all(workloads, ["floor", *stores], repeat, seconds, _tell)
    _tell("")
    print(table(summaries))
    print(
        f"\nLoad of the machine: {load:.1f} before, {os.getloadavg()[0]:.1f} after. Above its CPUs, times are too long."
    )
    left_out = sum(repeat - len(summary.runs) for summary in summaries.values())
    if left_out:
        print(f"Time was up: {left_out} of {repeat * len(summaries)} runs were left out.")
    for store in stores:
        said = readings(summaries, store)
        print("".join(f"\n{store}: {line}" for line in said))


def main(words: Sequence[str] | None = None) -> int:
    given = _arguments(words)
    stores = _stores(given.on)
    try:
        if given.profile:
            _profile(given.workloads, stores, given.top)
        else:
            _measure(given.workloads, stores, given.repeat, given.seconds)
    except runs.RunFailed as error:
        print(f"\nA run failed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
