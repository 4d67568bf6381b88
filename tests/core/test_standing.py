"""From now on, alone: what a standing rule lifts, within which bounds, and what it never lifts."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.declare.bounds import Bounds, Where
from core.standing import covers
from handon import Agent, BadInput, Context, Delegation, NotAllowed, Permits, Skill, Specialist, TraceKind, action
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import Answer, Clerk, Find, Note, Shelf, Shop, make, note_shelf, shop
from tests.staging import Staged


@action("Charge a shelf", says="Charge {price} for {shelf.mark}")
def charge_shelf(ctx: Context, shelf: Shelf, price: Decimal) -> str:
    shelf.count += 1
    return f"{shelf.mark} costs {price}."


class Price(Skill[str, Answer]):
    description = "Price shelves."
    tools = [charge_shelf]


class Pricer(Agent):
    purpose = "You price."
    roles = {"helper"}
    skills = [Price()]


def charges(at: Shop, *prices: str) -> AgentScript:
    calls = [Says.tool(charge_shelf, {"shelf": str(at.shelf), "price": price}) for price in prices]
    return AgentScript(*calls, Says.hand_back(Answer()))


async def pricing(at: Shop, *prices: str) -> str:
    at.agency.script(AgentCast().plays(Pricer, charges(at, *prices)))
    outcome = await at.agency.desk(at.mia).of(Pricer).do(Price(), "shelves")
    return str(outcome.status)


async def noting(at: Shop, agent: type[Agent] = Clerk, person: Any = None) -> str:
    note = Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "x"})
    at.agency.script(AgentCast().plays(agent, AgentScript(note, Says.hand_back(Answer()))))
    shelf = await at.the_shelf()
    outcome = await at.agency.desk(person or at.mia).of(agent).do(Note(), shelf)
    return str(outcome.status)


# R6, P10
async def test_a_rule_given_with_an_approval_lets_the_agent_do_it_alone_from_then_on(database, clock):
    async with shop(database, clock=clock) as at:
        assert await noting(at) == "Waiting"
        desk = at.agency.desk(at.mia)
        [proposal] = await desk.proposals()
        await desk.approve(proposal.id, from_now_on="for_me")
        await at.agency.settle()
        assert await noting(at) == "Done"
        [rule] = await desk.standing_rules()
        assert (rule.uses, rule.holds, rule.person) == (1, True, at.mia.id)
        kinds = [line.kind for work in await desk.works("all") for line in await desk.trace_of(work.root)]
        assert kinds.count(TraceKind.RULE_USED) == 1


# R6, P10
async def test_a_revoked_rule_lifts_nothing_any_more(database, clock):
    async with shop(database, clock=clock) as at:
        desk = at.agency.desk(at.mia)
        rule = await desk.give_rule(Clerk, note_shelf)
        assert await noting(at) == "Done"
        await desk.revoke_rule(rule.id)
        assert await noting(at) == "Waiting"
        [revoked] = await desk.standing_rules()
        assert revoked.revoked_at is not None
        assert not revoked.holds


# R6, P10
async def test_a_rule_for_one_persons_work_lifts_nothing_in_anothers_and_one_for_everybody_does(database, clock):
    async with shop(database, clock=clock) as at:
        await at.agency.desk(at.mia).give_rule(Clerk, note_shelf)
        assert await noting(at, person=at.noor) == "Waiting"
        with pytest.raises(NotAllowed, match="given by a supervisor"):
            await at.agency.desk(at.mia).give_rule(Clerk, note_shelf, for_everybody=True)
        await at.agency.desk(at.noor).give_rule(Clerk, note_shelf, for_everybody=True)
        assert await noting(at, person=at.noor) == "Done"


# R6
async def test_a_rule_is_given_only_for_a_tool_the_agent_holds_and_would_propose(database, clock):
    class Careful(Clerk):
        may = Permits.proposes_changes().proposes_every_time(note_shelf)

    async with shop(database, [Careful(), Pricer()], clock=clock) as at:
        desk = at.agency.desk(at.mia)
        with pytest.raises(BadInput, match="propose every time; a rule lifts only propose"):
            await desk.give_rule(Careful, note_shelf)
        with pytest.raises(BadInput, match="does not hold note_shelf itself"):
            await desk.give_rule(Pricer, note_shelf)


GATES = {
    "alone": Permits.changes_alone(),
    "propose": Permits.proposes_changes(),
    "every time": Permits.proposes_changes().proposes_every_time(note_shelf),
    "never": Permits.changes_alone().never(note_shelf),
}


class Keeper(Agent):
    """At the bottom: holds the tool."""

    purpose = "You keep."
    roles = {"helper"}
    skills = [Note()]


class Holder(Agent):
    """Above it: holds the tool itself as well, so that a rule can be given to it."""

    purpose = "You hold."
    roles = {"helper"}
    skills = [Note()]
    delegates = Delegation(to=[Specialist.of(Keeper, Note())])


class Coordinator(Agent):
    """At the top: holds no tool."""

    purpose = "You coordinate."
    roles = {"helper"}
    skills = [Find()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(Holder, Note())])


# R4, R6
@pytest.mark.parametrize(("own", "above"), list(product(GATES, GATES)))
@pytest.mark.parametrize("ruled", ["nobody", "own", "above", "both"])
async def test_a_rule_lifts_its_own_agents_propose_and_nothing_else(sqlite_database, clock, own, above, ruled):
    keeper, holder = Keeper(), Holder()
    keeper.may, holder.may = GATES[own], GATES[above]
    async with shop(sqlite_database, [Coordinator(), holder, keeper], clock=clock) as at:
        desk = at.agency.desk(at.mia)
        lifted = set()
        for agent, gate, given in (
            (Keeper, own, ruled in ("own", "both")),
            (Holder, above, ruled in ("above", "both")),
        ):
            if given and gate == "propose":
                await desk.give_rule(agent, note_shelf)
                lifted.add(agent)
        row = Says.row(at.shelf)
        note = Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "x"})
        at.agency.script(
            AgentCast()
            .plays(Coordinator, AgentScript(Says.hand_to(Holder, Note(), row), Says.hand_back(Answer())))
            .plays(Holder, AgentScript(Says.hand_to(Keeper, Note(), row), Says.hand_back(Answer())))
            .plays(Keeper, AgentScript(note, Says.hand_back(Answer())))
        )
        outcome = await desk.of(Coordinator).do(Find(), "notes")
        gates = {
            "alone" if own == "propose" and Keeper in lifted else own,
            "alone" if above == "propose" and Holder in lifted else above,
        }
        written = (await at.the_shelf()).count
        assert written == (1 if gates == {"alone"} else 0)
        assert outcome.waiting == (not ("never" in gates or gates == {"alone"}))


# R6, R11
@pytest.mark.parametrize("stricter", ["every time", "never"])
async def test_a_rule_lifts_nothing_once_its_agents_own_word_has_become_stricter(database, clock, stricter):
    clerk = Clerk()
    async with shop(database, [clerk], clock=clock) as at:
        desk = at.agency.desk(at.mia)
        await desk.give_rule(Clerk, note_shelf)
        assert await noting(at) == "Done"
        clerk.may = GATES[stricter]
        assert await noting(at) == ("Waiting" if stricter == "every time" else "Done")
        assert (await at.the_shelf()).count == 1
        [rule] = await desk.standing_rules()
        assert (rule.uses, rule.holds) == (1, False)


# R12
@pytest.mark.parametrize(
    ("bounds", "inside", "outside"),
    [
        (Bounds(where=(Where("price", "at most", "50"),)), ["50", "7"], "50.01"),
        (Bounds(where=(Where("price", "equals", "5"),)), ["5", "5"], "6"),
        (Bounds(where=(Where("price", "one of", ("5", "7")),)), ["7", "5"], "6"),
        (Bounds(uses=2), ["5", "99"], "1"),
        (Bounds(sum_of=("price", "10")), ["4", "6"], "0.01"),
        (Bounds(sum_of=("price", "10")), ["4", "5"], "-20"),
    ],
)
async def test_outside_its_bounds_the_agent_proposes_as_before(database, clock, bounds, inside, outside):
    async with shop(database, [Pricer()], clock=clock) as at:
        await at.agency.desk(at.mia).give_rule(Pricer, charge_shelf, bounds=bounds)
        assert await pricing(at, *inside) == "Done"
        assert await pricing(at, outside) == "Waiting"
        assert (await at.the_shelf()).count == 2


# R12
async def test_a_rule_ends_with_its_day(database, clock):
    async with shop(database, [Pricer()], clock=clock) as at:
        desk = at.agency.desk(at.mia)
        rule = await desk.give_rule(Pricer, charge_shelf, bounds=Bounds(until=date(2031, 3, 3)))
        assert rule.bounds == "through 2031-03-03"
        assert await pricing(at, "5") == "Done"
        await clock.advance(timedelta(hours=15))  # midnight
        assert await pricing(at, "5") == "Waiting"


# R12
@pytest.mark.parametrize(
    "bounds",
    [
        Bounds(where=(Where("nothing", "equals", "5"),)),
        Bounds(where=(Where("price", "at most", "much"),)),
        Bounds(where=(Where("price", "one of", ()),)),
        Bounds(uses=0),
        Bounds(sum_of=("price", "0")),
        Bounds(sum_of=("nothing", "5")),
    ],
)
async def test_bounds_that_do_not_fit_the_arguments_are_refused_in_words(sqlite_database, clock, bounds):
    async with shop(sqlite_database, [Pricer()], clock=clock) as at:
        with pytest.raises(BadInput) as refused:
            await at.agency.desk(at.mia).give_rule(Pricer, charge_shelf, bounds=bounds)
        assert str(refused.value)
        assert await at.agency.desk(at.mia).standing_rules() == []


# R12
async def test_before_it_is_given_one_sees_which_of_ones_last_decisions_it_would_have_covered(database, clock):
    async with shop(database, [Pricer()], clock=clock) as at:
        desk = at.agency.desk(at.mia)
        for price in ("5", "60", "7"):
            assert await pricing(at, price) == "Waiting"
            [proposal] = await desk.proposals()
            await desk.refuse(proposal.id)
            await at.agency.settle()
            await clock.advance(timedelta(minutes=1))
        bounds = Bounds(where=(Where("price", "at most", "50"),))
        would = await desk.rule_would_have_covered(Pricer, charge_shelf, bounds)
        assert [(proposal.arguments["price"], fits) for proposal, fits in would] == [
            ("7", True), ("60", False), ("5", True)
        ]  # fmt: skip
        assert [fits for _, fits in await desk.rule_would_have_covered(Pricer, charge_shelf, Bounds(uses=1))] == [
            False, False, True
        ]  # fmt: skip


amounts = st.decimals(min_value=-50, max_value=200, places=2)


# R12
@given(st.lists(amounts, max_size=12), st.decimals(min_value=1, max_value=300, places=2), st.integers(1, 6))
@settings(max_examples=200, deadline=None)
def test_no_run_of_calls_takes_a_rule_past_its_sum_or_its_uses(prices, most, uses):
    bounds = Bounds(uses=uses, sum_of=("price", str(most)))
    used, total = 0, Decimal(0)
    for price in prices:
        if covers(bounds, {"price": str(price)}, used, total):
            used, total = used + 1, total + price
        assert used <= uses
        assert 0 <= total <= most


# R6, R12
@pytest.mark.parametrize(("bounds", "alone"), [(Bounds(uses=3), 3), (Bounds(sum_of=("price", "10")), 2)])
async def test_wholes_at_once_in_two_processes_do_not_use_a_rule_more_often_than_it_says(
    database, clock, bounds, alone
):
    async with shop(database, [Pricer()], clock=clock) as at, make(database, [Pricer()], clock=TestClock()) as other:
        await at.agency.desk(at.mia).give_rule(Pricer, charge_shelf, bounds=bounds)
        staged = Staged(AgentCast().plays(Pricer, charges(at, "4")), Pricer)
        tasks = []
        for agency in (at.agency, other) * 4:
            agency.script(staged)
            tasks.append(await agency.desk(at.mia).of(Pricer).start(Price(), "shelves"))
        await staged.holds(8)
        staged.hold_no_more()
        await at.agency.settle()
        await other.settle()
        desk = at.agency.desk(at.mia)
        statuses = [str((await desk.outcome(task)).status) for task in tasks]
        assert (statuses.count("Done"), statuses.count("Waiting")) == (alone, 8 - alone)
        assert ((await at.the_shelf()).count, len(await desk.proposals())) == (alone, 8 - alone)
        [rule] = await desk.standing_rules()
        assert rule.uses == alone
