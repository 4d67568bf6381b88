"""What one run is measured by."""

from __future__ import annotations

import gc
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class Figures:
    """One run. Seconds and bytes; CPU is this process's, `loop_cpu` that of the event loop's thread alone."""

    engine: str
    workload: str
    wall: float = 0.0
    cpu: float = 0.0
    loop_cpu: float = 0.0
    commits: int = 0
    disk: int = 0
    peak: int = 0
    server_cpu: float | None = None  # of PostgreSQL's processes for this database, where they can be looked at


class Stopwatch:
    """Starts when made; `stop` writes what passed into the figures. Use it on the event loop's thread."""

    def __init__(self) -> None:
        gc.collect()
        self._began = self._now()

    @staticmethod
    def _now() -> tuple[float, float, float]:
        return time.perf_counter(), time.process_time(), time.thread_time()

    def stop(self, figures: Figures) -> None:
        now = self._now()
        figures.wall, figures.cpu, figures.loop_cpu = (end - begin for begin, end in zip(self._began, now, strict=True))


def peak_memory() -> int:
    """The most memory this process has had, in bytes. Linux says it of the program alone; elsewhere what was inherited
    from whoever started it counts too."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))
