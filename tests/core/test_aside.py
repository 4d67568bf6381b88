"""Setting a request aside: off one person's list until a time, while everything else stays as it is."""

from __future__ import annotations

from datetime import timedelta

import pytest

from handon import BadInput, NotAllowed, NotWaiting, Status
from handon.testing import TestClock
from tests.core.test_holding import FIVE, HastyClerk, staged

HOUR = timedelta(hours=1)


# P9
@pytest.mark.parametrize("asks", [False, True])
async def test_what_is_set_aside_is_off_that_persons_list_until_then_and_the_agent_waits_all_the_same(
    database: str, clock: TestClock, asks: bool
) -> None:
    async with staged(database, clock, asks=asks) as on:
        await on.agency.stand_in(on.at.noor, for_=on.at.mia)
        until, lines = clock.now() + HOUR, len(await on.mia.trace_of(on.task))
        await on.mia.set_aside(on.request.id, until)
        waits = await on.mia.waiting()
        assert (await on.mia.waiting_count(), waits.total, waits.groups) == (0, 0, ())
        assert await on.mia.proposals() == [] and await on.mia.questions() == []
        [(row, back)] = waits.aside
        assert (row.id, back) == (on.request.id, until)
        found = await on.now()
        assert found.waits and found.aside_until == until
        assert await on.noor.waiting_count() == 1 and (await on.noor.waiting()).aside == ()
        assert (await on.mia.outcome(on.task)).status is Status.WAITING
        assert len(await on.mia.trace_of(on.task)) == lines
        await clock.advance(HOUR)
        assert await on.mia.waiting_count() == 1 and (await on.mia.waiting()).aside == ()
        assert (await on.now()).aside_until is None


# P9
async def test_it_may_be_brought_back_before_and_be_decided_where_it_stands(database: str, clock: TestClock) -> None:
    async with staged(database, clock) as on:
        await on.mia.set_aside(on.request.id, clock.now() + HOUR)
        await on.mia.set_aside(on.request.id, None)
        assert await on.mia.waiting_count() == 1
        await on.mia.set_aside(on.request.id, clock.now() + HOUR)
        await on.mia.approve(on.request.id, hold=FIVE)
        assert (await on.mia.waiting()).aside == ()
        await clock.advance(FIVE)
        assert (await on.mia.stands(on.task)).done
        with pytest.raises(NotWaiting):
            await on.mia.set_aside(on.request.id, clock.now() + HOUR)


# P9, P11
async def test_it_is_set_aside_by_whoever_decides_it_and_never_past_its_deadline(
    database: str, clock: TestClock
) -> None:
    async with staged(database, clock, HastyClerk) as on:
        with pytest.raises(BadInput, match="until 3 March 2031, 09:00 UTC only"):
            await on.mia.set_aside(on.request.id, clock.now() + HOUR)
        with pytest.raises(BadInput, match="has passed"):
            await on.mia.set_aside(on.request.id, clock.now())
        with pytest.raises(NotAllowed):
            await on.noor.set_aside(on.request.id, clock.now() + timedelta(seconds=1))
        assert await on.mia.waiting_count() == 1
