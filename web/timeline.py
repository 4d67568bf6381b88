"""Stretches of time as they are drawn: where each begins and ends in hundredths of the axis, and its words.

Full is work, hollow is a person, a thin bar is an agent, dotted is a model, a hairline is the queue: shape and words
tell them apart, and the hue only comes third.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from core.values import Doing, Span

SHAPES: Mapping[Doing, tuple[str, int, int]] = {  # class, distance from above, height; of 32
    Doing.WORKS: ("w", 10, 12),
    Doing.MODEL: ("o", 12, 8),
    Doing.PERSON: ("m", 11, 10),
    Doing.AGENT: ("a", 14, 4),
    Doing.QUEUED: ("q", 16, 1),
    Doing.STOPPING: ("x", 10, 12),
    Doing.SILENT: ("s", 10, 12),
}
_STEPS = [
    *(timedelta(milliseconds=n) for n in (100, 200, 500)),
    *(timedelta(seconds=n) for n in (1, 2, 5, 10, 20, 30)),
    *(timedelta(minutes=n) for n in (1, 2, 5, 10, 15, 30)),
    *(timedelta(hours=n) for n in (1, 2, 4, 8, 12)),
    *(timedelta(days=n) for n in (1, 2, 7, 14, 30, 90, 365)),
]
TICKS = 7  # at most
Told = Literal["day", "minute", "second", "part"]
_TOLD: tuple[tuple[Told, timedelta, str], ...] = (  # from which step on
    ("day", timedelta(days=1), "%-d %b"),
    ("minute", timedelta(minutes=1), "%H:%M"),
    ("second", timedelta(seconds=1), "%H:%M:%S"),
    ("part", timedelta(0), "%H:%M:%S"),
)


@dataclass(frozen=True, slots=True)
class Drawn:
    kind: str
    y: int
    height: int
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Tick:
    """One mark of the axis: where it stands, and its time with how exactly it is told. The words are in UTC; the
    page's script says them in the reader's zone."""

    x: float
    at: datetime
    told: Told
    words: str


@dataclass(frozen=True, slots=True)
class Axis:
    """From when to when, and where it is marked."""

    start: datetime
    end: datetime

    @property
    def ticks(self) -> list[Tick]:
        step = next((step for step in _STEPS if self._length / step <= TICKS), _STEPS[-1])
        first = datetime(1970, 1, 1, tzinfo=UTC)
        at = first + (int((self.start - first) / step) + 1) * step
        told, form = next((told, form) for told, least, form in _TOLD if step >= least)
        found = []
        while at < self.end:
            words = at.strftime(form) + (f".{at.microsecond // 100_000}" if told == "part" else "")
            found.append(Tick(self.at(at), at, told, words))
            at += step
        return found

    @property
    def _length(self) -> timedelta:
        return max(self.end - self.start, timedelta(milliseconds=1))

    def at(self, moment: datetime) -> float:
        return round(100 * max(0.0, min(1.0, (moment - self.start) / self._length)), 3)

    def draw(self, spans: Iterable[Span]) -> list[Drawn]:
        """What is too short to be seen is a hairline."""
        drawn = []
        for span in spans:
            kind, y, height = SHAPES[span.what]
            x = self.at(span.start)
            drawn.append(Drawn(kind, y, height, x, max(0.15, self.at(span.end) - x)))
        return drawn
