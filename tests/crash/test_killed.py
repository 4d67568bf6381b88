"""A process is killed between any two writes; the next one goes on, and the story ends right, nothing done twice.

The points are those right before and right after each commit of the process: before, nothing of what it wrote is
there; after, all of it is, and nobody was told. On SQLite each function has a commit of its own here.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from core.sql import Statement
from core.store import Store
from core.tables import piece
from handon import Agency, Status
from handon.testing import TestClock, Trajectory
from tests.crash.checking import GONE, check_account, check_changes, check_decisions, check_ended, check_unknown
from tests.crash.processes import Processes
from tests.crash.stories import MISSING, STORIES, Ledger, Story
from tests.databases import nobody_is_on

# Of a story's points, one in so many; all of the bindery's on both. The soak kills anywhere on both.
EVERY = {"bindery": {"sqlite": 1, "postgresql": 1}, "workshop": {"sqlite": 1, "postgresql": 5}}
AGAIN = {"sqlite": 9, "postgresql": 21}  # of those where it is killed a second time
TOLD = [(name, policy) for name in ("bindery", "workshop") for policy in ("close", "resume")]

_whole = piece.alias("whole")
_GOING = Statement(
    select(piece).join(_whole, _whole.c.id == piece.c.root).where(_whole.c.ended_at.is_(None)).order_by(piece.c.depth)
)

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

    async def points(self) -> list[Point]:
        """Every point of the story, found by telling it once."""
        assert self.run("tell", "dry") == 0
        [(commits,)] = Ledger(self.folder / "dry").of("commits")
        async with self.story.agency(self.database, clock=TestClock()) as agency:
            assert set((await self.made(agency)).values()) == {1}
        return [(when, number) for number in range(1, int(commits) + 1) for when in ("before", "after")]

    async def left(self) -> list[Any]:
        """The pieces of the work that was under way when its process was killed."""
        store = Store(self.database, lambda: 0)
        store.open(lambda connection: None)
        try:
            return await store.read(lambda tx: tx.all(_GOING))
        finally:
            await store.close()

    async def made(self, agency: Agency) -> dict[str, int]:
        """How often each plain change was made since this was last asked."""

        def count(session: Any) -> dict[str, int]:
            row = session.scalar(select(self.story.row).filter_by(**self.story.mark))
            noted, row.note = row.note, ""
            if self.name == "bindery":
                return {"note_on_volume": int(noted == MISSING)}
            made, row.count = row.count, 0
            return {"note_shelf": made}

        return await agency.write(count)

    async def check(self, key: str, *, again: bool = False) -> None:
        """Go on in this process with what is left of the work, and see that it ends right; `again`: the next process
        was killed too, so how it ends is no longer told by what is left."""
        Ledger.opens(self.folder / key)
        clock, left = TestClock(), await self.left()
        async with self.story.agency(self.database, clock=clock, **self.settings) as agency:
            task = await self.story.go_on(agency, clock, key)
            made = await self.made(agency)
            rows = await check_ended(agency, task)
            await check_account(agency, f"account of {key}", rows[0].tree_micros)
            await check_changes(agency, task, made)
            await check_decisions(agency, task)
            told = await Trajectory(agency, task).said()
            self.check_ending(rows, left, made, again)
            await check_unknown(agency, rows, told)

    def check_ending(self, rows: list[Any], left: list[Any], made: dict[str, int], again: bool) -> None:
        """Closed: the work failed where the top had gone with its process, and came through elsewhere. Resumed: it is
        done, and what is changed in the database was changed once."""
        top = rows[0]
        gone = any(row.run == "held" for row in left) and left[0].run in ("held", "parked") and not left[0].let_go
        if self.policy == "close" and (top.outcome == GONE if again else gone):
            assert (top.status, top.outcome) == (Status.FAILED, GONE)
            return
        assert (top.status, top.outcome) == (Status.DONE, "")
        if self.policy == "resume":
            assert {row.status for row in rows} == {"Done"}
        if {row.status for row in rows} == {"Done"}:
            assert set(made.values()) == {1}, f"changed: {made}"


# M3, P5, A1-A5, A7, T3, T5, E4
@pytest.mark.slow
@pytest.mark.parametrize(("name", "policy"), TOLD)
async def test_killed_at_any_point_the_story_ends_right_and_nothing_is_done_twice(
    database: str, tmp_path: Path, processes: Processes, name: str, policy: str, record_property: Callable[..., None]
) -> None:
    stage = Stage(name, STORIES[name], database, tmp_path, processes, policy)
    Ledger.opens(tmp_path / "prepared")
    await stage.story.prepare(database)
    wrong = []
    points = (await stage.points())[:: EVERY[name][database.partition(":")[0]]]
    record_property("points", len(points))
    for when, number in points:
        key = f"{when} {number}"
        assert stage.run("tell", key, at=[when, number]) == -signal.SIGKILL, f"{key} was never reached"
        try:
            await stage.check(key)
        except Exception as error:
            wrong.append(f"killed {key} of {len(points)}: {error}")
    assert not wrong, "\n".join(wrong)


# M3, P5, A1-A5, A7, T3, E4
@pytest.mark.slow
@pytest.mark.parametrize(("name", "policy"), TOLD)
async def test_killed_again_while_it_goes_on_the_story_ends_right_and_nothing_is_done_twice(
    database: str, tmp_path: Path, processes: Processes, name: str, policy: str
) -> None:
    """A few of the pairs of points: where it is killed first, and where the process that goes on is."""
    stage = Stage(name, STORIES[name], database, tmp_path, processes, policy)
    Ledger.opens(tmp_path / "prepared")
    await stage.story.prepare(database)
    wrong, twice = [], 0
    points = await stage.points()
    for n, (when, number) in enumerate(points[:: AGAIN[database.partition(":")[0]]]):
        then = points[(3 + 7 * n) % (len(points) // 2)]
        key = f"{when} {number}, then {then[0]} {then[1]}"
        assert stage.run("tell", key, at=[when, number]) == -signal.SIGKILL
        twice += stage.run("go_on", key, at=then) == -signal.SIGKILL
        try:
            await stage.check(key, again=True)
        except Exception as error:
            wrong.append(f"killed {key}: {error}")
    assert not wrong, "\n".join(wrong)
    assert twice, "none was killed again"
