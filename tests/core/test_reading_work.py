"""What is read of a whole: its tree, what a piece cost, and what it handed on."""

from __future__ import annotations

from datetime import timedelta

from handon import Status
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import Find, shop
from tests.staging import CALL, DONE, STAFF, Deputy, Finder, Gather, Lead, Staged, finders, gathers


def deep() -> AgentCast:
    """A lead over a deputy with two finders, and a finder of its own."""
    to_deputy = Says.hand_to(Deputy, Gather(), "more")
    cast = AgentCast().plays(Lead, gathers(to_deputy, *finders(1)))
    return cast.plays(Deputy, gathers(*finders(2))).plays(Finder, AgentScript(DONE))


# T1
async def test_a_whole_is_read_top_first_and_each_piece_followed_by_what_it_handed_on(database: str) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(deep())
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things", about="The shelves")
        tree = await desk.work_tree(outcome.task)
        assert [(node.depth, node.agent, node.skill) for node in tree] == [
            (0, "Lead", "Gather"),
            (1, "Deputy", "Gather"),
            (2, "Finder", "Find"),
            (2, "Finder", "Find"),
            (1, "Finder", "Find"),
        ]
        assert [node.parent for node in tree] == [None, tree[0].piece, tree[1].piece, tree[1].piece, tree[0].piece]
        assert {node.about for node in tree} == {"The shelves"}


# T1
async def test_each_row_of_a_whole_says_its_money_its_calls_and_its_times(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        staged = Staged(deep(), Finder)
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        opened = clock.now()
        task = await desk.of(Lead).start(Gather(), "things")
        await staged.holds(3)
        await clock.advance(timedelta(minutes=5))
        tree = await desk.work_tree(task)
        assert [node.status for node in tree] == [Status.WORKING] * 5
        assert [node.ended_at for node in tree] == [None] * 5
        assert tree[1].reserved_micros == tree[2].reserved_micros + tree[3].reserved_micros > 0
        assert tree[0].reserved_micros == tree[1].reserved_micros + tree[4].reserved_micros
        staged.hold_no_more()
        await at.agency.settle()
        tree = await desk.work_tree(task)
        assert [node.own_micros for node in tree] == [2 * CALL, 2 * CALL, CALL, CALL, CALL]
        assert [node.tree_micros for node in tree] == [7 * CALL, 4 * CALL, CALL, CALL, CALL]
        assert [node.model_calls for node in tree] == [2, 2, 1, 1, 1]
        assert [node.reserved_micros for node in tree] == [0] * 5
        assert tree[0].limit_micros == 50_000
        assert [node.opened_at for node in tree] == [opened] * 5
        assert [node.ended_at for node in tree] == [clock.now()] * 5


# T1
async def test_each_row_of_a_whole_says_what_it_waits_for_and_why_it_ended(database: str) -> None:
    async with shop(database, STAFF) as at:
        cast = (
            AgentCast().plays(Lead, gathers(*finders(2))).plays(Finder, AgentScript(Says.ask("Which?"), DONE), piece=1)
        )
        at.agency.script(cast.plays(Finder, AgentScript(*[Says.hand_back({"number": "?"})] * 2), piece=2))
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        lead, *legs = await desk.work_tree(outcome.task)
        by_status = {node.status: node for node in legs}
        assert lead.waiting_on == "Finder, which waits for an answer from Mia"
        assert by_status[Status.WAITING].waiting_on == "an answer from Mia"
        assert by_status[Status.FAILED].outcome.startswith("It failed 2 times in a row.")


# T1
async def test_a_whole_is_the_same_from_any_of_its_pieces(database: str) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(deep())
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        tree = await desk.work_tree(outcome.task)
        for node in tree:
            assert await desk.work_tree(node.piece) == tree


# T2
async def test_what_a_piece_cost_is_its_own_and_all_under_it(database: str) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(deep())
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        tree = await desk.work_tree(outcome.task)
        assert [await desk.cost_of(node.piece) for node in tree] == [7 * CALL, 4 * CALL, CALL, CALL, CALL]


# T2
async def test_what_a_piece_handed_on_is_its_own_legs_in_order_and_not_theirs(database: str) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(deep())
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        legs = await desk.handed_on_by(outcome.task)
        assert [leg.agent for leg in legs] == ["Deputy", "Finder"]
        assert [leg.agent for leg in await desk.handed_on_by(legs[0].id)] == ["Finder", "Finder"]
        assert await desk.handed_on_by(legs[1].id) == []
        assert legs[0].lineage == (outcome.task, legs[0].id)


# T1
async def test_wholes_are_told_apart(database: str) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(AgentCast().plays(Finder, AgentScript(DONE)))
        desk = at.agency.desk(at.mia)
        one, two = [await desk.of(Finder).do(Find(), word) for word in ("one", "two")]
        assert [node.piece for node in await desk.work_tree(one.task)] == [one.task]
        assert (await desk.trace_of(two.task))[0].n == 1
