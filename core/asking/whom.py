"""Who is asked, through whom, and who may decide: the person, a stand-in, or the sponsor who takes over (rules P1, P2,
P9, R10)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, delete, update

from core import people, receipts, work
from core.clock import from_micros
from core.errors import NotAllowed, NotFound, NotWaiting
from core.house import House
from core.receipts import Receipt
from core.record import Tree
from core.sql import Statement
from core.store import Tx
from core.tables import handed_over, help, proposal
from core.values import TraceKind

PUT_TO = {
    what: Statement(update(table).where(table.c.id == bindparam("which")).values(asked_of=bindparam("who")))
    for what, table in (("proposal", proposal), ("question", help))
}
_NOT_HANDED = Statement(delete(handed_over).where(handed_over.c.request == bindparam("about")))
_DECIDED_AT = {"proposal": "decided_at", "question": "answered_at"}


def whom(tx: Tx, tree: Tree, row: Any) -> str | None:
    """Whom the pieces of a tree ask: the person it is for, or the sponsor of the agent at the top (rule P1)."""
    return tree.person or people.sponsor_of(tx, row.agents.split("/")[0])


def through(agents: str) -> str:
    """The agents' names from the asking one up to the top, joined by "/"."""
    return "/".join(reversed(agents.split("/")))


def through_words(house: House, joined: str) -> str:
    """Rule P2: "Collator, working for Planner"; empty where the asking piece is the top."""
    labels = house.labels(joined)
    return ", working for ".join(labels) if len(labels) > 1 else ""


def may_decide(tx: Tx, asked_of: str | None, top_agent: str, person: str) -> bool:
    """Whether the person may decide what was put to `asked_of`: they, a stand-in, or the sponsor who may take it
    over."""
    return is_theirs(tx, asked_of, person) or may_take_over(tx, asked_of, top_agent, person)


def is_theirs(tx: Tx, asked_of: str | None, person: str) -> bool:
    """Whether it was put to the person, or to somebody who has named them to stand in (rule P9)."""
    return asked_of is not None and (asked_of == person or asked_of in people.stands_in_for(tx, person))


def may_take_over(tx: Tx, asked_of: str | None, top_agent: str, person: str) -> bool:
    """Whether the person is the sponsor of the agent at the top, and nobody else is left to decide: it was put to
    nobody, or to somebody who was deactivated (rule R10)."""
    if people.sponsor_of(tx, top_agent) != person:
        return False
    return asked_of is None or people.row(tx, asked_of).deactivated_at is not None


def opened(house: House, tx: Tx, get: Statement, id: str, person: str, what: str) -> tuple[Any, Tree, Receipt]:
    """A request in the hands of somebody who may decide it: its row, read under its tree's lock, the tree, its piece.

    A sponsor who comes to what nobody else is left to decide takes it over with that, which writes a line. Raises
    NotFound, and NotAllowed for everybody else and for a deactivated account.
    """
    found = tx.one(get, id=id)
    if found is None:
        raise NotFound(f"There is no such {what}.")
    tree = house.tree(tx, found.root)
    found = tx.one(get, id=id)
    row = receipts.get(tx, found.piece)
    if not people.find(tx, person).active:
        raise NotAllowed("Your account was deactivated.")
    if not is_theirs(tx, found.asked_of, person):
        if not may_take_over(tx, found.asked_of, row.agents.split("/")[0], person):
            raise NotAllowed("This is put to somebody else, who has not named you to stand in.")
        if found.status == "Waiting" and getattr(found, _DECIDED_AT[what]) is None:
            _take_over(house, tx, tree, row, found, person, what)
            found = tx.one(get, id=id)
    return found, tree, row


def _take_over(house: House, tx: Tx, tree: Tree, row: Receipt, found: Any, person: str, what: str) -> None:
    """Put a request to the sponsor instead of whoever is gone; whoever had handed it over to them may have it put back
    no more. Writes one line."""
    tx.run(PUT_TO[what], which=found.id, who=person)
    tx.run(_NOT_HANDED, about=found.id)
    name = people.row(tx, person).name
    was = people.row(tx, found.asked_of).name if found.asked_of else "nobody"
    summary = f"{name} took over a {what} of {house.label(row.agent)}, which had been put to {was}."
    payload = {what: found.id, "by": person, "from": found.asked_of}
    tree.append(tx.now, row.id, TraceKind.TAKEN_OVER, summary, payload)
    work.reconsider(house, tx, tree, row)


def in_time(found: Any, made_at: int) -> None:
    """Raises NotWaiting where the deadline had passed when the decision was made, also before the clock has looked."""
    if found.deadline is not None and made_at >= found.deadline:
        at = from_micros(found.deadline)
        raise NotWaiting(f"Nothing is left to decide: it could be decided until {at:%-d %B %Y, %H:%M} UTC.")


def then(tx: Tx, made_at: int | None) -> str:
    """When a decision that was held was made, for the sentence of its line: " at 14:07:31 UTC"."""
    return "" if made_at is None or made_at == tx.now else f" at {from_micros(made_at):%H:%M:%S} UTC"


def made(made_at: int | None) -> dict[str, int]:
    """The same for its payload."""
    return {} if made_at is None else {"made_at": made_at}
