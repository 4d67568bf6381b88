"""Two trees that change one row at the same time."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, ClassVar
from uuid import UUID

from handon import Agent, Context, Permits, Skill, action
from handon.testing import AgentCast, AgentScript, Says, Trajectory
from tests.builders import Answer, Shelf, shop
from tests.staging import DONE


class Meeting:
    """Where two that change one row at once meet, between reading and writing; one that is alone goes on soon."""

    now: ClassVar[threading.Barrier]

    @classmethod
    def opens(cls) -> None:
        cls.now = threading.Barrier(2, timeout=0.5)

    @classmethod
    def wait(cls) -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            cls.now.wait()


@action("Count one more on the shelf")
def count_one(ctx: Context, shelf: Shelf) -> str:
    seen = shelf.count
    Meeting.wait()
    shelf.count = seen + 1
    return "Counted."


@action("Move one from a shelf to another")
def move_one(ctx: Context, shelf: Shelf, to: UUID) -> str:
    Meeting.wait()
    other = ctx.session.get(Shelf, to, with_for_update=True)
    assert other is not None
    shelf.count -= 1
    other.count += 1
    return "Moved."


class Count(Skill[Shelf, Answer]):
    description = "Count one more on a shelf."
    tools = [count_one, move_one]

    def brief(self, shelf: Shelf) -> str:
        return f"Shelf {shelf.mark}"


class Counter(Agent):
    purpose = "You count."
    roles = {"helper"}
    skills = [Count()]
    may = Permits.changes_alone()


# T5, R2
async def test_a_row_that_two_trees_change_at_once_keeps_what_both_did(database: str) -> None:
    Meeting.opens()
    async with shop(database, [Counter()]) as at:
        script = AgentScript(Says.tool(count_one, {"shelf": str(at.shelf)}), DONE)
        at.agency.script(AgentCast().plays(Counter, script))
        desk = at.agency.desk(at.mia)
        shelf = await at.the_shelf()
        for _ in range(2):
            await desk.of(Counter).start(Count(), shelf)
        await at.agency.settle()
        assert (await at.the_shelf()).count == 2


# T5
async def test_two_trees_that_want_each_others_rows_both_get_them(database: str) -> None:
    """PostgreSQL undoes one of the two; it is run once more, and nobody is told."""
    Meeting.opens()
    async with shop(database, [Counter()]) as at:

        def another(session: Any) -> UUID:
            shelf = Shelf(mark="B-2")
            session.add(shelf)
            session.flush()
            return shelf.id

        one, other = at.shelf, await at.agency.write(another)
        cast = AgentCast()
        for n, (shelf, to) in enumerate([(one, other), (other, one)], start=1):
            moves = Says.tool(move_one, {"shelf": str(shelf), "to": str(to)})
            cast.plays(Counter, AgentScript(moves, DONE), piece=n)
        at.agency.script(cast)
        desk = at.agency.desk(at.mia)
        works = [await desk.of(Counter).start(Count(), await at.the_shelf()) for _ in range(2)]
        await at.agency.settle()
        assert (await at.the_shelf()).count == 0
        for work in works:
            assert "Moved." in await Trajectory(at.agency, work).said()
