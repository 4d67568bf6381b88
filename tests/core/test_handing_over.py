"""A request handed over to somebody else: who decides it then, what the record says, and the way back."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from handon import AlreadyDecided, BadInput, NotAllowed, NotFound, NotWaiting, ProposalStatus, TraceKind
from handon.testing import TestClock
from tests.builders import shop
from tests.core.test_holding import staged
from tests.core.test_taking_over import STAFF, ask

FIVE = timedelta(seconds=5)


# P9, P1
async def test_whoever_is_asked_hands_it_over_and_the_receiver_decides_in_their_place(
    database: str, clock: TestClock
) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        proposal, question = await ask(at)
        mia, ida = at.agency.desk(at.mia), await at.agency.add_person("ida@bindery.test", "Ida", ["binder"])
        idas = at.agency.desk(ida)
        await mia.set_aside(question.id, clock.now() + timedelta(hours=1))
        assert {one.name for one in await mia.could_take(proposal.id)} == {"Ida", "Noor"}
        await mia.hand_over(proposal.id, ida, "You know the shelves.")
        await mia.hand_over(question.id, ida.id)
        assert (await mia.waiting_count(), await idas.waiting_count()) == (0, 2)
        assert (await mia.waiting()).total == 0 and (await idas.waiting()).total == 2
        found = await idas.proposal(proposal.id)
        assert (found.asked_of, found.may_decide, found.takes_over) == (ida.id, True, False)
        handed = found.handed
        assert handed is not None and (handed.by_name, handed.to_name, handed.at) == ("Mia", "Ida", clock.now())
        assert handed.note == "You know the shelves." and not handed.mine
        mine = await mia.proposal(proposal.id)
        assert not mine.may_decide and mine.handed is not None and mine.handed.mine
        with pytest.raises(NotAllowed):
            await mia.approve(proposal.id)
        [top, clerk] = await mia.work_tree(proposal.root)
        assert clerk.waiting_on == "a decision from Ida; an answer from Ida" and "from Ida" in top.waiting_on
        await idas.approve(proposal.id)
        await idas.answer(question.id, "The left one.")
        await at.agency.settle()
        done = await mia.proposal(proposal.id)
        assert (done.status, done.decided_by_name) == (ProposalStatus.DONE, "Ida"), done.result
        lines = await mia.trace_of(proposal.root)
        assert [line.summary for line in lines if line.kind is TraceKind.HANDED_OVER] == [
            "Mia handed a proposal of Clerk over to Ida. You know the shelves.",
            "Mia handed a question of Clerk over to Ida.",
        ]
        assert (await mia.verify_trace(proposal.root)).intact


# P9
async def test_what_was_handed_over_is_put_back_while_it_waits_and_not_once_it_is_decided(
    database: str, clock: TestClock
) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        proposal, question = await ask(at)
        ida = await at.agency.add_person("ida@bindery.test", "Ida", ["binder"])
        mia, idas = at.agency.desk(at.mia), at.agency.desk(ida)
        for one in (proposal, question):
            await mia.hand_over(one.id, ida)
            with pytest.raises(NotFound, match="You have handed over nothing here"):
                await idas.put_back(one.id)
            await mia.put_back(one.id)
            with pytest.raises(NotFound, match="nothing here"):
                await mia.put_back(one.id)
        assert (await mia.waiting_count(), await idas.waiting_count()) == (2, 0)
        assert (await mia.proposal(proposal.id)).handed is None
        with pytest.raises(NotFound):
            await idas.proposal(proposal.id)  # it is not hers any more
        await mia.hand_over(proposal.id, ida)
        await idas.refuse(proposal.id, hold=FIVE)
        with pytest.raises(AlreadyDecided, match="Ida"):
            await mia.put_back(proposal.id)
        await clock.advance(FIVE)
        with pytest.raises(AlreadyDecided, match="Ida"):
            await mia.put_back(proposal.id)
        await mia.hand_over(question.id, ida)
        await mia.stop(proposal.root)
        await at.agency.settle()
        with pytest.raises(NotWaiting):
            await mia.put_back(question.id)
        kinds = [line.kind for line in await mia.trace_of(proposal.root)]
        assert kinds.count(TraceKind.HANDED_OVER) == 6


# P9, R8
async def test_who_hands_over_for_somebody_else_sees_it_while_they_may_take_it_back(sqlite_database: str) -> None:
    async with shop(sqlite_database, STAFF) as at:
        proposal, _ = await ask(at)
        ida, ben = [await at.agency.add_person(f"{name}@bindery.test", name, ["binder"]) for name in ("Ida", "Ben")]
        idas, bens = at.agency.desk(ida), at.agency.desk(ben)
        with pytest.raises(NotFound):
            await idas.hand_over(proposal.id, ben)
        await at.agency.stand_in(ida, for_=at.mia)
        await idas.hand_over(proposal.id, ben)
        assert (await idas.proposal(proposal.id)).handed is not None and await idas.could_take(proposal.id) == []
        with pytest.raises(NotAllowed):
            await idas.hand_over(proposal.id, at.noor)  # it is Ben's now
        await bens.hand_over(proposal.id, at.noor)  # and handed on once more
        with pytest.raises(NotFound):
            await idas.put_back(proposal.id)
        with pytest.raises(NotFound):
            await idas.proposal(proposal.id)
        await bens.put_back(proposal.id)
        await bens.refuse(proposal.id)
        assert (await bens.proposal(proposal.id)).status is ProposalStatus.REFUSED
        with pytest.raises(NotFound):
            await idas.proposal(proposal.id)


# R10, P9
async def test_what_was_handed_to_somebody_who_leaves_is_the_sponsors_to_take_over_or_goes_back(database: str) -> None:
    async with shop(database, STAFF) as at:
        proposal, question = await ask(at)
        ida = await at.agency.add_person("ida@bindery.test", "Ida", ["binder"])
        mia, noor = at.agency.desk(at.mia), at.agency.desk(at.noor)
        for one in (proposal, question):
            await mia.hand_over(one.id, ida)
        await at.agency.deactivate(ida)
        assert {one.id for one in await noor.proposals()} == {proposal.id}
        await noor.approve(proposal.id)
        await mia.put_back(question.id)
        await mia.answer(question.id, "Left.")
        await at.agency.settle()
        assert (await mia.work(proposal.root)).status.final


# P9, P5, R2
async def test_what_cannot_be_handed_over_is_refused_in_words_and_changes_nothing(
    sqlite_database: str, clock: TestClock
) -> None:
    async with shop(sqlite_database, STAFF, clock=clock) as at:
        proposal, question = await ask(at)
        mia = at.agency.desk(at.mia)
        gone = await at.agency.add_person("gone@bindery.test", "Gone")
        await at.agency.deactivate(gone)
        guest = await at.agency.add_person("guest@bindery.test", "Guest")
        before = await mia.trace_of(proposal.root)
        for to, note, said in (
            (at.mia.id, "", "It is put to Mia already"),
            (gone.id, "", "Gone’s account was deactivated"),
            (guest.id, "", "Guest could not approve it. There is no shelf with the id"),
            (uuid4(), "", "There is no such person"),
            (at.noor.id, "x" * 2001, "At most 2,000 letters; these are 2,001"),
        ):
            with pytest.raises(BadInput, match=said):
                await mia.hand_over(proposal.id, to, note)
        with pytest.raises(NotFound):
            await mia.hand_over(uuid4(), at.noor)
        with pytest.raises(NotAllowed, match="The app itself hands nothing over"):
            await at.agency.desk(None).hand_over(proposal.id, at.noor)
        await mia.refuse(proposal.id, hold=FIVE)
        with pytest.raises(AlreadyDecided):
            await mia.hand_over(proposal.id, at.noor)
        assert await mia.trace_of(proposal.root) == before and await at.agency.desk(at.noor).waiting_count() == 0
        await mia.stop(proposal.root)
        await at.agency.settle()
        with pytest.raises(NotWaiting):
            await mia.hand_over(question.id, at.noor)


# R10, P9
async def test_once_the_sponsor_has_taken_it_over_whoever_had_handed_it_over_has_it_put_back_no_more(
    sqlite_database: str, clock: TestClock
) -> None:
    async with staged(sqlite_database, clock) as on:
        sue = await on.agency.add_person("sue@bindery.test", "Sue", roles=["binder"])
        await on.mia.hand_over(on.request.id, sue)
        await on.agency.deactivate(sue)
        await on.noor.take_over(on.request.id)
        with pytest.raises(NotFound):
            await on.mia.put_back(on.request.id)
        found = await on.now()
        assert (found.asked_of, found.handed) == (on.at.noor.id, None)
        assert (await on.mia.waiting()).handed == ()


# P9
async def test_what_is_handed_over_is_set_aside_by_neither_of_the_two(sqlite_database: str, clock: TestClock) -> None:
    async with staged(sqlite_database, clock) as on:
        sue, later = await on.agency.add_person("sue@bindery.test", "Sue", roles=["binder"]), clock.now() + FIVE
        desk = on.agency.desk(sue)
        await on.mia.set_aside(on.request.id, later)
        await on.mia.hand_over(on.request.id, sue)
        await on.mia.put_back(on.request.id)
        assert await on.mia.waiting_count() == 1
        await on.mia.hand_over(on.request.id, sue)
        await desk.set_aside(on.request.id, later)
        await desk.hand_over(on.request.id, on.at.mia)
        await on.mia.hand_over(on.request.id, sue)
        assert await desk.waiting_count() == 1
