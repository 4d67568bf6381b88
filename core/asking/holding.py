"""Decisions that are held: made on a page, and carried out some seconds later unless whoever made them takes them back.

What can be refused is refused when the decision is made. While it is held it counts as decided for everybody, and the
agent is told nothing. When its time has come the verb itself runs, in one transaction, as that person and with that
fingerprint; rights are read again then (rule R11). Where it cannot be done any more it is dropped: the request waits
again, and its card says why. A hold is a row, so whichever process is there when its time has come carries it out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from core import drafts, people, receipts
from core.asking import held, proposals, questions, whom
from core.clock import from_micros
from core.declare.schemas import to_json
from core.errors import HandonError, NotAllowed, NotFound, NotWaiting
from core.house import House
from core.store import Tx
from core.values import TraceKind

WORDS = {"approve": "yes", "refuse": "no", "answer": "answer", "decline": "“I cannot say”"}


def approve(
    house: House,
    tx: Tx,
    id: str,
    person: str,
    *,
    args: Mapping[str, Any] | None,
    note: str,
    fingerprint: str | None,
    lasts: timedelta,
) -> None:
    """Hold a yes. Where a rule forbids the call by now there is nothing to hold, and it ends as refused by that rule.
    Raises what `proposals.approve` raises."""
    ready = proposals.would_run(house, tx, id, person, args=args, fingerprint=fingerprint)
    if ready is None:
        proposals.approve(house, tx, id, person, args=args, note=note, fingerprint=fingerprint)
        return
    found, changed = ready
    _hold(house, tx, found, person, "approve", lasts, said=note, changed=changed, fingerprint=found.fingerprint)


def refuse(
    house: House, tx: Tx, id: str, person: str, *, reason: str, fingerprint: str | None, lasts: timedelta
) -> None:
    """Hold a no. Raises what `proposals.refuse` raises."""
    found, _, _ = proposals.undecided(house, tx, id, person, fingerprint)
    _hold(house, tx, found, person, "refuse", lasts, said=reason, fingerprint=found.fingerprint)


def answer(house: House, tx: Tx, id: str, person: str, text: str, *, declines: bool, lasts: timedelta) -> None:
    """Hold an answer, or that there is none. Raises what `questions.answer` raises."""
    found, _, _ = questions.unanswered(house, tx, id, person)
    questions.check(text, declines)
    _hold(house, tx, found, person, "decline" if declines else "answer", lasts, said=text)


def _hold(
    house: House,
    tx: Tx,
    found: Any,
    person: str,
    act: held.HeldAct,
    lasts: timedelta,
    *,
    said: str,
    changed: Mapping[str, Any] | None = None,
    fingerprint: str = "",
) -> None:
    release_at = tx.now + int(lasts.total_seconds() * 1_000_000)
    held.keep(
        tx,
        request=found.id,
        root=found.root,
        person=person,
        act=act,
        said=said,
        arguments=to_json(dict(changed)) if changed is not None else None,
        fingerprint=fingerprint,
        release_at=release_at,
    )
    house.look_at(tx, release_at)


def take_back(house: House, tx: Tx, id: str, person: str) -> None:
    """Take back what this person decided and is held still, as if it had not been made. Writes no line.

    Raises NotFound where they have decided nothing here, and NotWaiting where it is too late, with what came of it.
    """
    row = held.of(tx, id)
    if row is None or row.person != person:
        raise NotFound("You have decided nothing here that could be taken back.")
    house.tree(tx, row.root)
    row = held.of(tx, id)
    if row is None:
        raise NotWaiting("It was taken back already.")
    if row.ended_at is None:
        held.take_back(tx, id)
        return
    at = f"{from_micros(row.ended_at):%H:%M:%S} UTC"
    if row.why_not:
        raise NotWaiting(f"There is nothing to take back: at {at} it was not carried out. {row.why_not}")
    raise NotWaiting(f"It is too late to take it back: it was carried out at {at}.")


def due(tx: Tx) -> list[str]:
    """The requests on which a decision is held whose time has come."""
    return [request for request, release_at in held.open_ones(tx) if release_at <= tx.now]


def release(house: House, tx: Tx, id: str) -> bool:
    """Carry out the decision that is held on this request, where its time has come; answers whether it did.

    Writes the lines of the decision, which say when it was made. Raises HandonError where it cannot be done any more;
    then nothing was written.
    """
    row = held.still(tx, id)
    if row is None:
        return False
    house.tree(tx, row.root)
    row = held.still(tx, id)
    if row is None or row.release_at > tx.now:
        return False
    held.end(tx, id)  # from here on it is held no more: what the verb finds is a request that waits
    _check(tx, row)
    if row.act == "approve":
        args = json.loads(row.arguments) if row.arguments is not None else None
        shown, made_at = row.fingerprint, row.made_at
        proposals.approve(house, tx, id, row.person, args=args, note=row.said, fingerprint=shown, made_at=made_at)
    elif row.act == "refuse":
        proposals.refuse(house, tx, id, row.person, reason=row.said, fingerprint=row.fingerprint, made_at=row.made_at)
    else:
        questions.answer(house, tx, id, row.person, row.said, declines=row.act == "decline", made_at=row.made_at)
    drafts.drop(tx, row.person, id)
    return True


def _check(tx: Tx, row: Any) -> None:
    """Raises NotAllowed where whoever decided may not any more, in words for everybody who reads the card."""
    who = people.find(tx, row.person)
    if not who.active:
        raise NotAllowed(f"{who.name}'s account was deactivated.")
    found = proposals.get(tx, row.request) or questions.get(tx, row.request)
    top = receipts.get(tx, row.root)
    if found is not None and not whom.may_decide(tx, found.asked_of, top.agent, row.person):
        raise NotAllowed(f"{who.name} may not decide this any more.")


def drop(house: House, tx: Tx, id: str, error: HandonError) -> None:
    """Let go of a decision that could not be carried out, and say why on its card. Where the request waits again this
    writes one line; where its work has ended meanwhile none."""
    row = held.still(tx, id)
    if row is None:
        return
    tree = house.tree(tx, row.root)
    row = held.still(tx, id)
    if row is None or row.release_at > tx.now:
        return
    found = proposals.get(tx, id) or questions.get(tx, id)
    if found is None or found.status != "Waiting":
        held.end(tx, id, held.NO_LONGER)
        return
    held.end(tx, id, str(error))
    of = receipts.get(tx, found.piece)
    summary = (
        f"{people.row(tx, row.person).name}'s {WORDS[row.act]} of {from_micros(row.made_at):%H:%M:%S} UTC to a request "
        f"of {house.label(of.agent)} was not carried out: {error}"
    )
    payload = {"request": id, "act": row.act, "by": row.person, "made_at": row.made_at, "why": str(error)}
    tree.append(tx.now, found.piece, TraceKind.NOT_CARRIED_OUT, summary, payload)
