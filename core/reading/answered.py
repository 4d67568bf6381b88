"""What was decided and answered, afterwards: the list beside the inbox, and what a standing rule would have covered."""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import BigInteger, String, and_, bindparam, or_, tuple_

from core.house import House
from core.reading.reader import Reader
from core.reading.requests import PROPOSALS, QUESTIONS, for_reader, proposal_shown, question_shown
from core.sql import Statement
from core.store import Tx
from core.tables import help, piece, proposal
from core.values import Proposal, Question

Decider = Literal["", "me", "others", "nobody"]

_FIRST = (2**62, "g")  # after every time and every id


def _listed(of: Any, table: Any, at: Any, by: Any) -> Statement:
    """Those of one table that are decided, the newest first, after a place in the list and by a sort of decider."""
    sort = bindparam("by", type_=String)
    before = tuple_(bindparam("at", type_=BigInteger), bindparam("id", type_=String))
    return Statement(
        of.where(
            at.is_not(None),
            tuple_(at, table.c.id) < before,
            or_(
                sort == "",
                and_(sort == "me", by == bindparam("who")),
                and_(sort == "others", by != bindparam("who")),
                and_(sort == "nobody", by.is_(None)),
            ),
            for_reader(table),
        )
        .order_by(at.desc(), table.c.id.desc())
        .limit(bindparam("most"))
    )


_DECIDED = _listed(PROPOSALS, proposal, proposal.c.decided_at, proposal.c.decided_by)
_ANSWERED = _listed(QUESTIONS, help, help.c.answered_at, help.c.answered_by)
_DECIDED_OF_ACTION = Statement(
    PROPOSALS.where(
        proposal.c.decided_by.is_not(None),
        proposal.c.action == bindparam("action"),
        piece.c.agent == bindparam("agent"),
        for_reader(proposal),
    )
    .order_by(proposal.c.decided_at.desc(), proposal.c.id.desc())
    .limit(bindparam("most"))
)


def answered(
    house: House, tx: Tx, reader: Reader, most: int, before: tuple[int, str] | None, by: Decider
) -> list[Proposal | Question]:
    """What is decided and answered, the newest first, from a place on that is a time in microseconds and an id."""
    if reader.id is None:
        return []
    at, id = before or _FIRST
    sought = {"who": reader.id, "at": at, "id": id, "by": by, "most": most}
    found = [(row.decided_at, row.id, row, True) for row in tx.all(_DECIDED, **sought)]
    found += [(row.answered_at, row.id, row, False) for row in tx.all(_ANSWERED, **sought)]
    newest = sorted(found, key=lambda entry: entry[:2], reverse=True)[:most]
    return [(proposal_shown if is_one else question_shown)(house, tx, reader, row) for _, _, row, is_one in newest]


def decided_of(tx: Tx, reader: Reader, agent: str, action: str, most: int) -> list[Any]:
    """The rows of what people decided last on that action of that agent, of what the reader may decide, the newest
    first."""
    return tx.all(_DECIDED_OF_ACTION, who=reader.id, agent=agent, action=action, most=most)
