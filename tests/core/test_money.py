"""Limits, shares and reservations: a piece never spends what the pieces above it do not have."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from core.amounts import exact, to_micros
from core.errors import BadInput
from handon import Agent, AgentLimits, Delegation, Outcome, Specialist, Status, TraceKind
from handon.testing import AgentCast, AgentScript, Says, Trajectory
from tests.builders import Answer, Find, Shop, look_up, shop
from tests.staging import (
    CALL,
    DONE,
    STAFF,
    Finder,
    Gather,
    Lead,
    Staged,
    account,
    asked,
    check_money,
    finders,
    gathers,
    rows_of,
    until,
)


class ThriftyFind(Find):
    budget = Decimal("0.008")


class ThriftyFinder(Agent):
    purpose = "You find things out cheaply."
    roles = {"helper"}
    skills = [Find(), ThriftyFind()]
    limits = AgentLimits(per_task=Decimal("0.009"))


class Sharer(Agent):
    """Hands one thing on in every way a share can be named."""

    purpose = "You have things found."
    roles = {"helper"}
    skills = [Gather()]
    delegates = Delegation(
        to=[
            Specialist.of(Finder, Find()),
            Specialist.of(ThriftyFinder, Find()),
            Specialist.of(ThriftyFinder, ThriftyFind(), budget=Decimal("0.0085")),
            Specialist.helper(Gather(), budget=Decimal("0.006")),
        ]
    )


async def share_of(database: str, leg: Any, limit: str = "0.05") -> int:
    """What a leg's piece opens with, where the top is given `limit` and has spent one call."""
    async with shop(database, [Sharer(), ThriftyFinder(), Finder()]) as at:
        at.agency.script(
            AgentCast()
            .plays(Sharer, gathers(leg), piece=1)
            .plays(Sharer, AgentScript(DONE))
            .plays(Finder, AgentScript(DONE))
            .plays(ThriftyFinder, AgentScript(DONE))
        )
        outcome = await at.agency.desk(at.mia).of(Sharer).do(Gather(), "things", limit=Decimal(limit))
        assert outcome.done, outcome.why
        [opened] = await at.agency.desk(at.mia).handed_on_by(outcome.task)
        return opened.limit_micros


# M1
async def test_a_piece_whose_share_nobody_names_may_spend_what_the_work_above_has_left(database: str) -> None:
    assert await share_of(database, Says.hand_to(Finder, Find(), "it")) == 50_000 - CALL


# M1
async def test_a_piece_opens_with_its_share(database: str) -> None:
    assert await share_of(database, Says.hand_to_helper(Gather(), "it")) == 6_000


# M1
async def test_what_an_agent_says_of_its_pieces_bounds_the_share(database: str) -> None:
    assert await share_of(database, Says.hand_to(ThriftyFinder, Find(), "it")) == 9_000


# M1
async def test_what_a_skill_says_bounds_the_share_where_it_says_least(database: str) -> None:
    assert await share_of(database, Says.hand_to(ThriftyFinder, ThriftyFind(), "it")) == 8_000


# M1
async def test_what_the_work_above_has_left_bounds_every_share(database: str) -> None:
    leg = Says.hand_to(ThriftyFinder, ThriftyFind(), "it")
    assert await share_of(database, leg, limit="0.0075") == 7_500 - CALL


# M1
async def test_with_nothing_left_nothing_is_handed_on_and_the_model_is_told(database: str) -> None:
    async with shop(database, STAFF) as at:
        # 1,000 out at 5, and 1,500 in: all the lead may spend.
        spends_all = Says.hand_to(Finder, Find(), "it", tokens=(1_500, 1_000))
        at.agency.script(AgentCast().plays(Lead, AgentScript(spends_all, DONE)))
        outcome = await at.agency.desk(at.mia).of(Lead).do(Gather(), "things", limit=Decimal("0.0065"))
        assert await at.agency.desk(at.mia).handed_on_by(outcome.task) == []
        lines = await at.agency.desk(at.mia).trace_of(outcome.task)
        assert any("no money is left" in line.payload for line in lines if line.kind is TraceKind.TOOL_RAN)


async def one_under_way(at: Shop) -> tuple[Staged, UUID]:
    """Start a lead, charged to an account too, with one finder whose call is under way."""
    staged = Staged(AgentCast().plays(Lead, gathers(*finders(1))).plays(Finder, AgentScript(DONE)), Finder)
    at.agency.script(staged)
    task = await at.agency.desk(at.mia).of(Lead).start(Gather(), "things", on="rebinding")
    await staged.holds(1)
    return staged, task


# M2
async def test_what_a_call_could_cost_is_held_against_its_piece_every_piece_above_and_the_account(
    database: str,
) -> None:
    async with shop(database, STAFF) as at:
        staged, task = await one_under_way(at)
        [lead, finder] = await rows_of(at.agency, task)
        check_money([lead, finder])
        # 1,000 tokens out at 5 micros, and what goes in at 1.
        assert 5_000 < finder.call_micros < 6_000
        assert lead.reserved_micros == finder.reserved_micros == finder.call_micros
        assert lead.call_micros == 0
        assert await account(at.agency, "rebinding") == (CALL, finder.call_micros)
        staged.let_go()
        await at.agency.settle()


# M3
async def test_after_the_call_what_it_cost_is_charged_to_all_of_those_and_nothing_is_held(database: str) -> None:
    async with shop(database, STAFF) as at:
        staged, task = await one_under_way(at)
        staged.let_go()
        await at.agency.settle()
        [lead, finder] = await rows_of(at.agency, task)
        assert (finder.own_micros, finder.tree_micros, finder.reserved_micros) == (CALL, CALL, 0)
        assert (lead.own_micros, lead.tree_micros, lead.reserved_micros) == (2 * CALL, 3 * CALL, 0)
        assert await account(at.agency, "rebinding") == (3 * CALL, 0)
        assert await at.agency.spent_against("rebinding") == Decimal("0.0006")


# M2
async def test_a_call_leaves_where_what_it_could_cost_just_fits(database: str) -> None:
    assert (await with_limit_short_by(database, 0)).done


# M2, M6
async def test_a_call_does_not_leave_where_one_micro_is_wanting(database: str) -> None:
    outcome = await with_limit_short_by(database, 1)
    assert (outcome.status, outcome.cost_micros) == (Status.STOPPED, 0)


async def with_limit_short_by(database: str, micros: int) -> Outcome[Answer]:
    """A finder's one call, with a limit that is what it could cost less so much."""
    async with shop(database, STAFF) as at:
        staged = Staged(AgentCast().plays(Finder, AgentScript(DONE)), Finder)
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        first = await desk.of(Finder).start(Find(), "it")
        await staged.holds(1)
        [row] = await rows_of(at.agency, first)
        staged.hold_no_more()
        await at.agency.settle()
        return await desk.of(Finder).do(Find(), "it", limit=Decimal(row.call_micros - micros) / 1_000_000)


# M2
async def test_an_account_without_room_stops_the_call_and_says_which_account(database: str) -> None:
    async with shop(database, STAFF) as at:
        await at.agency.set_limit("rebinding", Decimal("0.001"))
        at.agency.script(AgentCast())
        outcome = await at.agency.desk(at.mia).of(Finder).do(Find(), "it", on="rebinding")
        assert outcome.status is Status.STOPPED
        assert "the limit of rebinding of EUR 0.001" in outcome.why
        assert await account(at.agency, "rebinding") == (0, 0)


# M2
async def test_an_account_with_room_lets_the_same_call_leave(database: str) -> None:
    async with shop(database, STAFF) as at:
        await at.agency.set_limit("rebinding", Decimal("0.01"))
        at.agency.script(AgentCast().plays(Finder, AgentScript(DONE)))
        assert (await at.agency.desk(at.mia).of(Finder).do(Find(), "it", on="rebinding")).done


# M5
async def test_a_receipt_says_what_the_piece_spent_itself_and_the_tree_what_everything_under_it_did(
    database: str,
) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(AgentCast().plays(Lead, gathers(*finders(3))).plays(Finder, AgentScript(DONE)))
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        assert (await desk.piece(outcome.task)).spent_micros == 2 * CALL
        assert await desk.cost_of(outcome.task) == 5 * CALL
        nodes = await desk.work_tree(outcome.task)
        assert sum(node.own_micros for node in nodes) == nodes[0].tree_micros == 5 * CALL
        check_money(await rows_of(at.agency, outcome.task))


# M6, M11
async def test_a_piece_whose_own_money_ran_out_is_stopped_and_says_its_limit_the_cost_and_what_was_left(
    database: str,
) -> None:
    async with shop(database, STAFF) as at:
        staged = Staged(AgentCast().plays(Finder, AgentScript(Says.ask("Which?", tokens=(70, 1_000)))), Finder)
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Finder).start(Find(), "it", limit=Decimal("0.006"))
        await staged.holds(1)
        staged.hold_no_more()
        await at.agency.settle()
        [question] = await desk.questions()
        await desk.answer(question.id, "The left one.")
        await at.agency.settle()
        outcome = await desk.outcome(task)
        assert outcome.status is Status.STOPPED
        assert outcome.why.startswith("Its money ran out: a call could have cost EUR 0.005")
        assert outcome.why.endswith("its own limit of EUR 0.006 had EUR 0.00093 left.")


# M6
async def test_where_the_money_of_a_piece_above_ran_out_everything_under_that_piece_is_called_off(
    database: str,
) -> None:
    async with shop(database, STAFF) as at:
        asks = AgentScript(Says.ask("Which one?", tokens=(200, 400)), DONE)
        spends = AgentScript(Says.tool(look_up, {"word": "x"}, tokens=(200, 1_000)), DONE)
        cast = AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, asks, piece=1).plays(Finder, spends, piece=2)
        staged = Staged(cast, Finder)
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things", limit=Decimal("0.0115"))
        first, _ = await staged.holds(2)
        staged.let_go(first)
        await until(asked(desk))
        staged.hold_no_more()
        await at.agency.settle()
        whole = Trajectory(at.agency, task)
        assert await whole.tree() == [
            "Lead · Gather: Stopped",
            "  Finder · Find: Cancelled",
            "  Finder · Find: Cancelled",
        ]
        outcome = await desk.outcome(task)
        assert "the limit of Lead above it of EUR 0.0115" in outcome.why
        assert await desk.questions() == []
        check_money(await rows_of(at.agency, task))


# M6
async def test_where_only_a_pieces_own_share_ran_out_the_piece_above_goes_on(database: str) -> None:
    async with shop(database, [Sharer(), ThriftyFinder(), Finder()]) as at:
        spends = AgentScript(Says.tool(look_up, {"word": "x"}, tokens=(500, 1_000)), DONE)
        at.agency.script(
            AgentCast()
            .plays(Sharer, gathers(Says.hand_to(ThriftyFinder, ThriftyFind(), "it")))
            .plays(ThriftyFinder, spends)
        )
        outcome = await at.agency.desk(at.mia).of(Sharer).do(Gather(), "things")
        assert outcome.done
        assert (await Trajectory(at.agency, outcome.task).tree())[1] == "  Thrifty finder · Thrifty find: Stopped"


# M11
def test_an_amount_is_exact_to_the_micro() -> None:
    assert to_micros("0.000001") == 1
    assert exact(1, "EUR") == "EUR 0.000001"
    assert exact(14_900, "EUR") == "EUR 0.0149"
    assert exact(2_500_000, "EUR") == "EUR 2.50"


# M11
@pytest.mark.parametrize("amount", ["-0.01", "0.0000001", "much", "NaN", "Infinity"])
def test_what_is_no_amount_of_money_is_refused(amount: str) -> None:
    with pytest.raises(BadInput):
        to_micros(amount)


# M3, M4
async def test_an_answer_that_cost_more_than_was_held_is_charged_in_full_and_no_call_leaves_after_it(
    database: str,
) -> None:
    """What goes in is reckoned beforehand, and counted by the provider: the one thing that may pass a limit."""
    async with shop(database, STAFF) as at:
        dear = Says.tool(look_up, {"word": "x"}, tokens=(9_000, 1_000))
        staged = Staged(AgentCast().plays(Lead, gathers(*finders(1))).plays(Finder, AgentScript(dear, DONE)))
        at.agency.script(staged)
        outcome = await at.agency.desk(at.mia).of(Lead).do(Gather(), "things", limit=Decimal("0.0115"), on="rebinding")
        assert outcome.status is Status.STOPPED
        assert outcome.cost_micros == CALL + 9_000 + 5_000 > 11_500
        assert outcome.why.endswith("its own limit of EUR 0.0115 had EUR 0.00 left.")
        assert (staged.asked_of(Lead), staged.asked_of(Finder)) == (1, 1)
        assert await account(at.agency, "rebinding") == (outcome.cost_micros, 0)
        rows = await rows_of(at.agency, outcome.task)
        assert [(row.status, row.reserved_micros) for row in rows] == [("Stopped", 0), ("Stopped", 0)]


# M2
@pytest.mark.parametrize("full", ["a binding", "rebinding"])
async def test_where_one_of_several_accounts_has_no_room_nothing_is_held_on_any(database: str, full: str) -> None:
    async with shop(database, STAFF) as at:
        await at.agency.set_limit(full, Decimal("0.001"))
        at.agency.script(AgentCast())
        both = ["rebinding", "a binding"]
        outcome = await at.agency.desk(at.mia).of(Finder).do(Find(), "it", on=both)
        assert outcome.status is Status.STOPPED
        assert f"the limit of {full} of EUR 0.001" in outcome.why
        assert [await account(at.agency, key) for key in both] == [(0, 0)] * 2
        check_money(await rows_of(at.agency, outcome.task))
