"""Questions to a person, answered in own words or by a choice, or declined (rule P8)."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import bindparam, select, update

from core import ids, people, work
from core.asking import held, whom
from core.asking.deadlines import deadline
from core.clock import from_micros
from core.declare.agents import Agent
from core.errors import AlreadyDecided, BadInput, HandonError, NotWaiting
from core.house import House
from core.receipts import Receipt
from core.record import Tree
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import help
from core.values import HelpFrom, HelpReason, HelpStatus, TraceKind

_ASK = insert_into(help)
_QUESTION = Statement(select(help).where(help.c.id == bindparam("id"), help.c.help_from == "Person"))
_ANSWER = Statement(
    update(help)
    .where(help.c.id == bindparam("which"))
    .values(
        status=bindparam("new_status"),
        answer=bindparam("said"),
        declined=bindparam("no"),
        answered_by=bindparam("who"),
        answered_at=bindparam("at"),
    )
)


def ask(
    house: House,
    tx: Tx,
    tree: Tree,
    row: Any,
    agent: Agent,
    question: str,
    context: str,
    choices: list[tuple[str, str]],
) -> str:
    """Put a question to the person; answers its id. `choices` are texts, each with what the agent says would follow,
    or nothing. Writes one line and a help row (rules P8, C7)."""
    asked_of = whom.whom(tx, tree, row)
    if asked_of is None:
        raise HandonError(
            "There is nobody to ask: this work is for nobody, and nobody answers for the agent at its top."
        )
    id = ids.new_id()
    kept = {
        "id": id,
        "root": tree.root,
        "piece": row.id,
        "agent": row.agent,
        "help_from": str(HelpFrom.PERSON),
        "why": str(HelpReason.CHOSEN),
        "asked_model": "",
        "question": question,
        "context": context,
        "choices": json.dumps([list(one) if one[1] else one[0] for one in choices], ensure_ascii=False),
        "through": whom.through(row.agents),
        "asked_of": asked_of,
        "answer": "",
        "declined": False,
        "status": str(HelpStatus.WAITING),
        "answered_by": None,
        "answered_at": None,
        "cost_micros": 0,
        "asked_at": tx.now,
        "deadline": deadline(tx, agent.requests_wait),
    }
    tx.run(_ASK, **kept)
    name = people.row(tx, asked_of).name
    tree.append(
        tx.now,
        row.id,
        TraceKind.ASKED,
        f"{agent.shown_as} asked {name}: {question}",
        {
            "question": id,
            "text": question,
            "context": context,
            "choices": [choice for choice, _ in choices],
            **({"consequences": dict(says)} if (says := [one for one in choices if one[1]]) else {}),
            **({"deadline": kept["deadline"]} if kept["deadline"] is not None else {}),
        },
    )
    house.event(tx, "asked", question=id, whole=tree.root)
    house.event(tx, "agent_asked_for_help", help=id, whole=tree.root, help_from="Person")
    return id


def get(tx: Tx, id: str) -> Any:
    """The row of a question to a person, or None."""
    return tx.one(_QUESTION, id=id)


def unanswered(house: House, tx: Tx, id: str, person: str, made_at: int | None = None) -> tuple[Any, Tree, Receipt]:
    """The question, its tree, locked, and its piece; or why it cannot be answered: NotFound, NotAllowed,
    AlreadyDecided, NotWaiting. `made_at`: the answer was given then, and held since."""
    found, tree, row = whom.opened(house, tx, _QUESTION, id, person, "question")
    refuse_if_answered(tx, found, made_at)
    return found, tree, row


def refuse_if_answered(tx: Tx, found: Any, made_at: int | None = None) -> None:
    """Raises AlreadyDecided or NotWaiting where nothing is left to answer."""
    if found.answered_by is not None:
        raise AlreadyDecided("answered", people.row(tx, found.answered_by).name, from_micros(found.answered_at))
    if found.status == "Unavailable":
        raise NotWaiting("Nothing is left to answer: it expired.")
    if found.status != "Waiting":
        raise NotWaiting("Nothing is left to answer: the piece that asked has ended.")
    held.refuse_if(tx, found.id)
    whom.in_time(found, tx.now if made_at is None else made_at)


def take_over(house: House, tx: Tx, id: str, person: str) -> None:
    """Put the question to this person, likewise (rule R10)."""
    unanswered(house, tx, id, person)


def check(text: str, declines: bool) -> None:
    """Raises BadInput for an empty answer."""
    if not declines and not text.strip():
        raise BadInput({"answer": "Write an answer, or say that you cannot."})


def answer(
    house: House, tx: Tx, id: str, person: str, text: str, *, declines: bool = False, made_at: int | None = None
) -> None:
    """Answer a question, or decline to with a reason; either reaches the model (rule P8). Writes one line.

    `made_at` is when it was answered, where the answer was held since. Raises NotFound, NotAllowed, AlreadyDecided,
    NotWaiting, and BadInput for an empty answer.
    """
    _, tree, row = unanswered(house, tx, id, person, made_at)
    check(text, declines)
    name = people.row(tx, person).name
    tx.run(
        _ANSWER,
        which=id,
        new_status=str(HelpStatus.REFUSED if declines else HelpStatus.ANSWERED),
        said=text,
        no=declines,
        who=person,
        at=tx.now if made_at is None else made_at,
    )
    did = "declined to answer" if declines else "answered"
    summary = f"{name} {did} {house.label(row.agent)}{whom.then(tx, made_at)}."
    tree.append(
        tx.now,
        row.id,
        TraceKind.ANSWERED,
        summary,
        {"question": id, "by": person, "answer": text, "declined": declines, **whom.made(made_at)},
    )
    if declines:
        told = f"{name} declined to answer." + (f" The reason: {text}" if text else "")
    else:
        told = text
    work.answered(house, tx, tree, row, id, told, not declines)
