"""Opening a piece: at the top for a person, or under another because its model asked (rules D, H, M1, R1, R7)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy import bindparam, select

from core import acting, amounts, ids, money, people, receipts, record, versions, work
from core.declare.agents import Agent
from core.declare.delegation import Delegation, Specialist
from core.declare.schemas import read_object, to_json
from core.declare.skills import Skill
from core.errors import HandonError, NotFound
from core.house import House
from core.record import Tree
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import whole
from core.values import TraceKind

_WHOLE = insert_into(whole)
_GIVEN = Statement(
    select(whole.c.id).where(whole.c.given_by == bindparam("given_by"), whole.c.given_key == bindparam("given_key"))
)
NO_DELEGATION = Delegation()


def _micros(*named: Decimal | None) -> list[int]:
    return [amounts.to_micros(amount) for amount in named if amount is not None]


def default_limit(house: House, agent: Agent, skill: Skill[Any, Any]) -> int:
    """What a top piece may spend where whoever gives it names nothing: the least that skill and agent name, or the
    agency's `task_budget` (rule M7)."""
    return min(_micros(skill.budget, agent.limits.per_task) or _micros(house.settings.task_budget))


def levels(agent: Agent) -> int:
    """How many levels may hang under a piece of this agent's work by its own word."""
    delegation = agent.delegates
    return delegation.max_depth if delegation is not None and delegation.to else 0


def open_top(
    house: House,
    tx: Tx,
    agent: Agent,
    skill: Skill[Any, Any],
    input_json: str,
    *,
    about: str,
    person: str | None,
    given_by: str | None,
    accounts: Sequence[str],
    limit: Decimal | None,
    key: str = "",
) -> str:
    """Open a whole; answers the id of its top piece, which is due. Writes its first line.

    Rights are the caller's to ask. With a `key` that this giver has used before, the whole that was given then is
    answered, and nothing is opened. Raises BadInput for a limit that is none.
    """
    if key and given_by:
        already = tx.one(_GIVEN, given_by=given_by, given_key=key)
        if already is not None:
            return str(already.id)
    id = ids.new_id()
    named = _micros(limit, skill.budget, agent.limits.per_task)
    least = min(named) if named else default_limit(house, agent, skill)
    for account in accounts:
        money.open_account(tx, account)
    about = about.strip() or f"{skill.shown_as}"
    kept = {
        "id": id,
        "person": person,
        "given_by": given_by,
        "sponsor": people.sponsor_of(tx, agent.name),
        "accounts": "\n".join(sorted(set(accounts))),
        "about": about,
        "given_key": key or None,
        "lines": 0,
        "head": record.GENESIS,
        "signature": None,
        "signed_by": None,
        "last_line_at": tx.now,
        "opened_at": tx.now,
        "ended_at": None,
    }
    tx.run(_WHOLE, **kept)
    tree = house.tree(tx, id)
    _insert(house, tx, tree, id, agent, skill, input_json, None, helper=False, limit=least, levels_left=levels(agent))
    tree.append(
        tx.now,
        id,
        TraceKind.OPENED,
        f"{agent.shown_as} was given {skill.shown_as}: {about}",
        {
            "input": input_json,
            "limit": least,
            "person": person,
            "given_by": given_by,
            "skill_version": versions.of(house, tx, skill),
        },
    )
    return id


def _insert(
    house: House,
    tx: Tx,
    tree: Tree,
    id: str,
    agent: Agent,
    skill: Skill[Any, Any],
    input_json: str,
    above: Any,
    *,
    helper: bool,
    limit: int,
    levels_left: int,
) -> None:
    work.insert(
        house,
        tx,
        {
            "id": id,
            "root": tree.root,
            "parent": above.id if above else None,
            "depth": above.depth + 1 if above else 0,
            "branch": f"{above.branch}/{id}" if above else id,
            "agents": f"{above.agents}/{agent.name}" if above else agent.name,
            "agent": agent.name,
            "skill": skill.name,
            "skill_version": versions.of(house, tx, skill),
            "helper": helper,
            "input": input_json,
            "levels_left": levels_left,
            "limit_micros": limit,
        },
    )


def offered(house: House, row: Any, agent: Agent) -> list[Specialist]:
    """What a piece may hand on as its agent's declaration stands now; nothing where no level is left (D5)."""
    delegation = agent.delegates
    if delegation is None or row.levels_left <= 0 or delegation.max_depth <= 0:
        return []
    return list(delegation.to)


def find_skill(agent: Agent, name: str, helper: bool) -> Skill[Any, Any] | None:
    """The skill of a piece as the app declares it now; of a helper, from whoever may hand it to itself."""
    skill = agent.skill(name)
    if skill is None and helper and agent.delegates is not None:
        skill = next(
            (entry.skill for entry in agent.delegates.to if entry.agent is None and entry.skill.name == name), None
        )
    return skill


def hand_on(house: House, tx: Tx, tree: Tree, row: Any, agent: Agent, name: str, arguments_text: str) -> str:
    """Open a piece under `row` for the tool `name`; answers its id.

    Writes the line that it was handed on. Raises HandonError, with what the model is to be told, where nothing is
    opened: no longer declared (D4), no level left (D5), all pieces handed on (D6), input that does not fit (H4), a
    row that either may not read (R7), no money left (M1), a specialist that is paused or gone.
    """
    delegation = agent.delegates or NO_DELEGATION
    entry = next((entry for entry in offered(house, row, agent) if entry.tool_name == name), None)
    if entry is None:
        may = ", ".join(entry.tool_name for entry in offered(house, row, agent)) or "nothing"
        raise NotFound(f"{agent.shown_as} may not hand that on: {name}. It may hand on: {may}.")
    if row.handed_on >= delegation.max_pieces:
        raise HandonError(
            f"Nothing more is handed on: {agent.shown_as} has handed on {delegation.max_pieces} pieces of this work, "
            "which is all it may."
        )
    specialist = agent if entry.agent is None else house.agents.get(entry.agent.__name__)
    if specialist is None:
        raise NotFound(f"{name} is no longer there.")
    skill = entry.skill
    if people.is_paused(tx, specialist.name):
        raise HandonError(f"{specialist.shown_as} is paused and takes no work now.")
    input_json = to_json(read_object(arguments_text))
    with acting.guarded_context(house, tx, specialist.account, tree.person, row.id) as ctx:
        skill.handed(input_json, ctx)
    left = money.left_of(receipts.branch(tx, row))
    if left <= 0:
        raise HandonError("Nothing was handed on: no money is left for it.")
    limit = min([left, *_micros(entry.budget, skill.budget, specialist.limits.per_task)])
    id = ids.new_id()
    to = "a helper" if entry.agent is None else specialist.shown_as
    _insert(
        house,
        tx,
        tree,
        id,
        specialist,
        skill,
        input_json,
        row,
        helper=entry.agent is None,
        limit=limit,
        levels_left=min(row.levels_left, delegation.max_depth) - 1,
    )
    row.set(handed_on=row.handed_on + 1)
    tree.append(
        tx.now,
        row.id,
        TraceKind.HANDED_ON,
        f"{agent.shown_as} handed {skill.shown_as} on to {to}, with up to {house.amount(limit)}.",
        {"to": id, "agent": specialist.name, "skill": skill.name, "input": input_json, "limit": limit},
    )
    return id
