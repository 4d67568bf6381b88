"""Rows with rules of their own, principals that the rules tell apart, and guarded transactions over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, String, select
from sqlalchemy.orm import Mapped, Session, mapped_column, relationship

from core.declare.rights import Principal
from core.guard import GuardedSession, guarded
from handon import Agency, Row, allow, anybody, deny, has_role


class Drawer(Row):
    """Clerks see the drawers of their own, and no wages; a boss sees all; a guest only reads."""

    __tablename__ = "test_drawer"

    name: Mapped[str] = mapped_column(String(40))
    owner: Mapped[str] = mapped_column(String(40))
    wage: Mapped[int] = mapped_column(default=0)
    sheets: Mapped[list[Sheet]] = relationship(back_populates="drawer")

    security = [
        allow("read", "create", "update", "delete", when=has_role("clerk"), rows=lambda who: Drawer.owner == who.name),
        allow("read", "create", "update", "delete", when=has_role("boss")),
        allow("read", when=has_role("guest")),
        deny("read", "update", "create", fields=["wage"], when=has_role("clerk")),
        deny("delete", when=has_role("careful")),
    ]


class Sheet(Row):
    """What lies in a drawer: only a boss reads it."""

    __tablename__ = "test_sheet"

    text: Mapped[str] = mapped_column(String(40))
    drawer_id: Mapped[UUID] = mapped_column(ForeignKey("test_drawer.id"))
    drawer: Mapped[Drawer] = relationship(back_populates="sheets")

    security = [allow("read", "create", when=has_role("boss"))]


class Unsaid(Row):
    """Says nothing of who may."""

    __tablename__ = "test_unsaid"

    name: Mapped[str] = mapped_column(String(40))


class Slip(Row):
    """Lies in a drawer, and anybody reads it."""

    __tablename__ = "test_slip"

    text: Mapped[str] = mapped_column(String(40))
    drawer_id: Mapped[UUID] = mapped_column(ForeignKey("test_drawer.id"))
    drawer: Mapped[Drawer] = relationship()

    security = [allow("read", "create", when=anybody)]


def who(name: str, *roles: str) -> Principal:
    return Principal(name, frozenset(roles))


MIA, NOOR, GUEST, NOBODY = who("Mia", "clerk"), who("Noor", "boss"), who("Gus", "guest"), who("Pat")

Try = Callable[..., Any]


def furnish(session: Session) -> None:
    """Three drawers, and a sheet in one of them."""
    for name, owner in (("hers", "Mia"), ("his", "Noor"), ("also hers", "Mia")):
        session.add(Drawer(name=name, owner=owner, wage=7))
    session.flush()
    session.add(Sheet(text="secret", drawer_id=drawer(session).id))
    session.add(Unsaid(name="unsaid"))


async def attempt_in(
    agency: Agency, fn: Callable[[Session], Any], *principals: Principal, query_only: bool = False
) -> Any:
    def run(tx: Any) -> Any:
        session = guarded(tx.new_session(GuardedSession), *principals)
        session.query_only = query_only
        try:
            answer = fn(session)
            Session.commit(session)
            return answer
        finally:
            Session.close(session)

    return await agency.store.write(run)


def names(session: Session) -> list[str]:
    return sorted(session.scalars(select(Drawer.name)))


def drawer(session: Session, name: str = "hers") -> Drawer:
    found = session.scalar(select(Drawer).where(Drawer.name == name))
    if found is None:
        raise LookupError(name)
    return found
