"""Bringing a database up to this version, when the agency opens it. The steps stand in `alembic/versions`."""

from __future__ import annotations

import hashlib
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ProgrammingError

from core.declare.rights import Row
from core.errors import HandonError

FOLDER = Path(__file__).resolve().parent.parent / "alembic"
_LOCK = 7_215_113_402_011_337  # any number of our own: one process migrates a PostgreSQL database at a time


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    config.attributes["connection"] = connection
    return config


def upgrade(connection: Connection) -> None:
    """Run the steps that are missing. Raises HandonError where the database is of a later version than this one."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    config = _config(connection)
    scripts = ScriptDirectory.from_config(config)
    now = MigrationContext.configure(connection).get_current_revision()
    if now == scripts.get_current_head():
        return
    if now is not None and now not in {script.revision for script in scripts.walk_revisions()}:
        raise HandonError(f"This database was made by a later version of Handon (its step {now} is not known here).")
    command.upgrade(config, "head")


def instead_of(database: str, named: str) -> str:
    """The database that is named instead of an app's own, if one is: `{unique}` stands for a name made of the app's."""
    return named.replace("{unique}", hashlib.sha256(database.encode()).hexdigest()[:20]) or database


def create_database(url: str) -> None:
    """Make the database of that URL where its PostgreSQL server has none. A file of SQLite's makes itself."""
    wanted = make_url(url)
    if wanted.get_backend_name() != "postgresql":
        return
    server = create_engine(wanted.set(database="postgres"), isolation_level="AUTOCOMMIT")
    try:
        with server.connect() as connection:
            quoted = connection.dialect.identifier_preparer.quote(wanted.database or "")
            connection.execute(text(f"CREATE DATABASE {quoted}"))
    except ProgrammingError as error:
        if getattr(error.orig, "sqlstate", None) != "42P04":  # it is there
            raise
    finally:
        server.dispose()


def create_rows(connection: Connection) -> None:
    """Make the tables of the app's rows that are missing; those that are there stay as they are."""
    Row.metadata.create_all(connection)
