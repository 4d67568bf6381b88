"""Handing a request over: whoever may decide it has it put to somebody else, who decides in their place.

It decides nothing and widens nothing: a yes runs the call as whoever says it (rule P5), so a proposal goes to nobody
who may not read what it names. From then on the receiver decides, and whoever they have named to stand in; whoever
handed it over does so no more, but may have it put back while it waits. Where the receiver is gone the sponsor takes it
over as ever (rule R10).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, bindparam, delete, exists, select

from core import aside, people, receipts, work
from core.asking import proposals, questions, whom
from core.errors import BadInput, NotFound
from core.house import House
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import handed_over
from core.values import TraceKind

LONGEST = 2_000  # letters of a note

_INSERT = insert_into(handed_over)
_GET = Statement(select(handed_over).where(handed_over.c.request == bindparam("about")))
_DELETE = Statement(delete(handed_over).where(handed_over.c.request == bindparam("about")))


def is_handed(table: Any) -> ColumnElement[bool]:
    """The condition that a row of `proposal` or `help` was handed over by the reader (`who`), and not put back."""
    return exists(
        select(handed_over.c.request).where(
            handed_over.c.request == table.c.id, handed_over.c.put_by == bindparam("who")
        )
    )


def of(tx: Tx, request: str) -> Any:
    """The last time this request was handed over and not put back: a row, or None."""
    return tx.one(_GET, about=request)


def hand_over(house: House, tx: Tx, id: str, person: str, to: str, note: str) -> None:
    """Put a proposal or question to somebody else. Writes one line, with the note; the agent is told nothing, a
    deadline stays, and neither of the two has it set aside any more. A sponsor who hands over what nobody else is left
    to decide takes it over with that.

    Raises what deciding it raises (NotFound, NotAllowed, AlreadyDecided, NotWaiting), and BadInput for somebody who is
    not there, was deactivated, is asked already or may not read what a proposal names, and for a note of over 2,000
    letters.
    """
    if len(note) > LONGEST:
        raise BadInput({"note": f"At most {LONGEST:,} letters; these are {len(note):,}."})
    asks = questions.get(tx, id) is not None
    found, tree, row = (questions.unanswered if asks else proposals.undecided)(house, tx, id, person)
    try:
        receiver = people.find(tx, to)
    except NotFound:
        raise BadInput({"to": "There is no such person."}) from None
    if not receiver.active:
        raise BadInput({"to": f"{receiver.name}’s account was deactivated."})
    if found.asked_of == to:
        raise BadInput({"to": f"It is put to {receiver.name} already."})
    if not asks and (why := proposals.why_not_read(house, tx, row, found, to)):
        raise BadInput({"to": f"{receiver.name} could not approve it. {why}"})
    what = "question" if asks else "proposal"
    tx.run(whom.PUT_TO[what], which=id, who=to)
    tx.run(_DELETE, about=id)
    put = {"put_by": person, "put_from": found.asked_of, "put_to": to, "note": note}
    tx.run(_INSERT, request=id, root=tree.root, **put, at=tx.now)
    for one in (person, to):
        aside.take(tx, one, id)
    giver = people.row(tx, person).name
    summary = f"{giver} handed a {what} of {house.label(row.agent)} over to {receiver.name}."
    payload = {what: id, "by": person, "from": found.asked_of, "to": to, "note": note}
    tree.append(tx.now, row.id, TraceKind.HANDED_OVER, f"{summary} {note}".strip(), payload)
    work.reconsider(house, tx, tree, row)


def put_back(house: House, tx: Tx, id: str, person: str) -> None:
    """Have what this person handed over put to whom it was put before, while it waits. Writes one line.

    Raises NotFound where they have handed over nothing here, AlreadyDecided and NotWaiting where nothing is left to
    decide: then the receiver was first.
    """
    row = of(tx, id)
    if row is None or row.put_by != person or not people.find(tx, person).active:
        raise NotFound("You have handed over nothing here.")
    tree = house.tree(tx, row.root)
    row = of(tx, id)
    if row is None or row.put_by != person:
        raise NotFound("It was put back already.")
    question = questions.get(tx, id)
    if question is not None:
        questions.refuse_if_answered(tx, question)
    else:
        proposals.refuse_if_decided(tx, proposals.get(tx, id))
    what, found = ("question", question) if question is not None else ("proposal", proposals.get(tx, id))
    tx.run(whom.PUT_TO[what], which=id, who=row.put_from)
    tx.run(_DELETE, about=id)
    asker = receipts.get(tx, found.piece)
    names = [people.row(tx, one).name if one else "nobody" for one in (person, row.put_to, row.put_from)]
    summary = f"{names[0]} took a {what} of {house.label(asker.agent)} back from {names[1]}: it is put to {names[2]}."
    payload = {what: id, "by": person, "from": row.put_to, "to": row.put_from, "note": ""}
    tree.append(tx.now, asker.id, TraceKind.HANDED_OVER, summary, payload)
    work.reconsider(house, tx, tree, asker)
