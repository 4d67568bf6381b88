"""Fixtures that tests of every room share. Core tests run on both databases; a test says nothing of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from handon.testing import TestClock
from tests.databases import Databases, server_answers

answers = cache(server_answers)


@pytest.fixture(scope="session")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    made = Databases(tmp_path_factory.mktemp("databases"))
    yield made
    made.drop()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, databases: Databases, tmp_path: Path) -> str:
    """The URL of a fresh database: each test that asks for it runs on both kinds."""
    if request.param == "sqlite":
        return databases.sqlite(tmp_path)
    if not answers():
        pytest.skip("no PostgreSQL answers here")
    return databases.postgresql()


@pytest.fixture
def sqlite_database(databases: Databases, tmp_path: Path) -> str:
    return databases.sqlite(tmp_path)


@pytest.fixture
def clock() -> TestClock:
    """Stands at 3 March 2031, 09:00 UTC."""
    return TestClock()
