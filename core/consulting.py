"""Consulting a more capable model: one focused question, with no conversation, no tools and no rights (rules C).

The model is asked outside any transaction: `begin` reserves the money or says why not, `came_back` records what came
of it. Each consult is a help row and a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core import ids, money, people, receipts, spending
from core.asking.whom import through
from core.declare.agents import Agent
from core.house import House
from core.ids import to_uuid
from core.models.llm import LlmModel
from core.models.messages import Message, ModelAnswer, ModelRequest, ToolOffer
from core.record import Tree
from core.sql import insert_into
from core.store import Tx
from core.tables import help
from core.values import HelpFrom, HelpReason, HelpStatus, TraceKind

_SYSTEM = "You are asked for advice by another agent. Answer its one question, briefly, from what is given here alone."
_HELP = insert_into(help)


@dataclass(frozen=True, slots=True)
class Consult:
    """A question that may leave: its money is held."""

    model: LlmModel
    request: ModelRequest
    reserved: int
    question: str
    context: str
    why: HelpReason


def begin(
    house: House,
    tx: Tx,
    tree: Tree,
    row: Any,
    agent: Agent,
    question: str,
    context: str,
    why: HelpReason,
    tools: Sequence[ToolOffer] = (),
) -> Consult | str:
    """Hold the money for a consult (rule C6), or answer what the working model is told instead: the app says no for
    this person, or it does not fit. Such a refusal is a help row and a line too."""
    assert agent.consults is not None
    model = house.models[agent.consults]
    person = people.principal(tx, tree.person)
    if person is not None and not house.policies.agents_may_consult(person):
        return _refused(
            house, tx, tree, row, agent, model, question, context, why, "consulting is not allowed for this work"
        )
    messages = (Message("system", _SYSTEM), Message("user", f"{question}\n\n{context}".strip()))
    tokens = sum(money.tokens_of(len(message.text.encode())) for message in messages)
    assert model.price is not None
    cost = model.price.micros(tokens, model.max_output_tokens)
    caps = spending.caps(tx, house.settings, agent, tree.person)
    no_room = money.reserve(tx, house.settings, tree, receipts.branch(tx, row), cost, caps)
    if no_room is not None:
        why_not = f"it could have cost {house.amount(cost)}, and {house.amount(max(no_room.left, 0))} was left"
        return _refused(house, tx, tree, row, agent, model, question, context, why, why_not)
    request = ModelRequest(
        model.name, row.agent, to_uuid(row.id), "consult", messages, list(tools), model.max_output_tokens
    )
    return Consult(model, request, cost, question, context, why)


def _keep(
    house: House,
    tx: Tx,
    tree: Tree,
    row: Any,
    model: LlmModel,
    question: str,
    context: str,
    why: HelpReason,
    status: HelpStatus,
    answer: str,
    micros: int,
    came: str,
) -> None:
    id = ids.new_id()
    kept: dict[str, Any] = {
        "id": id,
        "root": tree.root,
        "piece": row.id,
        "agent": row.agent,
        "help_from": str(HelpFrom.MODEL),
        "why": str(why),
        "asked_model": model.name,
        "question": question,
        "context": context,
        "choices": "[]",
        "through": through(row.agents),
        "asked_of": None,
        "answer": answer,
        "declined": False,
        "status": str(status),
        "answered_by": None,
        "answered_at": tx.now,
        "cost_micros": micros,
        "asked_at": tx.now,
        "deadline": None,
    }
    tx.run(_HELP, **kept)
    tree.append(
        tx.now,
        row.id,
        TraceKind.CONSULTED,
        f"{house.label(row.agent)} consulted {model.name}: {came}.",
        {
            "help": id,
            "why": str(why),
            "question": question,
            "context": context,
            "answer": answer,
            "status": str(status),
            "micros": micros,
        },
    )
    house.event(tx, "agent_asked_for_help", help=id, whole=tree.root, help_from="Model")


def _refused(
    house: House,
    tx: Tx,
    tree: Tree,
    row: Any,
    agent: Agent,
    model: LlmModel,
    question: str,
    context: str,
    why: HelpReason,
    why_not: str,
) -> str:
    _keep(house, tx, tree, row, model, question, context, why, HelpStatus.REFUSED, "", 0, f"refused, {why_not}")
    return f"{model.name} was not asked: {why_not}. Go on without."


def came_back(
    house: House,
    tx: Tx,
    tree: Tree,
    row: Any,
    asked: Consult,
    answer: ModelAnswer | None,
    *,
    left: bool,
    late: bool = False,
) -> str:
    """Charge and record what came of a consult; answers what the working model is told. Without an answer the work
    goes on without help. `left`: the request had got there, so it is charged its whole reservation (rule M10). `late`:
    the piece was closed meanwhile, so nothing is held for it any longer (rule E9)."""
    model, held = asked.model, 0 if late else asked.reserved
    assert model.price is not None
    counted = answer is not None and answer.tokens_in is not None and answer.tokens_out is not None
    tokens = (answer.tokens_in or 0, answer.tokens_out or 0, answer.tokens_cached) if answer else (0, 0, 0)
    cost = model.price.micros(*tokens) if counted else asked.reserved
    if answer is not None or left:
        money.settle(tx, tree, receipts.branch(tx, row), held, cost)
        money.meter(tx, tree, row, model.name, "consult", tokens, cost, estimated=not counted)
    else:
        cost = 0
        money.release(tx, tree, receipts.branch(tx, row), held)
    status = HelpStatus.ANSWERED if answer is not None else HelpStatus.UNAVAILABLE
    came = "answered" if answer is not None else "it could not be reached"
    text = answer.text if answer is not None else ""
    _keep(house, tx, tree, row, model, asked.question, asked.context, asked.why, status, text, cost, came)
    return text if answer is not None else f"{model.name} could not be reached. Go on without."
