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
from core.values import Limitable, SpendLimit


def spend_limits(house: House, tx: Tx) -> list[SpendLimit]:
    """Agents first, then people, each by name; a limit that is both declared and set once, the least of both."""
    rows: dict[tuple[str, Period], Any] = {(row.subject, row.period): row for row in spending.all_set(tx)}
    found: dict[tuple[str, Period], SpendLimit] = {}
    declared: dict[tuple[str, Period], int] = {}
    for agent in house.agents.values():
        if agent.limits.per_day is not None:
            declared[spending.of_agent(agent.name), "day"] = to_micros(agent.limits.per_day)
    if house.settings.person_per_month is not None:
        for person in people.everybody(tx):
            declared[spending.of_person(person.id.hex), "month"] = to_micros(house.settings.person_per_month)
    for key in declared.keys() | rows.keys():
        found[key] = _limit(house, tx, *key, declared.get(key), rows.get(key))
    return sorted(found.values(), key=lambda limit: (limit.agent is None, limit.name, limit.period))


def _limit(house: House, tx: Tx, subject: str, period: Period, declared: int | None, row: Any) -> SpendLimit:
    kind, _, who = subject.partition(":")
    put = row.limit_micros if row is not None else None
    if put is None or (declared is not None and kind == "agent" and declared <= put):
        micros, row = declared or 0, None
    else:
        micros = put
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
        declared_micros=declared,
        set_micros=put,
    )


def limitable(house: House, tx: Tx) -> list[Limitable]:
    """Every agent by its label, then everybody who is active, by name."""
    agents = [
        Limitable(
            agent=agent.name,
            person=None,
            name=agent.shown_as,
            declared_per_day=to_micros(agent.limits.per_day) if agent.limits.per_day is not None else None,
        )
        for agent in house.agents.values()
    ]
    persons = [Limitable(None, person.id, person.name, None) for person in people.everybody(tx)]
    return [*sorted(agents, key=lambda one: one.name), *persons]
