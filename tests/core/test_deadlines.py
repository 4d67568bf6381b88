"""Requests that have a deadline: past it nobody answered, which is neither a yes nor a no."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from handon import (
    Agent,
    BadDeclaration,
    Context,
    Delegation,
    HelpStatus,
    NotWaiting,
    ProposalStatus,
    Skill,
    Specialist,
    Status,
    TraceKind,
    action,
)
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import Answer, Clerk, Head, Note, Oversee, add_shelf, hears, make, note_shelf, shop
from tests.staging import DONE, check_money, reopened, rows_of

DAY = timedelta(days=1)


@action("Offer a price", says="Offer {euros}", decide_within=timedelta(hours=2))
def offer_price(ctx: Context, euros: int) -> str:
    return "Offered."


class Sell(Skill[str, Answer]):
    tools = [offer_price, add_shelf]


class Seller(Agent):
    purpose = "You sell."
    roles = {"helper"}
    skills = [Sell()]


class HastySeller(Seller):
    requests_wait = DAY


class HastyClerk(Clerk):
    requests_wait = DAY


OFFER = Says.tool(offer_price, {"euros": 50})
ADD = Says.tool(add_shelf, {"mark": "B-2"})


# P11
async def test_by_default_a_request_waits_for_ever(database: str, clock: TestClock) -> None:
    async with shop(database, [Seller()], clock=clock) as at:
        at.agency.script(AgentCast().plays(Seller, AgentScript(Says.together(ADD, Says.ask("Which?")), DONE)))
        await at.agency.desk(at.mia).of(Seller).do(Sell(), "x")
        await clock.advance(timedelta(days=3650))
        desk = at.agency.desk(at.mia)
        [proposal], [question] = await desk.proposals(), await desk.questions()
        assert proposal.deadline is None and question.deadline is None


# P11
@pytest.mark.parametrize(
    ("agent", "turn", "hours"), [(Seller, OFFER, 2), (HastySeller, OFFER, 2), (HastySeller, ADD, 24)]
)
async def test_a_proposal_that_nobody_decides_in_time_expires_and_is_not_done(
    database: str, clock: TestClock, agent: type[Agent], turn: Any, hours: int
) -> None:
    async with shop(database, [agent()], clock=clock) as at:
        heard = hears(at.agency, AgentCast().plays(agent, AgentScript(turn, DONE)))
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(agent).do(Sell(), "x")
        [proposal] = await desk.proposals()
        assert proposal.deadline == proposal.asked_at + timedelta(hours=hours)
        await clock.advance(timedelta(hours=hours) - timedelta(seconds=1))
        assert (await desk.proposal(proposal.id)).status is ProposalStatus.WAITING
        await clock.advance(timedelta(seconds=3))
        outcome = await desk.stands(outcome.task)
        assert outcome.done
        found = await desk.proposal(proposal.id)
        assert (found.status, found.decided_by, found.decided_at) == (ProposalStatus.EXPIRED, None, None)
        assert (await desk.proposals(), await desk.waiting_count()) == ([], 0)
        [told] = heard.told(agent)
        assert told.startswith("Nobody answered: Mia was asked, and the time for it ended on")
        assert "That is no refusal. It was not done:" in told
        [line] = [line for line in await desk.trace_of(outcome.task) if line.kind is TraceKind.EXPIRED]
        assert line.summary == f"A proposal of {agent().shown_as} expired: {found.sentence}"
        check_money(await rows_of(at.agency, outcome.task))


# P11
async def test_a_question_that_nobody_answers_in_time_is_told_as_unanswered_and_not_as_declined(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [HastySeller()], clock=clock) as at:
        heard = hears(at.agency, AgentCast().plays(HastySeller, AgentScript(Says.ask("Which?"), DONE)))
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(HastySeller).do(Sell(), "x")
        [question] = await desk.questions()
        await clock.advance(DAY + timedelta(seconds=3))
        assert (await desk.stands(outcome.task)).done
        found = await desk.question(question.id)
        assert (found.status, found.declined, found.answered_by) == (HelpStatus.UNAVAILABLE, False, None)
        [told] = heard.told(HastySeller)
        assert told.startswith("Nobody answered: Mia was asked") and "no refusal" in told
        with pytest.raises(NotWaiting, match="it expired"):
            await desk.answer(question.id, "The left.")


# P11, P5
@pytest.mark.parametrize("what", ["approve", "refuse", "answer", "decline"])
async def test_nobody_decides_after_the_deadline_also_before_the_clock_has_looked(
    database: str, clock: TestClock, what: str
) -> None:
    async with shop(database, [HastySeller()], clock=clock, sweep_every=timedelta(hours=1)) as at:
        at.agency.script(AgentCast().plays(HastySeller, AgentScript(Says.together(ADD, Says.ask("Which?")), DONE)))
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(HastySeller).do(Sell(), "x")
        [proposal], [question] = await desk.proposals(), await desk.questions()
        await clock.advance(timedelta(hours=23, minutes=30))
        later = TestClock(clock.now() + timedelta(minutes=31))  # another process's, before anybody's clock has looked
        other = make(database, [HastySeller()], clock=later, concurrency=0)
        other.store.open(lambda connection: None)
        which: Any = proposal if what in ("approve", "refuse") else question
        said = {"text": "x"} if what == "answer" else {}
        try:
            with pytest.raises(NotWaiting, match="it could be decided until 4 March 2031, 09:00 UTC"):
                await getattr(other.desk(at.mia), what)(which.id, **said)
        finally:
            await other.store.close()
        assert (await desk.proposal(proposal.id)).status is ProposalStatus.WAITING
        await clock.advance(timedelta(minutes=31))
        assert (await desk.stands(outcome.task)).done


# P11, P3, P4
async def test_what_expires_deep_in_a_tree_wakes_each_piece_above_bottom_up(database: str, clock: TestClock) -> None:
    class Boss(Head):
        delegates = Delegation(to=[Specialist.of(HastyClerk, Note())])

    async with shop(database, [Boss(), HastyClerk()], clock=clock) as at:
        write = Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "Dusty."})
        cast = AgentCast().plays(HastyClerk, AgentScript(write, DONE))
        cast.plays(Boss, AgentScript(Says.hand_to(HastyClerk, Note(), Says.row(at.shelf)), DONE))
        at.agency.script(cast)
        outcome = await at.agency.desk(at.mia).of(Boss).do(Oversee(), "x")
        assert outcome.waiting_on == "Hasty clerk, which waits for a decision from Mia"
        await clock.advance(DAY + timedelta(seconds=3))
        assert (await at.agency.desk(at.mia).stands(outcome.task)).done
        assert (await at.the_shelf()).count == 0


# P11
async def test_of_two_requests_of_a_turn_one_may_expire_and_the_other_still_be_decided(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Seller()], clock=clock) as at:
        heard = hears(at.agency, AgentCast().plays(Seller, AgentScript(Says.together(OFFER, ADD), DONE)))
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Seller).do(Sell(), "x")
        await clock.advance(timedelta(hours=3))
        [left] = await desk.proposals()
        assert left.action == "add_shelf"
        assert (await desk.outcome(outcome.task)).status is Status.WAITING
        await desk.approve(left.id)
        assert (await desk.stands(outcome.task)).done
        assert [told.split()[0] for told in heard.told(Seller)] == ["Nobody", "Added"]


# P11, A8
async def test_what_expired_while_no_process_ran_expires_once_one_opens(database: str, clock: TestClock) -> None:
    cast = AgentCast().plays(Seller, AgentScript(OFFER, DONE))
    async with shop(database, [Seller()], clock=clock) as at:
        at.agency.script(cast)
        outcome = await at.agency.desk(at.mia).of(Seller).do(Sell(), "x")
    async with reopened(database, cast, [Seller()], clock=TestClock(clock.now() + DAY)) as agency:
        await agency.settle()
        assert (await agency.desk(None).outcome(outcome.task)).done


# P11
async def test_the_app_is_told_that_a_request_expired(database: str, clock: TestClock) -> None:
    async with shop(database, [Seller()], clock=clock) as at:
        told: list[Any] = []
        at.agency.events.subscribe("expired", told.append)
        at.agency.script(AgentCast().plays(Seller, AgentScript(OFFER, DONE)))
        outcome = await at.agency.desk(at.mia).of(Seller).do(Sell(), "x")
        [proposal] = await at.agency.desk(at.mia).proposals()
        await clock.advance(timedelta(hours=3))
        assert told == [{"whole": outcome.task.hex, "proposal": proposal.id.hex}]


# P11, D8
def test_a_time_to_decide_that_is_no_time_is_refused_when_declared(sqlite_database: str) -> None:
    class Never(Seller):
        requests_wait = timedelta(0)

    with pytest.raises(BadDeclaration, match="requests_wait"):
        make(sqlite_database, [Never()])

    @action("Blink", decide_within=timedelta(0))
    def blink() -> str:
        return ""

    class Blink(Skill[str, Answer]):
        tools = [blink]

    class Blinker(Agent):
        skills = [Blink()]

    with pytest.raises(BadDeclaration, match="blink"):
        make(sqlite_database, [Blinker()])
