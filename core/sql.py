"""Statements: written once in SQLAlchemy Core at module level, compiled once per dialect, run on the driver.

Core keeps them checked against the tables and portable; the driver keeps them cheap: the engine runs several for each
model call. Types need no processing because the tables hold text, integers and booleans only.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Delete, Insert, Select, Table, Update, insert
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import psycopg

_DIALECTS: dict[str, Any] = {"sqlite": sqlite.dialect(paramstyle="named"), "postgresql": psycopg.dialect()}  # type: ignore[no-untyped-call]

Params = Mapping[str, Any]


class Compiled(NamedTuple):
    text: str
    fixed: dict[str, Any]  # parameters whose values stand in the statement


def _maker(names: list[str]) -> Callable[[Iterable[Any]], Any]:
    found: Any = namedtuple("Found", names) if names else None
    return found._make if names else tuple


class Statement:
    """One statement. Parameters are the `bindparam`s it names; of an insert, the columns."""

    __slots__ = ("_clause", "_compiled", "_keys", "make")

    def __init__(self, clause: Select[Any] | Insert | Update | Delete, keys: Iterable[str] | None = None) -> None:
        self._clause = clause
        self._keys = list(keys) if keys is not None else None
        self._compiled: dict[str, Compiled] = {}
        columns = clause.selected_columns if isinstance(clause, Select) else clause.exported_columns
        names = [str(column.key) for column in columns]
        self.make: Callable[[Iterable[Any]], Any] = _maker(names)

    def on(self, dialect: str) -> Compiled:
        compiled = self._compiled.get(dialect)
        if compiled is None:
            made = self._clause.compile(dialect=_DIALECTS[dialect], column_keys=self._keys)
            text = str(made)
            fixed: dict[str, Any] = {}
            for key, bind in made.binds.items():
                if bind.required:
                    continue  # given at each execution; where it is not, the driver refuses
                value = bind.effective_value
                if isinstance(value, list | tuple):  # the values of an IN that stand in the statement
                    names = [f"{key}_{n}" for n in range(len(value))]
                    style = ":{}" if dialect == "sqlite" else "%({})s"
                    text = text.replace(f"__[POSTCOMPILE_{key}]", ", ".join(style.format(name) for name in names))
                    fixed.update(zip(names, value, strict=True))
                else:
                    fixed[key] = value
            compiled = Compiled(text, fixed)
            self._compiled[dialect] = compiled
        return compiled


def insert_into(table: Table, *, or_ignore: bool = False) -> Statement:
    """An insert of every column. `or_ignore`: a row that is there already stays as it is."""
    keys = [column.key for column in table.columns]
    if not or_ignore:
        return Statement(insert(table), keys)
    # Both dialects write ON CONFLICT DO NOTHING alike, so the one construct serves both.
    return Statement(postgresql.insert(table).on_conflict_do_nothing(), keys)
