"""The server of a story: a process of its own, started as a person starts it, whose printed links are read."""

from __future__ import annotations

import os
import queue
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"Sign in as (\w+):\s+(http://\S+)")
BINDERY = "tests.browser.at_once:bindery"
HELD = "examples.bindery:bindery"  # as it is: a decision can be taken back for five seconds
PATIENCE = 40.0  # seconds for a start on a busy machine


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Server:
    """`handon serve` on a free port, which stays the same when it is started again, and on a database file."""

    def __init__(
        self, folder: Path, app: str = BINDERY, pace: float = 0, environment: Mapping[str, str] | None = None
    ) -> None:
        self.file = folder / "shop.db"
        self.base = ""
        self.links: dict[str, str] = {}
        self.said: list[str] = []  # everything it printed
        self._port = free_port()
        self._app = app
        self._pace = pace
        self._environment = dict(environment or {})
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> Server:
        """Start it, and read the links it prints for each person."""
        self.base, self.links = f"http://127.0.0.1:{self._port}", {}
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "web.cli", "serve", self._app, "--demo"),
                *("--port", str(self._port), "--database", f"sqlite:///{self.file}"),
            ],
            cwd=ROOT,
            env=os.environ
            | {"HANDON_DEMO_PACE": str(self._pace), "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
            | self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=_read, args=(self._process, lines, self.said), daemon=True).start()
        said: list[str] = []
        deadline = time.monotonic() + PATIENCE
        while not any("Each link is good once" in line for line in said):
            try:
                said.append(lines.get(timeout=max(0.01, deadline - time.monotonic())))
            except queue.Empty:
                raise AssertionError("The server printed no links:\n" + "".join(said)) from None
            if not said[-1]:
                raise AssertionError("The server ended:\n" + "".join(said))
        self.links = dict(LINK.findall("".join(said)))
        return self

    def kill(self) -> None:
        """As a power cut does: at once, with no chance to tidy up."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(10)

    def terminate(self, within: float) -> float:
        """Ask it to end, as a service manager does; the seconds that it took. Raises when it took longer."""
        assert self._process is not None
        began = time.monotonic()
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(within)
        return time.monotonic() - began

    def stop(self) -> None:
        """End it however it stands."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()

    def errors(self) -> str:
        """What it printed from the first error on: nothing, where all went well."""
        at = next((n for n, line in enumerate(self.said) if re.search("ERROR|error|Traceback", line)), None)
        return "" if at is None else "".join(self.said[at:])[-4000:]

    def rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """What the database itself holds, behind the server's back."""
        with sqlite3.connect(f"file:{self.file}?mode=ro", uri=True, timeout=10) as connection:
            return connection.execute(query, values).fetchall()


def _read(process: subprocess.Popen[str], lines: queue.Queue[str], said: list[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line)
        lines.put(line)
    lines.put("")
