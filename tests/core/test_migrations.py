"""Opening a database brings it up to this version, once, and never takes one of a later version for its own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, text

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
