"""The life of a piece: its states and their moves, and what each does to the pieces above and below.

    Working   due (may be taken), held (a fence is out), or parked on legs that still work
    Waiting   parked, and everything it is parked on waits for a person
    Done, Failed, Stopped, Cancelled   final

A piece that is called off while a run holds it is *closing*: it ends at that run's next step, and a piece above it
that is closing too ends after it. Every function here runs in its caller's transaction, under the tree's lock.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy import and_, bindparam, delete, select, update

from core import money, receipts
from core.clock import from_micros
from core.declare.skills import Retry
from core.errors import NotFound, Superseded
from core.house import House
from core.receipts import Receipt
from core.record import Tree
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import help, line, message, person, piece, proposal, turn_call, whole
from core.values import NEVER_BEGUN, UNKNOWN, Status, TraceKind

MOVES: Mapping[Status, frozenset[Status]] = {
    Status.WORKING: frozenset({Status.WAITING, Status.DONE, Status.FAILED, Status.STOPPED, Status.CANCELLED}),
    Status.WAITING: frozenset({Status.WORKING, Status.FAILED, Status.STOPPED, Status.CANCELLED}),
    Status.DONE: frozenset(),
    Status.FAILED: frozenset(),
    Status.STOPPED: frozenset(),
    Status.CANCELLED: frozenset(),
}
ENDINGS = {
    Status.DONE: "is done",
    Status.FAILED: "failed",
    Status.STOPPED: "was stopped",
    Status.CANCELLED: "was called off",
}
GONE = "It stopped without reporting back: whatever was doing it is gone."

_ROOT_OF = Statement(select(piece.c.root).where(piece.c.id == bindparam("id")))
_BELOW = Statement(
    select(piece.c.id)
    .where(piece.c.root == bindparam("root"), piece.c.ended_at.is_(None), piece.c.branch.like(bindparam("under")))
    .order_by(piece.c.depth.desc(), piece.c.id)
)
_LIVE_CHILD = Statement(
    select(piece.c.id).where(piece.c.parent == bindparam("parent"), piece.c.ended_at.is_(None)).limit(1)
)
_OPEN_CALLS = Statement(
    select(turn_call.c.kind, turn_call.c.subject, turn_call.c.state)
    .where(turn_call.c.piece == bindparam("piece"), turn_call.c.state != "answered")
    .order_by(turn_call.c.position)
)
_SOMETHING_OPEN = Statement(
    select(turn_call.c.position)
    .where(turn_call.c.piece == bindparam("piece"), turn_call.c.state != "answered")
    .limit(1)
)
_ANSWERED = Statement(
    update(turn_call)
    .where(
        turn_call.c.piece == bindparam("of"), turn_call.c.subject == bindparam("about"), turn_call.c.state != "answered"
    )
    .values(state="answered", answer=bindparam("text"), ok=bindparam("went_well"))
)
FORGET_CALLS = Statement(delete(turn_call).where(turn_call.c.piece == bindparam("piece")))
_PROPOSED = Statement(
    select(proposal.c.id, proposal.c.sentence, proposal.c.action, proposal.c.decided_at, turn_call.c.state)
    .select_from(
        proposal.outerjoin(turn_call, and_(turn_call.c.piece == proposal.c.piece, turn_call.c.subject == proposal.c.id))
    )
    .where(proposal.c.piece == bindparam("piece"), proposal.c.status == "Waiting")
)
_CAME_TO = Statement(
    update(proposal).where(proposal.c.id == bindparam("which")).values(status="Failed", result=bindparam("what"))
)
_WITHDRAW = Statement(
    update(proposal)
    .where(proposal.c.id == bindparam("which"))
    .values(status="Withdrawn", decided_at=bindparam("at"), note=bindparam("why"))
)
_CLOSE_QUESTIONS = Statement(
    update(help)
    .where(help.c.piece == bindparam("of"), help.c.status == "Waiting")
    .values(status="Closed", answered_at=bindparam("at"))
)
_NAMES = Statement(
    select(proposal.c.id.label("subject"), person.c.name)
    .select_from(proposal.join(person, person.c.id == proposal.c.asked_of))
    .where(proposal.c.piece == bindparam("piece"), proposal.c.status == "Waiting")
)
_ASKED_NAMES = Statement(
    select(help.c.id.label("subject"), person.c.name)
    .select_from(help.join(person, person.c.id == help.c.asked_of))
    .where(help.c.piece == bindparam("piece"), help.c.status == "Waiting")
)
_WHOLE_ENDED = Statement(update(whole).where(whole.c.id == bindparam("root")).values(ended_at=bindparam("at")))
_TOOL_LINES = Statement(
    select(line.c.payload)
    .where(line.c.root == bindparam("root"), line.c.piece == bindparam("piece"), line.c.kind == str(TraceKind.TOOL_RAN))
    .order_by(line.c.n)
)
_INSERT_CALLS = insert_into(turn_call)
_INSERT_MESSAGE = insert_into(message)


def root_of(tx: Tx, id: str) -> str:
    """The whole a piece belongs to. Raises NotFound."""
    row = tx.one(_ROOT_OF, id=id)
    if row is None:
        raise NotFound("There is no such work.")
    return str(row.root)


def insert(house: House, tx: Tx, values: Mapping[str, Any]) -> Receipt:
    """A new piece, due."""
    fresh: dict[str, Any] = {
        "status": "Working",
        "run": "due",
        "due_at": None,
        "skill_version_now": values["skill_version"],
        "fence": 0,
        "held_since": None,
        "let_go": False,
        "closing": None,
        "closing_why": "",
        "waiting_on": "",
        "waits_since": None,
        "waited": 0,
        "outcome": "",
        "abandoned": False,
        "takeovers": 0,
        "tries": 0,
        "result": None,
        "turn": 0,
        "messages": 0,
        "begins_after": 0,
        "tokens": 0,
        "model_calls": 0,
        "handed_on": 0,
        "failed_in_row": 0,
        "consulted_stuck": False,
        "same_calls": 0,
        "last_calls": "",
        "own_micros": 0,
        "tree_micros": 0,
        "reserved_micros": 0,
        "call_micros": 0,
        "period_accounts": "",
        "opened_at": tx.now,
        "ended_at": None,
    }
    house.wake(tx, values["id"])
    return receipts.new(tx, {**fresh, **values})


def take(house: House, tx: Tx, id: str) -> tuple[Tree, Receipt] | None:
    """Take a due piece: its fence goes up, and whoever held it before holds it no more. None: it is not due."""
    tree = house.tree_of(tx, id)
    receipt = receipts.get(tx, id)
    if receipt.run != "due" or (receipt.due_at is not None and receipt.due_at > tx.now):
        return None
    receipt.set(run="held", due_at=None, fence=receipt.fence + 1, held_since=tx.now, let_go=False)
    return tree, receipt


def mine(tx: Tx, id: str, fence: int) -> Receipt:
    """The piece, where this run still holds it. Raises Superseded where it does not (decision 4)."""
    receipt = receipts.get(tx, id)
    if receipt.fence != fence or receipt.run != "held":
        raise Superseded(id)
    return receipt


def keep_calls(tx: Tx, calls: list[dict[str, Any]]) -> None:
    tx.many(_INSERT_CALLS, calls)


def make_due_again(house: House, tx: Tx, tree: Tree, receipt: Receipt, **changes: Any) -> None:
    """A piece that somebody holds is due for whoever takes it next; its holder holds it no more. Money that is held
    for a call of its own is given back."""
    _give_back_money(tx, tree, receipt)
    receipt.set(run="due", fence=receipt.fence + 1, held_since=None, **changes)
    if receipt.due_at is None:
        house.wake(tx, receipt.id)


def fail(house: House, tx: Tx, tree: Tree, receipt: Receipt, why: str, retry: Retry | None) -> None:
    """End a piece that somebody holds as Failed, unless its skill says that it is tried again first (rules E2, E3).

    Tried again, it keeps its receipt and what it spent and begins a fresh conversation, after the skill's `wait`; what
    it had handed on is called off, what it had asked is withdrawn. Writes one line, and those of what is called off.
    """
    if receipt.closing is not None or retry is None or receipt.tries >= retry.times:
        status = Status(receipt.closing) if receipt.closing else Status.FAILED
        end(house, tx, tree, receipt, status, receipt.closing_why or why)
        return
    label = house.label(receipt.agent)
    if receipt.handed_on and _live_child(tx, receipt):
        call_off_below(house, tx, tree, receipt, f"{label} above it is tried again.")
    _withdraw_requests(tx, tree, receipt, f"{label} is tried again.")
    wait = int(retry.wait.total_seconds() * 1_000_000)
    later = f", not before {from_micros(tx.now + wait):%H:%M:%S} UTC" if wait else ""
    tries = receipt.tries + 1
    summary = f"{label} tries again ({tries} of {retry.times}{later}): {why}"
    tree.append(tx.now, receipt.id, TraceKind.RETRIED, summary, {"why": why, "tries": tries, "times": retry.times})
    make_due_again(
        house,
        tx,
        tree,
        receipt,
        due_at=tx.now + wait if wait else None,
        tries=tries,
        begins_after=receipt.messages,
        tokens=0,
        failed_in_row=0,
        consulted_stuck=False,
        same_calls=0,
        last_calls="",
    )


def park(house: House, tx: Tx, tree: Tree, receipt: Receipt) -> None:
    """Let go of a piece whose turn waits for legs or for people."""
    receipt.set(run="parked", held_since=None)
    reconsider(house, tx, tree, receipt)


def make_due(house: House, tx: Tx, tree: Tree, receipt: Receipt) -> None:
    """A parked piece may be taken. Writes a line where it had waited."""
    _check(receipt, Status.WORKING)
    waited = receipt.status == "Waiting"
    _waited(tx, receipt)
    receipt.set(run="due", status="Working", waiting_on="", waits_since=None, held_since=None, let_go=False)
    if waited:
        tree.append(tx.now, receipt.id, TraceKind.RESUMED, f"{house.label(receipt.agent)} goes on.")
    house.wake(tx, receipt.id)
    if waited and receipt.parent:
        reconsider(house, tx, tree, receipts.get(tx, receipt.parent))


def _waited(tx: Tx, receipt: Receipt) -> None:
    """Count the time a piece waited for people, which ends now: it was not its own."""
    if receipt.waits_since is not None:
        receipt.set(waited=receipt.waited + tx.now - receipt.waits_since)


def answered(house: House, tx: Tx, tree: Tree, receipt: Receipt, subject: str, text: str, ok: bool) -> None:
    """Leave an answer on the running turn of a piece. The last one makes it due."""
    if tx.run(_ANSWERED, of=receipt.id, about=subject, text=text, went_well=ok) == 0:
        return
    if receipt.run != "parked" or receipt.closing is not None:
        return
    if tx.one(_SOMETHING_OPEN, piece=receipt.id) is None:
        make_due(house, tx, tree, receipt)
    else:
        reconsider(house, tx, tree, receipt)


def reconsider(house: House, tx: Tx, tree: Tree, receipt: Receipt) -> None:
    """Set a parked piece to Waiting or Working by what it is parked on, and say what for, all the way up."""
    if receipt.run != "parked":
        return
    waits = _waits(house, tx, receipt)
    status = Status.WAITING if waits else Status.WORKING
    on = "; ".join(dict.fromkeys(waits or ()))
    if status == receipt.status and on == receipt.waiting_on:
        return
    was = receipt.status
    if status != was:
        _check(receipt, status)
    waiting = status is Status.WAITING
    if not waiting:
        _waited(tx, receipt)
    receipt.set(
        status=str(status),
        waiting_on=on,
        waits_since=(receipt.waits_since or tx.now) if waiting else None,
        let_go=receipt.let_go or waiting,
    )
    if waiting and was != "Waiting":
        tree.append(tx.now, receipt.id, TraceKind.WAITING, f"{house.label(receipt.agent)} waits for {on}.")
    elif not waiting:
        words = f"{house.label(receipt.agent)} waits no more: something under it goes on."
        tree.append(tx.now, receipt.id, TraceKind.RESUMED, words)
    if receipt.parent:
        reconsider(house, tx, tree, receipts.get(tx, receipt.parent))
    elif waiting:
        tx.after(partial(house.bus.stands, tree.root))


def _waits(house: House, tx: Tx, receipt: Receipt) -> list[str] | None:
    """What each open call of the turn waits for; None where one of them is still under way."""
    names: dict[str, str] | None = None
    waits = []
    for call in tx.all(_OPEN_CALLS, piece=receipt.id):
        if call.state != "open":
            return None
        if call.kind == "leg":
            leg = receipts.get(tx, call.subject)
            if leg.status != "Waiting":
                return None
            waits.append(f"{house.label(leg.agent)}, which waits for {leg.waiting_on}")
            continue
        if names is None:
            names = {entry.subject: entry.name for entry in tx.all(_NAMES, piece=receipt.id)}
            names |= {entry.subject: entry.name for entry in tx.all(_ASKED_NAMES, piece=receipt.id)}
        what = "a decision" if call.kind == "proposal" else "an answer"
        waits.append(f"{what} from {names.get(call.subject, 'somebody: nobody answers for it')}")
    return waits or None


def _check(receipt: Receipt, to: Status) -> None:
    current = Status(receipt.status)
    if to != current and to not in MOVES[current]:
        raise ValueError(f"A piece that is {current} cannot become {to}.")


def end(
    house: House, tx: Tx, tree: Tree, receipt: Receipt, status: Status, why: str = "", result: str | None = None
) -> None:
    """End a piece: final status, nothing of it left open, no money held; the piece above is told (rules E1-E4, M3).

    Everything under it is called off first. Writes one line, one for each proposal withdrawn, and the line of the
    piece above that it came back.
    """
    _check(receipt, status)
    label = house.label(receipt.agent)
    if receipt.handed_on and _live_child(tx, receipt):
        call_off_below(house, tx, tree, receipt, f"{label} above it {ENDINGS[status]}.", at_once=receipt.abandoned)
        if _live_child(tx, receipt):
            _end_after_what_is_under_it(tx, tree, receipt, status, why, result)
            return
    result = receipt.result if result is None else result
    _give_back_money(tx, tree, receipt)
    receipt.set(
        status=str(status),
        run="ended",
        fence=receipt.fence + 1,
        waiting_on="",
        waits_since=None,
        held_since=None,
        outcome=why,
        result=result,
        ended_at=tx.now,
    )
    if status is not Status.DONE:
        _withdraw_requests(tx, tree, receipt, f"{label} {ENDINGS[status]}.")
    summary = f"{label} {ENDINGS[status]}{f': {why}' if why else '.'}"
    kind = TraceKind.ABANDONED if receipt.abandoned else TraceKind.ENDED
    payload = {"status": str(status), "why": why, "result": result, "spent": receipt.own_micros}
    tree.append(tx.now, receipt.id, kind, summary, payload)
    if receipt.parent is None:
        tx.run(_WHOLE_ENDED, root=tree.root, at=tx.now)
        tree.ended = True
        tx.after(partial(house.bus.stands, tree.root))
        event = "work_abandoned" if receipt.abandoned else "work_ended"
        house.event(tx, event, whole=tree.root, status=str(status), why=why)
        return
    above = receipts.get(tx, receipt.parent)
    if above.closing is not None:
        close_if_quiet(house, tx, tree, above)
    elif above.ended_at is None:
        _came_back(house, tx, tree, above, receipt, status, why, result)


def _end_after_what_is_under_it(
    tx: Tx, tree: Tree, receipt: Receipt, status: Status, why: str, result: str | None
) -> None:
    """A run still has something under this piece in hand: the piece is let go, and ends once that has ended."""
    mark_closing(receipt, status, why)
    _give_back_money(tx, tree, receipt)
    _withdraw_requests(tx, tree, receipt, why)
    receipt.set(run="parked", fence=receipt.fence + 1, held_since=None, result=result)


def _give_back_money(tx: Tx, tree: Tree, receipt: Receipt) -> None:
    """Let go of what is held for a call of its own that will not be settled."""
    if receipt.call_micros:
        money.release(tx, tree, receipts.branch(tx, receipt), receipt.call_micros)


def _withdraw_requests(tx: Tx, tree: Tree, receipt: Receipt, why: str) -> None:
    """Nothing of the running turn is waited for any more: proposals are withdrawn, questions closed."""
    for waiting in tx.all(_PROPOSED, piece=receipt.id):
        if waiting.decided_at is not None:  # approved, and it reaches outside: its run was to make it, or began to
            what = UNKNOWN if waiting.state == "begun" else NEVER_BEGUN
            tx.run(_CAME_TO, which=waiting.id, what=what)
            payload = {"proposal": waiting.id, "tool": waiting.action, "answer": what, "ok": False}
            tree.append(tx.now, receipt.id, TraceKind.TOOL_RAN, f"{waiting.sentence}: {what}", payload)
            continue
        tx.run(_WITHDRAW, which=waiting.id, at=tx.now, why=why)
        words = f"Withdrawn, undecided: {waiting.sentence}"
        tree.append(tx.now, receipt.id, TraceKind.DECIDED, words, {"proposal": waiting.id, "decision": "withdrawn"})
    tx.run(_CLOSE_QUESTIONS, of=receipt.id, at=tx.now)
    tx.run(FORGET_CALLS, piece=receipt.id)


def _came_back(
    house: House, tx: Tx, tree: Tree, above: Receipt, receipt: Receipt, status: Status, why: str, result: str | None
) -> None:
    label = house.label(receipt.agent)
    if status is Status.DONE:
        told, summary = result or "", f"{label}'s work came back to {house.label(above.agent)}."
    else:
        summary = f"{label} {ENDINGS[status]}: {why}"
        found = _found(tx, tree, receipt)
        told = f"{summary}\nWhat it had found: {found}" if found else summary
    payload = {"from": receipt.id, "status": str(status), "told": told}
    tree.append(tx.now, above.id, TraceKind.CAME_BACK, summary, payload)
    answered(house, tx, tree, above, receipt.id, told, status is Status.DONE)


def _found(tx: Tx, tree: Tree, receipt: Receipt) -> str:
    """What a piece's tools had answered: "price_per_metre answered 14.5" (rule H3)."""
    payloads = [entry.payload for entry in tx.all(_TOOL_LINES, root=tree.root, piece=receipt.id)]
    payloads += [
        entry["payload"]
        for entry in tree.waiting
        if entry["piece"] == receipt.id and entry["kind"] == TraceKind.TOOL_RAN
    ]
    ran = [json.loads(payload) for payload in payloads]
    return "; ".join(f"{tool['tool']} answered {tool['answer']}" for tool in ran if tool["ok"])


# Calling off


def _live_child(tx: Tx, receipt: Receipt) -> bool:
    tx.flush()
    return tx.one(_LIVE_CHILD, parent=receipt.id) is not None


def call_off(
    house: House, tx: Tx, tree: Tree, receipt: Receipt, status: Status, why: str, *, at_once: bool = False
) -> None:
    """Call a piece off with everything under it: what a run holds ends at its next step, the rest now (rule E4).

    `at_once` ends also what is held: for work whose process is gone.
    """
    if receipt.ended_at is not None:
        return
    mark_closing(receipt, status, why)
    call_off_below(house, tx, tree, receipt, why, at_once=at_once)
    close_if_quiet(house, tx, tree, receipt, at_once=at_once)


def mark_closing(receipt: Receipt, status: Status, why: str) -> None:
    """The final status a piece takes once it ends. Said twice, the first holds."""
    if receipt.closing is None:
        receipt.set(closing=str(status), closing_why=why)


def call_off_below(house: House, tx: Tx, tree: Tree, receipt: Receipt, why: str, *, at_once: bool = False) -> None:
    tx.flush()
    found = [entry.id for entry in tx.all(_BELOW, root=tree.root, under=f"{receipt.branch}/%")]
    below = receipts.several(tx, found)
    for under in below:
        mark_closing(under, Status.CANCELLED, why)
    for under in below:  # the deepest first
        close_if_quiet(house, tx, tree, under, at_once=at_once)


def close_if_quiet(house: House, tx: Tx, tree: Tree, receipt: Receipt, *, at_once: bool = False) -> None:
    """End a closing piece, unless a run holds it, or something under it is still held: then that one's end ends it."""
    if receipt.ended_at is not None or (receipt.run == "held" and not at_once):
        return
    if receipt.handed_on and _live_child(tx, receipt):
        return
    end(house, tx, tree, receipt, Status(receipt.closing or Status.CANCELLED), receipt.closing_why)


def say(tx: Tx, receipt: Receipt, role: str, text: str, calls: str | None = None, results: str | None = None) -> None:
    """Add a message to a piece's conversation, and to what the conversation is reckoned at."""
    n = receipt.messages + 1
    tx.later(_INSERT_MESSAGE, piece=receipt.id, n=n, role=role, text=text, calls=calls, results=results)
    size = len(text.encode()) + len((calls or "").encode()) + len((results or "").encode())
    receipt.set(messages=n, tokens=receipt.tokens + money.tokens_of(size))
