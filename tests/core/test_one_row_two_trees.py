"""Two trees that change one row at the same time."""

from __future__ import annotations

import contextlib
import threading
from typing import ClassVar

from handon import Agent, Context, Permits, Skill, action
from handon.testing import AgentCast, AgentScript, Says
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


class Count(Skill[Shelf, Answer]):
    description = "Count one more on a shelf."
    tools = [count_one]

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
