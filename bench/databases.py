"""Scratch databases: a file, or a database made on a server that answers and dropped afterwards."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol
from uuid import uuid4

SERVER = os.environ.get("HANDON_TEST_POSTGRESQL", "postgresql://postgres@127.0.0.1:5432/postgres")


class Database(Protocol):
    """One that is made for a run. `size`: its bytes, log worked in; `server_cpu`: seconds its server spent on it."""

    url: str

    def size(self) -> int: ...

    def server_cpu(self) -> float | None: ...


class SqliteFile:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "bench.db"
        self.url = f"sqlite:///{self._path}"

    def size(self) -> int:
        with closing(sqlite3.connect(self._path, isolation_level=None)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        log = self._path.with_name(f"{self._path.name}-wal")
        return self._path.stat().st_size + (log.stat().st_size if log.exists() else 0)

    def server_cpu(self) -> float | None:
        return None


class PostgresqlDatabase:
    """A database of its own on the server. Its size is that of its files: the server's log is everybody's."""

    def __init__(self) -> None:
        import psycopg  # only here: the floor and whoever prints the table go without

        self._server = psycopg.connect(SERVER, autocommit=True)
        self._name = f"handon_bench_{uuid4().hex[:12]}"
        self._server.execute(f'CREATE DATABASE "{self._name}"')
        self.url = SERVER.rsplit("/", 1)[0] + f"/{self._name}"

    def drop(self) -> None:
        self._server.execute(f'DROP DATABASE IF EXISTS "{self._name}" WITH (FORCE)')
        self._server.close()

    def size(self) -> int:
        found = self._server.execute("SELECT pg_database_size(%s)", (self._name,)).fetchone()
        assert found is not None
        return int(found[0])

    def server_cpu(self) -> float | None:
        """None where the server's processes are not on this machine."""
        running = self._server.execute("SELECT pid FROM pg_stat_activity WHERE datname = %s", (self._name,)).fetchall()
        ticks = 0
        for (pid,) in running:
            try:
                name, _, rest = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")
            except OSError:
                return None
            if "postgres" not in name:
                return None
            user, system = rest.split()[11:13]
            ticks += int(user) + int(system)
        return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def scratch(kind: str, folder: Path) -> Iterator[Database]:
    """A new database of that kind, `sqlite` or `postgresql`."""
    if kind == "sqlite":
        yield SqliteFile(folder)
        return
    made = PostgresqlDatabase()
    try:
        yield made
    finally:
        made.drop()


def postgresql_says() -> str | None:
    """The server's version and how durable its commits are; None where none answers."""
    import psycopg

    try:
        with psycopg.connect(SERVER, connect_timeout=3) as server:
            names = ("server_version", "fsync", "synchronous_commit")
            version, fsync, commit = (str(server.execute(f"SHOW {name}").fetchone()[0]) for name in names)  # type: ignore[index]
    except psycopg.Error:
        return None
    return f"PostgreSQL {version.split()[0]} with fsync {fsync}, synchronous_commit {commit}"
