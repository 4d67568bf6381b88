"""Where the time goes: cProfile over some of a run's threads, and nothing of the others.

CPU time of the thread, not time passed: waiting for work, for the disk or for another thread counts nothing.
cProfile makes small functions look dearer than they are; measure what was changed without it.
"""

from __future__ import annotations

import cProfile
import io
import pstats
import sys
import threading
import time
from types import FrameType
from typing import Any

LOOP = "loop"
# What to look at, by the engine: the event loop's thread, and the store's threads by the beginning of their names.
SIDES = {
    "sqlite": {LOOP: "", "writer": "handon-writer", "readers": "handon-store"},
    "postgresql": {LOOP: "", "store": "handon-store"},
}
POSSIBLE = sys.version_info < (3, 12)  # later ones let a process have one profiler, which hears every thread


class Profile:
    """Of what one side does between `begin` and `end`. To be made before the threads it is to see are started."""

    def __init__(self, engine: str, side: str) -> None:
        self._threads = SIDES[engine][side]
        self._profiles: list[cProfile.Profile] = []
        if self._threads:
            threading.setprofile(self._on_thread)

    def _enable(self) -> None:
        profile = cProfile.Profile(time.thread_time)
        self._profiles.append(profile)
        profile.enable()

    def _on_thread(self, frame: FrameType, event: str, argument: Any) -> None:
        """Called in each new thread with the first thing that happens there; where it is one of ours, cProfile takes
        over from it."""
        sys.setprofile(None)
        if threading.current_thread().name.startswith(self._threads):
            self._enable()

    def begin(self) -> None:
        """Call on the event loop's thread, while the store's are idle."""
        if not self._threads:
            self._enable()
        for profile in self._profiles:
            profile.clear()

    def end(self) -> None:
        if not self._threads:
            self._profiles[0].disable()
        threading.setprofile(None)

    def report(self, top: int) -> str:
        """The dearest functions, by their own time and with what they call. Call once the store is closed."""
        if not self._profiles:
            return "Nothing ran there."
        out = io.StringIO()
        stats = pstats.Stats(*self._profiles, stream=out).strip_dirs()
        for order in ("tottime", "cumulative"):
            stats.sort_stats(order).print_stats(top)
        return out.getvalue().strip()
