"""Fresh databases for tests, made by copying one that has been migrated: SQLite files, and PostgreSQL where it answers.

`HANDON_TEST_POSTGRESQL` names a server's maintenance database; by default the one on this machine.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import psycopg
from sqlalchemy import Connection

from core import migrations
from core.store import Store

SERVER = os.environ.get("HANDON_TEST_POSTGRESQL", "postgresql://postgres@127.0.0.1:5432/postgres")

_ON = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"


def server_answers() -> bool:
    try:
        psycopg.connect(SERVER, connect_timeout=3).close()
    except psycopg.Error:
        return False
    return True


def _execute(*statements: str) -> None:
    with psycopg.connect(SERVER, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[call-overload]


def nobody_is_on(url: str, seconds: float = 10.0) -> None:
    """Wait until PostgreSQL has noticed that a killed process is gone: what it had sent is committed or undone."""
    if url.startswith("sqlite"):
        return
    until = time.monotonic() + seconds
    with psycopg.connect(SERVER, autocommit=True) as connection:
        while connection.execute(_ON, [url.rpartition("/")[2]]).fetchone() != (0,):
            assert time.monotonic() < until, "somebody is still connected"
            time.sleep(0.002)


def _migrate(url: str) -> None:
    def prepare(connection: Connection) -> None:
        migrations.upgrade(connection)
        migrations.create_rows(connection)

    async def open_once() -> None:
        store = Store(url, lambda: 0)
        store.open(prepare)
        await store.close()

    with ThreadPoolExecutor(1) as thread:  # a test that asks for its first database may have a loop of its own
        thread.submit(asyncio.run, open_once()).result()


class Databases:
    """A migrated database of each kind, copied for every test that asks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mark = uuid4().hex[:12]
        self._sqlite: Path | None = None
        self._postgresql: str | None = None
        self._made: list[str] = []

    def sqlite(self, folder: Path) -> str:
        if self._sqlite is None:
            self._sqlite = self._folder / "template.db"
            _migrate(f"sqlite:///{self._sqlite}")
        copy = folder / f"{uuid4().hex[:8]}.db"
        shutil.copyfile(self._sqlite, copy)
        return f"sqlite:///{copy}"

    def postgresql(self) -> str:
        if self._postgresql is None:
            self._postgresql = f"handon_{self._mark}"
            _execute(f'CREATE DATABASE "{self._postgresql}"')
            self._made.append(self._postgresql)
            _migrate(self._url(self._postgresql))
        name = f"handon_{self._mark}_{len(self._made)}"
        _execute(f'CREATE DATABASE "{name}" TEMPLATE "{self._postgresql}"')
        self._made.append(name)
        return self._url(name)

    def empty_postgresql(self) -> str:
        """A database of PostgreSQL's with nothing in it."""
        name = f"handon_{self._mark}_empty_{len(self._made)}"
        _execute(f'CREATE DATABASE "{name}"')
        self._made.append(name)
        return self._url(name)

    @staticmethod
    def _url(name: str) -> str:
        return SERVER.rsplit("/", 1)[0] + f"/{name}"

    def drop(self) -> None:
        # Each waits for a checkpoint of the server's; side by side they share one.
        with ThreadPoolExecutor(16) as threads:
            list(threads.map(lambda name: _execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'), self._made))
