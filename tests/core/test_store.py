"""The store: short functions, each in one transaction, that share a commit and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import text

from core.errors import HandonError
from core.ids import new_id, to_uuid
from core.store import Store, StoreClosed, Tx
from handon import BadInput
from handon.testing import AgentCast, AgentScript, ProcessDied, TestClock
from tests.builders import Shelf, make, shop
from tests.staging import DONE, STAFF, Finder, Gather, Lead, Staged, finders, gathers, rows_of, until


def put(number: int) -> Any:
    return lambda tx: tx.connection.execute(text("insert into told values (:n)"), {"n": number}) and number


def numbers(tx: Tx) -> list[int]:
    return list(tx.connection.scalars(text("select n from told order by n")))


@asynccontextmanager
async def a_store(database: str) -> AsyncIterator[Store]:
    store = Store(database, lambda: 7)
    store.open(lambda connection: connection.execute(text("create table told (n integer primary key)")) and None)
    try:
        yield store
    finally:
        await store.close()


# T5
async def test_what_a_function_wrote_is_there_once_its_write_is_answered(database: str) -> None:
    async with a_store(database) as store:
        assert await store.write(put(1)) == 1
        assert await store.read(numbers) == [1]


# T5
async def test_whoever_watches_is_told_of_each_commit_right_before_and_right_after_it(database: str) -> None:
    told: list[tuple[str, int]] = []
    async with a_store(database) as store:
        store.watch = lambda when, number: told.append((when, number))
        for n in range(3):
            await store.write(put(n))
            assert told[-2:] == [("before", n + 1), ("after", n + 1)]
        assert len(told) == 6


# T5
async def test_a_function_that_raises_takes_nothing_of_the_others_with_it(database: str) -> None:
    def breaks(tx: Tx) -> None:
        put(1_000)(tx)
        raise BadInput({"n": "No."})

    async with a_store(database) as store:
        writes = [store.write(breaks if n % 3 == 0 else put(n)) for n in range(60)]
        outcomes = await asyncio.gather(*writes, return_exceptions=True)
        assert [isinstance(outcome, BadInput) for outcome in outcomes] == [n % 3 == 0 for n in range(60)]
        assert await store.read(numbers) == [n for n in range(60) if n % 3]


# T5
async def test_a_function_that_the_database_refuses_takes_nothing_of_the_others_with_it(database: str) -> None:
    async with a_store(database) as store:
        outcomes = await asyncio.gather(*(store.write(put(n // 2)) for n in range(20)), return_exceptions=True)
        assert sum(isinstance(outcome, Exception) for outcome in outcomes) == 10
        assert await store.read(numbers) == list(range(10))


# T5
async def test_what_the_process_is_ended_by_inside_a_function_takes_only_that_function_with_it(database: str) -> None:
    def dies(tx: Tx) -> None:
        put(1_000)(tx)
        raise ProcessDied

    async with a_store(database) as store:
        outcomes = await asyncio.gather(
            store.write(put(1)), store.write(dies), store.write(put(2)), return_exceptions=True
        )
        assert isinstance(outcomes[1], ProcessDied)
        assert await store.read(numbers) == [1, 2]


async def test_functions_that_wait_together_share_a_commit_on_sqlite(sqlite_database: str) -> None:
    async with a_store(sqlite_database) as store:
        before = store.commits
        await asyncio.gather(*(store.write(put(n)) for n in range(200)))
        assert await store.read(numbers) == list(range(200))
        assert store.commits - before < 50


async def test_a_read_refuses_to_write(database: str) -> None:
    async with a_store(database) as store:
        with pytest.raises(Exception, match=r"(?i)read.?only"):
            await store.read(put(1))
        assert await store.read(numbers) == []


async def test_an_apps_read_refuses_to_write(database: str) -> None:
    async with shop(database) as at:
        with pytest.raises(Exception, match=r"(?i)read.?only"):
            await at.agency.read(lambda session: session.execute(text("delete from test_shelf")))
        assert (await at.the_shelf()).mark == "A-1"


async def test_a_read_sees_one_moment_however_long_it_takes(database: str) -> None:
    async with a_store(database) as store:
        loop = asyncio.get_running_loop()

        def slow(tx: Tx) -> tuple[list[int], list[int]]:
            before = numbers(tx)
            asyncio.run_coroutine_threadsafe(store.write(put(1)), loop).result(5)
            return before, numbers(tx)

        assert await store.read(slow) == ([], [])
        assert await store.read(numbers) == [1]


async def test_what_follows_a_commit_is_done_after_it_and_only_where_it_was_committed(database: str) -> None:
    async with a_store(database) as store:
        told: list[str] = []

        def commits(tx: Tx) -> None:
            put(1)(tx)
            tx.after(lambda: told.append("kept"))
            assert told == []

        def breaks(tx: Tx) -> None:
            tx.after(lambda: told.append("lost"))
            raise BadInput({"": "No."})

        outcomes = await asyncio.gather(store.write(commits), store.write(breaks), return_exceptions=True)
        assert isinstance(outcomes[1], BadInput)
        assert told == ["kept"]


async def test_whatever_raises_inside_a_savepoint_takes_only_what_was_written_inside_with_it(database: str) -> None:
    def partly(tx: Tx) -> None:
        put(1)(tx)
        try:
            with tx.savepoint():
                put(2)(tx)
                raise BadInput({"": "No."})
        except BadInput:
            pass
        with tx.savepoint():
            put(3)(tx)

    async with a_store(database) as store:
        await store.write(partly)
        assert await store.read(numbers) == [1, 3]


async def test_a_write_that_was_asked_for_is_carried_through_where_whoever_asked_is_cancelled(database: str) -> None:
    async with a_store(database) as store:
        task = asyncio.ensure_future(store.write(put(1)))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

        async def there() -> bool:
            return await store.read(numbers) == [1]

        await until(there)


async def test_what_was_asked_for_is_committed_before_the_store_closes(database: str) -> None:
    async with a_store(database) as store:
        writes = [asyncio.ensure_future(store.write(put(n))) for n in range(20)]
        await asyncio.sleep(0)
    assert await asyncio.gather(*writes) == list(range(20))


async def test_an_agency_that_is_not_open_says_so(database: str) -> None:
    agency = make(database)
    with pytest.raises(StoreClosed, match="async with agency"):
        await agency.people()


@pytest.mark.parametrize("url", ["mysql://root@localhost/handon", "sqlite://", "sqlite:///:memory:"])
async def test_a_database_that_work_cannot_live_in_is_refused_in_words(url: str) -> None:
    with pytest.raises(HandonError, match=r"SQLite or PostgreSQL|needs a file"):
        async with make(url):
            pass


def test_ids_come_in_the_order_they_were_made() -> None:
    ids = [new_id() for _ in range(5_000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert {to_uuid(id).version for id in ids} == {7}
    assert {to_uuid(id).hex for id in ids} == set(ids)


# A5
async def test_two_processes_on_one_database_run_every_piece_once(databases: Any, clock: TestClock) -> None:
    """Both are told of all that is due: whoever comes first has it."""
    from tests.conftest import answers

    if not answers():
        pytest.skip("no PostgreSQL answers here")
    database = databases.postgresql()
    cast = AgentCast().plays(Lead, gathers(*finders(4))).plays(Finder, AgentScript(DONE))
    staged = Staged(cast)
    async with shop(database, STAFF, clock=clock) as one, one_more(database, clock) as two:
        one.agency.script(staged)
        two.script(staged)
        desks = [one.agency.desk(one.mia), two.desk(one.mia)]
        tasks = [await desks[n % 2].of(Lead).start(Gather(), f"thing {n}") for n in range(10)]

        async def over() -> bool:
            await asyncio.gather(one.agency.sweep(), two.sweep())
            return not await desks[0].works("going")

        await until(over, 60)
        for task in tasks:
            assert [row.status for row in await rows_of(two, task)] == ["Done"] * 5
            assert (await desks[1].verify_trace(task)).intact
        assert len(staged.asked) == 10 * (2 + 4)
        assert len({(request.piece, len(request.messages)) for request in staged.asked}) == len(staged.asked)


@asynccontextmanager
async def one_more(database: str, clock: TestClock) -> AsyncIterator[Any]:
    async with make(database, STAFF, clock=clock) as agency:
        yield agency


async def test_an_apps_rows_are_kept_between_openings(database: str) -> None:
    async with shop(database) as at:
        shelf = at.shelf
    async with make(database) as agency:
        found = await agency.read(lambda session: session.get(Shelf, shelf))
        assert found is not None and found.mark == "A-1"
