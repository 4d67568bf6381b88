"""Work that was quiet for long while it stood in line, and has just been taken: it is being done."""

from __future__ import annotations

from datetime import timedelta

from handon import Status
from handon.testing import AgentCast, AgentScript, TestClock
from tests.builders import Find, shop
from tests.staging import DONE, STAFF, Finder, Gather, Lead, Staged, finders, gathers, until


# A1, A5
async def test_work_whose_leg_stood_in_line_for_long_and_was_just_taken_is_not_abandoned(
    database: str, clock: TestClock
) -> None:
    """One piece runs at a time: the lead's leg stood behind another work's for longer than work may be quiet."""
    staged = Staged(AgentCast().plays(Lead, gathers(*finders(1))).plays(Finder, AgentScript(DONE)), Lead, Finder)
    async with shop(database, STAFF, clock=clock, concurrency=1, abandoned_check_every=timedelta(0)) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things")
        await staged.holds(1)
        await desk.of(Finder).start(Find(), "it")
        staged.let_go()
        await until(lambda: staged.asked_of(Finder) == 1)
        await clock.advance(timedelta(minutes=40))
        staged.let_go()
        await until(lambda: staged.asked_of(Finder) == 2)
        assert not await at.agency.was_abandoned(task)
        assert await at.agency.close_abandoned_work() == 0
        staged.hold_no_more()
        await at.agency.settle()
        assert (await desk.piece(task)).status is Status.DONE
