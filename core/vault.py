"""Random secrets of this database, each made when it is first asked for."""

from __future__ import annotations

import secrets

from sqlalchemy import bindparam, select

from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import secret as table

_INSERT = insert_into(table, or_ignore=True)
_GET = Statement(select(table).where(table.c.name == bindparam("name")))


def secret(tx: Tx, name: str, *, size: int = 48) -> str:
    """The secret of that name: so many random bytes, in hex."""
    tx.run(_INSERT, name=name, value=secrets.token_hex(size), made_at=tx.now)
    return str(tx.one(_GET, name=name).value)
