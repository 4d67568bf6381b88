"""A session that reads and changes only what all of its principals may: the agent's account and the person (R2).

Rows that one of them may not read are not found; a field that one may not read is refused wherever it is named or
touched; every new, changed or deleted row is asked for each principal before it is flushed, and again after, as it
then is. What would go round that (bulk and Core statements, plain SQL, the connection, a commit) is refused in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Column,
    ColumnClause,
    Select,
    Table,
    TextClause,
    and_,
    event,
    false,
    inspect,
    or_,
    select,
)
from sqlalchemy.orm import Load, ORMExecuteState, Session, with_loader_criteria
from sqlalchemy.sql import visitors

from core.declare.rights import Principal, Row, denied_fields, may_do, rows_for
from core.errors import NotAllowed
from core.words import label_of

_VERBS = {"create": "create", "update": "change", "delete": "delete", "read": "read"}
BY_CLASS = "Only rows are read here: name their classes and attributes, not tables, columns or SQL."
_ASKING = "handon_guard"  # marks the guard's own questions, which it does not ask itself about


def _refusing(why: str) -> Any:
    def refuse(*_: Any, **__: Any) -> Any:
        raise NotAllowed(why)

    return refuse


class GuardedSession(Session):
    """Made by `guarded`. `principals` are all asked; `query_only`, it changes nothing."""

    principals: Sequence[Principal] = ()
    query_only = False

    connection = _refusing("Rows are read and changed through the session here, not through its connection.")
    commit = rollback = close = begin = begin_nested = _refusing("A tool's changes are kept with its work, not by it.")
    bulk_save_objects = bulk_insert_mappings = bulk_update_mappings = _refusing("Rows are changed one by one here.")

    def refresh(self, instance: Any, attribute_names: Any = None, *args: Any, **kwargs: Any) -> None:
        _refuse_fields(self.principals, type(instance), set(attribute_names or ()))
        super().refresh(instance, attribute_names, *args, **kwargs)


def guarded(session: GuardedSession, *principals: Principal | None) -> GuardedSession:
    """Let the session do only what all of these may. None stands for nobody: it does not narrow."""
    session.principals = tuple(principal for principal in principals if principal is not None)
    return session


def _refusal(principal: Principal, verb: str, row: type[Row], fields: Sequence[str] = ()) -> NotAllowed:
    what = label_of(row.__name__).lower()
    part = f"the {', '.join(field.replace('_', ' ') for field in fields)} of a {what}" if fields else f"a {what}"
    return NotAllowed(f"{principal.name} may not {_VERBS[verb]} {part}.")


# Reading


@event.listens_for(GuardedSession, "do_orm_execute")
def _reads_only_what_it_may(state: ORMExecuteState) -> None:
    session = state.session
    assert isinstance(session, GuardedSession)
    if state.execution_options.get(_ASKING):
        return
    if not state.is_select or not state.is_orm_statement:
        raise NotAllowed("Only rows are read and changed here: no bulk statements, no plain SQL.")
    for row in Row.__subclasses__():
        condition = _condition(session.principals, row)
        if condition is not None:
            state.statement = state.statement.options(with_loader_criteria(row, condition, include_aliases=True))
    if state.is_column_load:
        _loads_only_fields_it_may(session, state)
    else:
        _names_only_fields_it_may(session, state)


def _condition(principals: Sequence[Principal], row: type[Row]) -> Any:
    """The SQL condition a row must meet for all principals to read it; None: every row does."""
    conditions = []
    for principal in principals:
        if not may_do(principal, row, "read"):
            return false()
        narrowed = rows_for(principal, row, "read")
        if narrowed is not None:
            conditions.append(or_(*narrowed) if narrowed else false())
    return and_(*conditions) if conditions else None


def _loads_only_fields_it_may(session: GuardedSession, state: ORMExecuteState) -> None:
    """Columns of a row that is there already: those that were left out when it was found."""
    wanted = getattr(state.load_options, "_only_load_props", None) or ()
    for mapper in state.all_mappers:
        _refuse_fields(session.principals, mapper.class_, set(wanted))


def _names_only_fields_it_may(session: GuardedSession, state: ORMExecuteState) -> None:
    statement: Any = state.statement
    owned: dict[Any, type[Row]] = {}  # tables named by their classes
    tables: set[Any] = set()  # those named otherwise, and columns of them
    columns: list[Column[Any]] = []
    for element in visitors.iterate(statement):
        notes = getattr(element, "_annotations", {})
        owner = notes.get("parententity") or notes.get("parentmapper")
        if owner is not None:
            owned[owner.mapper.local_table] = owner.mapper.class_
            if isinstance(element, ColumnClause):
                _refuse_fields(session.principals, owner.mapper.class_, {str(element.key)})
        elif isinstance(element, Table):
            tables.add(element)
        elif isinstance(element, Column):
            columns.append(element)
        elif isinstance(element, TextClause) or (isinstance(element, ColumnClause) and element.is_literal):
            if getattr(element, "name", "") != "*":
                raise NotAllowed(BY_CLASS)
    if tables - set(owned) or any(c.table not in owned for c in columns):
        raise NotAllowed(BY_CLASS)
    for column in columns:
        if column.table in owned:
            _refuse_fields(session.principals, owned[column.table], {str(column.key)})
    for described in statement.column_descriptions if isinstance(statement, Select) else ():
        entity, named = described["entity"], described["expr"]
        if entity is None or entity is not named:
            continue
        for field in sorted(_denied(session.principals, inspect(entity).mapper.class_)):
            state.statement = state.statement.options(Load(entity).defer(getattr(entity, field)))


def _denied(principals: Sequence[Principal], row: type[Row]) -> set[str]:
    return {field for principal in principals for field in denied_fields(principal, row, "read")}


def _refuse_fields(principals: Sequence[Principal], row: type[Row], fields: set[str]) -> None:
    for principal in principals:
        named = sorted(fields & denied_fields(principal, row, "read"))
        if named:
            raise _refusal(principal, "read", row, named)


# Changing


@event.listens_for(GuardedSession, "before_flush")
def _changes_only_what_it_may(session: Session, _context: Any, _instances: Any) -> None:
    assert isinstance(session, GuardedSession)
    changed = {row: fields for row in session.dirty if (fields := _changed(row))}
    if session.query_only and (session.new or session.deleted or changed):
        raise NotAllowed("A query changes nothing.")
    for row in session.new:
        _ask(session, row, "create", sorted(_changed(row)))
    for row, fields in changed.items():
        _ask(session, row, "update", sorted(fields))
    for row in session.deleted:
        _ask(session, row, "delete", [])


@event.listens_for(GuardedSession, "after_flush")
def _made_only_what_it_may(session: Session, _context: Any) -> None:
    """As they are now, new and changed rows must still be among those the principal may make or change."""
    assert isinstance(session, GuardedSession)
    for rows, verb in ((session.new, "create"), (session.dirty, "update")):
        for row in rows:
            if verb == "create" or _changed(row):
                for principal in session.principals:
                    _is_one_of_its_rows(session, principal, row, verb)


def _changed(row: Any) -> set[str]:
    return {attribute.key for attribute in inspect(row).attrs if attribute.history.has_changes()} - {"id"}


def _ask(session: GuardedSession, row: Any, verb: str, fields: list[str]) -> None:
    kind = type(row)
    if not isinstance(row, Row):
        raise NotAllowed(f"{kind.__name__} is none of the app's rows.")
    if not session.principals:
        raise NotAllowed("Nobody may change anything here.")
    for principal in session.principals:
        if not may_do(principal, kind, verb):
            raise _refusal(principal, verb, kind)
        denied = [field for field in fields if field in denied_fields(principal, kind, verb)]
        if denied:
            raise _refusal(principal, verb, kind, denied)
        if verb != "create":
            _is_one_of_its_rows(session, principal, row, verb)


def _is_one_of_its_rows(session: GuardedSession, principal: Principal, row: Any, verb: str) -> None:
    kind = type(row)
    narrowed = rows_for(principal, kind, verb)
    if narrowed is None:
        return
    inside = select(kind.id).where(kind.id == row.id, or_(*narrowed) if narrowed else false())
    with session.no_autoflush:
        found = session.execute(inside, execution_options={_ASKING: True}).first()
    if found is None:
        raise _refusal(principal, verb, kind)
