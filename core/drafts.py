"""What a person has begun to write to a request and not sent: theirs alone, kept until they decide.

A draft decides nothing and is on no record. Live updates never touch it, and it is there on every device.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, delete, select

from core.errors import BadInput
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import draft
from core.values import Draft, DraftAct

MOST = 50_000  # letters of one draft

_INSERT = insert_into(draft)
_OF = Statement(
    select(draft)
    .where(draft.c.person == bindparam("who"), draft.c.request == bindparam("about"))
    .order_by(draft.c.kept_at.desc(), draft.c.act)
)
_DROP_ONE = Statement(
    delete(draft).where(
        draft.c.person == bindparam("who"), draft.c.request == bindparam("about"), draft.c.act == bindparam("which")
    )
)
_DROP = Statement(delete(draft).where(draft.c.person == bindparam("who"), draft.c.request == bindparam("about")))


def keep(tx: Tx, person: str, request: str, act: DraftAct, fields: Mapping[str, str]) -> None:
    """Keep what stands in the fields now, in the place of what was kept before; nothing written is no draft.

    Raises BadInput for more than can be kept.
    """
    written = {name: text for name, text in fields.items() if text.strip()}
    kept = json.dumps(written, ensure_ascii=False)
    if len(kept) > MOST:
        raise BadInput({"": f"A draft of more than {MOST} letters is not kept."})
    tx.run(_DROP_ONE, who=person, about=request, which=act)
    if written:
        row: dict[str, Any] = {"person": person, "request": request, "act": act, "fields": kept, "kept_at": tx.now}
        tx.run(_INSERT, **row)


def drop(tx: Tx, person: str, request: str) -> None:
    """The person has decided: their drafts to it are done with."""
    tx.run(_DROP, who=person, about=request)


def of(tx: Tx, person: str, request: str) -> list[Draft]:
    """The person's drafts to a request, the latest first."""
    return [Draft(row.act, json.loads(row.fields)) for row in tx.all(_OF, who=person, about=request)]
