"""The bindery as it was declared before: opened once on a database, so that its map has an earlier version."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

from examples import bindery
from examples.bindery import CountLeaves, PlanRebinding, note_on_volume
from handon import Agent, Delegation, Permits, Specialist


class Collator(Agent):
    purpose = bindery.Collator.purpose
    roles = bindery.Collator.roles
    skills = [CountLeaves()]
    may = Permits.proposes_changes().proposes_every_time(note_on_volume)


class Gilder(Agent):
    purpose = "You gild the edges of books."
    roles = {"master"}
    skills = [CountLeaves()]


class Planner(Agent):
    purpose = bindery.Planner.purpose
    roles = bindery.Planner.roles
    skills = [PlanRebinding()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(Collator, CountLeaves(), budget=Decimal("0.004"))], max_depth=2)


def open_earlier(file: Path, **settings: Any) -> None:
    """Open it, and leave it."""

    async def once() -> None:
        agents = [Planner(), Collator(), Gilder()]
        async with bindery.bindery(agents=agents, database=f"sqlite:///{file}", **settings):
            pass

    with ThreadPoolExecutor(1) as thread:  # whoever calls may have a loop of its own
        thread.submit(asyncio.run, once()).result()
