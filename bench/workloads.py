"""The workloads, with the counts that each run of one is held to."""

from __future__ import annotations

from dataclasses import dataclass

from bench.script import Errand

WARM_UP = 24  # pieces at once, where a workload has many at once


@dataclass(frozen=True, slots=True)
class Workload:
    """Wholes to be done, one after another or `at_once`, and what they come to. `warm_up` is done first in the same
    way, unmeasured: wide enough for every connection of the store to have been used."""

    name: str
    says: str
    roots: tuple[Errand, ...]
    warm_up: tuple[Errand, ...]
    pieces: int
    calls: int
    tools: int
    at_once: bool = False


def _pairs(name: str, says: str, count: int, *, at_once: bool) -> Workload:
    return Workload(
        name,
        says,
        tuple(Errand(kind="pair", path=f"p{n}") for n in range(count)),
        tuple(Errand(kind="pair", path=f"w{n}") for n in range(WARM_UP if at_once else 3)),
        pieces=3 * count,
        calls=5 * count,
        tools=count,
        at_once=at_once,
    )


def _talk(turns: int) -> Workload:
    return Workload(
        f"H{turns}",
        f"one agent with {turns} tool turns",
        (Errand(kind="talk", path="h", fan=turns),),
        (Errand(kind="talk", path="w", fan=3),),
        pieces=1,
        calls=turns + 1,
        tools=turns,
    )


def _split(name: str, says: str, levels: int, fan: int) -> Workload:
    above, leaves = sum(fan**level for level in range(levels)), fan**levels
    return Workload(
        name,
        says,
        (Errand(kind="split", path="s", levels=levels, fan=fan),),
        (Errand(kind="split", path="w", levels=1, fan=WARM_UP),),
        pieces=above + leaves,
        calls=2 * (above + leaves),
        tools=leaves,
    )


WORKLOADS = {
    workload.name: workload
    for workload in (
        _pairs("W1", "40 pair trees, one after another", 40, at_once=False),
        _split("W2", "one planner with 64 pieces in one turn", 1, 64),
        _split("W3", "fan-out 8 on three levels", 3, 8),
        _pairs("W4", "200 pair trees at once", 200, at_once=True),
        _talk(25),
        _talk(100),
        _talk(400),
    )
}
