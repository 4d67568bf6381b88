"""Running one tool of the app, as the agent's account and the person together.

A plain function runs inside the transaction that records it, in a savepoint of its own: what it changed and the line
that says so are committed together, or neither is. What it raises is told to the model, never lost.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from core import people
from core.declare.actions import Action, Context
from core.declare.agents import Agent
from core.declare.rights import Principal, Row
from core.declare.schemas import text_of
from core.errors import HandonError, NotAllowed, NotFound
from core.guard import GuardedSession, guarded
from core.house import House
from core.ids import to_uuid
from core.store import Tx, worth_another_try
from core.words import label_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a tool: whether it went well, what the model is told, and whether it was rights that forbade it."""

    ok: bool
    text: str
    forbidden: bool = False


@contextmanager
def guarded_context(
    house: House, tx: Tx, agent: Principal, person: str | None, piece: str, call_key: str = "", *, changes: bool = False
) -> Iterator[Context]:
    """A context over this transaction, whose session is guarded by the agent's account and the person.

    Session and the person's roles are made when they are first used. What is raised inside undoes what the
    session changed; without `changes` it refuses to change anything.
    """
    opened: list[GuardedSession] = []

    def open_session() -> GuardedSession:
        session = guarded(tx.new_session(GuardedSession), agent, ctx.person)
        session.query_only = not changes
        opened.append(session)
        return session

    ctx = Context(agent, lambda: people.principal(tx, person), to_uuid(piece), house.clock, call_key, open_session)
    try:
        yield ctx
        for session in opened:
            Session.commit(session)  # to a tool that calls it, a guarded session refuses
    finally:
        for session in opened:
            Session.close(session)  # what was not committed is undone, and its rows are let go of


def outside_context(house: House, agent: Principal, person: Principal | None, piece: str, call_key: str) -> Context:
    """A context for what is awaited: it has no session, because no transaction is open."""
    return Context(agent, lambda: person, to_uuid(piece), house.clock, call_key, None)


def load_rows(ctx: Context, action: Action, values: Mapping[str, Any], *, lock: bool = False) -> dict[str, Any]:
    """The arguments with each row's id turned into the row, with `lock` locked until the transaction ends. Raises
    NotFound for one that both may not read (R2)."""
    loaded = dict(values)
    for parameter in action.parameters:
        if parameter.row is None or values[parameter.name] is None:
            continue
        row: Row | None = ctx.session.get(parameter.row, values[parameter.name], with_for_update=lock or None)
        if row is None:
            what = label_of(parameter.row.__name__).lower()
            raise NotFound(f"There is no {what} with the id {values[parameter.name]}.")
        loaded[parameter.name] = row
    return loaded


def run_plain(
    house: House,
    tx: Tx,
    action: Action,
    values: Mapping[str, Any],
    agent: Principal,
    person: str | None,
    piece: str,
    call_key: str,
) -> Ran:
    """Run a plain function now. Whatever it raises undoes what it changed, and is told in words.

    The rows a change is given are locked, so that of two trees that change one row neither undoes the other's.
    """
    try:
        with guarded_context(house, tx, agent, person, piece, call_key, changes=not action.query) as ctx:
            arguments = load_rows(ctx, action, values, lock=not action.query)
            text = text_of(action(ctx, **arguments) if action.takes_context else action(**arguments))
    except Exception as error:
        if worth_another_try(error):
            raise
        return Ran(False, told(action, error), forbidden=isinstance(error, NotAllowed))
    return Ran(True, text)


def find(agent: Agent, skill: str, name: str) -> Action | None:
    """A tool of a skill of the agent's, its own or one that it may hand to a helper, as declared now."""
    skills = [own for own in agent.skills if own.name == skill]
    if agent.delegates is not None:
        skills += [entry.skill for entry in agent.delegates.to if entry.agent is None and entry.skill.name == skill]
    return next((tool for own in skills for tool in own.tools if tool.name == name), None)


def told(action: Action, error: Exception) -> str:
    """An error as the model is told it. A driver's own text stays in the log."""
    if isinstance(error, HandonError):
        return str(error)
    log.warning("the tool %s failed: %r", action.name, error)
    if isinstance(error, SQLAlchemyError):
        return f"{action.label} failed: the database refused the change."
    return f"{action.label} failed: {type(error).__name__}: {error}"
