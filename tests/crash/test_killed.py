"""A process is killed between any two writes; the next one goes on, and the story ends right, nothing done twice.

The points are those right before and right after each commit of the process: before, nothing of what it wrote is
there; after, all of it is, and nobody was told. On SQLite each function has a commit of its own here.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from handon import Status
from handon.testing import TestClock, Trajectory
from tests.crash.checking import GONE, check_account, check_changes, check_decisions, check_ended, lines_of
from tests.crash.processes import Processes
from tests.crash.stories import MISSING, STORIES, Ledger, Story
from tests.databases import nobody_is_on
from tests.staging import rows_of

EVERY = {"sqlite": 1, "postgresql": 3}  # of a story's points: the soak kills anywhere on both
POLICIES = [
    "close",
    pytest.param("resume", marks=pytest.mark.xfail(strict=True, reason="work is not taken over yet (rule A7)")),
]

Point = tuple[str, int]


@dataclass
class Stage:
    """A story in a database, told again and again by processes that are killed."""

    name: str
    story: Story
    database: str
    folder: Path
    processes: Processes
    policy: str

    @property
    def settings(self) -> dict[str, Any]:
        return {} if self.policy == "close" else {"when_abandoned": self.policy}

    def run(self, what: str, key: str, **order: Any) -> int:
        ended = self.processes.run(
            what,
            story=self.name,
            database=self.database,
            key=key,
            ledger=str(self.folder / key),
            settings=self.settings,
            **order,
        )
        nobody_is_on(self.database)
        return ended

    def points(self) -> list[Point]:
        """Every point of the story, found by telling it once."""
        assert self.run("tell", "dry") == 0
        [(commits,)] = Ledger(self.folder / "dry").of("commits")
        return [(when, number) for number in range(1, int(commits) + 1) for when in ("before", "after")]

    async def reset(self) -> None:
        """Before each point the row is as it was at first, so that what is changed can be counted."""
        async with self.story.agency(self.database, clock=TestClock(), concurrency=0) as agency:
            row = await self.story.its_row(agency)

            def blank(session: Any) -> None:
                found = session.get(self.story.row, row.id)
                found.note = ""
                if self.name == "workshop":
                    found.count = 0

            await agency.write(blank)

    async def made(self, agency: Any) -> dict[str, int]:
        """How often each plain change was made."""
        row = await self.story.its_row(agency)
        return {"note_shelf": row.count} if self.name == "workshop" else {"note_on_volume": int(row.note == MISSING)}

    async def check(self, key: str) -> None:
        """Go on in this process with what is left of the work, and see that it ends right."""
        Ledger.opens(self.folder / key)
        clock = TestClock()
        async with self.story.agency(self.database, clock=clock, concurrency=0) as agency:
            desk = await self.story.desk(agency)
            given = [work.root for work in await desk.works("going")]
            left = await rows_of(agency, given[0]) if given else []
        async with self.story.agency(self.database, clock=clock, **self.settings) as agency:
            task = await self.story.go_on(agency, clock, key)
            rows = await check_ended(agency, task)
            await check_account(agency, f"account of {key}", rows[0].tree_micros)
            made = await self.made(agency)
            await check_changes(agency, task, made)
            await check_decisions(agency, task)
            told = await Trajectory(agency, task).said()
            await self.check_ending(agency, rows, left, made)
            await self.check_unknown(agency, rows, told)

    async def check_ending(self, agency: Any, rows: list[Any], left: list[Any], made: dict[str, int]) -> None:
        """Closed: the work failed where the top had gone with its process, and came through elsewhere. Resumed: it is
        done, and what is changed in the database was changed once."""
        top = rows[0]
        gone = any(row.run == "held" for row in left) and left[0].run in ("held", "parked") and not left[0].let_go
        if self.policy == "close" and gone:
            assert (top.status, top.outcome) == (Status.FAILED, GONE)
            return
        assert (top.status, top.outcome) == (Status.DONE, "")
        if self.policy == "resume":
            assert {row.status for row in rows} == {"Done"}
        if {row.status for row in rows} == {"Done"}:
            assert set(made.values()) == {1}, f"changed: {made}"

    async def check_unknown(self, agency: Any, rows: list[Any], told: list[str]) -> None:
        """What was begun outside and never reported back is told as unknown, where anybody is left to be told."""
        lines = await lines_of(agency, rows[0].id)
        begun = [said["tool"] for kind, said in lines if kind == "begun outside"]
        ended = [said["tool"] for kind, said in lines if kind == "tool ran"]
        for tool in begun:
            courier = next(row for row in rows if row.agent == "Courier")
            if tool not in ended and courier.status == "Done":
                assert any("outcome is unknown" in text for text in told), f"{tool} is unknown, and nobody was told"


# M3, P5, A1-A5, A7, T3, T5, E4
@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", list(STORIES))
async def test_killed_at_any_point_the_story_ends_right_and_nothing_is_done_twice(
    database: str, tmp_path: Path, processes: Processes, name: str, policy: str
) -> None:
    stage = Stage(name, STORIES[name], database, tmp_path, processes, policy)
    Ledger.opens(tmp_path / "prepared")
    await stage.story.prepare(database)
    wrong = []
    points = stage.points()[:: EVERY[database.partition(":")[0]]]
    for when, number in points:
        await stage.reset()
        key = f"{when} {number}"
        assert stage.run("tell", key, at=[when, number]) == -signal.SIGKILL, f"{key} was never reached"
        try:
            await stage.check(key)
        except Exception as error:
            wrong.append(f"killed {key} of {len(points)}: {error}")
    assert not wrong, "\n".join(wrong)
