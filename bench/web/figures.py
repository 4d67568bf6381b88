"""A figure with its goal, and the table they are printed in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """What was measured as it is (`plain`) and with the processor slowed (`slowed`), and what is aimed at, at most."""

    what: str
    goal: float
    unit: str
    plain: float
    slowed: float | None = None
    goal_plain: float | None = None  # where the goal above is for the slowed processor alone

    def row(self) -> tuple[str, ...]:
        most = self.goal if self.goal_plain is None else self.goal_plain
        goal = f"{self.goal:g}" if self.goal_plain is None else f"{self.goal_plain:g} / {self.goal:g}"
        held = self.plain <= most and (self.slowed is None or self.slowed <= self.goal)
        slowed = "" if self.slowed is None else _short(self.slowed)
        return self.what, f"{goal} {self.unit}".strip(), _short(self.plain), slowed, "" if held else "not reached"


def _short(value: float) -> str:
    if math.isnan(value):
        return "none"
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def part(values: Sequence[float], share: float) -> float:
    """The value that this share of them does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def table(head: str, figures: Sequence[Figure]) -> str:
    rows = [(head, "goal", "1x", "4x slower", ""), *(figure.row() for figure in figures)]
    widths = [max(len(row[n]) for row in rows) for n in range(5)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if n in (0, 4) else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
