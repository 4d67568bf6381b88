"""People, roles, seats and stand-ins: who there is, and who answers for whom."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, delete, exists, select, update

from core import ids
from core.declare.rights import Principal
from core.errors import BadInput, NotFound
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import person, role_grant, seat, spend_limit, stand_in
from core.values import Person

_BY_ID = Statement(select(person).where(person.c.id == bindparam("id")))
_STANDING = Statement(
    select(person.c.deactivated_at, exists(select(spend_limit.c.subject)).label("limited")).where(
        person.c.id == bindparam("id")
    )
)
_BY_EMAIL = Statement(select(person).where(person.c.email == bindparam("email")))
_ALL = Statement(select(person).where(person.c.deactivated_at.is_(None)).order_by(person.c.name, person.c.id))
_ROLES = Statement(select(role_grant.c.role).where(role_grant.c.person == bindparam("person")))
_INSERT = insert_into(person, or_ignore=True)
_GRANT = insert_into(role_grant, or_ignore=True)
_REVOKE = Statement(
    delete(role_grant).where(role_grant.c.person == bindparam("person"), role_grant.c.role == bindparam("role"))
)
_RENAME = Statement(update(person).where(person.c.id == bindparam("person_id")).values(name=bindparam("called")))
_DEACTIVATE = Statement(
    update(person)
    .where(person.c.id == bindparam("person_id"), person.c.deactivated_at.is_(None))
    .values(deactivated_at=bindparam("at"))
)
_SEAT = Statement(select(seat).where(seat.c.agent == bindparam("agent")))
_NEW_SEAT = insert_into(seat, or_ignore=True)
_SPONSOR = Statement(update(seat).where(seat.c.agent == bindparam("of_agent")).values(sponsor=bindparam("who")))
_PAUSE = Statement(update(seat).where(seat.c.agent == bindparam("of_agent")).values(paused=bindparam("stands")))
_STAND_IN = insert_into(stand_in, or_ignore=True)
_END_STAND_IN = Statement(
    delete(stand_in).where(stand_in.c.person == bindparam("person"), stand_in.c.for_person == bindparam("for_person"))
)
_STANDS_IN_FOR = Statement(select(stand_in.c.for_person).where(stand_in.c.person == bindparam("person")))


def row(tx: Tx, id: str) -> Any:
    found = tx.one(_BY_ID, id=id)
    if found is None:
        raise NotFound("There is no such person.")
    return found


def standing(tx: Tx, id: str) -> Any:
    """Whether a person was deactivated (`deactivated_at`), and whether any limit of a day or a month is set for anybody
    (`limited`): what is asked before each call of a model, in one statement, and once in a transaction. Raises
    NotFound."""
    key = (standing, id)
    found = tx.held.get(key)
    if found is None:
        found = tx.held[key] = tx.one(_STANDING, id=id)
        if found is None:
            raise NotFound("There is no such person.")
    return found


def find(tx: Tx, id: str) -> Person:
    """The person of that id, deactivated ones too. Raises NotFound."""
    return _person(tx, row(tx, id))


def _person(tx: Tx, found: Any) -> Person:
    roles = frozenset(entry.role for entry in tx.all(_ROLES, person=found.id))
    return Person(ids.to_uuid(found.id), found.email, found.name, roles, found.deactivated_at is None)


def everybody(tx: Tx) -> list[Person]:
    """All who are active, by name."""
    return [_person(tx, found) for found in tx.all(_ALL)]


def principal(tx: Tx, id: str | None) -> Principal | None:
    """The person as somebody rights are asked of, with the roles held at this moment. A deactivated person holds
    none. None for nobody."""
    if id is None:
        return None
    who = find(tx, id)
    return Principal(who.name, who.roles if who.active else frozenset(), who.id)


def add(tx: Tx, email: str, name: str, roles: list[str]) -> Person:
    """Add a person, or answer the one who has that address, with these roles granted too. Raises BadInput."""
    address, name = email.strip().lower(), name.strip()
    if "@" not in address or len(address) > 320:
        raise BadInput({"email": f"{email!r} is no e-mail address."})
    if not name or len(name) > 200:
        raise BadInput({"name": "A person has a name of at most 200 characters."})
    if tx.one(_BY_EMAIL, email=address) is None:  # or somebody else adds them right now
        tx.run(_INSERT, id=ids.new_id(), email=address, name=name, added_at=tx.now, deactivated_at=None)
    id = tx.one(_BY_EMAIL, email=address).id
    grant(tx, id, roles)
    return find(tx, id)


def rename(tx: Tx, id: str, name: str) -> None:
    """Call somebody so from now on; what was written before keeps the name it was written with. Raises BadInput."""
    name = name.strip()
    if not name or len(name) > 200 or not name.isprintable():
        raise BadInput({"name": "A name has 1 to 200 letters, in one line."})
    row(tx, id)
    tx.run(_RENAME, person_id=id, called=name)


def grant(tx: Tx, id: str, roles: list[str]) -> None:
    row(tx, id)
    for role in roles:
        tx.run(_GRANT, person=id, role=str(role))


def revoke(tx: Tx, id: str, roles: list[str]) -> None:
    row(tx, id)
    for role in roles:
        tx.run(_REVOKE, person=id, role=str(role))


def deactivate(tx: Tx, id: str) -> None:
    """They sign in no more, decide no more, and hold no role; what they decided stays."""
    row(tx, id)
    tx.run(_DEACTIVATE, person_id=id, at=tx.now)
    tx.held.pop((standing, id), None)


def set_stand_in(tx: Tx, id: str, for_id: str, *, ends: bool = False) -> None:
    """`id` may decide and answer what waits for `for_id` (rule P9)."""
    row(tx, id), row(tx, for_id)
    if id == for_id:
        raise BadInput({"for": "Nobody stands in for themselves."})
    tx.run(_END_STAND_IN if ends else _STAND_IN, person=id, for_person=for_id)


def stands_in_for(tx: Tx, id: str) -> frozenset[str]:
    return frozenset(entry.for_person for entry in tx.all(_STANDS_IN_FOR, person=id))


def set_seat(tx: Tx, agent: str, sponsor: str | None) -> None:
    if sponsor is not None:
        row(tx, sponsor)
    tx.run(_NEW_SEAT, agent=agent, sponsor=sponsor, paused=False)
    tx.run(_SPONSOR, of_agent=agent, who=sponsor)


def set_paused(tx: Tx, agent: str, paused: bool) -> None:
    tx.run(_NEW_SEAT, agent=agent, sponsor=None, paused=paused)
    tx.run(_PAUSE, of_agent=agent, stands=paused)


def sponsor_of(tx: Tx, agent: str) -> str | None:
    found = tx.one(_SEAT, agent=agent)
    return found.sponsor if found else None


def is_paused(tx: Tx, agent: str) -> bool:
    found = tx.one(_SEAT, agent=agent)
    return bool(found and found.paused)
