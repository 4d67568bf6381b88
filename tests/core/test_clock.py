"""The clock of a running agency: what fails once is tried again, and keeps nothing else from being done."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

import pytest
from sqlalchemy import update

from core.clock import WallClock
from core.tables import whole
from handon import ProposalStatus
from handon.testing import AgentCast, AgentScript, TestClock
from tests.builders import shop
from tests.core.test_deadlines import OFFER, Sell, Seller
from tests.staging import DONE


# A2, P11
async def test_a_timer_that_fails_is_called_again_and_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    clock = WallClock()
    called: list[str] = []
    twice = asyncio.Event()

    async def fails() -> None:
        called.append("fails")
        if called.count("fails") == 2:
            twice.set()
        raise OSError("the database does not answer")

    async def once() -> None:
        called.append("once")
        raise OSError("it does not answer either")

    clock.at(clock.now(), once)
    clock.every(timedelta(milliseconds=1), fails)
    async with asyncio.timeout(10):
        await twice.wait()
    await clock.stop()
    assert "once" in called
    assert {record.levelno for record in caplog.records if "a timer failed" in record.message} == {logging.ERROR}


# P11
async def test_a_whole_that_cannot_be_attended_to_keeps_no_other_from_expiring(database: str, clock: TestClock) -> None:
    async with shop(database, [Seller()], clock=clock) as at:
        at.agency.script(AgentCast().plays(Seller, AgentScript(OFFER, OFFER, DONE)))
        desk = at.agency.desk(at.mia)
        for name in "xy":
            await desk.of(Seller).do(Sell(), name)
        broken, sound = await desk.proposals()
        await at.agency.write(lambda s: s.execute(update(whole).where(whole.c.id == broken.root.hex).values(lines=1)))
        await clock.advance(timedelta(hours=3))
        await at.agency.settle()
        assert (await desk.proposal(broken.id)).status is ProposalStatus.WAITING
        assert (await desk.proposal(sound.id)).status is ProposalStatus.EXPIRED
