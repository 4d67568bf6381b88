"""Proposals: a change is put to a person, who approves or refuses exactly what was shown (rules P5-P7, P12).

A proposal holds the exact call: its action, its arguments, and the fingerprint over both. Approving runs that call in
the transaction that records the decision, so two people, two tabs or a crash never run it twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select, update

from core import acting, gate, ids, people, work
from core.asking import held, whom
from core.asking.deadlines import deadline
from core.clock import from_micros
from core.declare.actions import Action
from core.declare.agents import Agent
from core.declare.schemas import to_json
from core.errors import AlreadyDecided, BadInput, HandonError, NotFound, NotWaiting, Stale
from core.house import House
from core.receipts import Receipt
from core.record import Tree
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import proposal, turn_call
from core.values import Gate, ProposalStatus, TraceKind
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
_ENDED = {"Withdrawn": "was withdrawn", "Expired": "expired", "Done": "is done", "Failed": "was tried"}


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
        "arguments": to_json(plain),
        "fingerprint": action.fingerprint(plain),
        "sentence": sentence,
        "shown": json.dumps(shown, ensure_ascii=False),
        "said": said,
        "through": whom.through(row.agents),
        "asked_of": whom.whom(tx, tree, row),
        "status": str(ProposalStatus.WAITING),
        "decided_by": None,
        "decided_at": None,
        "note": "",
        "edited": None,
        "result": "",
        "asked_at": tx.now,
        "deadline": deadline(tx, action.decide_within or agent.requests_wait),
    }
    tx.run(_INSERT, **kept)
    tree.append(
        tx.now,
        row.id,
        TraceKind.PROPOSED,
        f"{agent.shown_as} proposed: {sentence}",
        {
            "proposal": id,
            "action": action.name,
            "arguments": plain,
            "fingerprint": kept["fingerprint"],
            "said": said,
            **({"deadline": kept["deadline"]} if kept["deadline"] is not None else {}),
        },
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
                text = to_json(text)
            shown.append([label_of(parameter.name), text])
        return action.sentence(loaded), shown


def get(tx: Tx, id: str) -> Any:
    """The row of a proposal, or None."""
    return tx.one(_GET, id=id)


def undecided(
    house: House, tx: Tx, id: str, person: str, fingerprint: str | None = None, made_at: int | None = None
) -> tuple[Any, Tree, Receipt]:
    """The proposal, its tree, locked, and its piece; or why it cannot be decided: NotFound, NotAllowed, AlreadyDecided,
    NotWaiting, Stale. `made_at`: the decision was made then, and held since."""
    found, tree, row = whom.opened(house, tx, _GET, id, person, "proposal")
    refuse_if_decided(tx, found, made_at)
    if fingerprint is not None and fingerprint != found.fingerprint:
        raise Stale(f"it is another call than the one you were shown. What waits is: {found.sentence}.")
    return found, tree, row


def refuse_if_decided(tx: Tx, found: Any, made_at: int | None = None) -> None:
    """Raises AlreadyDecided or NotWaiting where nothing is left to decide."""
    if found.decided_by is not None or found.status == "Refused":
        by = people.row(tx, found.decided_by).name if found.decided_by else ""
        raise AlreadyDecided("Done" if found.status == "Waiting" else found.status, by, from_micros(found.decided_at))
    if found.status != "Waiting":
        raise NotWaiting(f"Nothing is left to decide: it {_ENDED[found.status]}. {found.note}".strip())
    held.refuse_if(tx, found.id)
    whom.in_time(found, tx.now if made_at is None else made_at)


def take_over(house: House, tx: Tx, id: str, person: str) -> None:
    """Put the proposal to this person, who sponsors the agent at the top, where whoever was asked is gone (rule R10).
    Writes one line; said twice, the first holds. Raises NotFound, NotAllowed, AlreadyDecided, NotWaiting."""
    undecided(house, tx, id, person)


@dataclass(frozen=True, slots=True)
class _Call:
    """What a yes would run."""

    agent: Agent
    action: Action
    values: dict[str, Any]
    plain: dict[str, Any]  # the proposed arguments
    changed: dict[str, Any] | None  # all of them as they run, where the person changed some
    sentence: str


def _call(house: House, tx: Tx, row: Receipt, found: Any, person: str, args: Mapping[str, Any] | None) -> _Call | str:
    """The call that a yes to this would run, or why a rule forbids it by now. Raises Stale, BadInput."""
    agents = house.agents_of(row.agents)
    action = acting.find(agents[-1], row.skill, found.action)
    if action is None:
        return f"{found.action} is no longer a tool of {agents[-1].shown_as}."
    ruling = gate.strictest(agents, action)
    if ruling.gate is Gate.NEVER:
        return ruling.why_never(action)
    plain = json.loads(found.arguments)
    values = _as_proposed(action, plain, found.fingerprint)
    if args is not None:
        values = action.read({**plain, **args})
        new = action.plain(values)
        if new != plain:
            try:
                sentence, _ = _as_shown(house, tx, row, agents[-1], person, action, values)
            except NotFound as error:
                raise BadInput({"": str(error)}) from None
            return _Call(agents[-1], action, values, plain, new, sentence)
    return _Call(agents[-1], action, values, plain, None, found.sentence)


def would_run(
    house: House, tx: Tx, id: str, person: str, *, args: Mapping[str, Any] | None, fingerprint: str | None
) -> tuple[Any, dict[str, Any] | None] | None:
    """The proposal, and its arguments as the person changed them, where a yes now would run the call; None where a
    rule forbids that by now. Decides nothing. Raises what `approve` raises."""
    found, _, row = undecided(house, tx, id, person, fingerprint)
    call = _call(house, tx, row, found, person, args)
    return None if isinstance(call, str) else (found, call.changed)


def why_not_read(house: House, tx: Tx, row: Receipt, found: Any, person: str) -> str:
    """Why that person could not so much as read the rows that the call names; empty where they can."""
    agent = house.agents_of(row.agents)[-1]
    action = acting.find(agent, row.skill, found.action)
    if action is None:
        return ""
    values = _as_proposed(action, json.loads(found.arguments), found.fingerprint)
    try:
        _as_shown(house, tx, row, agent, person, action, values)
    except HandonError as error:
        return str(error)
    return ""


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
    made_at: int | None = None,
) -> None:
    """Run the proposed call, exactly as shown or as the person changed it, as that person and the piece that proposed
    it (rules P5, P7). Rights and gate are read again now: what is forbidden since ends as refused by rule (R11).

    `rule` is a standing rule given along with it; `made_at` is when the decision was made, where it was held since.
    Writes the decision's line and the tool's. Raises NotFound, NotAllowed, AlreadyDecided, NotWaiting, Stale, and
    BadInput for changed arguments that do not fit.
    """
    found, tree, row = undecided(house, tx, id, person, fingerprint, made_at)
    name = people.row(tx, person).name
    call = _call(house, tx, row, found, person, args)
    if isinstance(call, str):
        _refused(house, tx, tree, row, found, None, f"Refused by rule. {call}")
        return
    agent, action, changed = call.agent, call.action, call.changed
    final = changed or call.plain
    tree.append(
        tx.now,
        row.id,
        TraceKind.DECIDED,
        f"{name} approved{' with changes' if changed else ''}{whom.then(tx, made_at)}: {call.sentence}",
        {
            "proposal": id,
            "decision": "approved",
            "by": person,
            "note": note,
            "arguments": final,
            "proposed": call.plain if changed else None,
            "fingerprint": action.fingerprint(final),
            **({"rule": rule} if rule else {}),
            **whom.made(made_at),
        },
    )
    house.event(tx, "decided", proposal=id, whole=tree.root, decision="approved")
    kept = {
        "which": id,
        "who": person,
        "at": tx.now if made_at is None else made_at,
        "said_with_it": note,
        "changed": to_json(changed) if changed else None,
    }
    if action.awaited:
        # It runs in the piece's own run, between a begun and an ended line; until then it is decided and not done.
        tx.run(_DECIDE, new_status="Waiting", came_of_it="", **kept)
        tx.run(_TO_RUN, of=row.id, about=id, approved=to_json(final))
        if row.run == "parked" and row.closing is None:  # else a run has it in hand, or will, and comes to it
            work.make_due(house, tx, tree, row)
        return
    ran = acting.run_plain(house, tx, action, call.values, agent.account, person, row.id, id)
    if ran.forbidden:
        _refused(house, tx, tree, row, found, None, f"Refused by rule. {ran.text}")
        return
    tx.run(_DECIDE, new_status="Done" if ran.ok else "Failed", came_of_it=ran.text, **kept)
    tool_ran(tx, tree, row, agent, action, final, ran)
    work.answered(house, tx, tree, row, id, told_approved(name, note, changed, ran), ran.ok)


def _as_proposed(action: Action, plain: Mapping[str, Any], fingerprint: str) -> dict[str, Any]:
    """The values of a proposed call. Raises Stale where it would run otherwise than it was shown: the tool takes
    something else by now, or what was kept was touched (rule P12)."""
    try:
        values = action.read(plain)
    except BadInput as error:
        raise Stale(f"the tool takes something else by now than you were shown. {error}") from None
    if action.fingerprint(action.plain(values)) != fingerprint:
        raise Stale("it would run with other arguments than you were shown.")
    return values


def refused_since(house: House, tx: Tx, tree: Tree, row: Receipt, id: str, why: str) -> None:
    """An approved call that had not run became forbidden: it ends as refused by rule (R11). Writes one line."""
    _refused(house, tx, tree, row, tx.one(_GET, id=id), None, f"Refused by rule. {why}")


def decider(tx: Tx, id: str | None) -> str | None:
    """Whoever approved a proposal; None where there is none."""
    found = tx.one(_GET, id=id) if id else None
    return found.decided_by if found else None


def told_approved(name: str, note: str, changed: Mapping[str, Any] | None, ran: acting.Ran) -> str:
    """What the model is told of an approved call."""
    told = ran.text
    if changed is not None:
        told = f"{name} changed it before approving; what ran is {to_json(dict(changed))}\n{told}"
    return f"{told}\n{name} said with it: {note}" if note else told


def ran_outside(tx: Tx, id: str, ran: acting.Ran) -> str:
    """An approved call that reached outside has come back, or never will; answers what the model is told."""
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


def refuse(
    house: House,
    tx: Tx,
    id: str,
    person: str,
    *,
    reason: str,
    fingerprint: str | None,
    made_at: int | None = None,
) -> None:
    """Say no, with a reason that reaches the model, which goes on (rule P6). Writes one line."""
    found, tree, row = undecided(house, tx, id, person, fingerprint, made_at)
    _refused(house, tx, tree, row, found, person, reason, made_at)


def _refused(
    house: House,
    tx: Tx,
    tree: Tree,
    row: Any,
    found: Any,
    person: str | None,
    reason: str,
    made_at: int | None = None,
) -> None:
    name = people.row(tx, person).name if person else "A rule"
    tx.run(
        _DECIDE,
        which=found.id,
        new_status="Refused",
        who=person,
        at=tx.now if made_at is None else made_at,
        said_with_it=reason,
        changed=None,
        came_of_it="",
    )
    tree.append(
        tx.now,
        row.id,
        TraceKind.DECIDED,
        f"{name} refused{whom.then(tx, made_at)}: {found.sentence}",
        {
            "proposal": found.id,
            "decision": "refused",
            "by": person,
            "note": reason,
            "fingerprint": found.fingerprint,
            **whom.made(made_at),
        },
    )
    house.event(tx, "decided", proposal=found.id, whole=tree.root, decision="refused")
    told = f"{name} refused this. It was not done: {found.sentence}"
    work.answered(house, tx, tree, row, found.id, f"{told}\nThe reason: {reason}" if reason else told, False)
