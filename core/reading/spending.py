"""Limits of a day or a month, and how much of each is used (rule M7)."""

from __future__ import annotations

from typing import Any

from core import people, spending
from core.amounts import to_micros
from core.clock import from_micros
from core.house import House
from core.ids import to_uuid
from core.reading.reader import at
from core.spending import Period
from core.store import Tx
from core.values import SpendLimit


def spend_limits(house: House, tx: Tx) -> list[SpendLimit]:
    """Agents first, then people, each by name; a limit that is both declared and set once, the least of both."""
    rows: dict[tuple[str, Period], Any] = {(row.subject, row.period): row for row in spending.all_set(tx)}
    found: dict[tuple[str, Period], SpendLimit] = {}
    for agent in house.agents.values():
        declared = to_micros(agent.limits.per_day) if agent.limits.per_day is not None else None
        key: tuple[str, Period] = (spending.of_agent(agent.name), "day")
        if declared is not None and (key not in rows or declared <= rows[key].limit_micros):
            found[key] = _limit(house, tx, *key, declared, None)
    if house.settings.person_per_month is not None:
        for person in people.everybody(tx):
            key = (spending.of_person(person.id.hex), "month")
            found[key] = _limit(house, tx, *key, to_micros(house.settings.person_per_month), None)
    for key, row in rows.items():
        if key not in found or key[0].startswith("person:"):
            found[key] = _limit(house, tx, *key, row.limit_micros, row)
    return sorted(found.values(), key=lambda limit: (limit.agent is None, limit.name, limit.period))


def _limit(house: House, tx: Tx, subject: str, period: Period, micros: int, row: Any) -> SpendLimit:
    kind, _, who = subject.partition(":")
    counted = spending.counted(tx, house.settings, subject, period)
    return SpendLimit(
        agent=who if kind == "agent" else None,
        person=to_uuid(who) if kind == "person" else None,
        name=house.label(who) if kind == "agent" else people.row(tx, who).name,
        period=period,
        time_zone=house.settings.time_zone,
        since=from_micros(spending.begins(house.settings, period, tx.now)),
        limit_micros=micros,
        spent_micros=counted["spent"],
        reserved_micros=counted["reserved"],
        set_by=people.row(tx, row.set_by).name if row is not None and row.set_by else "",
        set_at=at(row.set_at) if row is not None else None,
    )
