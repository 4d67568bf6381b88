"""What of a whole is shown: rows, what is below them, what is left out, and what has changed in them."""

from __future__ import annotations

from uuid import UUID

from bench.big_tree import DEEP, Shape, plant, touch
from core.reading import Followed
from core.reading.outline import mark_of
from core.values import Stand, TreeAsk, TreePage, TreeRest, TreeRow
from handon import Status
from handon.testing import AgentCast, AgentScript, Says
from tests.builders import Find, Shop, shop
from tests.staging import DONE, STAFF, Deputy, Finder, Gather, Lead, Staged, finders, gathers

CAST = (("Lead", "Gather"), ("Deputy", "Gather"), ("Finder", "Find"))
WIDE = Shape(pieces=1200, heads=6, fan=900, depth=6, under=4, live=0.04, waiting=3)


async def planted(at: Shop, shape: Shape) -> UUID:
    clock = at.agency.clock
    return await at.agency.write(
        lambda session: plant(session, shape, person=at.mia.id, name="Mia", cast=CAST, now=clock.now())
    )


def rows_in(page: TreePage) -> list[TreeRow]:
    return [row for row in page.rows if isinstance(row, TreeRow)]


# T1
async def test_a_row_knows_its_place_and_sums_up_what_is_below(database: str) -> None:
    async with shop(database, STAFF) as at:
        to_deputy = Says.hand_to(Deputy, Gather(), "more")
        cast = AgentCast().plays(Lead, gathers(to_deputy, *finders(1))).plays(Deputy, gathers(*finders(2)))
        cast = cast.plays(Finder, AgentScript(Says.ask("Which?"), DONE), piece=1)
        at.agency.script(cast.plays(Finder, AgentScript(DONE)))
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        page = await desk.tree_page(outcome.task, TreeAsk())
        rows = rows_in(page)
        tree = await desk.work_tree(outcome.task)
        assert [row.node for row in rows] == tree
        assert [(row.level, row.place, row.siblings) for row in rows] == [
            *((1, 1, 1), (2, 1, 2), (3, 1, 2), (3, 2, 2), (2, 2, 2)),
        ]
        assert page.complete and page.show == page.usual == "all"
        waits = next(node for node in tree if node.waits_for_you)
        top = dict(rows[0].below)
        assert top[Stand.YOURS] == 1 and top[Stand.DONE] == sum(node.status is Status.DONE for node in tree)
        assert sum(top.values()) == len(tree) - 1
        assert page.needs == 1 and waits.waiting_on == "an answer from Mia"


async def test_what_is_below_a_row_is_counted_from_the_pieces_themselves(database: str) -> None:
    async with shop(database, STAFF) as at:
        root = await planted(at, WIDE)
        desk = at.agency.desk(at.mia)
        tree = await desk.work_tree(root)
        legs: dict[UUID | None, list[UUID]] = {}
        for node in tree:
            legs.setdefault(node.parent, []).append(node.piece)

        def under(piece: UUID) -> int:
            return sum(1 + under(leg) for leg in legs.get(piece, []))

        for row in rows_in(await desk.tree_page(root, TreeAsk(show="all"))):
            if row.node is not None:
                assert row.total_below == under(row.node.piece)


async def test_a_large_whole_opens_with_the_way_to_what_needs_somebody_and_no_more_than_a_page(database: str) -> None:
    async with shop(database, STAFF) as at:
        root = await planted(at, WIDE)
        desk = at.agency.desk(at.mia)
        page = await desk.tree_page(root, TreeAsk())
        assert page.show == "going" and len(page.rows) <= 200 and page.pieces == 1200
        shown = {row.node.piece: row for row in rows_in(page) if row.node is not None}
        tree = await desk.work_tree(root)
        waiting = [node for node in tree if node.waits_for_you]
        assert len(waiting) == page.needs == 3
        assert {node.piece for node in waiting} <= set(shown)
        assert all(not row.node.status.final for row in shown.values() if row.node is not None)
        assert {node.piece for node in tree if node.depth < 2 and not node.status.final} <= set(shown)
        ended = [rest for rest in page.rows if isinstance(rest, TreeRest) and rest.finished]
        assert ended  # what is left out is said


async def test_more_than_twenty_legs_of_one_kind_are_one_row_that_opens_a_page_at_a_time(database: str) -> None:
    async with shop(database, STAFF) as at:
        root = await planted(at, WIDE)
        desk = at.agency.desk(at.mia)
        page = await desk.tree_page(root, TreeAsk(show="all"))
        [group] = [row for row in rows_in(page) if row.node is None]
        assert (group.agent_label, group.skill_label, group.children, group.total_below) == ("Finder", "Find", 900, 900)
        opened = await desk.tree_page(root, TreeAsk(show="all", opened=((group.key, 0),)))
        members = [row for row in rows_in(opened) if row.level == group.level + 1 and row.siblings == 900]
        assert [row.place for row in members][:200] == list(range(1, 201))
        [rest] = [row for row in opened.rows if isinstance(row, TreeRest) and row.key == group.key]
        assert (rest.total, rest.more) == (900, 200) and rest.shown == len(members)
        further = await desk.tree_page(root, TreeAsk(show="all", opened=((group.key, rest.window),)))
        places = [row.place for row in rows_in(further) if row.siblings == 900]
        assert places[:400] == list(range(1, 401)) and len(places) < 410


async def test_past_a_thousand_rows_the_farthest_branch_that_has_ended_closes_itself_and_says_so(database: str) -> None:
    async with shop(database, STAFF) as at:
        root = await planted(at, Shape(pieces=1800, heads=8, depth=6, under=30, live=0.0, waiting=1))
        desk = at.agency.desk(at.mia)
        opened: tuple[tuple[str, int], ...] = ()
        page = await desk.tree_page(root, TreeAsk(show="all"))
        for _ in range(60):
            closed = [row for row in rows_in(page) if row.children and not row.open]
            if page.closed or not closed:
                break
            opened = (*page.opened, (closed[0].key, 600))
            page = await desk.tree_page(root, TreeAsk(show="all", opened=opened))
            assert len(page.rows) <= 1000
        assert page.closed
        assert len(page.opened) < len(opened)
        assert opened[-1] in page.opened  # the one that was opened last stays


async def test_a_chain_of_a_hundred_and_twenty_levels_is_read_to_its_end(database: str) -> None:
    async with shop(database, STAFF) as at:
        root = await planted(at, DEEP)
        desk = at.agency.desk(at.mia)
        lowest = max(await desk.work_tree(root), key=lambda node: node.depth)
        page = await desk.tree_page(root, TreeAsk(show="all", chosen=lowest.piece))
        row = next(row for row in rows_in(page) if row.node is not None and row.node.piece == lowest.piece)
        assert row.level == lowest.depth + 1 == 120


async def test_what_is_looked_for_comes_with_what_it_hangs_under_and_content_is_for_its_readers(database: str) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(
            AgentCast()
            .plays(Lead, gathers(Says.hand_to(Finder, Find(), "an old colophon")))
            .plays(Finder, AgentScript(DONE))
        )
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        page = await desk.tree_page(outcome.task, TreeAsk(find="COLOPHON"))
        assert [(row.agent_label, row.found) for row in rows_in(page)] == [("Lead", False), ("Finder", True)]
        assert page.matches == 1
        assert (await desk.tree_page(outcome.task, TreeAsk(find="100%"))).rows == ()


async def test_what_is_followed_counts_as_a_fresh_reading_does_through_all_that_happens(database: str) -> None:
    async with shop(database, STAFF) as at:
        to_deputy = Says.hand_to(Deputy, Gather(), "more")
        cast = AgentCast().plays(Lead, gathers(to_deputy, *finders(1))).plays(Deputy, gathers(*finders(2)))
        cast = cast.plays(Finder, AgentScript(Says.ask("Which?"), DONE), piece=1)
        cast = cast.plays(Finder, AgentScript(*[Says.hand_back({"number": "?"})] * 2), piece=2)
        staged = Staged(cast.plays(Finder, AgentScript(DONE)), Finder)
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things")
        followed, after = Followed(task.hex, TreeAsk(), "all", frozenset({mark_of(task.hex)})), 0

        async def told() -> tuple[tuple[Stand, int], ...]:
            nonlocal after
            lines = (await desk.work(task)).lines
            news = await desk.tree_news(followed, after, lines)
            after = lines
            top = rows_in(await desk.tree_page(task, TreeAsk()))[0]
            [row] = news.rows
            assert (row.node, row.below, row.children) == (top.node, top.below, top.children)
            assert news.all == (await desk.work(task)).pieces
            return row.below

        await staged.holds(3)
        assert dict(await told()) == {Stand.WORKING: 3, Stand.AGENT: 1}
        staged.hold_no_more()
        await at.agency.settle()
        below = dict(await told())
        assert below[Stand.YOURS] == 1 and below[Stand.FAILED] == 1
        [question] = await desk.questions()
        await desk.answer(question.id, "This one.")
        await at.agency.settle()
        below = dict(await told())
        assert set(below) == {Stand.DONE, Stand.FAILED}


async def test_a_change_is_seen_in_its_piece_and_in_all_above_it_and_nowhere_else(database: str) -> None:
    async with shop(database, STAFF) as at:
        root = await planted(at, WIDE)
        desk = at.agency.desk(at.mia)
        page = await desk.tree_page(root, TreeAsk())
        lines = (await desk.work(root)).lines
        marks = frozenset(mark_of(key) for key in page.shown)
        followed = Followed(root.hex, TreeAsk(), page.show, marks)
        tree = {node.piece: node for node in await desk.work_tree(root)}
        lowest = max((node for node in tree.values() if not node.status.final), key=lambda node: node.depth)
        await at.agency.write(lambda session: touch(session, root, lowest.piece, at.agency.clock.now()))
        news = await desk.tree_news(followed, lines, lines + 1)
        above, on = set(), tree.get(lowest.piece)
        while on is not None:
            above.add(on.piece)
            on = tree[on.parent] if on.parent else None
        assert above <= news.pieces
        seen = {row.node.piece for row in news.rows if row.node is not None}
        assert seen == {piece for piece in above if piece.hex in page.shown}
        assert (news.fresh, news.gone, news.owes) == (0, 0, False)


async def test_what_is_new_is_counted_and_not_put_in_and_what_ends_is_counted_as_gone(database: str) -> None:
    async with shop(database, STAFF) as at:
        to_deputy = Says.hand_to(Deputy, Gather(), "more")
        cast = AgentCast().plays(Lead, gathers(*finders(1), to_deputy)).plays(Deputy, gathers(*finders(2)))
        staged = Staged(cast.plays(Finder, AgentScript(DONE)), Deputy, Finder)
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Lead).start(Gather(), "things")
        await staged.holds(2)
        page, lines = await desk.tree_page(task, TreeAsk(show="going")), (await desk.work(task)).lines
        followed = Followed(task.hex, TreeAsk(show="going"), "going", frozenset(mark_of(key) for key in page.shown))
        assert len(page.rows) == 3
        deputy = next(node for node in await desk.work_tree(task) if node.agent == "Deputy")
        staged.let_go(deputy.piece)
        await staged.holds(3)
        now = (await desk.work(task)).lines
        news = await desk.tree_news(followed, lines, now)
        assert (news.fresh, news.gone, news.at_end) == (2, 0, True)  # under the last row there is
        assert {row.agent_label for row in news.rows} == {"Lead", "Deputy"}
        staged.hold_no_more()
        await at.agency.settle()
        news = await desk.tree_news(followed, now, (await desk.work(task)).lines)
        assert (news.fresh, news.gone) == (0, 2)  # the top stays


async def test_a_burst_is_sent_forty_rows_at_a_time_and_none_is_lost(database: str) -> None:
    async with shop(database, STAFF) as at:
        root = await planted(at, Shape(pieces=100, heads=90, depth=2, live=0.9))
        desk = at.agency.desk(at.mia)
        lines = (await desk.work(root)).lines
        followed = Followed(root.hex, TreeAsk(), "all", None)
        live = [node.piece for node in await desk.work_tree(root) if not node.status.final]
        for piece in live:
            await at.agency.write(lambda session, piece=piece: touch(session, root, piece, at.agency.clock.now()))
        seen: set[str] = set()
        news = await desk.tree_news(followed, lines, lines + len(live))
        while True:
            assert len(news.rows) <= 40
            seen |= {row.key for row in news.rows}
            if not news.owes:
                break
            news = await desk.tree_news(followed, lines + len(live), lines + len(live))
        assert {piece.hex for piece in live} <= seen
