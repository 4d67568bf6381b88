"""What people are shown: frozen answers, each narrowed to its reader (rule R8).

A `Reader` is a person with the app's answers about them, or the app itself (person None), which sees all. Every list,
count and badge of one thing is made from the same statement.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import and_, bindparam, case, func, or_, select

from core import acting, asking, gate, handing_on, receipts, record, standing, work
from core.clock import from_micros
from core.declare import hand_on
from core.declare.bounds import Bounds, number
from core.declare.rights import Principal
from core.errors import NotFound
from core.house import House
from core.ids import to_uuid
from core.sql import Statement
from core.store import Tx
from core.tables import help, line, person, piece, proposal, seat, stand_in, whole
from core.values import (
    Abilities,
    Gate,
    Help,
    HelpFrom,
    HelpReason,
    HelpStatus,
    Line,
    Pane,
    Person,
    Piece,
    Proposal,
    ProposalStatus,
    Question,
    StandingRule,
    Status,
    ToolCall,
    TraceKind,
    Work,
    WorkNode,
)
from core.words import label_of

ALL = Abilities(True, True, True, True, True)


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads: `id` is the person's stored id, None for the app itself."""

    id: str | None
    may: Abilities

    def sees(self, of_whole: Any) -> bool:
        """Whether it may know that the work happened."""
        return self.id is None or self.may.supervises_agents or self.content(of_whole)

    def content(self, of_whole: Any) -> bool:
        """Whether it may read what was said and changed."""
        return self.id is None or self.may.audits_agents or self.id in (of_whole.person, of_whole.given_by)


def abilities(house: House, who: Person | None) -> Abilities:
    """The app's answers about a person (rule R9); the app itself may everything, a deactivated person nothing."""
    if who is None:
        return ALL
    asked = Principal(who.name, who.roles if who.active else frozenset(), who.id)
    policies = house.policies
    if not who.active:
        return Abilities(False, False, False, False, False)
    return Abilities(
        policies.uses_agents(asked),
        policies.supervises_agents(asked),
        policies.audits_agents(asked),
        policies.reads_model_usage(asked),
        policies.manages_model_spend(asked),
    )


_WHOLE = Statement(select(whole).where(whole.c.id == bindparam("root")))
_PIECES = Statement(
    select(piece).where(piece.c.root == bindparam("root")).order_by(piece.c.depth, piece.c.opened_at, piece.c.id)
)
_CHILDREN = Statement(
    select(piece).where(piece.c.parent == bindparam("parent")).order_by(piece.c.opened_at, piece.c.id)
)
_MINE = Statement(
    select(piece)
    .join(whole, whole.c.id == piece.c.root)
    .where(or_(whole.c.person == bindparam("who"), whole.c.given_by == bindparam("who")))
    .order_by(whole.c.opened_at.desc(), whole.c.id.desc(), piece.c.depth, piece.c.opened_at, piece.c.id)
    .limit(1000)
)
_LINES = Statement(
    select(line)
    .where(line.c.root == bindparam("root"), line.c.n > bindparam("after"))
    .order_by(line.c.n)
    .limit(bindparam("most"))
)
_LINES_OF = Statement(
    select(line).where(line.c.root == bindparam("root"), line.c.piece == bindparam("piece")).order_by(line.c.n)
)
_LINES_ABOUT = Statement(
    select(func.count().label("n")).where(
        line.c.root == bindparam("root"), line.c.piece == bindparam("piece"), line.c.payload.like(bindparam("about"))
    )
)
_HELP = Statement(select(help).where(help.c.root == bindparam("root")).order_by(help.c.asked_at, help.c.id))

# Who may decide what was put to `asked_of`: they, a stand-in, or the sponsor of the agent at the top where it was put
# to nobody or to somebody who is gone. The one condition behind inbox, count and "is it yours".
_top = piece.alias("top")
_asked = person.alias("asked")
_by = person.alias("by")


def _for_reader(table: Any) -> Any:
    stands = select(stand_in.c.for_person).where(stand_in.c.person == bindparam("who"))
    sponsors = select(seat.c.agent).where(seat.c.sponsor == bindparam("who"))
    return or_(
        table.c.asked_of == bindparam("who"),
        table.c.asked_of.in_(stands),
        and_(or_(table.c.asked_of.is_(None), _asked.c.deactivated_at.is_not(None)), _top.c.agent.in_(sponsors)),
    )


def _with_names(table: Any, by: Any, asker: Any = piece) -> Any:
    return (
        table.join(whole, whole.c.id == table.c.root)
        .join(_top, _top.c.id == table.c.root)
        .join(asker, asker.c.id == table.c.piece)
        .outerjoin(_asked, _asked.c.id == table.c.asked_of)
        .outerjoin(_by, _by.c.id == by)
    )


_PROPOSAL_COLUMNS = (
    *proposal.c,
    whole.c.about,
    whole.c.person.label("whole_person"),
    whole.c.given_by.label("whole_given_by"),
    piece.c.agent,
    piece.c.skill,
    piece.c.branch,
    piece.c.agents,
    _top.c.agent.label("top_agent"),
    _top.c.tree_micros.label("top_micros"),
    _top.c.limit_micros.label("top_limit"),
    _asked.c.name.label("asked_name"),
    _by.c.name.label("by_name"),
)
_PROPOSALS = select(*_PROPOSAL_COLUMNS).select_from(_with_names(proposal, proposal.c.decided_by))
_UNDECIDED = and_(proposal.c.status == "Waiting", proposal.c.decided_at.is_(None))
_PROPOSALS_FOR = Statement(
    _PROPOSALS.where(_UNDECIDED, _for_reader(proposal)).order_by(proposal.c.asked_at, proposal.c.id)
)
_PROPOSAL = Statement(_PROPOSALS.where(proposal.c.id == bindparam("id")))
_PROPOSALS_OF = Statement(
    _PROPOSALS.where(proposal.c.piece == bindparam("piece")).order_by(proposal.c.asked_at, proposal.c.id)
)
_PROPOSALS_DECIDED = Statement(
    _PROPOSALS.where(
        proposal.c.decided_at.is_not(None), proposal.c.decided_at < bindparam("before"), _for_reader(proposal)
    )
    .order_by(proposal.c.decided_at.desc(), proposal.c.id.desc())
    .limit(bindparam("most"))
)
_DECIDED_BEFORE = Statement(
    select(func.count().label("n")).where(
        proposal.c.root == bindparam("root"),
        proposal.c.action == bindparam("action"),
        proposal.c.id != bindparam("but"),
        proposal.c.status.in_(["Done", "Failed", "Refused"]),
    )
)

_QUESTION_COLUMNS = (
    *(column for column in help.c if column.key != "agent"),
    whole.c.about,
    whole.c.person.label("whole_person"),
    whole.c.given_by.label("whole_given_by"),
    piece.c.agent,
    piece.c.agents,
    _top.c.agent.label("top_agent"),
    _asked.c.name.label("asked_name"),
    _by.c.name.label("by_name"),
)
_QUESTIONS = (
    select(*_QUESTION_COLUMNS).select_from(_with_names(help, help.c.answered_by)).where(help.c.help_from == "Person")
)
_QUESTIONS_FOR = Statement(
    _QUESTIONS.where(help.c.status == "Waiting", _for_reader(help)).order_by(help.c.asked_at, help.c.id)
)
_QUESTION = Statement(_QUESTIONS.where(help.c.id == bindparam("id")))
_QUESTIONS_OF = Statement(_QUESTIONS.where(help.c.piece == bindparam("piece")).order_by(help.c.asked_at, help.c.id))
_QUESTIONS_ANSWERED = Statement(
    _QUESTIONS.where(help.c.answered_at.is_not(None), help.c.answered_at < bindparam("before"), _for_reader(help))
    .order_by(help.c.answered_at.desc(), help.c.id.desc())
    .limit(bindparam("most"))
)

# How many requests wait for the reader, by whole and piece.
_p_count = (
    select(proposal.c.root, proposal.c.piece)
    .select_from(
        proposal.join(_top, _top.c.id == proposal.c.root).outerjoin(_asked, _asked.c.id == proposal.c.asked_of)
    )
    .where(_UNDECIDED, _for_reader(proposal))
)
_q_count = (
    select(help.c.root, help.c.piece)
    .select_from(help.join(_top, _top.c.id == help.c.root).outerjoin(_asked, _asked.c.id == help.c.asked_of))
    .where(help.c.help_from == "Person", help.c.status == "Waiting", _for_reader(help))
)
_FOR_YOU_PROPOSALS = Statement(_p_count)
_FOR_YOU_QUESTIONS = Statement(_q_count)


def _nodes_counted() -> Any:
    return (
        select(
            piece.c.root,
            func.count().label("pieces"),
            func.sum(case((piece.c.ended_at.is_(None), 1), else_=0)).label("going"),
            func.sum(case((piece.c.status == "Waiting", 1), else_=0)).label("waiting"),
        )
        .group_by(piece.c.root)
        .subquery()
    )


_person_of = person.alias("person_of")
_giver = person.alias("giver")


def _works(condition: Any) -> Statement:
    counted = _nodes_counted()
    names = (
        whole.join(_top, _top.c.id == whole.c.id)
        .join(counted, counted.c.root == whole.c.id)
        .outerjoin(_person_of, _person_of.c.id == whole.c.person)
        .outerjoin(_giver, _giver.c.id == whole.c.given_by)
    )
    return Statement(
        select(
            *whole.c,
            *(
                _top.c[name].label(f"top_{name}")
                for name in (
                    "agent",
                    "skill",
                    "status",
                    "waiting_on",
                    "outcome",
                    "tree_micros",
                    "limit_micros",
                    "closing",
                    "abandoned",
                )
            ),
            _top.c.ended_at.label("top_ended_at"),
            counted.c.pieces,
            counted.c.going,
            counted.c.waiting,
            _person_of.c.name.label("person_name"),
            _giver.c.name.label("giver_name"),
        )
        .select_from(names)
        .where(condition)
        .order_by(whole.c.opened_at.desc(), whole.c.id.desc())
        .limit(bindparam("most"))
    )


_older = or_(
    whole.c.opened_at < bindparam("opened"),
    and_(whole.c.opened_at == bindparam("opened"), whole.c.id < bindparam("than")),
)
_readable = or_(bindparam("everything") == 1, whole.c.person == bindparam("who"), whole.c.given_by == bindparam("who"))
_WORKS = {
    "going": _works(and_(_readable, _older, whole.c.ended_at.is_(None))),
    "finished": _works(and_(_readable, _older, whole.c.ended_at.is_not(None))),
    "all": _works(and_(_readable, _older)),
}
_WORK = _works(whole.c.id == bindparam("root"))


# Wholes and pieces


def whole_of(tx: Tx, reader: Reader, id: str) -> Any:
    """The row of the whole a piece belongs to. Raises NotFound, also where the reader may not see it."""
    found = tx.one(_WHOLE, root=work.root_of(tx, id))
    if found is None or not reader.sees(found):
        raise NotFound("There is no such work.")
    return found


def works(house: House, tx: Tx, reader: Reader, show: str, most: int, before: tuple[int, str] | None) -> list[Work]:
    """Wholes the reader may see, the newest first; `before` is the place after which to go on."""
    opened, than = before or (2**62, "g")
    everything = 1 if reader.id is None or reader.may.supervises_agents or reader.may.audits_agents else 0
    found = tx.all(_WORKS[show], who=reader.id, everything=everything, opened=opened, than=than, most=most)
    yours = for_you(tx, reader)
    return [_work(house, reader, row, yours) for row in found]


def one_work(house: House, tx: Tx, reader: Reader, id: str) -> Work:
    of = whole_of(tx, reader, id)
    return _work(house, reader, tx.one(_WORK, root=of.id, most=1), for_you(tx, reader))


def for_you(tx: Tx, reader: Reader) -> list[tuple[str, str]]:
    """Whole and piece of every request that waits for the reader."""
    if reader.id is None:
        return []
    found = [*tx.all(_FOR_YOU_PROPOSALS, who=reader.id), *tx.all(_FOR_YOU_QUESTIONS, who=reader.id)]
    return [(row.root, row.piece) for row in found]


def _skill_label(house: House, agent: str, skill: str) -> str:
    known = house.agents.get(agent)
    found = known.skill(skill) if known else None
    return found.shown_as if found else label_of(skill)


def _work(house: House, reader: Reader, row: Any, yours: Sequence[tuple[str, str]]) -> Work:
    content = reader.content(row)
    mine = reader.id is None or reader.may.supervises_agents or reader.id in (row.person, row.given_by)
    return Work(
        root=to_uuid(row.id),
        about=row.about,
        agent_label=house.label(row.top_agent),
        skill_label=_skill_label(house, row.top_agent, row.top_skill),
        person=row.person_name or "",
        given_by=row.giver_name or "",
        status=Status(row.top_status),
        waiting_on=row.top_waiting_on,
        outcome=row.top_outcome if content else "",
        tree_micros=row.top_tree_micros,
        limit_micros=row.top_limit_micros,
        pieces=row.pieces,
        going=row.going,
        waiting=row.waiting,
        for_you=sum(1 for root, _ in yours if root == row.id),
        lines=row.lines,
        opened_at=from_micros(row.opened_at),
        ended_at=from_micros(row.top_ended_at) if row.top_ended_at is not None else None,
        stopping=row.top_closing is not None and row.top_ended_at is None,
        may_stop=mine and row.top_ended_at is None,
        content=content,
    )


def _at(micros: int | None) -> Any:
    return from_micros(micros) if micros is not None else None


def as_piece(house: House, row: Any, of: Any, content: bool) -> Piece:
    return Piece(
        id=to_uuid(row.id),
        parent=to_uuid(row.parent) if row.parent else None,
        root=to_uuid(row.root),
        depth=row.depth,
        lineage=tuple(to_uuid(id) for id in row.branch.split("/")),
        agent=row.agent,
        agent_label=house.label(row.agent),
        skill=row.skill,
        skill_label=_skill_label(house, row.agent, row.skill),
        skill_version=row.skill_version,
        about=of.about,
        status=Status(row.status),
        waiting_on=row.waiting_on,
        outcome=row.outcome if content else "",
        requester=to_uuid(of.person) if of.person else None,
        given_by=to_uuid(of.given_by) if of.given_by else None,
        limit_micros=row.limit_micros,
        spent_micros=row.own_micros,
        model_calls=row.model_calls,
        result_json=row.result if content else None,
        opened_at=from_micros(row.opened_at),
        ended_at=_at(row.ended_at),
    )


def one_piece(house: House, tx: Tx, reader: Reader, id: str) -> Piece:
    of = whole_of(tx, reader, id)
    return as_piece(house, receipts.get(tx, id), of, reader.content(of))


def handed_on_by(house: House, tx: Tx, reader: Reader, id: str) -> list[Piece]:
    of = whole_of(tx, reader, id)
    return [as_piece(house, row, of, reader.content(of)) for row in tx.all(_CHILDREN, parent=id)]


def my_work(house: House, tx: Tx, reader: Reader) -> list[Piece]:
    """Every piece of the wholes that are for the reader or that the reader gave, the newest whole first."""
    rows = tx.all(_MINE, who=reader.id)
    wholes = {root: tx.one(_WHOLE, root=root) for root in {row.root for row in rows}}
    return [as_piece(house, row, wholes[row.root], True) for row in rows]


def tree(house: House, tx: Tx, reader: Reader, id: str) -> list[WorkNode]:
    """Every piece of the whole, the top first, each followed by what it handed on (rule T1)."""
    of = whole_of(tx, reader, id)
    return _nodes(house, tx, reader, of, tx.all(_PIECES, root=of.id))


def _nodes(house: House, tx: Tx, reader: Reader, of: Any, rows: Iterable[Any]) -> list[WorkNode]:
    below: dict[str | None, list[Any]] = {}
    for row in rows:
        below.setdefault(row.parent, []).append(row)
    mine = {where for root, where in for_you(tx, reader) if root == of.id}
    content = reader.content(of)
    nodes: list[WorkNode] = []
    todo = list(reversed(below.get(None, [])))
    while todo:
        row = todo.pop()
        nodes.append(_node(house, row, of, content, row.id in mine))
        todo.extend(reversed(below.get(row.id, [])))
    return nodes


def _node(house: House, row: Any, of: Any, content: bool, yours: bool) -> WorkNode:
    return WorkNode(
        piece=to_uuid(row.id),
        parent=to_uuid(row.parent) if row.parent else None,
        depth=row.depth,
        agent=row.agent,
        agent_label=house.label(row.agent),
        skill=row.skill,
        skill_label=_skill_label(house, row.agent, row.skill),
        about=of.about,
        status=Status(row.status),
        waiting_on=row.waiting_on,
        outcome=row.outcome if content else "",
        own_micros=row.own_micros,
        tree_micros=row.tree_micros,
        reserved_micros=row.reserved_micros,
        limit_micros=row.limit_micros,
        model_calls=row.model_calls,
        opened_at=from_micros(row.opened_at),
        ended_at=_at(row.ended_at),
        stopping=row.closing is not None and row.ended_at is None,
        abandoned=row.abandoned,
        waits_for_you=yours,
        waits_since=_at(row.waits_since),
    )


def some_nodes(house: House, tx: Tx, reader: Reader, id: str, wanted: set[str]) -> list[WorkNode]:
    """Those pieces and every piece above them, the top first."""
    of = whole_of(tx, reader, id)
    rows: dict[str, Any] = {}
    for one in wanted:
        row = receipts.get(tx, one)
        if row.root != of.id:
            continue
        for above in row.branch.split("/"):
            if above not in rows:
                rows[above] = receipts.get(tx, above)
    ordered = sorted(rows.values(), key=lambda row: (row.depth, row.opened_at, row.id))
    return _nodes(house, tx, reader, of, ordered)


# The record


def lines(house: House, tx: Tx, reader: Reader, id: str, after: int, most: int) -> list[Line]:
    """Lines of the whole's record after number `after`, in order."""
    of = whole_of(tx, reader, id)
    return _lines(house, tx, reader, of, tx.all(_LINES, root=of.id, after=after, most=most))


def _lines(house: House, tx: Tx, reader: Reader, of: Any, rows: Sequence[Any]) -> list[Line]:
    content = reader.content(of)
    agents: dict[str, str] = {}
    shown = []
    for row in rows:
        if row.piece not in agents:
            agents[row.piece] = house.label(receipts.get(tx, row.piece).agent)
        kind = TraceKind(row.kind)
        micros = (
            json.loads(row.payload).get("micros")
            if kind in (TraceKind.MODEL_ANSWERED, TraceKind.LATE_ANSWER, TraceKind.CONSULTED)
            else None
        )
        shown.append(
            Line(
                n=row.n,
                at=from_micros(row.at),
                piece=to_uuid(row.piece),
                agent_label=agents[row.piece],
                kind=kind,
                summary=row.summary if content else record.bare(kind, agents[row.piece]),
                payload=row.payload if content else "",
                hash=row.hash,
                before=row.before,
                micros=micros,
            )
        )
    return shown


# Requests


def _above(house: House, agents: str) -> tuple[str, ...]:
    return tuple(house.label(name) for name in reversed(agents.split("/")[:-1]))


def _proposal(house: House, tx: Tx, reader: Reader, row: Any, *, counted: bool = False) -> Proposal:
    agent = house.agents.get(row.agent)
    action = asking.find_action(house, agent, row, row.action) if agent else None
    decided_before = tx.one(_DECIDED_BEFORE, root=row.root, action=row.action, but=row.id).n
    waits = row.status == "Waiting" and row.decided_at is None
    return Proposal(
        id=to_uuid(row.id),
        piece=to_uuid(row.piece),
        root=to_uuid(row.root),
        about=row.about,
        agent=row.agent,
        agent_label=house.label(row.agent),
        action=row.action,
        action_label=action.label if action else label_of(row.action),
        arguments={
            key: value for key, value in json.loads(row.arguments).items() if not action or key not in action.masks
        },
        shown=tuple((label, value) for label, value in json.loads(row.shown)),
        schema=action.schema if action else {},
        fingerprint=row.fingerprint,
        sentence=row.sentence,
        said=row.said,
        asked_through=asking.through_words(house, row.through),
        through=tuple(house.labels(row.through)),
        asked_of=to_uuid(row.asked_of) if row.asked_of else None,
        asked_of_name=row.asked_name or "",
        waits_above=_above(house, row.agents),
        status=ProposalStatus(row.status),
        decided_by=to_uuid(row.decided_by) if row.decided_by else None,
        decided_by_name=row.by_name or "",
        decided_at=_at(row.decided_at),
        note=row.note,
        edited=json.loads(row.edited) if row.edited else None,
        result=row.result,
        asked_at=from_micros(row.asked_at),
        outside=action.outside if action else False,
        reversible=action.reversible if action else False,
        first_time=decided_before == 0,
        may_decide=waits and reader.id is not None and asking.may_decide(tx, row.asked_of, row.top_agent, reader.id),
        call_micros=0,
        tree_micros=row.top_micros,
        tree_limit_micros=row.top_limit,
        lines=tx.one(_LINES_ABOUT, root=row.root, piece=row.piece, about=f'%"proposal":"{row.id}"%').n
        if counted
        else 0,
    )


def proposals_for(house: House, tx: Tx, reader: Reader) -> list[Proposal]:
    """What waits for the reader's decision, the oldest first (rule P9)."""
    if reader.id is None:
        return []
    return [_proposal(house, tx, reader, row) for row in tx.all(_PROPOSALS_FOR, who=reader.id)]


def questions_for(house: House, tx: Tx, reader: Reader) -> list[Question]:
    if reader.id is None:
        return []
    return [_question(house, tx, reader, row) for row in tx.all(_QUESTIONS_FOR, who=reader.id)]


@dataclass(frozen=True, slots=True)
class _Whose:
    person: str | None
    given_by: str | None


def _may_open(tx: Tx, reader: Reader, row: Any) -> bool:
    """The one it is put to, and whoever may read the content of its whole."""
    if reader.content(_Whose(row.whole_person, row.whole_given_by)):
        return True
    return reader.id is not None and (
        reader.id == row.asked_of or asking.may_decide(tx, row.asked_of, row.top_agent, reader.id)
    )


def one_proposal(house: House, tx: Tx, reader: Reader, id: str) -> Proposal:
    row = tx.one(_PROPOSAL, id=id)
    if row is None or not _may_open(tx, reader, row):
        raise NotFound("There is no such proposal.")
    return _proposal(house, tx, reader, row, counted=True)


def one_question(house: House, tx: Tx, reader: Reader, id: str) -> Question:
    row = tx.one(_QUESTION, id=id)
    if row is None or not _may_open(tx, reader, row):
        raise NotFound("There is no such question.")
    return _question(house, tx, reader, row)


def _question(house: House, tx: Tx, reader: Reader, row: Any) -> Question:
    return Question(
        id=to_uuid(row.id),
        piece=to_uuid(row.piece),
        root=to_uuid(row.root),
        about=row.about,
        agent=row.agent,
        agent_label=house.label(row.agent),
        question=row.question,
        context=row.context,
        choices=tuple(json.loads(row.choices)),
        asked_through=asking.through_words(house, row.through),
        through=tuple(house.labels(row.through)),
        asked_of=to_uuid(row.asked_of) if row.asked_of else None,
        asked_of_name=row.asked_name or "",
        waits_above=_above(house, row.agents),
        status=HelpStatus(row.status),
        answer=row.answer,
        declined=bool(row.declined),
        answered_by=to_uuid(row.answered_by) if row.answered_by else None,
        answered_by_name=row.by_name or "",
        answered_at=_at(row.answered_at),
        asked_at=from_micros(row.asked_at),
        may_answer=row.status == "Waiting"
        and reader.id is not None
        and asking.may_decide(tx, row.asked_of, row.top_agent, reader.id),
    )


def answered(house: House, tx: Tx, reader: Reader, most: int, before: int) -> list[Proposal | Question]:
    """What is decided and answered, the newest first."""
    if reader.id is None:
        return []
    found: list[tuple[int, Proposal | Question]] = []
    for row in tx.all(_PROPOSALS_DECIDED, who=reader.id, before=before, most=most):
        found.append((row.decided_at, _proposal(house, tx, reader, row)))
    for row in tx.all(_QUESTIONS_ANSWERED, who=reader.id, before=before, most=most):
        found.append((row.answered_at, _question(house, tx, reader, row)))
    return [entry for _, entry in sorted(found, key=lambda pair: pair[0], reverse=True)[:most]]


def helps(house: House, tx: Tx, reader: Reader, id: str) -> list[Help]:
    """Questions and consults of the whole, the oldest first. Content (R8): without the right to it there are none."""
    of = whole_of(tx, reader, id)
    if not reader.content(of):
        return []
    return [
        Help(
            to_uuid(row.id),
            to_uuid(row.piece),
            HelpFrom(row.help_from),
            HelpReason(row.why),
            row.asked_model,
            row.question,
            row.context,
            row.answer,
            HelpStatus(row.status),
            row.cost_micros,
            asking.through_words(house, row.through),
        )
        for row in tx.all(_HELP, root=of.id)
    ]


# Standing rules


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
        until=_at(row.until),
        revoked_at=_at(row.revoked_at),
        holds=lifts and not used_up and not over and row.revoked_at is None,
        sentence=f"{house.label(row.agent)} may do this alone {whose}: {label}{f', {words}' if words else ''}.",
    )


def covered(
    house: House, tx: Tx, reader: Reader, agent: str, action: str, bounds: Bounds | None
) -> list[tuple[Proposal, bool]]:
    """The reader's last decisions on that action of that agent, the newest first, and what a rule would have done."""
    rows = [
        row
        for row in tx.all(_PROPOSALS_DECIDED, who=reader.id, before=2**62, most=1000)
        if row.action == action and row.agent == agent and row.decided_by is not None
    ][:100]
    would, uses, total = [], 0, Decimal(0)
    for row in reversed(rows):
        arguments = json.loads(row.arguments)
        fits = standing.covers(bounds or Bounds(), arguments, uses, total)
        if fits:
            uses += 1
            total += (number(arguments.get(bounds.sum_of[0])) or Decimal(0)) if bounds and bounds.sum_of else 0
        would.append((_proposal(house, tx, reader, row), fits))
    return would[::-1]


# One piece, opened


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
        proposals=tuple(_proposal(house, tx, reader, found) for found in tx.all(_PROPOSALS_OF, piece=id))
        if content
        else (),
        questions=tuple(_question(house, tx, reader, found) for found in tx.all(_QUESTIONS_OF, piece=id))
        if content
        else (),
        gate=_gate(agents),
        lines=tuple(_lines(house, tx, reader, of, rows)),
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
