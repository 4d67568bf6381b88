"""Room for money while many pieces run at once: held before a call leaves, given back whatever becomes of the call."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from core import money, receipts, record
from core.store import Tx
from handon import Agent, Delegation, ModelAnswer, ModelRequest, Price, Specialist, Status, TraceKind
from handon.testing import AgentCast, AgentScript, ProcessDied, Says, TestClock, Trajectory, Unreachable
from tests.builders import Answer, Find, Shop, shop
from tests.staging import (
    CALL,
    DONE,
    STAFF,
    Deputy,
    Finder,
    Gather,
    Lead,
    Staged,
    account,
    calls_of,
    check_money,
    finders,
    gathers,
    reopened,
    rows_of,
    until,
    watching,
)

# A finder's call is held at a little under 5,300 micros: of what the lead leaves, two fit and three do not.
LEAVES_ROOM_FOR_TWO = Decimal("0.0115")


# M4, M2
async def test_eight_at_once_of_which_two_fit_never_hold_more_than_there_is_and_all_come_to_an_end(
    database: str,
) -> None:
    async with shop(database, STAFF) as at:
        staged = Staged(AgentCast().plays(Lead, gathers(*finders(8))).plays(Finder, AgentScript(DONE)), Finder)
        at.agency.script(staged)
        task = await at.agency.desk(at.mia).of(Lead).start(Gather(), "things", limit=LEAVES_ROOM_FOR_TWO)
        async with watching(at.agency, task) as seen:
            await staged.holds(2)
            await asyncio.sleep(0.1)
            assert staged.asked_of(Finder) == 2, "a third call left"
            staged.hold_no_more()
            await at.agency.settle()
        held = [sum(row.call_micros > 0 for row in rows if row.agent == "Finder") for rows in seen]
        assert max(held) == 2
        whole = Trajectory(at.agency, task)
        assert await whole.tree() == ["Lead · Gather: Done", *["  Finder · Find: Done"] * 8]
        assert await whole.tree_cost() == 10 * CALL


# M4, M6
async def test_eight_at_once_that_spend_all_there_is_are_called_off_and_nobody_overran(database: str) -> None:
    async with shop(database, STAFF) as at:
        # Each answer costs nearly what is held for it: after the second nothing more fits.
        answers = AgentScript(Says.hand_back(Answer(text="Found."), tokens=(200, 1_000)))
        at.agency.script(AgentCast().plays(Lead, gathers(*finders(8))).plays(Finder, answers))
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things", limit=LEAVES_ROOM_FOR_TWO)
        async with watching(at.agency, task):
            await at.agency.settle()
        outcome = await desk.outcome(task)
        assert outcome.status is Status.STOPPED
        assert "the limit of Lead above it of EUR 0.0115" in outcome.why
        statuses = [node.status for node in await desk.work_tree(task)][1:]
        assert statuses.count(Status.DONE) == 2
        assert statuses.count(Status.CANCELLED) == 6
        assert outcome.cost_micros == CALL + 2 * 5_200


# M4
async def test_an_account_that_several_wholes_share_is_not_overrun_by_them(database: str) -> None:
    async with shop(database, STAFF) as at:
        await at.agency.set_limit("rebinding", LEAVES_ROOM_FOR_TWO)
        staged = Staged(AgentCast().plays(Finder, AgentScript(DONE)), Finder)
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        tasks = [await desk.of(Finder).start(Find(), f"thing {n}", on="rebinding") for n in range(6)]
        await staged.holds(2)
        await asyncio.sleep(0.1)
        assert staged.asked_of(Finder) == 2
        spent, held = await account(at.agency, "rebinding")
        assert 10_000 < spent + held <= 11_500
        staged.hold_no_more()
        await at.agency.settle()
        assert [(await desk.piece(task)).status for task in tasks] == [Status.DONE] * 6
        assert await account(at.agency, "rebinding") == (6 * CALL, 0)


# M2
async def test_a_call_for_which_there_is_only_no_room_now_waits_and_nothing_is_stopped(database: str) -> None:
    async with shop(database, STAFF) as at:
        staged = Staged(AgentCast().plays(Lead, gathers(*finders(3))).plays(Finder, AgentScript(DONE)), Finder)
        at.agency.script(staged)
        task = await at.agency.desk(at.mia).of(Lead).start(Gather(), "things", limit=LEAVES_ROOM_FOR_TWO)
        first, _ = await staged.holds(2)
        assert await Trajectory(at.agency, task).still_going() == [
            "Lead · Gather: Working",
            *["  Finder · Find: Working"] * 3,
        ]
        staged.let_go(first)
        await until(lambda: staged.asked_of(Finder) == 3)
        staged.hold_no_more()
        await at.agency.settle()
        assert (await at.agency.desk(at.mia).outcome(task)).done


# A1, M6
async def test_what_waits_long_for_room_that_a_dead_process_of_other_work_holds_is_not_taken_for_dead_itself(
    database: str, clock: TestClock
) -> None:
    """Both are charged to one account, which has room for one call: the first one's process dies in it."""
    cast = AgentCast().plays(Finder, AgentScript(DONE))
    soon = {"abandoned_after": timedelta(milliseconds=200), "abandoned_check_every": timedelta(0)}
    async with shop(database, STAFF, clock=clock, **soon) as at:
        await at.agency.set_limit("rebinding", Decimal("0.0060"))
        at.agency.script(dies)
        desk = at.agency.desk(at.mia)
        dead = await desk.of(Finder).start(Find(), "one", on="rebinding")
        with pytest.raises(ProcessDied):
            await desk.stands(dead)
        at.agency.script(cast)
        waits = await desk.of(Finder).start(Find(), "two", on="rebinding")

        async def let_go() -> bool:
            [row] = await rows_of(at.agency, waits)
            return row.run == "due" and row.due_at is not None

        await until(let_go)
        await clock.advance(timedelta(seconds=1))
        assert await at.agency.was_abandoned(dead) and not await at.agency.was_abandoned(waits)
        assert await at.agency.close_abandoned_work() == 1
        await clock.advance(timedelta(seconds=10))
        await at.agency.settle()
        assert [(await desk.piece(task)).status for task in (dead, waits)] == [Status.FAILED, Status.DONE]
        assert await account(at.agency, "rebinding") == (CALL, 0)


def dies(model: str, request: ModelRequest) -> ModelAnswer:
    raise ProcessDied


# E4
async def test_a_piece_that_waits_for_room_is_called_off_with_the_rest(database: str) -> None:
    async with shop(database, STAFF) as at:
        staged = Staged(AgentCast().plays(Lead, gathers(*finders(3))).plays(Finder, AgentScript(DONE)), Finder)
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things", limit=LEAVES_ROOM_FOR_TWO)
        await staged.holds(2)
        await desk.stop(task)
        staged.hold_no_more()
        await at.agency.settle()
        assert staged.asked_of(Finder) == 2
        assert await Trajectory(at.agency, task).still_going() == []


# M5
async def test_ten_thousand_tiny_costs_add_up_to_the_micro(database: str) -> None:
    """3 tokens in at 0.41 a million are 1.23 micros: charged as 2, whole, each and every time."""
    async with shop(database, STAFF) as at:
        staged = Staged(AgentCast().plays(Lead, gathers(*finders(1))).plays(Finder, AgentScript(DONE)), Finder)
        at.agency.script(staged)
        task = await at.agency.desk(at.mia).of(Lead).start(Gather(), "things")
        [finder] = await staged.holds(1)
        cost = Price(input="0.41", output=0).micros(3, 0)

        def spend(tx: Tx) -> None:
            tree = record.lock(tx, task.hex)
            branch = receipts.branch(tx, receipts.get(tx, finder.hex))
            for _ in range(1_000):
                assert money.reserve(tx, at.agency.settings, tree, branch, cost, ()) is None
                money.settle(tx, tree, branch, cost, cost)

        for _ in range(10):
            await at.agency.store.write(spend)
        lead, found = await rows_of(at.agency, task)
        assert (found.own_micros, lead.tree_micros) == (20_000, 20_000 + CALL)
        assert await at.agency.spent_against(f"task:{task}") == Decimal("0.0202")
        staged.let_go()
        await at.agency.settle()


# M3
async def test_a_call_that_is_cancelled_gives_its_room_back_to_every_piece_above(database: str) -> None:
    cast = AgentCast().plays(Lead, gathers(Says.hand_to(Deputy, Gather(), "things")))
    staged = Staged(cast.plays(Deputy, gathers(*finders(1))).plays(Finder, AgentScript(DONE)), Finder)
    async with shop(database, STAFF, stop_grace=timedelta(milliseconds=50)) as at:
        at.agency.script(staged)
        task = await at.agency.desk(at.mia).of(Lead).start(Gather(), "things", on="rebinding")
        await staged.holds(1)
        held = (await rows_of(at.agency, task))[2].call_micros
        assert held > 0
    async with reopened(database, cast) as agency:
        await agency.settle()
        rows = await rows_of(agency, task)
        check_money(rows)
        assert [row.reserved_micros for row in rows] == [0, 0, 0]
        # It had left, and nobody knows what it cost: the whole reservation was charged (M10).
        assert rows[2].own_micros == held + CALL
        assert await account(agency, "rebinding") == (held + 5 * CALL, 0)


# M3
async def test_a_process_that_dies_in_a_call_leaves_nothing_held_once_its_work_is_closed(
    database: str, clock: TestClock
) -> None:
    cast = (
        AgentCast().plays(Lead, gathers(Says.hand_to(Deputy, Gather(), "things"))).plays(Deputy, gathers(*finders(1)))
    )

    def answer(name: str, request: ModelRequest) -> ModelAnswer:
        if request.agent == "Finder":
            raise ProcessDied
        return cast.answer(name, request)

    async with shop(database, STAFF, clock=clock) as at:
        at.agency.script(answer)
        desk = at.agency.desk(at.mia)
        with pytest.raises(ProcessDied):
            await desk.of(Lead).do(Gather(), "things", on="rebinding")
        [whole] = await desk.works("all")
        rows = await rows_of(at.agency, whole.root)
        assert rows[0].reserved_micros == rows[2].call_micros > 0
        await clock.advance(timedelta(minutes=45))
        await at.agency.settle()
        rows = await rows_of(at.agency, whole.root)
        check_money(rows)
        assert [row.reserved_micros for row in rows] == [0, 0, 0]
        assert await account(at.agency, "rebinding") == (2 * CALL, 0)


# M3, M10
async def test_an_answer_that_cannot_be_used_is_charged_as_held_and_holds_nothing(database: str) -> None:
    def answer(name: str, request: ModelRequest) -> ModelAnswer:
        raise ValueError("half an answer")

    async with shop(database, STAFF) as at:
        at.agency.script(answer)
        outcome = await at.agency.desk(at.mia).of(Finder).do(Find(), "it", on="rebinding")
        assert outcome.status is Status.FAILED
        [row] = await rows_of(at.agency, outcome.task)
        check_money([row])
        assert row.own_micros > 5_000
        assert await account(at.agency, "rebinding") == (row.own_micros, 0)


def chain() -> AgentCast:
    """A lead, a deputy under it, and a finder under that."""
    cast = AgentCast().plays(Lead, gathers(Says.hand_to(Deputy, Gather(), "things")))
    return cast.plays(Deputy, gathers(*finders(1))).plays(Finder, AgentScript(DONE))


BROKEN_OFF = [TimeoutError, ConnectionResetError, OSError, Unreachable]


# M3, M10
@pytest.mark.parametrize("error", BROKEN_OFF)
async def test_a_call_that_breaks_off_holds_nothing_at_any_level_and_is_charged_once_where_it_had_left(
    database: str, error: type[BaseException]
) -> None:
    await break_off(database, error)


# M3, M10, E8
async def test_a_client_that_cancels_itself_is_charged_once_and_not_taken_for_a_process_that_leaves(
    database: str,
) -> None:
    await break_off(database, asyncio.CancelledError)


async def break_off(database: str, error: type[BaseException]) -> None:
    """A call two levels down ends in this error: what it holds, costs and leads to."""
    cast, times = chain(), 0

    def answer(name: str, request: ModelRequest) -> ModelAnswer:
        nonlocal times
        if request.agent == "Finder":
            times += 1
            raise error("it broke off")
        return cast.answer(name, request)

    async with shop(database, STAFF, model_tries=1) as at:
        at.agency.script(answer)
        task = await at.agency.desk(at.mia).of(Lead).start(Gather(), "things", on="rebinding")
        await at.agency.settle()
        rows = await rows_of(at.agency, task)
        check_money(rows)
        assert [(row.status, row.reserved_micros) for row in rows] == [("Done", 0), ("Done", 0), ("Failed", 0)]
        assert times == 1
        charged = rows[2].own_micros
        assert charged == 0 if error is Unreachable else charged > 5_000
        assert await account(at.agency, "rebinding") == (4 * CALL + charged, 0)


# M10, E9
@pytest.mark.parametrize("error", [TimeoutError, ConnectionResetError])
async def test_a_call_that_breaks_off_after_its_piece_was_closed_is_charged_all_the_same(
    database: str, clock: TestClock, error: type[Exception]
) -> None:
    staged = Staged(chain(), Finder)

    async def answer(name: str, request: ModelRequest) -> ModelAnswer:
        said = await staged(name, request)
        if request.agent == "Finder":
            raise error("it broke off")
        return said

    async with shop(database, STAFF, clock=clock) as at:
        at.agency.script(answer)
        task = await at.agency.desk(at.mia).of(Lead).start(Gather(), "things", on="rebinding")
        await staged.holds(1)
        held = (await rows_of(at.agency, task))[2].call_micros
        await clock.advance(timedelta(minutes=45))
        staged.hold_no_more()
        await at.agency.settle()
        rows = await rows_of(at.agency, task)
        check_money(rows)
        assert [row.status for row in rows] == ["Failed"] * 3
        assert rows[2].own_micros == held
        assert await account(at.agency, "rebinding") == (2 * CALL + held, 0)
        last = (await at.agency.desk(at.mia).trace_of(task))[-1]
        assert (last.kind, last.micros) == (TraceKind.LATE_ANSWER, held)


# M3
@pytest.mark.parametrize("how", ["stopped", "deactivated"])
async def test_whatever_ends_a_tree_in_a_call_gives_back_all_that_was_held_up_to_the_account(
    database: str, how: str
) -> None:
    staged = Staged(chain(), Finder)
    async with shop(database, STAFF) as at:
        at.agency.script(staged)
        task = await at.agency.desk(at.mia).of(Lead).start(Gather(), "things", on="rebinding")
        await staged.holds(1)
        await (at.agency.deactivate(at.mia) if how == "deactivated" else at.agency.desk(at.mia).stop(task))
        staged.hold_no_more()
        await at.agency.settle()
        rows = await rows_of(at.agency, task)
        check_money(rows)
        assert {row.reserved_micros for row in rows} == {0}
        assert rows[0].status == "Cancelled"
        assert await account(at.agency, "rebinding") == (3 * CALL, 0)


class Deep(Agent):
    """Hands on to its own kind, four levels deep."""

    roles = {"helper"}
    skills = [Gather()]

    @property
    def delegates(self) -> Delegation:  # type: ignore[override]
        return Delegation(to=[Specialist.of(Deep, Gather()), Specialist.of(Finder, Find())], max_depth=4)


# M5
async def test_four_levels_deep_the_top_costs_what_all_pieces_did_however_each_of_them_ended(
    database: str, clock: TestClock
) -> None:
    def deeper(n: int) -> AgentScript:
        legs = [Says.hand_to(Deep, Gather(), str(n))] if n < 3 else []
        return gathers(*legs, *finders(1))

    cast = AgentCast()
    for n in range(4):
        cast.plays(Deep, deeper(n), piece=n + 1)
    cast.plays(Finder, AgentScript(DONE), piece=1)
    cast.plays(Finder, AgentScript(*[Says.hand_back({"number": "many"}, tokens=(300, 70))] * 2), piece=2)  # fails
    cast.plays(Finder, AgentScript(Says.ask("Which?", tokens=(9, 1)), DONE), piece=3)  # is stopped by Mia
    dies = AgentScript(Says.ask("Which?", tokens=(7, 3)))  # and this one's process dies
    staged = Staged(cast.plays(Finder, dies, piece=4))

    async def answer(name: str, request: ModelRequest) -> ModelAnswer:
        if request.messages[-1].results and request.messages[-1].results[0].text == "Die.":
            raise ProcessDied
        return await staged(name, request)

    async with shop(database, [Deep(), Finder()], clock=clock) as at:
        at.agency.script(answer)
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Deep).do(Gather(), "things", on="rebinding")
        stopped, died = await desk.questions()
        await desk.stop(stopped.piece)
        await desk.answer(died.id, "Die.")
        await until(lambda: held(at, outcome.task))
        await clock.advance(timedelta(minutes=45))
        await at.agency.settle()
        nodes = await desk.work_tree(outcome.task)
        assert nodes[0].status is Status.DONE
        assert [node.depth for node in nodes if node.agent == "Finder"] == [4, 3, 2, 1]
        assert {node.status for node in nodes[1:]} == {Status.DONE, Status.FAILED, Status.CANCELLED}
        rows = await rows_of(at.agency, outcome.task)
        check_money(rows)
        calls = await calls_of(at.agency, outcome.task)
        assert nodes[0].tree_micros == sum(row.own_micros for row in rows) == sum(call.micros for call in calls)
        assert nodes[0].tree_micros == 8 * CALL + CALL + 2 * 650 + 14 + 22
        assert await account(at.agency, "rebinding") == (nodes[0].tree_micros, 0)


async def held(at: Shop, task: UUID) -> bool:
    return any(row.run == "held" for row in await rows_of(at.agency, task))
