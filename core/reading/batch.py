"""Proposals of one whole that are looked at together, each in full. Decided they are one by one (rules P5, P9)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, func

from core import aside
from core.errors import NotFound
from core.house import House
from core.reading.advice import advice
from core.reading.reader import Reader
from core.reading.requests import PROPOSALS, UNDECIDED, for_reader, one_proposal, proposal_shown
from core.sql import Statement
from core.store import Tx
from core.tables import piece, proposal
from core.values import Batch, Proposal

MOST = 50

_OF_KIND = Statement(
    PROPOSALS.add_columns(func.count().over().label("total"))
    .where(
        UNDECIDED,
        ~aside.is_aside(proposal),
        for_reader(proposal),
        proposal.c.root == bindparam("root"),
        piece.c.agent == bindparam("agent"),
        proposal.c.action == bindparam("action"),
    )
    .order_by(func.coalesce(proposal.c.deadline, 2**62), proposal.c.asked_at, proposal.c.id)
    .limit(MOST)
)


def of_kind(house: House, tx: Tx, reader: Reader, root: str, agent: str, action: str) -> Batch:
    """What waits for the reader in that whole of that agent and action: as the list has it, at most `MOST`.

    Raises NotFound where nothing does.
    """
    if reader.id is None:
        raise NotFound("Nothing of that kind waits for you.")
    rows = tx.all(_OF_KIND, who=reader.id, now=tx.now, root=root, agent=agent, action=action)
    if not rows:
        raise NotFound("Nothing of that kind waits for you.")
    items = [proposal_shown(house, tx, reader, row) for row in rows]
    return _made(house, tx, reader, items, rows[0].total, 0)


def of(house: House, tx: Tx, reader: Reader, ids: Sequence[str]) -> Batch:
    """Those of these proposals that the reader may open and that are of the whole of the first, whatever has become of
    them: at most `MOST`. Raises NotFound where there is none."""
    found = []
    for id in dict.fromkeys(ids):
        try:
            found.append(one_proposal(house, tx, reader, id, counted=False))
        except NotFound:
            continue
        if len(found) > MOST:
            break
    if not found:
        raise NotFound("There are no such proposals.")
    same = [one for one in found if one.root == found[0].root]
    return _made(house, tx, reader, same[:MOST], len(same), len(found) - len(same))


def _made(house: House, tx: Tx, reader: Reader, items: list[Proposal], total: int, elsewhere: int) -> Batch:
    first = items[0]
    kinds = {(one.agent, one.action) for one in items if one.waits and one.may_decide}
    told = advice(house, tx, reader, {kinds.pop(): total}) if len(kinds) == 1 else ()
    return Batch(first.root, first.about, tuple(items), total, elsewhere, told[0] if told else None)
