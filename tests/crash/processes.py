"""Starting, stopping and killing real processes from a test: see `tests.crash.worker`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Processes:
    """Forks a process for each order, from one that has imported everything. Ends them all with itself."""

    def __init__(self) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.worker"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._running: set[int] = set()

    def _say(self, order: dict[str, Any]) -> int:
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write(f"{json.dumps(order)}\n")
        self._parent.stdin.flush()
        return int(self._parent.stdout.readline())

    def start(self, what: str, **order: Any) -> int:
        """A process that does this; answers its id."""
        process = self._say({"run": what, **order})
        self._running.add(process)
        return process

    def wait(self, process: int) -> int:
        """Wait until it has ended; answers its exit code, or the signal it was ended by, negative."""
        ended = self._say({"wait": process})
        self._running.discard(process)
        return ended

    def stopped(self, process: int) -> None:
        """Wait until it has stopped."""
        assert self._say({"stopped": process}), "it ended, and never stopped"

    def goes_on(self, process: int) -> None:
        """Let a stopped process go on."""
        os.kill(process, signal.SIGCONT)

    def run(self, what: str, **order: Any) -> int:
        return self.wait(self.start(what, **order))

    def kill(self, process: int, sent: signal.Signals = signal.SIGKILL) -> None:
        os.kill(process, sent)

    def close(self) -> None:
        for process in list(self._running):
            self.kill(process)
            self.wait(process)
        assert self._parent.stdin is not None
        self._parent.stdin.close()
        self._parent.wait()
