"""A session that reads and changes only what all of its principals may: the agent's account and the person (R2).

Rows that one of them may not read are not found; fields one may not read are refused when touched; every new, changed
or deleted row is asked for each principal before it is flushed. Statements that would go round that (bulk updates,
Core statements over the app's tables) are refused in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnClause, and_, event, false, inspect, or_, select
from sqlalchemy.orm import ORMExecuteState, Session, defer, with_loader_criteria
from sqlalchemy.sql import visitors

from core.declare.rights import Principal, Row, denied_fields, may_do, rows_for
from core.errors import NotAllowed
from core.words import label_of

_VERBS = {"create": "create", "update": "change", "delete": "delete", "read": "read"}


class GuardedSession(Session):
    """Made by `guarded`. `principals` are all asked; without any nothing may be read."""

    principals: Sequence[Principal] = ()
    query_only = False

    def connection(self, *_: Any, **__: Any) -> Any:
        raise NotAllowed("Rows are read and changed through the session here, not through its connection.")

    def bulk_save_objects(self, *_: Any, **__: Any) -> None:
        raise NotAllowed("Rows are changed one by one here, not in bulk.")

    bulk_insert_mappings = bulk_update_mappings = bulk_save_objects


def refuse(principal: Principal, verb: str, row: type[Row], fields: Sequence[str] = ()) -> NotAllowed:
    what = f"{label_of(row.__name__).lower()}"
    part = f"the {', '.join(field.replace('_', ' ') for field in fields)} of a {what}" if fields else f"a {what}"
    return NotAllowed(f"{principal.name} may not {_VERBS[verb]} {part}.")


def _condition(principals: Sequence[Principal], row: type[Row], verb: str) -> Any:
    """The SQL condition a row must meet for all principals to do the verb; None: every row does."""
    conditions = []
    for principal in principals:
        if not may_do(principal, row, verb):
            return false()
        narrowed = rows_for(principal, row, verb)
        if narrowed is not None:
            conditions.append(or_(*narrowed) if narrowed else false())
    return and_(*conditions) if conditions else None


@event.listens_for(GuardedSession, "do_orm_execute")
def _reads_only_what_it_may(state: ORMExecuteState) -> None:
    session = state.session
    assert isinstance(session, GuardedSession)
    if state.execution_options.get("handon_guard"):
        return
    if not state.is_select or not state.is_orm_statement:
        raise NotAllowed("Only rows are read and changed here: no bulk statements, no plain SQL.")
    if state.is_column_load or state.is_relationship_load:
        pass  # the rows these belong to were found under the same conditions
    for row in Row.__subclasses__():
        condition = _condition(session.principals, row, "read")
        if condition is not None:
            state.statement = state.statement.options(with_loader_criteria(row, condition, include_aliases=True))
    _hides_what_it_may_not(session.principals, state)


def _hides_what_it_may_not(principals: Sequence[Principal], state: ORMExecuteState) -> None:
    """Fields one of the principals may not read: left out of the rows found, refused wherever a statement names one."""
    denied = {row: _denied(principals, row) for row in Row.__subclasses__()}
    denied = {row: named for row, named in denied.items() if named}
    if not denied:
        return
    if state.is_column_load:
        for mapper in state.all_mappers:
            wanted = getattr(state.load_options, "_only_load_props", None) or ()
            _refuse_fields(principals, mapper.class_, set(wanted) & denied.get(mapper.class_, set()))
        return
    for element in visitors.iterate(state.statement):
        owner = getattr(element, "_annotations", {}).get("parententity")
        if owner is not None and isinstance(element, ColumnClause):
            kind = owner.mapper.class_
            _refuse_fields(principals, kind, {element.key} & denied.get(kind, set()))
    for described in state.statement.column_descriptions:
        entity = inspect(described["expr"], raiseerr=False)
        mapper = getattr(entity, "mapper", None)
        if mapper is None or not getattr(entity, "is_selectable", False):
            continue
        for field in sorted(denied.get(mapper.class_, ())):
            state.statement = state.statement.options(defer(getattr(described["expr"], field), raiseload=True))


def _denied(principals: Sequence[Principal], row: type[Row]) -> set[str]:
    return {field for principal in principals for field in denied_fields(principal, row, "read")}


def _refuse_fields(principals: Sequence[Principal], row: type[Row], fields: set[str]) -> None:
    for principal in principals:
        named = sorted(fields & denied_fields(principal, row, "read"))
        if named:
            raise refuse(principal, "read", row, named)


@event.listens_for(GuardedSession, "before_flush")
def _changes_only_what_it_may(session: Session, _context: Any, _instances: Any) -> None:
    assert isinstance(session, GuardedSession)
    if session.query_only and (session.new or session.deleted or any(_changed(row) for row in session.dirty)):
        raise NotAllowed("A query changes nothing.")
    for row in session.new:
        _ask(session, row, "create", sorted(_changed(row)))
    for row in session.dirty:
        changed = sorted(_changed(row))
        if changed:
            _ask(session, row, "update", changed)
    for row in session.deleted:
        _ask(session, row, "delete", [])


def _changed(row: Any) -> set[str]:
    state = inspect(row)
    return {attribute.key for attribute in state.attrs if attribute.history.has_changes()} - {"id"}


def _ask(session: GuardedSession, row: Any, verb: str, fields: list[str]) -> None:
    kind = type(row)
    if not isinstance(row, Row):
        raise NotAllowed(f"{kind.__name__} is none of the app's rows.")
    for principal in session.principals:
        if not may_do(principal, kind, verb):
            raise refuse(principal, verb, kind)
        denied = [field for field in fields if field in denied_fields(principal, kind, verb)]
        if denied:
            raise refuse(principal, verb, kind, denied)
        if verb != "create":
            _is_one_of_its_rows(session, principal, row, verb)
    if not session.principals:
        raise NotAllowed("Nobody may change anything here.")


@event.listens_for(GuardedSession, "after_flush")
def _made_only_what_it_may(session: Session, _context: Any) -> None:
    """A new row can be asked whether it is one of those the principal may make only once it is there."""
    assert isinstance(session, GuardedSession)
    for row in session.new:
        for principal in session.principals:
            _is_one_of_its_rows(session, principal, row, "create")


def _is_one_of_its_rows(session: GuardedSession, principal: Principal, row: Any, verb: str) -> None:
    kind = type(row)
    narrowed = rows_for(principal, kind, verb)
    if narrowed is None:
        return
    inside = select(kind.id).where(kind.id == row.id, or_(*narrowed) if narrowed else false())
    with session.no_autoflush:
        found = session.execute(inside, execution_options={"handon_guard": True}).first()
    if found is None:
        raise refuse(principal, verb, kind)


def guarded(session: GuardedSession, *principals: Principal | None) -> GuardedSession:
    """Let the session do only what all of these may. None stands for nobody: it does not narrow."""
    session.principals = tuple(principal for principal in principals if principal is not None)
    return session
