"""Who has decided what a piece waits for, while that decision is held (rule P5).

The receipt of such a piece says that it waits until the decision is carried out; for everybody it counts as decided.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import bindparam, or_, select, union_all

from core.asking import held
from core.sql import Statement
from core.store import Tx
from core.tables import held_decision, help, person, proposal

_MOST = 1000
_requests: Any = union_all(*(select(table.c.id, table.c.root, table.c.piece) for table in (proposal, help))).subquery()
_undecided: Any = union_all(
    select(proposal.c.root, proposal.c.piece).where(*held.UNDECIDED),
    select(help.c.root, help.c.piece).where(
        help.c.help_from == "Person", help.c.status == "Waiting", held.not_held(help)
    ),
).subquery()
_still = held_decision.c.ended_at.is_(None)
_HELD = Statement(
    select(_requests.c.root, _requests.c.piece, person.c.name)
    .select_from(
        held_decision.join(_requests, _requests.c.id == held_decision.c.request).join(
            person, person.c.id == held_decision.c.person
        )
    )
    .where(_still, or_(bindparam("root") == "", held_decision.c.root == bindparam("root")))
    .order_by(held_decision.c.made_at.desc(), held_decision.c.request)
    .limit(_MOST)
)
_OPEN = Statement(
    select(_undecided.c.root, _undecided.c.piece)
    .where(
        _undecided.c.root.in_(select(held_decision.c.root).where(_still)),
        or_(bindparam("root") == "", _undecided.c.root == bindparam("root")),
    )
    .distinct()
)


@dataclass(frozen=True, slots=True)
class Decided:
    """Names of those who decided, by piece and by whole, where nobody else is needed there any more."""

    pieces: dict[str, str] = field(default_factory=dict)
    wholes: dict[str, str] = field(default_factory=dict)


def decided(tx: Tx, root: str = "") -> Decided:
    """Of one whole, or of all of them. Where nothing is held, which is nearly always, this is one statement."""
    found = tx.all(_HELD, root=root)
    if not found:
        return Decided()
    waiting = tx.all(_OPEN, root=root)
    pieces, wholes = {row.piece for row in waiting}, {row.root for row in waiting}
    return Decided(
        {row.piece: row.name for row in reversed(found) if row.piece not in pieces},
        {row.root: row.name for row in reversed(found) if row.root not in wholes},
    )
