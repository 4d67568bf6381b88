"""What `handon serve examples.bindery:bindery --demo` adds: two people, eight books, and work under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.orm import Session

from examples.bindery import model
from examples.bindery.app import BinderyRole, Planner, PlanRebinding, Volume

if TYPE_CHECKING:
    from handon import Agency

SHELFMARKS = tuple(f"MS-{number}" for number in range(12, 20))
FIRST = "MS-14"  # the one whose work is under way when the first visitor comes


def _put_volumes_there(session: Session) -> None:
    there = set(session.scalars(select(Volume.shelfmark)))
    session.add_all(Volume(shelfmark=shelfmark) for shelfmark in SHELFMARKS if shelfmark not in there)


def _first_volume(session: Session) -> Volume | None:
    return session.scalar(select(Volume).where(Volume.shelfmark == FIRST))


async def open_demo(agency: Agency) -> None:
    """Set the shop up. Called at every start; what is there already is left as it is.

    Mia is added last, so where she is, everything before her was done.
    """
    agency.script(model.answer)
    people = {person.email: person for person in await agency.people()}
    mia, noor = people.get("mia@bindery.test"), people.get("noor@bindery.test")
    if noor is None:
        noor = await agency.add_person("noor@bindery.test", "Noor", roles=[BinderyRole.MASTER])
    await agency.write(_put_volumes_there)
    if mia is None:
        for agent in ("Planner", "Collator", "Buyer"):
            await agency.seat(agent, sponsor=noor)
        mia = await agency.add_person("mia@bindery.test", "Mia", roles=[BinderyRole.BINDER])

    everything = await agency.desk_of(noor.id)
    if await everything.works("all", limit=1):
        return
    volume = await agency.read(_first_volume)
    if volume is not None:
        desk = await agency.desk_of(mia.id)
        await desk.of(Planner).start(PlanRebinding(), volume, about=f"Rebinding {FIRST}")
