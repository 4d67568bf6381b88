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

from core import money
from core.errors import NotFound, Superseded
from core.house import House
from core.record import Tree
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import help, line, message, person, piece, proposal, turn_call, whole
from core.values import Status, TraceKind

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

_GET = Statement(select(piece).where(piece.c.id == bindparam("id")))
_ROOT_OF = Statement(select(piece.c.root).where(piece.c.id == bindparam("id")))
_TAKE = Statement(
    update(piece)
    .where(piece.c.id == bindparam("piece_id"), piece.c.run == "due")
    .values(run="held", fence=piece.c.fence + 1, held_since=bindparam("at"), let_go=False)
)
_PARK = Statement(
    update(piece).where(piece.c.id == bindparam("piece_id")).values(run="parked", held_since=bindparam("none"))
)
_DUE = Statement(
    update(piece)
    .where(piece.c.id == bindparam("piece_id"))
    .values(
        run="due",
        status="Working",
        waiting_on="",
        waits_since=bindparam("none"),
        held_since=bindparam("none"),
        let_go=False,
    )
)
_WAITS = Statement(
    update(piece)
    .where(piece.c.id == bindparam("piece_id"))
    .values(
        status=bindparam("new_status"),
        waiting_on=bindparam("on"),
        waits_since=bindparam("since"),
        let_go=bindparam("gone"),
    )
)
_END = Statement(
    update(piece)
    .where(piece.c.id == bindparam("piece_id"))
    .values(
        status=bindparam("new_status"),
        run="ended",
        fence=piece.c.fence + 1,
        waiting_on="",
        waits_since=bindparam("none"),
        held_since=bindparam("none"),
        outcome=bindparam("why"),
        result=bindparam("handed_back"),
        ended_at=bindparam("at"),
    )
)
_CLOSING = Statement(
    update(piece)
    .where(piece.c.id == bindparam("piece_id"), piece.c.closing.is_(None))
    .values(closing=bindparam("new_status"), closing_why=bindparam("why"))
)
_GIVEN_UP = Statement(update(piece).where(piece.c.id == bindparam("piece_id")).values(abandoned=True))
_BELOW = Statement(
    select(piece)
    .where(
        piece.c.root == bindparam("root"),
        piece.c.ended_at.is_(None),
        piece.c.branch.like(bindparam("under")),
    )
    .order_by(piece.c.depth.desc(), piece.c.id)
)
_LIVE_CHILD = Statement(
    select(piece.c.id).where(piece.c.parent == bindparam("parent"), piece.c.ended_at.is_(None)).limit(1)
)
_leg = piece.alias("leg")
_OPEN_CALLS = Statement(
    select(
        turn_call.c.kind,
        turn_call.c.subject,
        turn_call.c.state,
        _leg.c.agent.label("leg_agent"),
        _leg.c.status.label("leg_status"),
        _leg.c.waiting_on.label("leg_waiting_on"),
    )
    .select_from(turn_call.outerjoin(_leg, and_(_leg.c.id == turn_call.c.subject, turn_call.c.kind == "leg")))
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
    select(proposal.c.id, proposal.c.sentence).where(
        proposal.c.piece == bindparam("piece"), proposal.c.status == "Waiting"
    )
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
_INSERT = insert_into(piece)
_INSERT_CALLS = insert_into(turn_call)
_INSERT_MESSAGE = insert_into(message)


def get(tx: Tx, id: str) -> Any:
    """The piece's row. Raises NotFound."""
    row = tx.one(_GET, id=id)
    if row is None:
        raise NotFound("There is no such piece of work.")
    return row


def root_of(tx: Tx, id: str) -> str:
    """The whole a piece belongs to. Raises NotFound."""
    row = tx.one(_ROOT_OF, id=id)
    if row is None:
        raise NotFound("There is no such piece of work.")
    return str(row.root)


def insert(house: House, tx: Tx, row: Mapping[str, Any]) -> None:
    """Put a new piece in the tables, due."""
    fresh: dict[str, Any] = {
        "status": "Working",
        "run": "due",
        "fence": 0,
        "held_since": None,
        "let_go": False,
        "closing": None,
        "closing_why": "",
        "waiting_on": "",
        "waits_since": None,
        "outcome": "",
        "abandoned": False,
        "result": None,
        "turn": 0,
        "messages": 0,
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
        "opened_at": tx.now,
        "ended_at": None,
    }
    tx.run(_INSERT, **fresh, **row)
    house.wake(tx, row["id"])


def take(tx: Tx, id: str) -> Any:
    """Take a due piece: its fence goes up, and whoever held it before holds it no more. None: it is not due."""
    if tx.run(_TAKE, piece_id=id, at=tx.now) == 0:
        return None
    return get(tx, id)


def mine(tx: Tx, id: str, fence: int) -> Any:
    """The piece's row, where this run still holds it. Raises Superseded where it does not (decision 4)."""
    row = get(tx, id)
    if row.fence != fence or row.run != "held":
        raise Superseded(id)
    return row


def keep_calls(tx: Tx, calls: list[dict[str, Any]]) -> None:
    tx.many(_INSERT_CALLS, calls)


def park(house: House, tx: Tx, tree: Tree, row: Any) -> None:
    """Let go of a piece whose turn waits for legs or for people."""
    tx.run(_PARK, piece_id=row.id, none=None)
    reconsider(house, tx, tree, row.id)


def make_due(house: House, tx: Tx, tree: Tree, row: Any) -> None:
    """A parked or given-back piece may be taken. Writes a line where it had waited."""
    _check(row, Status.WORKING)
    tx.run(_DUE, piece_id=row.id, none=None)
    if row.status == "Waiting":
        tree.append(tx.now, row.id, TraceKind.RESUMED, f"{house.label(row.agent)} goes on.")
    house.wake(tx, row.id)
    if row.parent:
        reconsider(house, tx, tree, row.parent)


def answered(house: House, tx: Tx, tree: Tree, piece_id: str, subject: str, text: str, ok: bool) -> None:
    """Leave an answer on the running turn of a piece. The last one makes it due."""
    if tx.run(_ANSWERED, of=piece_id, about=subject, text=text, went_well=ok) == 0:
        return
    row = get(tx, piece_id)
    if row.run != "parked" or row.closing is not None:
        return
    if tx.one(_SOMETHING_OPEN, piece=piece_id) is None:
        make_due(house, tx, tree, row)
    else:
        reconsider(house, tx, tree, piece_id)


def reconsider(house: House, tx: Tx, tree: Tree, id: str) -> None:
    """Set a parked piece to Waiting or Working by what it is parked on, and say what for, all the way up."""
    row = get(tx, id)
    if row.run != "parked":
        return
    waits = _waits(house, tx, row)
    status = Status.WAITING if waits else Status.WORKING
    on = "; ".join(dict.fromkeys(waits or ()))
    if status == row.status and on == row.waiting_on:
        return
    if status != row.status:
        _check(row, status)
    since = (row.waits_since or tx.now) if waits else None
    tx.run(_WAITS, piece_id=id, new_status=str(status), on=on, since=since, gone=row.let_go or status is Status.WAITING)
    if status is Status.WAITING and row.status != "Waiting":
        tree.append(tx.now, id, TraceKind.WAITING, f"{house.label(row.agent)} waits for {on}.")
    if row.parent:
        reconsider(house, tx, tree, row.parent)
    elif status is Status.WAITING:
        tx.after(partial(house.bus.stands, tree.root))


def _waits(house: House, tx: Tx, row: Any) -> list[str] | None:
    """What each open call of the turn waits for; None where one of them is still under way."""
    calls = tx.all(_OPEN_CALLS, piece=row.id)
    names: dict[str, str] | None = None
    waits = []
    for call in calls:
        if call.state != "open" or (call.kind == "leg" and call.leg_status != "Waiting"):
            return None
        if call.kind == "leg":
            waits.append(f"{house.label(call.leg_agent)}, which waits for {call.leg_waiting_on}")
            continue
        if names is None:
            names = {entry.subject: entry.name for entry in tx.all(_NAMES, piece=row.id)}
            names |= {entry.subject: entry.name for entry in tx.all(_ASKED_NAMES, piece=row.id)}
        what = "a decision" if call.kind == "proposal" else "an answer"
        waits.append(f"{what} from {names.get(call.subject, 'somebody: nobody answers for it')}")
    return waits or None


def _check(row: Any, to: Status) -> None:
    current = Status(row.status)
    if to != current and to not in MOVES[current]:
        raise ValueError(f"A piece that is {current} cannot become {to}.")


def end(
    house: House,
    tx: Tx,
    tree: Tree,
    row: Any,
    status: Status,
    why: str = "",
    result: str | None = None,
) -> None:
    """End a piece: final status, nothing of it left open, no money held; the piece above is told (rules E1-E4, M3).

    Everything under it is called off first. Writes one line, one for each proposal withdrawn, and the line of the
    piece above that it came back.
    """
    _check(row, status)
    if row.handed_on and tx.one(_LIVE_CHILD, parent=row.id) is not None:
        call_off_below(
            house, tx, tree, row, f"{house.label(row.agent)} above it {ENDINGS[status]}.", at_once=row.abandoned
        )
        row = get(tx, row.id)
    branch = row.branch.split("/")
    if row.call_micros:
        money.release(tx, tree, branch, row.call_micros)
    tx.run(
        _END,
        piece_id=row.id,
        new_status=str(status),
        none=None,
        why=why,
        handed_back=result,
        at=tx.now,
    )
    label = house.label(row.agent)
    if status is not Status.DONE:
        for waiting in tx.all(_PROPOSED, piece=row.id):
            tx.run(_WITHDRAW, which=waiting.id, at=tx.now, why=f"{label} {ENDINGS[status]}.")
            tree.append(
                tx.now, row.id, TraceKind.DECIDED, f"Withdrawn, undecided: {waiting.sentence}", {"proposal": waiting.id}
            )
        tx.run(_CLOSE_QUESTIONS, of=row.id, at=tx.now)
    tx.run(FORGET_CALLS, piece=row.id)
    summary = f"{label} {ENDINGS[status]}{f': {why}' if why else '.'}"
    kind = TraceKind.ABANDONED if row.abandoned else TraceKind.ENDED
    tree.append(
        tx.now, row.id, kind, summary, {"status": str(status), "why": why, "result": result, "spent": row.own_micros}
    )
    if row.parent is None:
        tx.run(_WHOLE_ENDED, root=tree.root, at=tx.now)
        tx.after(partial(house.bus.stands, tree.root))
        house.event(
            tx, "work_abandoned" if row.abandoned else "work_ended", whole=tree.root, status=str(status), why=why
        )
        return
    above = get(tx, row.parent)
    if above.closing is not None:
        close_if_quiet(house, tx, tree, above)
    elif above.ended_at is None:
        _came_back(house, tx, tree, above, row, status, why, result)


def _came_back(
    house: House, tx: Tx, tree: Tree, above: Any, row: Any, status: Status, why: str, result: str | None
) -> None:
    label = house.label(row.agent)
    if status is Status.DONE:
        told, summary = result or "", f"{label}'s work came back to {house.label(above.agent)}."
    else:
        summary = f"{label} {ENDINGS[status]}: {why}"
        found = _found(tx, tree, row)
        told = f"{summary}\nWhat it had found: {found}" if found else summary
    tree.append(tx.now, above.id, TraceKind.CAME_BACK, summary, {"from": row.id, "status": str(status), "told": told})
    answered(house, tx, tree, above.id, row.id, told, status is Status.DONE)


def _found(tx: Tx, tree: Tree, row: Any) -> str:
    """What a piece's tools had answered: "price_per_metre answered 14.5" (rule H3)."""
    payloads = [entry.payload for entry in tx.all(_TOOL_LINES, root=tree.root, piece=row.id)]
    payloads += [
        entry["payload"] for entry in tree.waiting if entry["piece"] == row.id and entry["kind"] == TraceKind.TOOL_RAN
    ]
    ran = [json.loads(payload) for payload in payloads]
    return "; ".join(f"{tool['tool']} answered {tool['answer']}" for tool in ran if tool["ok"])


def call_off(house: House, tx: Tx, tree: Tree, row: Any, status: Status, why: str, *, at_once: bool = False) -> None:
    """Call a piece off with everything under it: what a run holds ends at its next step, the rest now (rule E4).

    `at_once` ends also what is held: for work whose process is gone.
    """
    if row.ended_at is not None:
        return
    mark_closing(tx, row, status, why)
    call_off_below(house, tx, tree, row, why, at_once=at_once)
    row = get(tx, row.id)
    if row.ended_at is None and (at_once or row.run != "held"):
        close_if_quiet(house, tx, tree, row, at_once=at_once)


def mark_closing(tx: Tx, row: Any, status: Status, why: str) -> None:
    """The final status a piece takes once it ends. Said twice, the first holds."""
    tx.run(_CLOSING, piece_id=row.id, new_status=str(status), why=why)


def give_up(tx: Tx, row: Any) -> None:
    """This piece is the one that is said to have been abandoned when it ends."""
    tx.run(_GIVEN_UP, piece_id=row.id)


def call_off_below(house: House, tx: Tx, tree: Tree, row: Any, why: str, *, at_once: bool = False) -> None:
    below = tx.all(_BELOW, root=tree.root, under=f"{row.branch}/%")
    for under in below:
        mark_closing(tx, under, Status.CANCELLED, why)
    for under in below:  # the deepest first
        now = get(tx, under.id)
        if now.ended_at is None and (at_once or now.run != "held"):
            close_if_quiet(house, tx, tree, now, at_once=at_once)


def close_if_quiet(house: House, tx: Tx, tree: Tree, row: Any, *, at_once: bool = False) -> None:
    """End a closing piece, unless something under it is still held: then that one's end ends it."""
    if row.ended_at is not None or (row.run == "held" and not at_once):
        return
    if tx.one(_LIVE_CHILD, parent=row.id) is not None:
        return
    end(house, tx, tree, row, Status(row.closing), row.closing_why)


def say(
    tx: Tx, piece_id: str, n: int, role: str, text: str, calls: str | None = None, results: str | None = None
) -> None:
    """Add a message to a piece's conversation."""
    tx.run(_INSERT_MESSAGE, piece=piece_id, n=n, role=role, text=text, calls=calls, results=results)
