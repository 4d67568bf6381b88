"""The list of the inbox: one order, its pages, its filters, and the place of a request in it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.values import AskedBundle
from handon import Agent, NotFound, Skill
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import Answer, Clerk, Find, Note, Shop, note_shelf, shop
from tests.staging import DONE


class Errand(Skill[str, Answer]):
    description = "Run an errand."


class Runner(Agent):
    purpose = "You run errands, and want to hear soon."
    roles = {"helper"}
    skills = [Errand()]
    requests_wait = timedelta(days=1)


STAFF: list[Agent] = [Clerk(), Runner()]


async def proposes(at: Shop, about: str, count: int = 1) -> None:
    """A whole of the clerk's in which so many notes wait for Mia."""
    notes = [Says.tool(note_shelf, {"shelf": str(at.shelf), "note": f"{about} {n}"}) for n in range(count)]
    at.agency.script(AgentCast().plays(Clerk, AgentScript(Says.together(*notes), DONE)))
    await at.agency.desk(at.mia).of(Clerk).do(Note(), await at.the_shelf(), about=about)


async def asks(at: Shop, agent: type[Agent], skill: Any, about: str) -> None:
    at.agency.script(AgentCast().plays(agent, AgentScript(Says.ask(f"{about}?"), DONE)))
    await at.agency.desk(at.mia).of(agent).do(skill, about, about=about)


def texts(waiting: Any) -> list[list[str]]:
    return [[request.text for request in group.requests] for group in waiting.groups]


# P9
async def test_what_has_a_deadline_comes_first_then_the_whole_that_has_waited_longest(database: str) -> None:
    clock = TestClock(datetime(2031, 4, 2, 9, tzinfo=UTC))
    async with shop(database, STAFF, clock=clock) as at:
        for name in ("first", "second"):
            await proposes(at, name)
            await clock.advance(timedelta(minutes=1))
        await asks(at, Runner, Errand(), "soon")
        found = await at.agency.desk(at.mia).waiting()
        assert texts(found) == [["soon?"], ["Write on A-1: first 0"], ["Write on A-1: second 0"]]
        assert [group.deadline is not None for group in found.groups] == [True, False, False]
        assert found.oldest == datetime(2031, 4, 2, 9, tzinfo=UTC)


# P9
async def test_a_page_goes_on_after_a_row_so_that_a_decision_makes_none_be_skipped(database: str) -> None:
    async with shop(database, STAFF) as at:
        await proposes(at, "many", 60)
        desk = at.agency.desk(at.mia)
        one = await desk.waiting()
        assert (one.first, one.last, one.shown, one.total) == (1, 50, 60, 60)
        assert [group.number for group in one.groups] == [60]
        seen = [request.id for group in one.groups for request in group.requests]
        await desk.refuse(seen[3])
        two = await desk.waiting(after=one.more)
        rest = [request.id for group in two.groups for request in group.requests]
        assert (len(rest), two.more) == (10, "")
        assert (two.first, two.last, two.shown) == (50, 59, 59)
        assert {*seen, *rest} == {proposal.id for proposal in await desk.proposals()} | {seen[3]}
        assert (await desk.waiting(after="1.2.3")).first == 1  # no mark: from the beginning


# P9
async def test_a_filter_says_how_much_it_hides_and_the_badge_counts_all(database: str) -> None:
    async with shop(database, STAFF) as at:
        await proposes(at, "notes", 2)
        await asks(at, Clerk, Find(), "asked")
        await asks(at, Runner, Errand(), "errand")
        desk = at.agency.desk(at.mia)
        everything = await desk.waiting()
        assert (everything.total, everything.proposals, everything.questions) == (4, 2, 2)
        assert everything.total == await desk.waiting_count()
        assert [(label, number) for _, label, number in everything.agents] == [("Runner", 1), ("Clerk", 3)]
        questions = await desk.waiting(kind="question")
        assert (questions.shown, questions.hidden, questions.total) == (2, 2, 4)
        clerks = await desk.waiting(kind="question", agent="Clerk")
        assert texts(clerks) == [["asked?"]]
        root = next(root for root, about, _ in everything.works if about == "notes")
        assert [group.number for group in (await desk.waiting(work=root)).groups] == [2]
        for sieve in ({"but_work": root}, {"but_work": root, "but_agent": "Runner"}, {"but_agent": "Clerk"}):
            shown = 2 if len(sieve) == 1 and "but_work" in sieve else 1
            left = await desk.waiting(**sieve)
            assert (left.shown, left.hidden, sum(group.number for group in left.groups)) == (shown, 4 - shown, shown)
        nothing = await desk.waiting(agent="Runner", kind="proposal")
        assert (nothing.shown, nothing.hidden, nothing.groups) == (0, 4, ())


# P9
async def test_a_request_knows_its_place_and_the_page_that_holds_it(database: str) -> None:
    async with shop(database, STAFF) as at:
        await proposes(at, "many", 53)
        desk = at.agency.desk(at.mia)
        one = await desk.waiting()
        two = await desk.waiting(after=one.more)
        [*_, last_of_one] = one.groups[0].requests
        first, second, _ = two.groups[0].requests
        found = await desk.waiting(item=first.id)
        assert found.place is not None
        assert (found.place.n, found.place.before, found.place.after) == (51, last_of_one.id, second.id)
        assert (found.first, found.last) == (51, 53)
        await desk.refuse(first.id)
        gone = await desk.waiting(item=first.id)
        assert (gone.place, gone.first) == (None, 1)


# P9, R8, R10
async def test_what_waits_is_shown_to_whoever_decides_it_and_to_nobody_else(database: str) -> None:
    async with shop(database, STAFF) as at:
        await proposes(at, "notes")
        noor = at.agency.desk(at.noor)
        assert (await noor.waiting()).total == 0
        assert (await noor.waiting()).agents == ()
        assert (await at.agency.desk(None).waiting()).total == 0
        [proposal] = await at.agency.desk(at.mia).proposals()
        assert not proposal.takes_over
        await at.agency.deactivate(at.mia)
        [group] = (await noor.waiting()).groups
        assert group.requests[0].put_to == "Mia"
        assert (await noor.proposal(proposal.id)).takes_over
        assert not (await noor.take_over(proposal.id)).takes_over
        [group] = (await noor.waiting()).groups
        assert group.requests[0].put_to == ""


# P9
async def test_what_stands_together_and_falls_apart_between_two_pages_hides_nothing(database: str) -> None:
    async with shop(database, STAFF) as at:
        await proposes(at, "many", 52)
        await proposes(at, "few", 4)
        desk = at.agency.desk(at.mia)
        one = await desk.waiting()
        [[bundle]] = [group.rows for group in one.groups]
        assert isinstance(bundle, AskedBundle)
        assert (bundle.number, len(bundle.requests), bundle.action_label) == (52, 50, "Write a note on the shelf")
        two = await desk.waiting(after=one.more)
        assert [len(group.rows) for group in two.groups] == [1, 4]  # the rest of the bundle; four are too few for one
        seen = [request.id for request in bundle.requests]
        for id in seen[:48]:
            await desk.refuse(id)
        rest = [request.id for group in (await desk.waiting(after=one.more)).groups for request in group.requests]
        assert {*seen[48:], *rest} == {proposal.id for proposal in await desk.proposals()}
        assert not any(isinstance(row, AskedBundle) for group in (await desk.waiting()).groups for row in group.rows)


# P9, P10, R8
async def test_requests_of_one_kind_are_read_together_by_whoever_decides_them(database: str) -> None:
    async with shop(database, STAFF) as at:
        await proposes(at, "many", 35)
        desk, noor = at.agency.desk(at.mia), at.agency.desk(at.noor)
        items = await desk.proposals()
        for one in items[:10]:
            await desk.approve(one.id)
        found = await desk.batch(items[0].root, "Clerk", "note_shelf")
        assert (len(found.items), found.total, found.about) == (25, 25, "many")
        assert found.advice is not None and (found.advice.approved, found.advice.of) == (10, 10)
        assert (await desk.waiting()).advice == (found.advice,)
        again = await desk.batch_of([items[0].id, items[11].id, items[0].id])
        assert [(one.id, one.waits) for one in again.items] == [(items[0].id, False), (items[11].id, True)]
        with pytest.raises(NotFound):
            await noor.batch(items[0].root, "Clerk", "note_shelf")
        with pytest.raises(NotFound):
            await desk.batch(items[0].root, "Clerk", "add_shelf")
        await desk.set_aside(items[12].id, at.agency.clock.now() + timedelta(hours=1))
        assert (await desk.batch(items[0].root, "Clerk", "note_shelf")).total == 24
        assert (await noor.now()).crowded == ()
