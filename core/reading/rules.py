"""Standing rules, and what one would have covered (rule R12)."""

from __future__ import annotations

import json
from contextlib import suppress
from decimal import Decimal
from typing import Any
from uuid import UUID

from core import acting, standing
from core.clock import from_micros
from core.declare.actions import Action
from core.declare.agents import Agent
from core.declare.bounds import Bounds, number
from core.house import House
from core.ids import to_uuid
from core.reading.answered import decided_of
from core.reading.reader import Reader, at
from core.reading.requests import proposal_shown
from core.store import Tx
from core.values import Proposal, StandingRule
from core.words import label_of


def rules(house: House, tx: Tx, reader: Reader) -> list[StandingRule]:
    everything = reader.id is None or reader.may.supervises_agents or reader.may.audits_agents
    return [_rule(house, tx, reader, row) for row in standing.listed(tx, reader.id, everything=everything)]


def _why_not(tx: Tx, row: Any, lifts: bool) -> str:
    """Why a rule does not hold; empty where it does."""
    if row.revoked_at is not None:
        return "revoked"
    if row.until is not None and row.until <= tx.now:
        return "over"
    if row.max_uses is not None and row.uses >= row.max_uses:
        return "used up"
    return "" if lifts else "nothing to lift"


def names_of(
    house: House, tx: Tx, reader: Reader, agent: Agent | None, tool: Action | None, bounds: Bounds
) -> dict[str, str]:
    """The rows that conditions name, by their labels, as far as reader and agent may read them (rule R2)."""
    if agent is None or tool is None:
        return {}
    kinds = {parameter.name: parameter.row for parameter in tool.parameters if parameter.row is not None}
    wanted = [
        (kinds[condition.argument], value)
        for condition in bounds.where
        if condition.argument in kinds
        for value in (condition.value if isinstance(condition.value, tuple) else (condition.value,))
    ]
    if not wanted:
        return {}
    found = {}
    with acting.guarded_context(house, tx, agent.account, reader.id, "0" * 32) as ctx:
        for kind, value in wanted:
            with suppress(ValueError):
                row = ctx.session.get(kind, UUID(value))
                found[value] = row.label if row is not None else f"one {label_of(kind.__name__).lower()}"
    return found


def in_words(house: House, tx: Tx, reader: Reader, agent: str, action: str, bounds: Bounds) -> str:
    """The bounds as a person reads them, rows by their labels."""
    known = house.agents.get(agent)
    tool = standing.liftable(known, action) if known else None
    return bounds.sentence(names_of(house, tx, reader, known, tool, bounds))


def _rule(house: House, tx: Tx, reader: Reader, row: Any) -> StandingRule:
    agent = house.agents.get(row.agent)
    tool = (
        next((tool for skill in agent.skills for tool in skill.tools if tool.name == row.action), None)
        if agent
        else None
    )
    bounds = standing.bounds_of(row)
    lifts = agent is not None and standing.liftable(agent, row.action) is not None
    why_not = _why_not(tx, row, lifts)
    label = tool.label if tool else label_of(row.action)
    whose = f"for {row.person_name}" if row.person else "for everybody"
    words = bounds.sentence(names_of(house, tx, reader, agent, tool, bounds))
    return StandingRule(
        id=to_uuid(row.id),
        agent=row.agent,
        agent_label=house.label(row.agent),
        action=row.action,
        action_label=label,
        person=to_uuid(row.person) if row.person else None,
        person_name=row.person_name or "",
        given_by=to_uuid(row.given_by),
        given_by_name=row.giver_name,
        given_at=from_micros(row.given_at),
        bounds=words,
        uses=row.uses,
        max_uses=row.max_uses,
        used_sum=row.used_sum,
        max_sum=row.max_sum,
        until=at(row.until),
        revoked_at=at(row.revoked_at),
        holds=not why_not,
        sentence=f"{house.label(row.agent)} may do this alone {whose}: {label}{f', {words}' if words else ''}.",
        revoked_by_name=row.ender_name or "",
        why_not=why_not,
        may_revoke=row.revoked_at is None and (reader.may.supervises_agents or reader.id in (row.person, row.given_by)),
    )


def covered(
    house: House, tx: Tx, reader: Reader, agent: str, action: str, bounds: Bounds | None
) -> list[tuple[Proposal, bool]]:
    """The reader's last decisions on that action of that agent, the newest first, and what a rule would have done."""
    rows = decided_of(tx, reader, agent, action, 100)
    would, uses, total = [], 0, Decimal(0)
    for row in reversed(rows):
        arguments = json.loads(row.arguments)
        fits = standing.covers(bounds or Bounds(), arguments, uses, total)
        if fits:
            uses += 1
            total += (number(arguments.get(bounds.sum_of[0])) or Decimal(0)) if bounds and bounds.sum_of else 0
        would.append((proposal_shown(house, tx, reader, row), fits))
    return would[::-1]
