"""Opening a database brings it up to this version, once, and never takes one of a later version for its own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from core import migrations
from core.store import Store
from core.tables import metadata
from handon import Agency, HandonError
from tests.builders import Shelf, make, shop
from tests.conftest import answers
from tests.databases import Databases
from tests.staging import sql


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database(request: pytest.FixtureRequest, databases: Databases, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'fresh.db'}"
    if not answers():
        pytest.skip("no PostgreSQL answers here")
    return databases.empty_postgresql()


async def tables_of(agency: Agency) -> dict[str, set[str]]:
    def look(session: Any) -> dict[str, set[str]]:
        found = inspect(session.connection())
        return {name: {column["name"] for column in found.get_columns(name)} for name in found.get_table_names()}

    return await agency.read(look)


async def test_an_empty_database_is_given_every_table_and_every_column(empty_database: str) -> None:
    async with make(empty_database) as agency:
        found = await tables_of(agency)
    for table in metadata.tables.values():
        assert found[table.name] == {column.name for column in table.columns}
    assert Shelf.__tablename__ in found


async def test_a_fresh_database_can_be_worked_in_at_once(empty_database: str) -> None:
    async with shop(empty_database) as at:
        assert [person.name for person in await at.agency.people()] == ["Mia", "Noor"]


async def test_opening_a_second_time_changes_nothing(empty_database: str) -> None:
    async with shop(empty_database) as at:
        before = await tables_of(at.agency)
        step = await step_of(at.agency)
    async with make(empty_database) as agency:
        assert await tables_of(agency) == before
        assert await step_of(agency) == step
        assert len(await agency.people()) == 2


async def step_of(agency: Agency) -> list[str]:
    return await agency.read(lambda session: list(session.scalars(text("select version_num from alembic_version"))))


async def test_a_database_made_by_a_later_version_is_refused_in_words(database: str) -> None:
    async with make(database) as agency:
        await sql(agency, "update alembic_version set version_num = '9999'")
    with pytest.raises(HandonError, match=r"made by a later version of Handon \(its step 9999"):
        async with make(database):
            pass


async def test_the_refused_database_is_left_as_it_was(database: str) -> None:
    async with shop(database) as at:
        step = await step_of(at.agency)
        await sql(at.agency, "update alembic_version set version_num = '9999'")
    with pytest.raises(HandonError):
        async with make(database):
            pass
    back = make(database)
    back.store.open(
        lambda connection: (
            connection.execute(text("update alembic_version set version_num = :s"), {"s": step[0]}) and None
        )
    )
    await back.store.close()
    async with make(database) as agency:
        assert len(await agency.people()) == 2


async def test_an_app_with_migrations_of_its_own_keeps_its_tables_to_itself(empty_database: str) -> None:
    async with make(empty_database, create_rows=False) as agency:
        assert Shelf.__tablename__ not in await tables_of(agency)


async def test_processes_that_open_an_empty_database_at_the_same_time_migrate_it_once(empty_database: str) -> None:
    if empty_database.startswith("sqlite"):
        pytest.skip("a SQLite file has one process")
    agencies = [make(empty_database) for _ in range(3)]

    def open_one(agency: Agency) -> list[str]:
        async def look() -> list[str]:
            async with agency:
                return await step_of(agency)

        return asyncio.run(look())

    steps = await asyncio.gather(*(asyncio.to_thread(open_one, agency) for agency in agencies))
    assert steps[0] == steps[1] == steps[2] != []


FIRST_WORK = (
    "insert into person values ('p1', 'mia@bindery.test', 'Mia', 1, null)",
    "insert into whole (id, person, accounts, about, lines, head, last_line_at, opened_at)"
    " values ('w1', 'p1', '', 'Old work', 0, 'h', 1, 1)",
    "insert into piece (id, root, depth, branch, agents, agent, skill, skill_version, helper, input, status, run,"
    " fence, let_go, closing_why, waiting_on, outcome, abandoned, turn, messages, tokens, model_calls, handed_on,"
    " levels_left, failed_in_row, consulted_stuck, same_calls, last_calls, limit_micros, own_micros, tree_micros,"
    " reserved_micros, call_micros, day_account, opened_at)"
    " values ('w1', 'w1', 0, 'w1', 'Clerk', 'Clerk', 'Find', 'v1', false, '{}',"
    " 'Working', 'held', 1, false, '', '', '', false, 1, 2, 9, 1, 0, 0, 0, false, 0, '', 100, 7, 7, 5, 5,"
    " 'agent:Clerk:2031-03-03', 1)",
)


async def test_a_database_of_the_first_version_is_brought_up_and_its_work_is_as_it_was(empty_database: str) -> None:
    old = Store(empty_database, lambda: 0)

    def as_it_was(connection: Any) -> None:
        command.upgrade(migrations._config(connection), "0001")
        for statement in FIRST_WORK:
            connection.execute(text(statement))

    old.open(as_it_was)
    await old.close()
    async with make(empty_database, concurrency=0) as agency:
        [row] = await agency.read(lambda session: list(session.execute(text("select * from piece")).mappings()))
        assert (row["period_accounts"], row["call_micros"]) == ("agent:Clerk:2031-03-03", 5)
        assert (row["skill_version_now"], row["tries"], row["takeovers"], row["begins_after"]) == ("v1", 0, 0, 0)
        assert row["due_at"] is None

        def differences(session: Any) -> list[Any]:
            found = compare_metadata(MigrationContext.configure(session.connection()), metadata)
            found = [entry for entry in found if entry[0] != "remove_table"]  # the app's own
            if agency.store.sqlite:  # which bounds no text
                found = [entry for entry in found if not (isinstance(entry, list) and entry[0][0] == "modify_type")]
            return found

        assert await agency.read(differences) == []
