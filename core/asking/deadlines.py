"""Requests that nobody answered in time: they expire, and the model is told just that (rule P11).

By default a request waits for ever. Nothing is ever approved by time, and what expired was not refused either. A
decision that was made in time and is held when the time ends stands.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, select, update

from core import people, receipts, work
from core.asking import held
from core.clock import from_micros
from core.house import House
from core.sql import Statement
from core.store import Tx
from core.tables import help, proposal
from core.values import HelpStatus, ProposalStatus, TraceKind

_late_proposal = (
    proposal.c.deadline <= bindparam("now"),
    proposal.c.deadline.is_not(None),
    *held.UNDECIDED,
)
_late_question = (
    help.c.deadline <= bindparam("now"),
    help.c.deadline.is_not(None),
    help.c.status == "Waiting",
    held.not_held(help),
)
_LATE = (
    Statement(select(proposal.c.root).where(*_late_proposal).limit(1000)),
    Statement(select(help.c.root).where(*_late_question).limit(1000)),
)
_PROPOSALS = Statement(
    select(proposal).where(proposal.c.root == bindparam("root"), *_late_proposal).order_by(proposal.c.id)
)
_QUESTIONS = Statement(select(help).where(help.c.root == bindparam("root"), *_late_question).order_by(help.c.id))
_EXPIRE_PROPOSAL = Statement(
    update(proposal)
    .where(proposal.c.id == bindparam("which"))
    .values(status=str(ProposalStatus.EXPIRED), note=bindparam("why"))
)
_EXPIRE_QUESTION = Statement(
    update(help).where(help.c.id == bindparam("which")).values(status=str(HelpStatus.UNAVAILABLE))
)


def deadline(tx: Tx, within: timedelta | None) -> int | None:
    """The moment from which on nobody may decide what is asked now; None: it waits for ever."""
    return None if within is None else tx.now + int(within.total_seconds() * 1_000_000)


def passed(tx: Tx) -> list[str]:
    """The wholes in which a request's deadline has passed."""
    return sorted({found.root for late in _LATE for found in tx.all(late, now=tx.now)})


def expire(house: House, tx: Tx, root: str) -> int:
    """End a whole's requests whose deadline has passed; answers how many there were.

    A proposal is Expired, a question Unavailable; each writes one line, and its piece goes on with the news.
    """
    tree = house.tree(tx, root)
    late = [("proposal", found) for found in tx.all(_PROPOSALS, root=root, now=tx.now)]
    late += [("question", found) for found in tx.all(_QUESTIONS, root=root, now=tx.now)]
    for what, found in late:
        row = receipts.get(tx, found.piece)
        until = f"{from_micros(found.deadline):%-d %B %Y, %H:%M} UTC"
        asked = people.row(tx, found.asked_of).name if found.asked_of else "Nobody"
        why = f"Nobody answered until {until}."
        told = f"Nobody answered: {asked} was asked, and the time for it ended on {until}. That is no refusal. "
        if what == "proposal":
            tx.run(_EXPIRE_PROPOSAL, which=found.id, why=why)
            told += f"It was not done: {found.sentence}"
        else:
            tx.run(_EXPIRE_QUESTION, which=found.id)
            told += "Go on without an answer, or say what is missing."
        summary = f"A {what} of {house.label(row.agent)} expired: {_about(what, found)}"
        tree.append(tx.now, row.id, TraceKind.EXPIRED, summary, {what: found.id, "deadline": found.deadline})
        house.event(tx, "expired", whole=root, **{what: found.id})
        work.answered(house, tx, tree, row, found.id, told, False)
    return len(late)


def _about(what: str, found: Any) -> str:
    return str(found.sentence if what == "proposal" else found.question)
