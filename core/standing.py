"""Standing rules: a person's "from now on, alone" for one agent and one action (rules R6, R12, P10).

A rule lifts its agent's own "propose", in that agent's pieces and in what it hands on; nothing else. It holds only
for a tool the agent holds itself. Every use is counted, with the rule's row locked after the tree's, so that bounds
on uses and sums are never overrun.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import bindparam, or_, select, update

from core import ids
from core.clock import from_micros, to_micros
from core.declare.actions import Action
from core.declare.agents import Agent
from core.declare.bounds import Bounds, Where, number
from core.declare.schemas import canonical
from core.errors import BadInput, NotFound
from core.gate import STRICTNESS, Ruling
from core.record import Tree
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import person as people
from core.tables import standing_rule as table
from core.values import Gate, TraceKind

_INSERT = insert_into(table)
_FOR = Statement(
    select(table)
    .where(
        table.c.agent == bindparam("agent"),
        table.c.action == bindparam("action"),
        table.c.revoked_at.is_(None),
        or_(table.c.person.is_(None), table.c.person == bindparam("person")),
    )
    .order_by(table.c.person.is_(None), table.c.id)
    .with_for_update()
)
_GET = Statement(select(table).where(table.c.id == bindparam("id")))
_USED = Statement(
    update(table).where(table.c.id == bindparam("rule")).values(uses=table.c.uses + 1, used_sum=bindparam("sum_now"))
)
_REVOKE = Statement(
    update(table)
    .where(table.c.id == bindparam("rule"), table.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("at"), revoked_by=bindparam("who"))
)
_giver = people.alias("giver")
_whose = people.alias("whose")
_ender = people.alias("ender")
_LISTED = Statement(
    select(
        *table.c,
        _giver.c.name.label("giver_name"),
        _whose.c.name.label("person_name"),
        _ender.c.name.label("ender_name"),
    )
    .select_from(
        table.join(_giver, _giver.c.id == table.c.given_by)
        .outerjoin(_whose, _whose.c.id == table.c.person)
        .outerjoin(_ender, _ender.c.id == table.c.revoked_by)
    )
    .where(or_(bindparam("everything") == 1, table.c.person == bindparam("who"), table.c.given_by == bindparam("who")))
    .order_by(table.c.given_at.desc(), table.c.id.desc())
)


def holds(agent: Agent, action: str) -> bool:
    """Whether the agent holds the tool itself, in one of its skills."""
    return any(tool.name == action for skill in agent.skills for tool in skill.tools)


def liftable(agent: Agent, action: str) -> Action | None:
    """The tool a rule could lift: one the agent holds itself and whose gate, by its own word, is propose (rule R6)."""
    tool = next((tool for skill in agent.skills for tool in skill.tools if tool.name == action), None)
    return tool if tool is not None and agent.may.gate_of(tool) is Gate.PROPOSE else None


def bounds_of(row: Any) -> Bounds:
    where = tuple(
        Where(argument, how, tuple(value) if isinstance(value, list) else value)
        for argument, how, value in json.loads(row.conditions)
    )
    until = from_micros(row.until) if row.until is not None else None
    return Bounds(where, row.max_uses, (row.sum_of, row.max_sum) if row.sum_of else None, until)


def covers(bounds: Bounds, arguments: Mapping[str, Any], uses: int = 0, used_sum: Decimal = Decimal(0)) -> bool:
    """Whether a call is within the bounds, after so many uses and so much of the sum. The end date is apart."""
    if not all(condition.holds(arguments) for condition in bounds.where):
        return False
    if bounds.uses is not None and uses >= bounds.uses:
        return False
    if bounds.sum_of is not None:
        amount = number(arguments.get(bounds.sum_of[0]))
        if amount is None or amount < 0 or used_sum + amount > Decimal(bounds.sum_of[1]):
            return False
    return True


def _within(row: Any, arguments: Mapping[str, Any], now: int) -> bool:
    if row.until is not None and now >= row.until:
        return False
    return covers(bounds_of(row), arguments, row.uses, Decimal(row.used_sum))


@dataclass(frozen=True, slots=True)
class Lifted:
    """The gate that holds for a call, and the rules it took to come to it."""

    ruling: Ruling
    rules: tuple[Any, ...]


def ruling(tx: Tx, tree: Tree, agents: Sequence[Agent], action: Action, arguments: Mapping[str, Any]) -> Lifted:
    """The strictest of the agents' own words, each agent's "propose" lifted where a rule of its own covers the call."""
    strictest: Ruling | None = None
    rules: list[Any] = []
    for agent in reversed(agents):
        gate = agent.may.gate_of(action)
        if gate is Gate.PROPOSE and holds(agent, action.name):
            rule = _rule(tx, tree, agent, action, arguments)
            if rule is not None:
                gate = Gate.ALONE
                if rule.id not in {other.id for other in rules}:
                    rules.append(rule)
        if strictest is None or STRICTNESS.index(gate) > STRICTNESS.index(strictest.gate):
            strictest = Ruling(gate, agent.shown_as)
    assert strictest is not None
    return Lifted(strictest, tuple(rules) if strictest.gate is Gate.ALONE else ())


def _rule(tx: Tx, tree: Tree, agent: Agent, action: Action, arguments: Mapping[str, Any]) -> Any:
    found = tx.all(_FOR, agent=agent.name, action=action.name, person=tree.person)
    return next((row for row in found if _within(row, arguments, tx.now)), None)


def use(tx: Tx, tree: Tree, piece: str, rules: Sequence[Any], arguments: Mapping[str, Any], sentence: str) -> None:
    """Count a use of each rule, and write its line."""
    for row in rules:
        amount = number(arguments.get(row.sum_of)) if row.sum_of else None
        tx.run(_USED, rule=row.id, sum_now=str(Decimal(row.used_sum) + (amount or 0)))
        whose = "everybody's work" if row.person is None else "this person's work"
        summary = f"{row.agent} went alone by a standing rule for {whose}: {sentence}"
        tree.append(tx.now, piece, TraceKind.RULE_USED, summary, {"rule": row.id, "uses": row.uses + 1})


def give(tx: Tx, agent: Agent, action: str, person: str | None, by: str, bounds: Bounds | None) -> str:
    """Write a rule down; answers its id. Rights are the caller's to ask.

    Raises BadInput where the agent does not hold the tool, would not propose it, or proposes it every time, and for
    bounds that do not fit the action's arguments.
    """
    tool = next((tool for skill in agent.skills for tool in skill.tools if tool.name == action), None)
    if tool is None:
        raise BadInput({"action": f"{agent.shown_as} does not hold {action} itself, so there is nothing to lift."})
    gate = agent.may.gate_of(tool)
    if gate is not Gate.PROPOSE:
        raise BadInput({"action": f"{agent.shown_as}'s word on {action} is {gate}; a rule lifts only propose."})
    checked = (bounds or Bounds()).checked(tool.schema)
    ends = checked.ends_at()
    id = ids.new_id()
    conditions = [[c.argument, c.how, list(c.value) if isinstance(c.value, tuple) else c.value] for c in checked.where]
    kept: dict[str, Any] = {
        "id": id,
        "agent": agent.name,
        "action": action,
        "person": person,
        "given_by": by,
        "given_at": tx.now,
        "conditions": canonical(conditions),
        "max_uses": checked.uses,
        "sum_of": checked.sum_of[0] if checked.sum_of else None,
        "max_sum": str(number(checked.sum_of[1])) if checked.sum_of else None,
        "used_sum": "0",
        "until": to_micros(ends) if ends else None,
        "uses": 0,
        "revoked_at": None,
        "revoked_by": None,
    }
    tx.run(_INSERT, **kept)
    return id


def get(tx: Tx, id: str) -> Any:
    row = tx.one(_GET, id=id)
    if row is None:
        raise NotFound("There is no such standing rule.")
    return row


def revoke(tx: Tx, id: str, by: str | None) -> None:
    """From now on it lifts nothing. Said twice, the first holds."""
    tx.run(_REVOKE, rule=id, at=tx.now, who=by)


def listed(tx: Tx, who: str | None, *, everything: bool) -> list[Any]:
    """Rules for a person's work and given by them, or all of them; revoked ones too, the newest first."""
    return tx.all(_LISTED, who=who, everything=1 if everything else 0)
