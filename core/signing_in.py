"""Sessions, one-time links and providers' identities: who is let in.

Sessions and links are random tokens of which only a hash is stored. Nothing that a provider issues is stored but its
name for somebody (issuer and subject) and the roles its claim gave.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, delete, select, update

from core import people
from core.errors import NotAllowed
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import identity, sign_in, used_state
from core.values import Identity, Person

SESSION = timedelta(days=14)

_INSERT = insert_into(sign_in)
_GET = Statement(
    select(sign_in).where(sign_in.c.token_hash == bindparam("token_hash"), sign_in.c.kind == bindparam("kind"))
)
_FORGET = Statement(
    delete(sign_in).where(sign_in.c.token_hash == bindparam("token_hash"), sign_in.c.kind == bindparam("kind"))
)
_CLEAR = Statement(delete(sign_in).where(sign_in.c.ends_at < bindparam("now")))

_REMEMBER = insert_into(identity, or_ignore=True)
_KNOWN = Statement(
    select(identity).where(identity.c.issuer == bindparam("issuer"), identity.c.subject == bindparam("subject"))
)
_OF_PERSON = Statement(select(identity.c.roles).where(identity.c.person == bindparam("person")))
_GAVE_NOTHING = Statement(update(identity).where(identity.c.person == bindparam("of_person")).values(roles=""))
_GAVE = Statement(
    update(identity)
    .where(identity.c.issuer == bindparam("of_issuer"), identity.c.subject == bindparam("of_subject"))
    .values(roles=bindparam("gave"))
)
_SEEN = Statement(
    update(identity)
    .where(identity.c.issuer == bindparam("of_issuer"), identity.c.subject == bindparam("of_subject"))
    .values(last_at=bindparam("at"))
)
_NO_IDENTITY = Statement(delete(identity).where(identity.c.person == bindparam("person")))
_USE_STATE = insert_into(used_state, or_ignore=True)
_CLEAR_STATES = Statement(delete(used_state).where(used_state.c.ends_at < bindparam("now")))


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


# At a provider


def use_state(tx: Tx, state: str, lasts: timedelta) -> bool:
    """Use the state of a sign-in up; answers whether this is the first time within the time that it lasts."""
    tx.run(_CLEAR_STATES, now=tx.now)
    ends_at = tx.now + int(lasts.total_seconds() * 1_000_000)
    return tx.run(_USE_STATE, state_hash=_hash(state), ends_at=ends_at) == 1


def sign_in_as(tx: Tx, who: Identity) -> str:
    """A session for whoever the provider says it is. Known by issuer and subject; the first time by a verified e-mail,
    and added where nobody has it. Roles that the claim gave before and gives no more are taken away, and no others.

    Raises NotAllowed where the person was deactivated, where the first e-mail is not verified, and where the address
    is that of somebody the provider knows under another subject."""
    known = tx.one(_KNOWN, issuer=who.issuer, subject=who.subject)
    id: str = known.person if known else _first_time(tx, who)
    _must_be_active(tx, id)
    tx.run(_SEEN, of_issuer=who.issuer, of_subject=who.subject, at=tx.now)
    if who.roles is not None:
        _follow_claim(tx, id, who, who.roles)
    tx.run(_CLEAR, now=tx.now)
    return _new(tx, id, "session", SESSION)


def _must_be_active(tx: Tx, id: str) -> None:
    if people.row(tx, id).deactivated_at is not None:
        raise NotAllowed("Your account here was deactivated. Ask whoever runs Handon here.")


def _first_time(tx: Tx, who: Identity) -> str:
    if not who.email:
        raise NotAllowed("The provider names no e-mail address for you, and you are known here by that the first time.")
    if not who.email_verified:
        raise NotAllowed(
            f"The provider does not say that {who.email} was verified to be yours. Verify it there, and sign in again."
        )
    id = people.add(tx, who.email, who.name, []).id.hex
    _must_be_active(tx, id)
    kept = {"issuer": who.issuer, "subject": who.subject, "person": id, "roles": ""}
    if tx.run(_REMEMBER, **kept, first_at=tx.now, last_at=tx.now) == 0:
        known = tx.one(_KNOWN, issuer=who.issuer, subject=who.subject)  # by another tab, just now
        if known is None or known.person != id:
            raise NotAllowed(
                f"{who.email} is known here under another account of the provider’s. Ask whoever runs Handon here."
            )
    return id


def _follow_claim(tx: Tx, id: str, who: Identity, claimed: frozenset[str]) -> None:
    """What was granted by hand is never the claim's, even where the claim gives it too."""
    came = {role for row in tx.all(_OF_PERSON, person=id) for role in row.roles.splitlines()}
    gives = (claimed & came) | (claimed - people.find(tx, id).roles)
    people.revoke(tx, id, sorted(came - claimed))
    people.grant(tx, id, sorted(gives))
    tx.run(_GAVE_NOTHING, of_person=id)
    tx.run(_GAVE, of_issuer=who.issuer, of_subject=who.subject, gave="\n".join(sorted(gives)))


def forget_identities(tx: Tx, id: str) -> None:
    """Let the person be found by a verified e-mail again; the roles that a claim gave go with it."""
    came = {role for row in tx.all(_OF_PERSON, person=id) for role in row.roles.splitlines()}
    people.revoke(tx, id, sorted(came))
    tx.run(_NO_IDENTITY, person=id)
