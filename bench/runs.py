"""Running workloads, each time in a fresh process, and what came of the repeats together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median

from bench.measure import Figures
from bench.workloads import WORKLOADS, Workload

Key = tuple[str, str]  # workload, engine


class RunFailed(Exception):
    """A run came to an error: its counts were not those of the workload, say."""


def _child(*arguments: str) -> str:
    # The app's own setting would take the place of the scratch database.
    environment = {name: value for name, value in os.environ.items() if name != "HANDON_DATABASE"}
    command = [sys.executable, "-m", "bench.child", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if ran.returncode != 0:
        raise RunFailed(f"{' '.join(arguments)}:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def profile(engine: str, workload: str, side: str, top: int) -> str:
    """The report of one profiled run."""
    return _child(engine, workload, side, str(top)).strip()


@dataclass(frozen=True, slots=True)
class Summary:
    """The repeats of one workload on one engine. A figure is their median; `best` is the least of them."""

    workload: Workload
    runs: tuple[Figures, ...]

    def median(self, of: Callable[[Figures], float]) -> float:
        return median(of(run) for run in self.runs)

    def best(self, of: Callable[[Figures], float]) -> float:
        return min(of(run) for run in self.runs)

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds per model call."""
        return self.median(lambda run: run.cpu) * 1000 / self.workload.calls

    @property
    def best_cpu_ms(self) -> float:
        return self.best(lambda run: run.cpu) * 1000 / self.workload.calls

    @property
    def disk(self) -> float:
        """Bytes in all."""
        return self.median(lambda run: run.disk)


def run_all(
    workloads: Sequence[str], engines: Sequence[str], repeat: int, seconds: float, tell: Callable[[str], None]
) -> dict[Key, Summary]:
    """Every workload on every engine, once at least and `repeat` times at most: a run that would not fit into
    `seconds`, by what its first one took, is left out. The engines take turns, so that what else the machine does
    meets them all. Raises RunFailed."""
    began = time.monotonic()
    took: dict[Key, float] = {}
    runs: dict[Key, list[Figures]] = {}
    for n in range(repeat):
        for key in product(workloads, engines):
            now = time.monotonic()
            if n > 0 and now - began + took[key] > seconds:
                continue
            tell(f"{' on '.join(key)}, {n + 1} of {repeat}")
            said = _child(key[1], key[0]).splitlines()[-1]
            runs.setdefault(key, []).append(Figures(**json.loads(said)))
            took.setdefault(key, time.monotonic() - now)
    return {key: Summary(WORKLOADS[key[0]], tuple(figures)) for key, figures in runs.items()}
