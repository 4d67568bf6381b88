"""Proposals, questions and consults as their readers see them. Inbox, count and "is it yours" are one condition."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import and_, bindparam, func, or_, select

from core import acting, aside, people
from core.asking import handing_over, held, whom
from core.clock import from_micros
from core.errors import NotFound
from core.house import House
from core.ids import to_uuid
from core.reading.offers import may_give, offer
from core.reading.reader import Reader, at, whole_of
from core.sql import Statement
from core.store import Tx
from core.tables import help, line, person, piece, proposal, seat, stand_in, standing_rule, whole
from core.values import (
    HandedOver,
    Help,
    HelpFrom,
    HelpReason,
    HelpStatus,
    Hold,
    Proposal,
    ProposalStatus,
    Question,
    RuleOffer,
)
from core.words import label_of

_LINES_ABOUT = Statement(
    select(func.count().label("n")).where(
        line.c.root == bindparam("root"), line.c.piece == bindparam("piece"), line.c.payload.like(bindparam("about"))
    )
)
_HELP = Statement(select(help).where(help.c.root == bindparam("root")).order_by(help.c.asked_at, help.c.id))

# Who may decide what was put to `asked_of`: they, a stand-in, or the sponsor of the agent at the top where it was put
# to nobody or to somebody who is gone. The one condition behind inbox, count and "is it yours".
top = piece.alias("top")
asked = person.alias("asked")
_by = person.alias("by")


def for_reader(table: Any) -> Any:
    stands = select(stand_in.c.for_person).where(stand_in.c.person == bindparam("who"))
    sponsors = select(seat.c.agent).where(seat.c.sponsor == bindparam("who"))
    return or_(
        table.c.asked_of == bindparam("who"),
        table.c.asked_of.in_(stands),
        and_(or_(table.c.asked_of.is_(None), asked.c.deactivated_at.is_not(None)), top.c.agent.in_(sponsors)),
    )


def _with_names(table: Any, by: Any, asker: Any = piece) -> Any:
    return (
        table.join(whole, whole.c.id == table.c.root)
        .join(top, top.c.id == table.c.root)
        .join(asker, asker.c.id == table.c.piece)
        .outerjoin(asked, asked.c.id == table.c.asked_of)
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
    top.c.agent.label("top_agent"),
    top.c.tree_micros.label("top_micros"),
    top.c.limit_micros.label("top_limit"),
    asked.c.name.label("asked_name"),
    _by.c.name.label("by_name"),
)
PROPOSALS = select(*_PROPOSAL_COLUMNS).select_from(_with_names(proposal, proposal.c.decided_by))
UNDECIDED = and_(*held.UNDECIDED)
UNANSWERED = and_(help.c.help_from == "Person", help.c.status == "Waiting", held.not_held(help))
_PROPOSALS_FOR = Statement(
    PROPOSALS.where(UNDECIDED, ~aside.is_aside(proposal), for_reader(proposal)).order_by(
        proposal.c.asked_at, proposal.c.id
    )
)
_PROPOSAL = Statement(PROPOSALS.where(proposal.c.id == bindparam("id")))
PROPOSALS_OF = Statement(
    PROPOSALS.where(proposal.c.piece == bindparam("piece")).order_by(proposal.c.asked_at, proposal.c.id)
)
_DECIDED_BEFORE = Statement(
    select(func.count().label("n")).where(
        proposal.c.root == bindparam("root"),
        proposal.c.action == bindparam("action"),
        proposal.c.id != bindparam("but"),
        proposal.c.status.in_(["Done", "Failed", "Refused"]),
    )
)

_RULE_WITH = Statement(
    select(standing_rule.c.id).where(
        standing_rule.c.agent == bindparam("agent"),
        standing_rule.c.action == bindparam("action"),
        standing_rule.c.given_by == bindparam("by"),
        standing_rule.c.given_at == bindparam("at"),
    )
)

_QUESTION_COLUMNS = (
    *(column for column in help.c if column.key != "agent"),
    whole.c.about,
    whole.c.person.label("whole_person"),
    whole.c.given_by.label("whole_given_by"),
    piece.c.agent,
    piece.c.agents,
    top.c.agent.label("top_agent"),
    asked.c.name.label("asked_name"),
    _by.c.name.label("by_name"),
)
QUESTIONS = (
    select(*_QUESTION_COLUMNS).select_from(_with_names(help, help.c.answered_by)).where(help.c.help_from == "Person")
)
_QUESTIONS_FOR = Statement(
    QUESTIONS.where(UNANSWERED, ~aside.is_aside(help), for_reader(help)).order_by(help.c.asked_at, help.c.id)
)
_QUESTION = Statement(QUESTIONS.where(help.c.id == bindparam("id")))
QUESTIONS_OF = Statement(QUESTIONS.where(help.c.piece == bindparam("piece")).order_by(help.c.asked_at, help.c.id))
# How many requests wait for the reader, by whole and piece.
_p_count = (
    select(proposal.c.root, proposal.c.piece)
    .select_from(proposal.join(top, top.c.id == proposal.c.root).outerjoin(asked, asked.c.id == proposal.c.asked_of))
    .where(UNDECIDED, ~aside.is_aside(proposal), for_reader(proposal))
)
_q_count = (
    select(help.c.root, help.c.piece)
    .select_from(help.join(top, top.c.id == help.c.root).outerjoin(asked, asked.c.id == help.c.asked_of))
    .where(UNANSWERED, ~aside.is_aside(help), for_reader(help))
)
_FOR_YOU = (Statement(_p_count), Statement(_q_count))


def for_you(tx: Tx, reader: Reader) -> list[tuple[str, str]]:
    """Whole and piece of every request that waits for the reader, without those they have set aside."""
    if reader.id is None:
        return []
    found = [row for each in _FOR_YOU for row in tx.all(each, who=reader.id, now=tx.now)]
    return [(row.root, row.piece) for row in found]


def _above(house: House, agents: str) -> tuple[str, ...]:
    return tuple(house.label(name) for name in reversed(agents.split("/")[:-1]))


def proposal_shown(house: House, tx: Tx, reader: Reader, row: Any, *, counted: bool = False) -> Proposal:
    agent = house.agents.get(row.agent)
    action = acting.find(agent, row.skill, row.action) if agent else None
    decided_before = tx.one(_DECIDED_BEFORE, root=row.root, action=row.action, but=row.id).n
    hold = _hold(tx, reader, row.id, row.status)
    lasts = hold is not None and hold.lasts  # then it counts as decided
    waits = row.status == "Waiting" and row.decided_at is None and not lasts
    decides = waits and reader.id is not None and whom.may_decide(tx, row.asked_of, row.top_agent, reader.id)
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
        asked_through=whom.through_words(house, row.through),
        through=tuple(house.labels(row.through)),
        asked_of=to_uuid(row.asked_of) if row.asked_of else None,
        asked_of_name=row.asked_name or "",
        waits_above=_above(house, row.agents),
        status=ProposalStatus(row.status),
        decided_by=hold.by if hold and lasts else to_uuid(row.decided_by) if row.decided_by else None,
        decided_by_name=hold.by_name if hold and lasts else row.by_name or "",
        decided_at=hold.made_at if hold and lasts else at(row.decided_at),
        note=_said(tx, hold, row.id, row.note),
        edited=_edited(tx, hold, row),
        result=row.result,
        asked_at=from_micros(row.asked_at),
        deadline=at(row.deadline),
        outside=action.outside if action else False,
        reversible=action.reversible if action else False,
        first_time=decided_before == 0,
        may_decide=decides,
        takes_over=decides and not whom.is_theirs(tx, row.asked_of, reader.id or ""),
        may_rule=decides and any(may_give(house, reader, row.agent, row.action, row.whole_person)),
        call_micros=0,
        tree_micros=row.top_micros,
        tree_limit_micros=row.top_limit,
        lines=tx.one(_LINES_ABOUT, root=row.root, piece=row.piece, about=f'%"proposal":"{row.id}"%').n
        if counted
        else 0,
        with_rule=_rule_given(tx, row) if counted else None,
        handed=_handed(tx, reader, row.id),
        hold=hold,
        aside_until=at(aside.until(tx, reader.id, row.id)) if waits and reader.id is not None else None,
    )


def _hold(tx: Tx, reader: Reader, id: str, status: str) -> Hold | None:
    """The last decision on a request that was held, as the reader sees it."""
    row = held.of(tx, id)
    if row is None:
        return None
    over = row.ended_at is None and status != "Waiting"  # its work has ended, and nobody has looked since
    return Hold(
        act=row.act,
        by=to_uuid(row.person),
        by_name=people.row(tx, row.person).name,
        made_at=from_micros(row.made_at),
        until=from_micros(row.release_at),
        ended_at=from_micros(tx.now) if over else at(row.ended_at),
        why_not=held.NO_LONGER if over else row.why_not,
        mine=row.person == reader.id,
    )


def _handed(tx: Tx, reader: Reader, id: str) -> HandedOver | None:
    row = handing_over.of(tx, id)
    if row is None:
        return None
    by, to = people.row(tx, row.put_by).name, people.row(tx, row.put_to).name
    mine = row.put_by == reader.id
    return HandedOver(to_uuid(row.put_by), by, to_uuid(row.put_to), to, from_micros(row.at), row.note, mine)


def _said(tx: Tx, hold: Hold | None, id: str, stands: str) -> str:
    """What was written with a decision. While it is held it is shown to whoever made it: taken back, it was never
    said."""
    if hold is None or not hold.lasts:
        return stands
    return str(held.of(tx, id).said) if hold.mine else ""


def _edited(tx: Tx, hold: Hold | None, row: Any) -> dict[str, Any] | None:
    """The arguments as they were changed; those of a decision that is held likewise."""
    kept = row.edited if hold is None or not hold.lasts else held.of(tx, row.id).arguments if hold.mine else None
    return json.loads(kept) if kept else None


def _rule_given(tx: Tx, row: Any) -> UUID | None:
    """The standing rule that was given in the transaction of the approval (rule P10)."""
    if row.decided_at is None:
        return None
    found = tx.one(_RULE_WITH, by=row.decided_by, at=row.decided_at, agent=row.agent, action=row.action)
    return to_uuid(found.id) if found is not None else None


def proposals_for(house: House, tx: Tx, reader: Reader) -> list[Proposal]:
    """What waits for the reader's decision, the oldest first (rule P9)."""
    if reader.id is None:
        return []
    return [proposal_shown(house, tx, reader, row) for row in tx.all(_PROPOSALS_FOR, who=reader.id, now=tx.now)]


def questions_for(house: House, tx: Tx, reader: Reader) -> list[Question]:
    if reader.id is None:
        return []
    return [question_shown(house, tx, reader, row) for row in tx.all(_QUESTIONS_FOR, who=reader.id, now=tx.now)]


@dataclass(frozen=True, slots=True)
class _Whose:
    person: str | None
    given_by: str | None


def _may_open(tx: Tx, reader: Reader, row: Any) -> bool:
    """The one it is put to, whoever may read the content of its whole, and, while it waits, whoever handed it over."""
    if reader.content(_Whose(row.whole_person, row.whole_given_by)):
        return True
    if reader.id is None:
        return False
    if reader.id == row.asked_of or whom.may_decide(tx, row.asked_of, row.top_agent, reader.id):
        return True
    handed = handing_over.of(tx, row.id)
    return handed is not None and handed.put_by == reader.id and row.status == "Waiting"


def one_proposal(house: House, tx: Tx, reader: Reader, id: str, *, counted: bool = True) -> Proposal:
    row = tx.one(_PROPOSAL, id=id)
    if row is None or not _may_open(tx, reader, row):
        raise NotFound("There is no such proposal.")
    return proposal_shown(house, tx, reader, row, counted=counted)


def rule_offer(house: House, tx: Tx, reader: Reader, id: str) -> RuleOffer:
    """What the reader may let be done alone from now on along with that proposal. Raises NotFound where nothing."""
    row = tx.one(_PROPOSAL, id=id)
    if row is None or not _may_open(tx, reader, row):
        raise NotFound("There is no such proposal.")
    return offer(house, reader, row.agent, row.action, row.whole_person, row.agents)


def is_question(tx: Tx, id: str) -> bool:
    """Whether a question has that id, and no proposal."""
    return tx.one(_QUESTION, id=id) is not None


def one_question(house: House, tx: Tx, reader: Reader, id: str) -> Question:
    row = tx.one(_QUESTION, id=id)
    if row is None or not _may_open(tx, reader, row):
        raise NotFound("There is no such question.")
    return question_shown(house, tx, reader, row)


def question_shown(house: House, tx: Tx, reader: Reader, row: Any) -> Question:
    hold = _hold(tx, reader, row.id, row.status)
    lasts = hold is not None and hold.lasts  # then it counts as answered
    waits = row.status == "Waiting" and not lasts
    choices = json.loads(row.choices)
    answers = waits and reader.id is not None and whom.may_decide(tx, row.asked_of, row.top_agent, reader.id)
    return Question(
        id=to_uuid(row.id),
        piece=to_uuid(row.piece),
        root=to_uuid(row.root),
        about=row.about,
        agent=row.agent,
        agent_label=house.label(row.agent),
        question=row.question,
        context=row.context,
        choices=tuple(one if isinstance(one, str) else one[0] for one in choices),
        consequences=tuple("" if isinstance(one, str) else one[1] for one in choices),
        asked_through=whom.through_words(house, row.through),
        through=tuple(house.labels(row.through)),
        asked_of=to_uuid(row.asked_of) if row.asked_of else None,
        asked_of_name=row.asked_name or "",
        waits_above=_above(house, row.agents),
        status=HelpStatus(row.status),
        answer=_said(tx, hold, row.id, row.answer),
        declined=hold.act == "decline" if hold and lasts else bool(row.declined),
        answered_by=hold.by if hold and lasts else to_uuid(row.answered_by) if row.answered_by else None,
        answered_by_name=hold.by_name if hold and lasts else row.by_name or "",
        answered_at=hold.made_at if hold and lasts else at(row.answered_at),
        asked_at=from_micros(row.asked_at),
        deadline=at(row.deadline),
        may_answer=answers,
        takes_over=answers and not whom.is_theirs(tx, row.asked_of, reader.id or ""),
        handed=_handed(tx, reader, row.id),
        hold=hold,
        aside_until=at(aside.until(tx, reader.id, row.id)) if waits and reader.id is not None else None,
    )


def last_held(house: House, tx: Tx, reader: Reader) -> Proposal | Question | None:
    """The request on which the reader decided last, where that is held still."""
    row = held.last_of(tx, reader.id) if reader.id is not None else None
    if row is None:
        return None
    one = one_question if is_question(tx, row.request) else one_proposal
    try:
        found = one(house, tx, reader, row.request)
    except NotFound:
        return None
    return found if found.hold is not None and found.hold.lasts else None


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
            whom.through_words(house, row.through),
        )
        for row in tx.all(_HELP, root=of.id)
    ]
