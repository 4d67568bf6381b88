"""One piece, opened."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, select

from core import acting, gate, handing_on, receipts
from core.clock import from_micros
from core.declare import hand_on
from core.house import House
from core.ids import to_uuid
from core.reading.lines import lines_shown
from core.reading.reader import Reader, whole_of
from core.reading.requests import PROPOSALS_OF, QUESTIONS_OF, proposal_shown, question_shown
from core.reading.works import tree
from core.sql import Statement
from core.store import Tx
from core.tables import line
from core.values import (
    Gate,
    Pane,
    ToolCall,
    TraceKind,
)
from core.words import label_of

_LINES_OF = Statement(
    select(line).where(line.c.root == bindparam("root"), line.c.piece == bindparam("piece")).order_by(line.c.n)
)


def pane(house: House, tx: Tx, reader: Reader, id: str) -> Pane:
    of = whole_of(tx, reader, id)
    row = receipts.get(tx, id)
    nodes = tree(house, tx, reader, id)
    number = next(n for n, node in enumerate(nodes, 1) if node.piece == to_uuid(id))
    content = reader.content(of)
    rows = tx.all(_LINES_OF, root=of.id, piece=id)
    agent = house.agents.get(row.agent)
    agents = [house.agents[name] for name in row.agents.split("/") if name in house.agents]
    skill = handing_on.find_skill(agent, row.skill, row.helper) if agent else None
    said = next((p["said"] for p in _payloads(rows, TraceKind.MODEL_ANSWERED, newest=True) if p.get("said")), "")
    return Pane(
        node=nodes[number - 1],
        root=to_uuid(of.id),
        number=number,
        of=len(nodes),
        handed_on_by=house.label(row.agents.split("/")[-2]) if row.depth else "",
        asked_for=_asked_for(house, tx, of, row, agent, skill) if content else (),
        handed_back=_fields(row.result) if content and row.result is not None else (),
        expected=tuple(skill.hands_back.schema.get("properties", {})) if skill else (),
        said=said if content else "",
        calls=_calls(rows) if content else (),
        proposals=tuple(proposal_shown(house, tx, reader, found) for found in tx.all(PROPOSALS_OF, piece=id))
        if content
        else (),
        questions=tuple(question_shown(house, tx, reader, found) for found in tx.all(QUESTIONS_OF, piece=id))
        if content
        else (),
        gate=_gate(agents),
        lines=tuple(lines_shown(house, tx, reader, of, rows)),
        content=content,
    )


def _asked_for(house: House, tx: Tx, of: Any, row: Any, agent: Any, skill: Any) -> tuple[tuple[str, str], ...]:
    """The piece's input; a row by its label, where the piece may read it still."""
    if skill is None or skill.takes_row is None:
        return _fields(row.input)
    with acting.guarded_context(house, tx, agent.account, of.person, row.id) as ctx:
        found = ctx.session.get(skill.takes_row, hand_on.id_in(row.input))
        return ((label_of(skill.takes_row.__name__), found.label),) if found is not None else _fields(row.input)


def _payloads(rows: Sequence[Any], kind: TraceKind, *, newest: bool = False) -> list[dict[str, Any]]:
    found = [json.loads(row.payload) for row in rows if row.kind == str(kind)]
    return found[::-1] if newest else found


def _calls(rows: Sequence[Any]) -> tuple[ToolCall, ...]:
    calls = []
    for row in rows:
        if row.kind == str(TraceKind.TOOL_RAN):
            said = json.loads(row.payload)
            calls.append(ToolCall(row.n, from_micros(row.at), said["tool"], row.summary, said["answer"], said["ok"]))
    return tuple(calls)


def _fields(text: str) -> tuple[tuple[str, str], ...]:
    value = json.loads(text)
    if not isinstance(value, dict):
        value = {"result": value}
    return tuple(
        (name, entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False))
        for name, entry in value.items()
    )


def _gate(agents: Sequence[Any]) -> str:
    if not agents:
        return ""
    words = gate.sentence(agents[-1].may)
    stricter = [agent.shown_as for agent in agents[:-1] if agent.may.default is not Gate.ALONE]
    return f"{words} {', '.join(stricter)} above it: what any of them proposes, it proposes." if stricter else words
