"""Where a standing rule would spare a person what they approve unchanged again and again (rules R6, P10).

Told only of what waits for them in great number, or did lately, and only where they may give such a rule. What they
decided is read from an index, a bounded number of the last that were put to them; never all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, literal, select, union_all

from core.house import House
from core.reading.offers import action_label, may_give
from core.reading.reader import Reader
from core.sql import Statement
from core.store import Tx
from core.tables import piece, proposal, whole
from core.values import Advice

MANY = 20  # more than so many that wait, or were decided lately
LATELY = 7 * 24 * 60 * 60 * 1_000_000
LAST, UNCHANGED = 10, 9  # of the last ten at least nine
READ = 200  # of each outcome, at most


def _ended(status: str) -> Any:
    last = (
        select(
            proposal.c.action,
            proposal.c.root,
            proposal.c.piece,
            proposal.c.decided_by,
            proposal.c.decided_at,
            proposal.c.edited,
            literal(status != "Refused").label("approved"),
        )
        .where(proposal.c.asked_of == bindparam("who"), proposal.c.status == status)
        .order_by(proposal.c.asked_at.desc())
        .limit(READ)
        .subquery()
    )
    return select(last)


_last = union_all(*(_ended(status) for status in ("Done", "Failed", "Refused"))).subquery("last")
_DECIDED = Statement(
    select(
        piece.c.agent,
        _last.c.action,
        whole.c.person,
        _last.c.decided_at,
        _last.c.approved,
        _last.c.edited.is_not(None).label("changed"),
    )
    .select_from(_last.join(piece, piece.c.id == _last.c.piece).join(whole, whole.c.id == _last.c.root))
    .where(_last.c.decided_by == bindparam("who"))
    .order_by(_last.c.decided_at.desc())
)


def advice(house: House, tx: Tx, reader: Reader, waits: Mapping[tuple[str, str], int]) -> tuple[Advice, ...]:
    """What to tell the reader of the agents and actions that wait for them, each with how many. A decision that is
    held is none yet; one that a rule made, or another person, is not theirs."""
    kinds = [kind for kind in waits if any(may_give(house, reader, *kind, reader.id))]
    if reader.id is None or not kinds:
        return ()
    found = tx.all(_DECIDED, who=reader.id)
    told = []
    for agent, action in kinds:
        theirs = [row for row in found if (row.agent, row.action) == (agent, action)]
        lately = sum(1 for row in theirs if row.decided_at > tx.now - LATELY)
        last = theirs[:LAST]
        approved = sum(1 for row in last if row.approved and not row.changed)
        if max(waits[agent, action], lately) <= MANY or len(last) < LAST or approved < UNCHANGED:
            continue
        for_whom = reader.id if all(row.person == reader.id for row in last) else None
        if any(may_give(house, reader, agent, action, for_whom)):
            label, named = house.label(agent), action_label(house, agent, action)
            told.append(Advice(agent, label, action, named, approved, LAST))
    return tuple(told)
