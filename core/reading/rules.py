"""Standing rules, and what one would have covered (rule R12)."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from core import standing
from core.clock import from_micros
from core.declare.bounds import Bounds, number
from core.house import House
from core.ids import to_uuid
from core.reading.reader import Reader, at
from core.reading.requests import PROPOSALS_DECIDED, proposal_shown
from core.store import Tx
from core.values import (
    Gate,
    Proposal,
    StandingRule,
)
from core.words import label_of


def rules(house: House, tx: Tx, reader: Reader) -> list[StandingRule]:
    everything = reader.id is None or reader.may.supervises_agents or reader.may.audits_agents
    return [_rule(house, tx, row) for row in standing.listed(tx, reader.id, everything=everything)]


def _rule(house: House, tx: Tx, row: Any) -> StandingRule:
    agent = house.agents.get(row.agent)
    tool = (
        next((tool for skill in agent.skills for tool in skill.tools if tool.name == row.action), None)
        if agent
        else None
    )
    bounds = standing.bounds_of(row)
    used_up = row.max_uses is not None and row.uses >= row.max_uses
    over = row.until is not None and row.until <= tx.now
    lifts = agent is not None and tool is not None and agent.may.gate_of(tool) is Gate.PROPOSE
    label = tool.label if tool else label_of(row.action)
    whose = f"for {row.person_name}" if row.person else "for everybody"
    words = bounds.sentence()
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
        holds=lifts and not used_up and not over and row.revoked_at is None,
        sentence=f"{house.label(row.agent)} may do this alone {whose}: {label}{f', {words}' if words else ''}.",
    )


def covered(
    house: House, tx: Tx, reader: Reader, agent: str, action: str, bounds: Bounds | None
) -> list[tuple[Proposal, bool]]:
    """The reader's last decisions on that action of that agent, the newest first, and what a rule would have done."""
    rows = [
        row
        for row in tx.all(PROPOSALS_DECIDED, who=reader.id, before=2**62, most=1000)
        if row.action == action and row.agent == agent and row.decided_by is not None
    ][:100]
    would, uses, total = [], 0, Decimal(0)
    for row in reversed(rows):
        arguments = json.loads(row.arguments)
        fits = standing.covers(bounds or Bounds(), arguments, uses, total)
        if fits:
            uses += 1
            total += (number(arguments.get(bounds.sum_of[0])) or Decimal(0)) if bounds and bounds.sum_of else 0
        would.append((proposal_shown(house, tx, reader, row), fits))
    return would[::-1]
