"""The bindery of the pictures: the demo of the examples on a clock that is set, with a morning's work behind it.

Every picture of it says the same times and sums, whenever and wherever it is made.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import select

from examples.bindery import Collator, Planner, PlanRebinding, Volume, demo, note_on_volume
from examples.bindery import bindery as app
from handon import Agency, Bounds, Where
from handon.testing import TestClock
from tests.browser import many

CLOCK = TestClock(datetime(2027, 3, 3, 9, 0, tzinfo=UTC))

# What is given, minutes after what came before, and what becomes of its notes in turn; what is not decided waits.
MORNING: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("MS-12", 4, ()),
    ("MS-17", 11, ("yes", "It was bound so on purpose.")),
    ("MS-16", 23, ()),
    ("MS-15", 18, ()),
    ("MS-13", 42, ()),
    ("MS-19", 5, ()),
)


def bindery(**settings: Any) -> Agency:
    os.environ["HANDON_DEMO_PACE"] = "0"
    return app(clock=CLOCK, **settings)


def houses(**settings: Any) -> Agency:
    return many.many(clock=CLOCK, **settings)


async def open_demo(agency: Agency) -> None:
    """For the houses, their one person. For the bindery the demo's own people, volumes and first work; then the
    morning; then a rule and a limit."""
    if "Collator" not in agency.agents:
        await many.open_demo(agency)
        return
    await demo.open_demo(agency)
    people = {person.name: person for person in await agency.people()}
    mia, noor = await agency.desk_of(people["Mia"].id), await agency.desk_of(people["Noor"].id)
    await agency.settle()
    for shelfmark, minutes, decisions in MORNING:
        await CLOCK.advance(timedelta(minutes=minutes))
        volume = await agency.read(lambda session, mark=shelfmark: session.scalar(_volume(mark)))
        given = await mia.of(Planner).do(PlanRebinding(), volume, about=f"Rebinding {shelfmark}")
        for decision in decisions:
            await CLOCK.advance(timedelta(minutes=7))
            [proposal] = [one for one in await mia.proposals() if one.root == given.task]
            await (mia.approve(proposal.id) if decision == "yes" else mia.refuse(proposal.id, decision))
            await agency.settle()
    bounds = Bounds(where=(Where("note", "starts with", "Leaf"),), uses=20, until=CLOCK.now() + timedelta(days=90))
    await mia.give_rule(Collator, note_on_volume, bounds=bounds)
    await noor.set_spend_limit(Decimal("0.05"), agent="Buyer", period="day")
    await CLOCK.advance(timedelta(minutes=6))


def _volume(shelfmark: str) -> Any:
    return select(Volume).where(Volume.shelfmark == shelfmark)
