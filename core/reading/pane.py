"""One piece, opened: as much of it as a page holds. What is longer is cut, and read whole when somebody asks for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import and_, bindparam, func, select

from core import acting, gate, handing_on, receipts
from core.clock import from_micros
from core.declare import hand_on
from core.errors import NotFound
from core.house import House
from core.ids import to_uuid
from core.reading.calling_off import may_stop, stop_asked
from core.reading.decided import decided
from core.reading.lines import lines_shown
from core.reading.reader import Reader, whole_of
from core.reading.requests import PROPOSALS_OF, QUESTIONS_OF, for_you, proposal_shown, question_shown
from core.reading.works import node_of
from core.sql import Statement
from core.store import Tx
from core.tables import line, piece
from core.values import Excerpt, Gate, Pane, ToolCall, TraceKind
from core.words import label_of

LONG = 2000  # letters of one text that a page holds
CALLS = 50  # of a piece: the last ones
LINES = 8  # of its record at a time
ANSWERS = 20  # of its model, in which its last words are looked for

# The record is looked through: an index by piece would cost every line that is written more than this costs a reader.
_of_piece = and_(line.c.root == bindparam("root"), line.c.piece == bindparam("piece"))
_LINES_OF = Statement(
    select(line).where(_of_piece, line.c.n <= bindparam("upto")).order_by(line.c.n.desc()).limit(bindparam("most"))
)
_OF_KIND = Statement(
    select(line).where(_of_piece, line.c.kind == bindparam("kind")).order_by(line.c.n.desc()).limit(bindparam("most"))
)
_numbers: Any = select(
    func.count().label("lines"), func.count().filter(line.c.kind == str(TraceKind.TOOL_RAN)).label("calls")
)
_HOW_MANY = Statement(_numbers.where(_of_piece))
_BEFORE = Statement(
    select(func.count().label("n")).where(piece.c.parent == bindparam("parent"), piece.c.id <= bindparam("id"))
)


def pane(house: House, tx: Tx, reader: Reader, id: str, upto: int) -> Pane:
    """`upto`: the number of the last line of its record that is shown; 0: the last there is."""
    of = whole_of(tx, reader, id)
    row = receipts.get(tx, id)
    content = reader.content(of)
    rows = tx.all(_LINES_OF, root=of.id, piece=id, upto=upto or 2**31 - 1, most=LINES + 1)
    number = tx.one(_HOW_MANY, root=of.id, piece=id)
    agent = house.agents.get(row.agent)
    agents = [house.agents[name] for name in row.agents.split("/") if name in house.agents]
    skill = handing_on.find_skill(agent, row.skill, row.helper) if agent else None
    above = receipts.get(tx, row.parent) if row.parent else None
    yours = any(where == id for _, where in for_you(tx, reader))
    return Pane(
        node=node_of(house, row, of, content, yours, decided(tx, of.id).pieces.get(id, "")),
        root=to_uuid(of.id),
        place=tx.one(_BEFORE, parent=row.parent, id=id).n if above else 1,
        siblings=above.handed_on if above else 1,
        handed_on_by=house.label(above.agent) if above else "",
        asked_for=_asked_for(house, tx, of, row, agent, skill) if content else (),
        handed_back=_fields(row.result) if content and row.result is not None else (),
        expected=tuple(skill.hands_back.schema.get("properties", {})) if skill else (),
        said=excerpt(_said(tx, of.id, id)) if content else excerpt(""),
        calls=_calls(tx, of.id, id) if content else (),
        all_calls=number.calls,
        proposals=tuple(proposal_shown(house, tx, reader, found) for found in tx.all(PROPOSALS_OF, piece=id))
        if content
        else (),
        questions=tuple(question_shown(house, tx, reader, found) for found in tx.all(QUESTIONS_OF, piece=id))
        if content
        else (),
        gate=_gate(agents),
        lines=tuple(lines_shown(house, tx, reader, of, rows[:LINES][::-1])),
        earlier=rows[LINES].n if len(rows) > LINES else 0,
        all_lines=number.lines,
        may_stop=row.ended_at is None and row.closing is None and may_stop(reader, of),
        stop=stop_asked(house, tx, reader, of, row),
        content=content,
    )


def whole_text(tx: Tx, reader: Reader, id: str, part: str) -> str:
    """A text of a piece that its pane cuts: `asked`, `back`, `said`, or of the call on line 7 `in-7` and `out-7`.

    Raises NotFound, also where the reader may not read it (rule R8).
    """
    of = whole_of(tx, reader, id)
    if reader.content(of):
        row = receipts.get(tx, id)
        name, _, number = part.partition("-")
        if part == "asked":
            return str(row.input)
        if part == "back" and row.result is not None:
            return str(row.result)
        if part == "said":
            return _said(tx, of.id, id)
        if name in ("in", "out") and number.isascii() and number.isdigit() and len(number) < 10:
            found = tx.all(_LINES_OF, root=of.id, piece=id, upto=int(number), most=1)
            if found and found[0].n == int(number) and found[0].kind == str(TraceKind.TOOL_RAN):
                said = json.loads(found[0].payload)
                return _text(said["arguments"]) if name == "in" else str(said["answer"])
    raise NotFound("There is no such text.")


def excerpt(text: str) -> Excerpt:
    return Excerpt(text if len(text) <= LONG else text[:LONG], len(text))


def _said(tx: Tx, root: str, id: str) -> str:
    """The last words of its model."""
    answers = tx.all(_OF_KIND, root=root, piece=id, kind=str(TraceKind.MODEL_ANSWERED), most=ANSWERS)
    return next((said for row in answers if (said := json.loads(row.payload).get("said"))), "")


def _asked_for(house: House, tx: Tx, of: Any, row: Any, agent: Any, skill: Any) -> tuple[tuple[str, Excerpt], ...]:
    """The piece's input; a row by its label, where the piece may read it still."""
    if skill is None or skill.takes_row is None:
        return _fields(row.input)
    with acting.guarded_context(house, tx, agent.account, of.person, row.id) as ctx:
        found = ctx.session.get(skill.takes_row, hand_on.id_in(row.input))
        return (
            ((label_of(skill.takes_row.__name__), excerpt(found.label)),) if found is not None else _fields(row.input)
        )


def _calls(tx: Tx, root: str, id: str) -> tuple[ToolCall, ...]:
    calls = []
    for row in reversed(tx.all(_OF_KIND, root=root, piece=id, kind=str(TraceKind.TOOL_RAN), most=CALLS)):
        said = json.loads(row.payload)
        given, answer = excerpt(_text(said.get("arguments", ""))), excerpt(str(said["answer"]))
        calls.append(ToolCall(row.n, from_micros(row.at), said["tool"], row.summary, given, answer, said["ok"]))
    return tuple(calls)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _fields(text: str) -> tuple[tuple[str, Excerpt], ...]:
    value = json.loads(text)
    if not isinstance(value, dict):
        value = {"result": value}
    return tuple((name, excerpt(_text(entry))) for name, entry in value.items())


def _gate(agents: Sequence[Any]) -> str:
    if not agents:
        return ""
    words = gate.sentence(agents[-1].may)
    stricter = [agent.shown_as for agent in agents[:-1] if agent.may.default is not Gate.ALONE]
    return f"{words} {', '.join(stricter)} above it: what any of them proposes, it proposes." if stricter else words
