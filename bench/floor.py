"""The floor: the same work with nothing around it. A bare loop, objects in memory, and one durable row for each event.

No rights, no money, no record to verify, no resuming; one SQLite row of some 400 bytes for each answer, tool result
and result handed back, each committed alone (WAL, synchronous=FULL). What Handon costs is told as a multiple of it.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from bench.measure import Figures, Stopwatch, peak_memory
from bench.script import HAND_BACK, LOOK_UP, Call, Errand, Finding, Query, calls_of, found
from bench.workloads import Workload

ROW = 400  # bytes of an event's text, at least


class Floor:
    def __init__(self, database: Path) -> None:
        self._database = sqlite3.connect(database, isolation_level=None)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=FULL")
        self._database.execute("CREATE TABLE event (id INTEGER PRIMARY KEY, piece TEXT, kind TEXT, body TEXT)")
        self.pieces = self.calls = self.tools = self.commits = 0

    def close(self) -> None:
        self._database.close()

    def size(self) -> int:
        """Bytes of the database once its log is worked in."""
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages, page = (self._database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        return int(pages * page)

    def _keep(self, piece: str, kind: str, body: str) -> None:
        self._database.execute("BEGIN IMMEDIATE")
        self._database.execute("INSERT INTO event (piece, kind, body) VALUES (?, ?, ?)", (piece, kind, body.ljust(ROW)))
        self._database.execute("COMMIT")
        self.commits += 1

    async def _ask(self, brief: str, turn: int) -> list[Call]:
        await asyncio.sleep(0)
        self.calls += 1
        return calls_of(brief, turn)

    async def all_of(self, errands: Sequence[Errand], *, at_once: bool) -> list[Finding]:
        """Do wholes, in turn or at once."""
        if at_once:
            return await asyncio.gather(*map(self.piece, errands))
        return [await self.piece(errand) for errand in errands]

    async def piece(self, errand: Errand) -> Finding:
        """Do one piece to its end, and what it hands on."""
        self.pieces += 1
        brief = errand.model_dump_json()
        messages: list[dict[str, object]] = [{"role": "user", "text": brief}]
        turn = 0
        while True:
            calls = await self._ask(brief, turn)
            turn += 1
            if calls[0][0] == HAND_BACK:
                self._keep(errand.path, "result", calls[0][1])
                return Finding.model_validate_json(calls[0][1])
            self._keep(errand.path, "answer", json.dumps(calls))
            messages.append({"role": "assistant", "calls": calls})
            results = await asyncio.gather(*(asyncio.create_task(self._call(errand.path, *call)) for call in calls))
            messages.append({"role": "tool", "results": results})

    async def _call(self, path: str, name: str, arguments: str) -> str:
        if name == LOOK_UP:
            self.tools += 1
            answer = found(Query.model_validate_json(arguments).query)
        else:
            answer = (await self.piece(Errand.model_validate_json(arguments))).model_dump_json()
        self._keep(path, "tool", answer)
        return answer


async def run(workload: Workload, folder: Path) -> Figures:
    """Do a workload on the floor, in a new database in `folder`."""
    figures = Figures("floor", workload.name)
    floor = Floor(folder / "floor.db")
    try:
        await floor.all_of(workload.warm_up, at_once=workload.at_once)
        size = floor.size()
        floor.pieces = floor.calls = floor.tools = floor.commits = 0
        watch = Stopwatch()
        findings = await floor.all_of(workload.roots, at_once=workload.at_once)
        watch.stop(figures)
        figures.peak = peak_memory()
        assert [finding.path for finding in findings] == [errand.path for errand in workload.roots]
        assert (floor.pieces, floor.calls, floor.tools) == (workload.pieces, workload.calls, workload.tools)
        figures.commits = floor.commits
        figures.disk = floor.size() - size
    finally:
        floor.close()
    return figures
