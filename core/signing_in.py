"""Sessions and one-time links: random tokens of which only a hash is stored."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, delete, select

from core import people
from core.errors import NotAllowed
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import sign_in
from core.values import Person

SESSION = timedelta(days=14)

_INSERT = insert_into(sign_in)
_GET = Statement(
    select(sign_in).where(sign_in.c.token_hash == bindparam("token_hash"), sign_in.c.kind == bindparam("kind"))
)
_FORGET = Statement(
    delete(sign_in).where(sign_in.c.token_hash == bindparam("token_hash"), sign_in.c.kind == bindparam("kind"))
)
_CLEAR = Statement(delete(sign_in).where(sign_in.c.ends_at < bindparam("now")))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _new(tx: Tx, person: str, kind: str, lasts: timedelta) -> str:
    token = secrets.token_urlsafe(32)
    kept: dict[str, Any] = {
        "token_hash": _hash(token),
        "person": person,
        "kind": kind,
        "made_at": tx.now,
        "ends_at": tx.now + int(lasts.total_seconds() * 1_000_000),
    }
    tx.run(_INSERT, **kept)
    return token


def new_link(tx: Tx, person: str, minutes: int) -> str:
    """A token that signs the person in once, within so many minutes. Raises NotFound, and NotAllowed where the
    person was deactivated."""
    if people.row(tx, person).deactivated_at is not None:
        raise NotAllowed("This account was deactivated.")
    return _new(tx, person, "link", timedelta(minutes=minutes))


def use_link(tx: Tx, token: str) -> str | None:
    """Use a link up; answers a session's token, or None where it is unknown, used or too old."""
    found = tx.one(_GET, token_hash=_hash(token), kind="link")
    if found is None or tx.run(_FORGET, token_hash=_hash(token), kind="link") == 0:
        return None
    tx.run(_CLEAR, now=tx.now)
    if found.ends_at < tx.now or people.row(tx, found.person).deactivated_at is not None:
        return None
    return _new(tx, found.person, "session", SESSION)


def link_for(tx: Tx, token: str) -> Person | None:
    """Whose link it is, unused and in time; reading it does not use it up."""
    return _holder(tx, token, "link")


def signed_in(tx: Tx, token: str) -> Person | None:
    """Whose session this is; None where it is none, has ended, or the person was deactivated."""
    return _holder(tx, token, "session")


def _holder(tx: Tx, token: str, kind: str) -> Person | None:
    found = tx.one(_GET, token_hash=_hash(token), kind=kind)
    if found is None or found.ends_at < tx.now:
        return None
    who = people.find(tx, found.person)
    return who if who.active else None


def sign_out(tx: Tx, token: str) -> None:
    tx.run(_FORGET, token_hash=_hash(token), kind="session")
