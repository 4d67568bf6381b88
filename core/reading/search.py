"""Finding by words: works by what they are about, and requests by their sentence.

A work is found by whoever may see it; a request by whoever it is for, since its sentence is content (rule R8).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, func, or_, select

from core.clock import from_micros
from core.house import House
from core.ids import to_uuid
from core.reading.reader import Reader, skill_label
from core.reading.requests import asked, for_reader, top
from core.sql import Statement
from core.store import Tx
from core.tables import help, piece, proposal, whole
from core.values import Found

_like: Any = bindparam("like")
_WORKS = Statement(
    select(whole.c.id, whole.c.about, whole.c.opened_at, whole.c.ended_at, piece.c.agent, piece.c.skill)
    .select_from(whole.join(piece, piece.c.id == whole.c.id))
    .where(
        func.lower(whole.c.about).like(_like, escape="!"),
        or_(bindparam("everything") == 1, whole.c.person == bindparam("who"), whole.c.given_by == bindparam("who")),
    )
    .order_by(whole.c.opened_at.desc(), whole.c.id.desc())
    .limit(bindparam("most"))
)


def _requests(table: Any, says: Any, *conditions: Any) -> Statement:
    return Statement(
        select(table.c.id, says.label("says"), table.c.status, table.c.asked_at, whole.c.about)
        .select_from(
            table.join(whole, whole.c.id == table.c.root)
            .join(top, top.c.id == table.c.root)
            .outerjoin(asked, asked.c.id == table.c.asked_of)
        )
        .where(func.lower(says).like(_like, escape="!"), for_reader(table), *conditions)
        .order_by(table.c.asked_at.desc(), table.c.id.desc())
        .limit(bindparam("most"))
    )


_PROPOSALS = _requests(proposal, proposal.c.sentence)
_QUESTIONS = _requests(help, help.c.question, help.c.help_from == "Person")


def search(house: House, tx: Tx, reader: Reader, text: str, most: int) -> list[Found]:
    """Requests of the reader's and works they may see in which the text stands, whatever its case; the newest first."""
    escaped = text.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
    how: dict[str, Any] = {"like": f"%{escaped}%", "who": reader.id or "", "most": most}
    asked_of = [row for statement in (_PROPOSALS, _QUESTIONS) for row in tx.all(statement, **how)]
    asked_of.sort(key=lambda row: (row.status != "Waiting", -row.asked_at))
    found = [
        Found("request", to_uuid(row.id), row.says, row.about, row.status == "Waiting", from_micros(row.asked_at))
        for row in asked_of[:most]
    ]
    everything = int(reader.id is None or reader.may.supervises_agents or reader.may.audits_agents)
    for row in tx.all(_WORKS, everything=everything, **how):
        by = f"{house.label(row.agent)}, {skill_label(house, row.agent, row.skill).lower()}"
        found.append(Found("work", to_uuid(row.id), row.about, by, row.ended_at is None, from_micros(row.opened_at)))
    return found
