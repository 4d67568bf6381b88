"""A session that reads and changes only what all of its principals may: the agent's account and the person (R2).

Rows that one of them may not read are not found; fields one may not read are refused when they are named or touched;
every new, changed or deleted row is asked for each principal before and after it is flushed. Statements that would go
round that (bulk changes, SQL as text, bare tables) are refused in words, and so is ending the transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from sqlalchemy import ColumnClause, ColumnElement, Select, Table, TextClause, and_, event, false, inspect, or_, select
from sqlalchemy.orm import ORMExecuteState, QueryContext, Session, with_loader_criteria
from sqlalchemy.sql import visitors

from core.declare.rights import Principal, Row, denied_fields, may_do, rows_for
from core.errors import NotAllowed
from core.words import label_of

_VERBS = {"create": "create", "update": "change", "delete": "delete", "read": "read"}
_PLAIN_SQL = "Only rows are read and changed here: no bulk statements, no plain SQL."


class GuardedSession(Session):
    """Made by `guarded`. `principals` are all asked; without any, nothing is changed. It never ends the transaction:
    whoever made it does, by `Session.commit(session)`."""

    principals: Sequence[Principal] = ()
    query_only = False

    def _not_here(self, *_: Any, **__: Any) -> NoReturn:
        raise NotAllowed("Rows are read and changed through the session here; the transaction is not a tool's to end.")

    def _not_in_bulk(self, *_: Any, **__: Any) -> NoReturn:
        raise NotAllowed("Rows are changed one by one here, not in bulk.")

    connection = begin = begin_nested = commit = rollback = close = reset = invalidate = prepare = _not_here
    bulk_save_objects = bulk_insert_mappings = bulk_update_mappings = _not_in_bulk

    def hidden(self, row: type[Row]) -> dict[str, Principal]:
        """The fields of a row that somebody here may not read, and who."""
        return {field: who for who in self.principals for field in denied_fields(who, row, "read")}


def guarded(session: GuardedSession, *principals: Principal | None) -> GuardedSession:
    """Let the session do only what all of these may. None stands for nobody: it does not narrow."""
    session.principals = tuple(principal for principal in principals if principal is not None)
    return session


def refuse(principal: Principal, verb: str, row: type[Row], fields: Sequence[str] = ()) -> NotAllowed:
    what = f"a {label_of(row.__name__).lower()}"
    part = f"the {', '.join(field.replace('_', ' ') for field in fields)} of {what}" if fields else what
    return NotAllowed(f"{principal.name} may not {_VERBS[verb]} {part}.")


# Reading


@event.listens_for(GuardedSession, "do_orm_execute")
def _reads_only_what_it_may(state: ORMExecuteState) -> None:
    session = state.session
    assert isinstance(session, GuardedSession)
    if state.execution_options.get("handon_guard"):
        return
    if not state.is_select or not state.is_orm_statement:
        raise NotAllowed(_PLAIN_SQL)
    if not (state.is_column_load or state.is_relationship_load):  # those are the session's own, of rows it has found
        _names_only_what_it_may(session, state.statement)
    for row in Row.__subclasses__():
        condition = _condition(session.principals, row, "read")
        if condition is not None:
            state.statement = state.statement.options(with_loader_criteria(row, condition, include_aliases=True))


def _condition(principals: Sequence[Principal], row: type[Row], verb: str) -> ColumnElement[bool] | None:
    """The SQL condition a row must meet for all principals to do the verb; None: every row does."""
    conditions: list[ColumnElement[bool]] = []
    for principal in principals:
        if not may_do(principal, row, verb):
            return false()
        narrowed = rows_for(principal, row, verb)
        if narrowed is not None:
            conditions.append(or_(false(), *narrowed))
    return and_(*conditions) if conditions else None


def _names_only_what_it_may(session: GuardedSession, statement: Any) -> None:
    """Refuse a statement that names a field somebody may not read, or a table without its row's rules."""
    bare: set[Any] = set()
    ruled: set[Any] = set()
    for element in visitors.iterate(statement):
        mapper = element._annotations.get("parentmapper")
        if mapper is not None:
            ruled.add(mapper.local_table)
            field: Any = element._annotations.get("proxy_key")
            who = session.hidden(mapper.class_).get(field) if issubclass(mapper.class_, Row) else None
            if who is not None:
                raise refuse(who, "read", mapper.class_, [field])
        elif isinstance(element, Table):
            bare.add(element)
        elif isinstance(element, TextClause) or (isinstance(element, ColumnClause) and _is_plain(element)):
            raise NotAllowed(_PLAIN_SQL)
        if isinstance(element, Select) and any(map(_is_bare_table, element._raw_columns)):
            raise NotAllowed(_PLAIN_SQL)
    if bare - ruled:
        raise NotAllowed(_PLAIN_SQL)


def _is_plain(column: ColumnClause[Any]) -> bool:
    """SQL as text ("*" and "1" are what SQLAlchemy counts and tests with), or a column of a bare table; but for the
    id, by which the session itself looks rows up."""
    if column.is_literal:
        return column.name not in ("*", "1")
    if isinstance(column.table, Table):
        return column.name != "id"
    return isinstance(getattr(column.table, "element", None), Table)


def _is_bare_table(element: Any) -> bool:
    return isinstance(element, Table) and "parentmapper" not in element._annotations


@event.listens_for(Row, "load", propagate=True)
def _is_loaded_without_what_is_hidden(row: Row, context: QueryContext) -> None:
    session = context.session
    if isinstance(session, GuardedSession) and (hidden := session.hidden(type(row))):
        session.expire(row, list(hidden))


@event.listens_for(Row, "refresh", propagate=True)
def _is_touched_only_where_it_may_be(row: Row, context: QueryContext, fields: Sequence[str] | None) -> None:
    session = context.session
    if not isinstance(session, GuardedSession):
        return
    hidden = session.hidden(type(row))
    if hidden:
        session.expire(row, list(hidden))
    asked = sorted(set(inspect(type(row)).column_attrs.keys()) & set(fields or ()))
    if asked and hidden.keys() >= set(asked):
        raise refuse(hidden[asked[0]], "read", type(row), asked[:1])


# Changing


@event.listens_for(GuardedSession, "before_flush")
def _changes_only_what_it_may(session: GuardedSession, _context: Any, _instances: Any) -> None:
    changes = list(_changes(session))
    if changes and session.query_only:
        raise NotAllowed("A query changes nothing.")
    if changes and not session.principals:
        raise NotAllowed("Nobody may change anything here.")
    for row, verb, fields in changes:
        _ask(session, row, verb, fields)


@event.listens_for(GuardedSession, "after_flush")
def _left_only_what_it_may(session: GuardedSession, _context: Any) -> None:
    """Of a new row, and of a changed one as it is now, it can be asked only now whether it is one of theirs."""
    for row, verb, _ in list(_changes(session)):
        if verb != "delete":
            _is_one_of_theirs(session, row, verb)


def _changes(session: GuardedSession) -> Iterator[tuple[Any, str, list[str]]]:
    """Every row that is to be written: the row, the verb, the fields."""
    for row in session.new:
        yield row, "create", _changed(row)
    for row in session.dirty:
        if fields := _changed(row):
            yield row, "update", fields
    for row in session.deleted:
        yield row, "delete", []


def _changed(row: Any) -> list[str]:
    return sorted({entry.key for entry in inspect(row).attrs if entry.history.has_changes()} - {"id"})


def _ask(session: GuardedSession, row: Any, verb: str, fields: Sequence[str]) -> None:
    kind = type(row)
    if not isinstance(row, Row):
        raise NotAllowed(f"{kind.__name__} is none of the app's rows.")
    for principal in session.principals:
        if not may_do(principal, kind, verb):
            raise refuse(principal, verb, kind)
        denied = denied_fields(principal, kind, verb).intersection(fields)
        if denied:
            raise refuse(principal, verb, kind, sorted(denied))
    if verb != "create":
        _is_one_of_theirs(session, row, verb)


def _is_one_of_theirs(session: GuardedSession, row: Any, verb: str) -> None:
    kind = type(row)
    for principal in session.principals:
        narrowed = rows_for(principal, kind, verb)
        if narrowed is None:
            continue
        inside = select(kind.id).where(kind.id == row.id, or_(false(), *narrowed))
        with session.no_autoflush:
            found = session.execute(inside, execution_options={"handon_guard": True}).first()
        if found is None:
            raise refuse(principal, verb, kind)
