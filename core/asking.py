"""Proposals and questions: a piece waits, a person decides, and the piece goes on from where it stood (rules P).

A proposal holds the exact call: its action, its arguments, and the fingerprint over both. Approving runs that call in
the transaction that records the decision, so two people, two tabs or a crash never run it twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, select, update

from core import acting, gate, ids, people, receipts, work
from core.clock import from_micros
from core.declare.actions import Action
from core.declare.agents import Agent
from core.declare.schemas import canonical
from core.errors import AlreadyDecided, BadInput, HandonError, NotAllowed, NotFound, NotWaiting, Stale
from core.house import House
from core.record import Tree
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import help, proposal, turn_call
from core.values import Gate, HelpFrom, HelpReason, HelpStatus, ProposalStatus, TraceKind
from core.words import label_of

MASKED = "hidden"

_INSERT = insert_into(proposal)
_GET = Statement(select(proposal).where(proposal.c.id == bindparam("id")))
_DECIDE = Statement(
    update(proposal)
    .where(proposal.c.id == bindparam("which"))
    .values(
        status=bindparam("new_status"),
        decided_by=bindparam("who"),
        decided_at=bindparam("at"),
        note=bindparam("said_with_it"),
        edited=bindparam("changed"),
        result=bindparam("came_of_it"),
    )
)
_RESULT = Statement(
    update(proposal)
    .where(proposal.c.id == bindparam("which"))
    .values(status=bindparam("new_status"), result=bindparam("came_of_it"))
)
_TO_RUN = Statement(
    update(turn_call)
    .where(turn_call.c.piece == bindparam("of"), turn_call.c.subject == bindparam("about"))
    .values(state="to_run", arguments=bindparam("approved"))
)
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


def whom(tx: Tx, tree: Tree, row: Any) -> str | None:
    """Whom the pieces of a tree ask: the person it is for, or the sponsor of the agent at the top (rule P1)."""
    return tree.person or people.sponsor_of(tx, row.agents.split("/")[0])


def through(agents: str) -> str:
    """The agents' names from the asking one up to the top, joined by "/"."""
    return "/".join(reversed(agents.split("/")))


def through_words(house: House, joined: str) -> str:
    """Rule P2: "Collator, working for Planner"; empty where the asking piece is the top."""
    labels = house.labels(joined)
    return ", working for ".join(labels) if len(labels) > 1 else ""


def agents_of(house: House, row: Any) -> list[Agent]:
    """The agents from the top down to the piece, as declared now. Raises NotFound for one the app no longer has."""
    found = []
    for name in row.agents.split("/"):
        agent = house.agents.get(name)
        if agent is None:
            raise NotFound(f"{name} is no longer an agent of this app.")
        found.append(agent)
    return found


def find_action(house: House, agent: Agent, row: Any, name: str) -> Action | None:
    """A tool of the piece's skill, as declared now."""
    skills = [skill for skill in agent.skills if skill.name == row.skill]
    if agent.delegates is not None:
        skills += [entry.skill for entry in agent.delegates.to if entry.agent is None and entry.skill.name == row.skill]
    return next((tool for skill in skills for tool in skill.tools if tool.name == name), None)


# Proposals


def propose(
    house: House, tx: Tx, tree: Tree, row: Any, agent: Agent, action: Action, values: Mapping[str, Any], said: str
) -> str:
    """Put a change to the person; answers the proposal's id. Writes one line. Raises HandonError, for the model, where
    a row it names may not be read or a policy forbids it."""
    plain = action.plain(values)
    sentence, shown = _as_shown(house, tx, row, agent, tree.person, action, values)
    id = ids.new_id()
    kept = {
        "id": id,
        "root": tree.root,
        "piece": row.id,
        "action": action.name,
        "arguments": canonical(plain),
        "fingerprint": action.fingerprint(plain),
        "sentence": sentence,
        "shown": json.dumps(shown, ensure_ascii=False),
        "said": said,
        "through": through(row.agents),
        "asked_of": whom(tx, tree, row),
        "status": str(ProposalStatus.WAITING),
        "decided_by": None,
        "decided_at": None,
        "note": "",
        "edited": None,
        "result": "",
        "asked_at": tx.now,
    }
    tx.run(_INSERT, **kept)
    tree.append(
        tx.now,
        row.id,
        TraceKind.PROPOSED,
        f"{agent.shown_as} proposed: {sentence}",
        {"proposal": id, "action": action.name, "arguments": plain, "fingerprint": kept["fingerprint"], "said": said},
    )
    house.event(tx, "proposed", proposal=id, whole=tree.root)
    return id


def _as_shown(
    house: House, tx: Tx, row: Any, agent: Agent, person: str | None, action: Action, values: Mapping[str, Any]
) -> tuple[str, list[list[str]]]:
    """The sentence and the arguments as a person reads them; rows by their label, masked ones hidden."""
    with acting.guarded_context(house, tx, agent.account, person, row.id) as ctx:
        loaded = acting.load_rows(ctx, action, values)
        plain = action.plain(values)
        shown = []
        for parameter in action.parameters:
            value, text = loaded[parameter.name], plain[parameter.name]
            if parameter.name in action.masks:
                text = MASKED
            elif parameter.row is not None and value is not None:
                text = value.label
            elif not isinstance(text, str):
                text = canonical(text)
            shown.append([label_of(parameter.name), text])
        return action.sentence(loaded), shown


def may_decide(tx: Tx, asked_of: str | None, top_agent: str, person: str) -> bool:
    """Whether the person may decide what was put to `asked_of`: themselves, a stand-in, or the sponsor where whoever
    was asked is gone (rules P9, R10)."""
    if asked_of is None:
        return people.sponsor_of(tx, top_agent) == person
    if asked_of == person or asked_of in people.stands_in_for(tx, person):
        return True
    return people.row(tx, asked_of).deactivated_at is not None and people.sponsor_of(tx, top_agent) == person


def _open_proposal(house: House, tx: Tx, id: str, person: str, fingerprint: str | None) -> tuple[Any, Tree, Any]:
    """The proposal, its tree, locked, and its piece; or why it cannot be decided."""
    found = tx.one(_GET, id=id)
    if found is None:
        raise NotFound("There is no such proposal.")
    tree = house.tree(tx, found.root)
    found = tx.one(_GET, id=id)
    row = receipts.get(tx, found.piece)
    if not may_decide(tx, found.asked_of, row.agents.split("/")[0], person):
        raise NotAllowed("This is put to somebody else, who has not named you to stand in.")
    if not people.find(tx, person).active:
        raise NotAllowed("Your account was deactivated.")
    if found.decided_by is not None or found.status == "Refused":
        by = people.row(tx, found.decided_by).name if found.decided_by else ""
        raise AlreadyDecided("Done" if found.status == "Waiting" else found.status, by, from_micros(found.decided_at))
    if found.status != "Waiting":
        raise NotWaiting(f"Nothing is left to decide: it was {found.status.lower()}. {found.note}".strip())
    if fingerprint is not None and fingerprint != found.fingerprint:
        raise Stale("the call is another one than the one you were shown.")
    return found, tree, row


def approve(
    house: House,
    tx: Tx,
    id: str,
    person: str,
    *,
    args: Mapping[str, Any] | None,
    note: str,
    fingerprint: str | None,
    rule: str | None = None,
) -> None:
    """Run the proposed call, exactly as shown or as the person changed it, as that person and the piece that proposed
    it (rules P5, P7). Rights and gate are read again now: what is forbidden since ends as refused by rule (R11).

    `rule` is a standing rule given along with it. Writes the decision's line and the tool's. Raises NotFound,
    NotAllowed, AlreadyDecided, NotWaiting, Stale, and BadInput for changed arguments that do not fit.
    """
    found, tree, row = _open_proposal(house, tx, id, person, fingerprint)
    name = people.row(tx, person).name
    agents = agents_of(house, row)
    action = find_action(house, agents[-1], row, found.action)
    ruling = gate.strictest(agents, action) if action is not None else None
    if action is None or ruling is None or ruling.gate is Gate.NEVER:
        why = (
            ruling.why_never(action)
            if action and ruling
            else f"{found.action} is no longer a tool of {agents[-1].shown_as}."
        )
        _refused(house, tx, tree, row, found, None, f"Refused by rule. {why}")
        return
    plain = json.loads(found.arguments)
    values = action.read(plain)
    changed: dict[str, Any] | None = None
    sentence = found.sentence
    if args is not None:
        values = action.read({**plain, **args})
        new = action.plain(values)
        if new != plain:
            changed = new
            try:
                sentence, _ = _as_shown(house, tx, row, agents[-1], person, action, values)
            except NotFound as error:
                raise BadInput({"": str(error)}) from None
    final = changed or plain
    tree.append(
        tx.now,
        row.id,
        TraceKind.DECIDED,
        f"{name} approved{' with changes' if changed else ''}: {sentence}",
        {
            "proposal": id,
            "decision": "approved",
            "by": person,
            "note": note,
            "arguments": final,
            "proposed": plain if changed else None,
            "fingerprint": action.fingerprint(final),
            **({"rule": rule} if rule else {}),
        },
    )
    house.event(tx, "decided", proposal=id, whole=tree.root, decision="approved")
    kept = {
        "which": id,
        "who": person,
        "at": tx.now,
        "said_with_it": note,
        "changed": canonical(changed) if changed else None,
    }
    if action.awaited:
        # It runs in the piece's own run, between a begun and an ended line; until then it is decided and not done.
        tx.run(_DECIDE, new_status="Waiting", came_of_it="", **kept)
        tx.run(_TO_RUN, of=row.id, about=id, approved=canonical(final))
        work.make_due(house, tx, tree, receipts.get(tx, row.id))
        return
    ran = acting.run_plain(house, tx, action, values, agents[-1].account, person, row.id, id)
    if ran.forbidden:
        _refused(house, tx, tree, row, found, None, f"Refused by rule. {ran.text}")
        return
    tx.run(_DECIDE, new_status="Done" if ran.ok else "Failed", came_of_it=ran.text, **kept)
    tool_ran(tx, tree, row, agents[-1], action, final, ran)
    work.answered(house, tx, tree, row, id, told_approved(name, note, changed, ran), ran.ok)


def decider(tx: Tx, id: str | None) -> str | None:
    """Whoever approved a proposal; None where there is none."""
    found = tx.one(_GET, id=id) if id else None
    return found.decided_by if found else None


def told_approved(name: str, note: str, changed: Mapping[str, Any] | None, ran: acting.Ran) -> str:
    """What the model is told of an approved call."""
    told = ran.text
    if changed is not None:
        told = f"{name} changed it before approving; what ran is {canonical(dict(changed))}\n{told}"
    return f"{told}\n{name} said with it: {note}" if note else told


def outside_done(tx: Tx, id: str, ran: acting.Ran) -> str:
    """An approved call that reached outside has come back; answers what the model is told."""
    found = tx.one(_GET, id=id)
    tx.run(_RESULT, which=id, new_status="Done" if ran.ok else "Failed", came_of_it=ran.text)
    name = people.row(tx, found.decided_by).name
    return told_approved(name, found.note, json.loads(found.edited) if found.edited else None, ran)


def tool_ran(
    tx: Tx, tree: Tree, row: Any, agent: Agent, action: Action, plain: Mapping[str, Any], ran: acting.Ran
) -> None:
    """The line of a tool that was run."""
    tree.append(
        tx.now,
        row.id,
        TraceKind.TOOL_RAN,
        f"{agent.shown_as} used “{action.label}”{'' if ran.ok else ', which did not work'}.",
        {"tool": action.name, "arguments": dict(plain), "answer": ran.text, "ok": ran.ok},
    )


def refuse(house: House, tx: Tx, id: str, person: str, *, reason: str, fingerprint: str | None) -> None:
    """Say no, with a reason that reaches the model, which goes on (rule P6). Writes one line."""
    found, tree, row = _open_proposal(house, tx, id, person, fingerprint)
    _refused(house, tx, tree, row, found, person, reason)


def _refused(house: House, tx: Tx, tree: Tree, row: Any, found: Any, person: str | None, reason: str) -> None:
    name = people.row(tx, person).name if person else "A rule"
    tx.run(
        _DECIDE,
        which=found.id,
        new_status="Refused",
        who=person,
        at=tx.now,
        said_with_it=reason,
        changed=None,
        came_of_it="",
    )
    tree.append(
        tx.now,
        row.id,
        TraceKind.DECIDED,
        f"{name} refused: {found.sentence}",
        {"proposal": found.id, "decision": "refused", "by": person, "note": reason, "fingerprint": found.fingerprint},
    )
    house.event(tx, "decided", proposal=found.id, whole=tree.root, decision="refused")
    told = f"{name} refused this. It was not done: {found.sentence}"
    work.answered(house, tx, tree, row, found.id, f"{told}\nThe reason: {reason}" if reason else told, False)


# Questions


def ask(
    house: House, tx: Tx, tree: Tree, row: Any, agent: Agent, question: str, context: str, choices: list[str]
) -> str:
    """Put a question to the person; answers its id. Writes one line and a help row (rules P8, C7)."""
    asked_of = whom(tx, tree, row)
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
        "choices": json.dumps(choices, ensure_ascii=False),
        "through": through(row.agents),
        "asked_of": asked_of,
        "answer": "",
        "declined": False,
        "status": str(HelpStatus.WAITING),
        "answered_by": None,
        "answered_at": None,
        "cost_micros": 0,
        "asked_at": tx.now,
    }
    tx.run(_ASK, **kept)
    name = people.row(tx, asked_of).name
    tree.append(
        tx.now,
        row.id,
        TraceKind.ASKED,
        f"{agent.shown_as} asked {name}: {question}",
        {"question": id, "text": question, "context": context, "choices": choices},
    )
    house.event(tx, "asked", question=id, whole=tree.root)
    house.event(tx, "agent_asked_for_help", help=id, whole=tree.root, help_from="Person")
    return id


def answer(house: House, tx: Tx, id: str, person: str, text: str, *, declines: bool = False) -> None:
    """Answer a question, or decline to with a reason; either reaches the model (rule P8). Writes one line.

    Raises NotFound, NotAllowed, AlreadyDecided, NotWaiting, and BadInput for an empty answer.
    """
    found = tx.one(_QUESTION, id=id)
    if found is None:
        raise NotFound("There is no such question.")
    tree = house.tree(tx, found.root)
    found = tx.one(_QUESTION, id=id)
    row = receipts.get(tx, found.piece)
    if not may_decide(tx, found.asked_of, row.agents.split("/")[0], person):
        raise NotAllowed("This is asked of somebody else, who has not named you to stand in.")
    if not people.find(tx, person).active:
        raise NotAllowed("Your account was deactivated.")
    if found.answered_by is not None:
        raise AlreadyDecided("answered", people.row(tx, found.answered_by).name, from_micros(found.answered_at))
    if found.status != "Waiting":
        raise NotWaiting("Nothing is left to answer: the piece that asked has ended.")
    if not declines and not text.strip():
        raise BadInput({"answer": "Write an answer, or say that you cannot."})
    name = people.row(tx, person).name
    tx.run(
        _ANSWER,
        which=id,
        new_status=str(HelpStatus.REFUSED if declines else HelpStatus.ANSWERED),
        said=text,
        no=declines,
        who=person,
        at=tx.now,
    )
    summary = (
        f"{name} declined to answer {house.label(row.agent)}."
        if declines
        else f"{name} answered {house.label(row.agent)}."
    )
    tree.append(
        tx.now,
        row.id,
        TraceKind.ANSWERED,
        summary,
        {"question": id, "by": person, "answer": text, "declined": declines},
    )
    if declines:
        told = f"{name} declined to answer." + (f" The reason: {text}" if text else "")
    else:
        told = text
    work.answered(house, tx, tree, row, id, told, not declines)
