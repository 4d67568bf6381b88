"""Processes to be killed: `python -m tests.crash.worker` imports everything once and forks a process for each order.

Orders come as JSON, a line each, and are answered likewise: `{"run": what, ...}` with the new process's id,
`{"wait": id}` with how it ended, `{"stopped": id}` once it has stopped. A process does what its order says in a
database that others use too, and kills or stops itself at the point that is named: before or after the n-th commit it
makes, or after the n-th line of a kind that it adds to the ledger.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import random
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from core.sql import Statement
from core.tables import whole
from handon import Agency
from handon.testing import TestClock
from tests.crash import yard
from tests.crash.stories import STORIES, Ledger

AT_MOST = 120  # seconds a process lives, whatever happens to whoever started it

GOING = Statement(select(func.count().label("n")).select_from(whole).where(whole.c.ended_at.is_(None)))

Order = Mapping[str, Any]


def watch(agency: Agency, order: Order) -> None:
    """A commit for each function, and the signal at its point, if one is named."""
    agency.store.shared_commit = 1
    agency.store.stalled_after = order.get("stalled_after", agency.store.stalled_after)
    if "at" in order:
        at, sent = tuple(order["at"]), signal.Signals[order.get("signal", "SIGKILL")]

        def point(when: str, number: int) -> None:
            if (when, number) == at:
                os.kill(os.getpid(), sent)

        agency.store.watch = Ledger.now.watch = point


def settings_of(order: Order) -> dict[str, Any]:
    """Of the agency: as they are, and under `quick` times in milliseconds."""
    quick = {name: timedelta(milliseconds=ms) for name, ms in order.get("quick", {}).items()}
    return quick | order.get("settings", {})


async def tell(order: Order) -> None:
    """Play a story to its end, or as far as the process comes."""
    Ledger.opens(Path(order["ledger"]))
    agency = STORIES[order["story"]].agency(order["database"], clock=TestClock(), **settings_of(order))
    watch(agency, order)
    async with agency:
        await STORIES[order["story"]].play(agency, order["key"])
    Ledger.now.add("commits", str(agency.store.commits))


async def go_on(order: Order) -> None:
    """Go on with what another process left."""
    Ledger.opens(Path(order["ledger"]))
    clock = TestClock()
    agency = STORIES[order["story"]].agency(order["database"], clock=clock, **settings_of(order))
    watch(agency, order)
    async with agency:
        await STORIES[order["story"]].go_on(agency, clock, order["key"])


async def serve(order: Order) -> None:
    """Run a yard with others: give the work named, decide what waits, and leave when told to."""
    Ledger.opens(Path(order["ledger"]))
    agency = yard.yard(order["database"], order["plan"], **settings_of(order))
    leaving = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, leaving.set)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    draw = random.Random(order.get("seed"))
    keys = list(order.get("keys", ()))
    async with agency:
        Ledger.now.add("open", str(os.getpid()))
        acting = [lambda: give_up_to(agency, order, keys)]
        for desk in await yard.desks(agency):
            if order["decides"] == "at random":
                acting.append(lambda desk=desk: yard.decide_at_random(desk, draw))  # type: ignore[misc]
            elif order["decides"] == "all":
                acting.append(lambda desk=desk: yard.decide_all(desk))  # type: ignore[misc]
        async with asyncio.TaskGroup() as group:
            for act in acting:
                group.create_task(again_and_again(act, leaving))


async def give_up_to(agency: Agency, order: Order, keys: list[str]) -> None:
    """Give the next of the work, as long as no more than `at_once` is under way."""
    going = await agency.store.read(lambda tx: tx.one(GOING).n)
    for key in keys[: max(order["at_once"] - going, 0)]:
        await yard.give(agency, key, order.get("on"))
        keys.remove(key)


async def again_and_again(act: Callable[[], Awaitable[Any]], leaving: asyncio.Event) -> None:
    while not leaving.is_set():
        await act()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(leaving.wait(), 0.05)


WORK: dict[str, Callable[[Order], Awaitable[None]]] = {"tell": tell, "go_on": go_on, "serve": serve}


def _child(order: Order) -> int:
    signal.alarm(AT_MOST)
    try:
        asyncio.run(WORK[order["run"]](order))  # type: ignore[arg-type]
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        return 1
    return 0


def main() -> None:
    gc.freeze()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # kept for a process until it listens
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            _, status = os.waitpid(order["wait"], 0)
            answer = os.waitstatus_to_exitcode(status)
        elif "stopped" in order:
            _, status = os.waitpid(order["stopped"], os.WUNTRACED)
            answer = int(os.WIFSTOPPED(status))
        else:
            answer = os.fork()
            if answer == 0:
                os._exit(_child(order))
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
