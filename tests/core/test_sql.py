"""Statements: written once, compiled for each database, and refused where something was left out."""

from __future__ import annotations

import pytest
from sqlalchemy import bindparam, select, update

from core.sql import Statement, insert_into
from core.tables import account
from tests.builders import make

BY_KEY = Statement(select(account).where(account.c.key == bindparam("key")))
ROW = {"key": "x", "limit_micros": None, "spent_micros": 0, "reserved_micros": 0, "set_by": None, "set_at": None}


async def test_a_parameter_that_is_not_given_is_refused(database: str) -> None:
    async with make(database) as agency:
        put = insert_into(account)
        for missing in ROW:
            given = {name: value for name, value in ROW.items() if name != missing}
            with pytest.raises(Exception, match=missing):
                await agency.store.write(lambda tx, given=given: tx.run(put, **given))
        with pytest.raises(Exception, match="key"):
            await agency.store.read(lambda tx: tx.one(BY_KEY))


async def test_a_row_is_put_changed_and_found_again(database: str) -> None:
    change = Statement(
        update(account)
        .where(account.c.key == bindparam("which"))
        .values(limit_micros=bindparam("micros"), spent_micros=account.c.spent_micros + 1)
    )
    async with make(database) as agency:
        assert await agency.store.write(lambda tx: tx.run(insert_into(account), **ROW)) == 1
        assert await agency.store.write(lambda tx: tx.run(change, which="x", micros=7)) == 1
        assert await agency.store.write(lambda tx: tx.run(change, which="y", micros=7)) == 0
        found = await agency.store.read(lambda tx: tx.one(BY_KEY, key="x"))
        assert (found.key, found.limit_micros, found.spent_micros) == ("x", 7, 1)
        assert await agency.store.read(lambda tx: tx.one(BY_KEY, key="y")) is None


async def test_putting_a_row_that_is_there_already_leaves_it_as_it_is_where_that_was_asked_for(database: str) -> None:
    once = insert_into(account, or_ignore=True)
    async with make(database) as agency:
        await agency.store.write(lambda tx: tx.run(once, **ROW))
        await agency.store.write(lambda tx: tx.run(once, **{**ROW, "spent_micros": 5}))
        assert (await agency.store.read(lambda tx: tx.one(BY_KEY, key="x"))).spent_micros == 0
        with pytest.raises(Exception, match=r"(?i)unique"):
            await agency.store.write(lambda tx: tx.run(insert_into(account), **ROW))


async def test_the_values_of_a_list_in_a_statement_are_its_own_on_both_databases(database: str) -> None:
    some = Statement(
        select(account.c.key).where(account.c.key.in_(["x", "z"]), account.c.spent_micros == bindparam("n"))
    )
    async with make(database) as agency:
        for key in "xyz":
            await agency.store.write(lambda tx, key=key: tx.run(insert_into(account), **{**ROW, "key": key}))
        found = await agency.store.read(lambda tx: tx.all(some, n=0))
        assert sorted(row.key for row in found) == ["x", "z"]
