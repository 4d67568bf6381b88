"""A large whole, put into a database at once: pieces, requests, money and a record, as work would have left them.

    rows = plant(session, BIG, person=mia, cast=(("Planner", "Split"), ("Reader", "Check")), now=now)

Its chain is unbroken, its sums add up, and nothing in it stands that the engine does not write. It cannot be worked
on: there are no conversations behind it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from core import tables
from core.clock import to_micros
from core.declare.schemas import canonical
from core.ids import new_id
from core.record import GENESIS, hash_of

SECOND = 1_000_000


@dataclass(frozen=True)
class Shape:
    """How a whole branches: under the top some heads, under one of them a fan of legs of one kind, the rest spread
    evenly, and one chain as deep as `depth`."""

    pieces: int
    heads: int = 12
    fan: int = 0  # legs of one kind under the first head
    depth: int = 4
    under: int = 8  # legs of each other piece
    live: float = 0.05  # of the leaves
    waiting: int = 3  # leaves that wait for a person
    said: int = 200  # letters of what each was given


BIG = Shape(pieces=10_000, fan=4_312)
DEEP = Shape(pieces=160, heads=3, depth=120, live=0.2)


@dataclass
class Leaf:
    """One piece on its way into the table."""

    id: str
    above: Leaf | None
    kind: tuple[str, str]
    legs: list[Leaf] = field(default_factory=list)
    status: str = "Done"
    opened: int = 0
    ended: int | None = None
    own: int = 0
    tree: int = 0
    waiting_on: str = ""
    request: str = ""

    @property
    def branch(self) -> str:
        return f"{self.above.branch}/{self.id}" if self.above else self.id

    @property
    def agents(self) -> str:
        return f"{self.above.agents}/{self.kind[0]}" if self.above else self.kind[0]

    @property
    def depth(self) -> int:
        return self.above.depth + 1 if self.above else 0


def plant(
    session: Session,
    shape: Shape,
    *,
    person: UUID,
    name: str,
    cast: Sequence[tuple[str, str]],
    now: datetime,
    about: str = "A large whole",
) -> UUID:
    """Write it all; answers the id of the whole. `cast`: agents and skills that take text, the top's first, the fan's
    last."""
    draw = random.Random(shape.pieces)
    end = to_micros(now)
    pieces = _branches(shape, cast)
    _stands(pieces, shape, draw, name, end)
    lines = _record(pieces, person.hex, shape, about)
    top = pieces[0]
    whole = {
        **{"id": top.id, "person": person.hex, "given_by": person.hex, "sponsor": None, "accounts": "", "about": about},
        **{"given_key": None, "lines": len(lines), "head": lines[-1]["hash"], "signature": None, "signed_by": None},
        **{"last_line_at": lines[-1]["at"], "opened_at": top.opened, "ended_at": None},
    }
    session.execute(insert(tables.whole), [whole])
    for start in range(0, len(pieces), 500):
        session.execute(insert(tables.piece), [_row(leaf, shape, top.id) for leaf in pieces[start : start + 500]])
    for start in range(0, len(lines), 500):
        session.execute(insert(tables.line), lines[start : start + 500])
    waiting = [leaf for leaf in pieces if leaf.request]
    if waiting:
        session.execute(insert(tables.help), [_question(leaf, top.id, person.hex, end) for leaf in waiting])
        session.execute(insert(tables.turn_call), [_call(leaf, 0, "question", leaf.request) for leaf in waiting])
    open_legs = [
        _call(leaf, n, "leg", leg.id)
        for leaf in pieces
        for n, leg in enumerate(one for one in leaf.legs if one.ended is None)
    ]
    for start in range(0, len(open_legs), 500):
        session.execute(insert(tables.turn_call), open_legs[start : start + 500])
    return UUID(hex=top.id)


def _branches(shape: Shape, cast: Sequence[tuple[str, str]]) -> list[Leaf]:
    top = Leaf(new_id(), None, cast[0])
    pieces = [top]

    def add(above: Leaf, kind: tuple[str, str]) -> Leaf:
        leaf = Leaf(new_id(), above, kind)
        above.legs.append(leaf)
        pieces.append(leaf)
        return leaf

    others = cast[1:] or cast
    heads = [add(top, others[n % len(others)]) for n in range(min(shape.heads, shape.pieces - 1))]
    at = heads[-1]
    while at.depth < shape.depth - 1 and len(pieces) < shape.pieces:
        at = add(at, others[0])
    for _ in range(min(shape.fan, shape.pieces - len(pieces))):
        add(heads[0], cast[-1])
    level = heads[1:] or heads
    while len(pieces) < shape.pieces:
        below: list[Leaf] = []
        for above in level:
            for n in range(min(shape.under, shape.pieces - len(pieces))):
                below.append(add(above, others[n % len(others)]))
        level = below
    return pieces


def _stands(pieces: list[Leaf], shape: Shape, draw: random.Random, name: str, end: int) -> None:
    """How each stands, from the leaves up, with its money and its times."""
    leaves = [leaf for leaf in pieces if not leaf.legs]
    live = draw.sample(leaves, max(shape.waiting, int(len(leaves) * shape.live)))
    asks = set(map(id, live[: shape.waiting]))
    goes_on = set(map(id, live))
    begun = end - (len(pieces) + 600) * SECOND
    for n, leaf in enumerate(pieces):
        leaf.opened = begun + n * SECOND
        leaf.own = draw.randrange(50, 900)
    for leaf in reversed(pieces):
        leaf.tree = leaf.own + sum(leg.tree for leg in leaf.legs)
        open_legs = [leg for leg in leaf.legs if leg.ended is None]
        if id(leaf) in asks:
            leaf.status, leaf.waiting_on, leaf.request = "Waiting", f"an answer from {name}", new_id()
        elif open_legs and all(leg.status == "Waiting" for leg in open_legs):
            words = dict.fromkeys(f"{leg.kind[0]}, which waits for {leg.waiting_on}" for leg in open_legs)
            leaf.status, leaf.waiting_on = "Waiting", "; ".join(words)
        elif open_legs or id(leaf) in goes_on or leaf.above is None:
            leaf.status = "Working"
        else:
            leaf.status = draw.choices(("Done", "Failed", "Stopped", "Cancelled"), (94, 3, 1, 2))[0]
            latest = max((leg.ended or 0 for leg in leaf.legs), default=leaf.opened)
            leaf.ended = min(end - SECOND, latest + draw.randrange(2, 400) * SECOND)


def _row(leaf: Leaf, shape: Shape, root: str) -> dict[str, Any]:
    parked = bool([leg for leg in leaf.legs if leg.ended is None]) or leaf.status == "Waiting"
    ended = leaf.ended is not None
    why = {"Failed": "It failed 2 times in a row.", "Stopped": "Its money ran out.", "Cancelled": "It was called off."}
    return {
        **{"id": leaf.id, "root": root, "parent": leaf.above.id if leaf.above else None, "depth": leaf.depth},
        **{"branch": leaf.branch, "agents": leaf.agents, "agent": leaf.kind[0], "skill": leaf.kind[1]},
        **{"skill_version": "0" * 16, "skill_version_now": "0" * 16, "helper": False},
        **{"input": json.dumps("x" * shape.said), "status": leaf.status, "due_at": None, "fence": 1},
        **{"run": "ended" if ended else "parked" if parked else "held", "let_go": leaf.status == "Waiting"},
        **{"held_since": None if ended or parked else leaf.opened + SECOND, "closing": None, "closing_why": ""},
        **{"waiting_on": leaf.waiting_on, "waits_since": leaf.opened + 9 * SECOND if leaf.waiting_on else None},
        **{"waited": 0, "outcome": why.get(leaf.status, ""), "abandoned": False, "takeovers": 0, "tries": 0},
        **{"result": json.dumps({"text": "found", "number": 1}) if leaf.status == "Done" else None, "turn": 1},
        **{"messages": 2, "begins_after": 0, "tokens": 100, "model_calls": 1, "handed_on": len(leaf.legs)},
        **{"levels_left": 200, "failed_in_row": 0, "consulted_stuck": False, "same_calls": 1, "last_calls": ""},
        **{"limit_micros": 100_000_000, "own_micros": leaf.own, "tree_micros": leaf.tree, "reserved_micros": 0},
        **{"call_micros": 0, "period_accounts": "", "opened_at": leaf.opened, "ended_at": leaf.ended},
    }


def _record(pieces: list[Leaf], person: str, shape: Shape, about: str) -> list[dict[str, Any]]:
    """What happened, in its order, as one chain."""
    top = pieces[0]
    told: list[tuple[int, str, str, str, dict[str, Any]]] = []
    for leaf in pieces:
        agent, skill = leaf.kind
        given = json.dumps("x" * shape.said)
        if leaf.above is None:
            payload: dict[str, Any] = {"input": given, "limit": 100_000_000, "person": person, "given_by": person}
            told.append((leaf.opened, leaf.id, "opened", f"{agent} was given {skill}: {about}", payload))
        else:
            above = leaf.above
            payload = {"to": leaf.id, "agent": agent, "skill": skill, "input": given, "limit": 100_000_000}
            told.append((leaf.opened, above.id, "handed on", f"{above.kind[0]} handed {skill} on to {agent}.", payload))
        answer = {"model": "Everyday", "micros": leaf.own, "tokens_in": 100, "tokens_out": 20, "tokens_cached": 0}
        words = f"{agent} had an answer from Everyday: 100 tokens in, 20 out."
        told.append((leaf.opened + SECOND, leaf.id, "model answered", words, {**answer, "said": "", "calls": []}))
        if leaf.request:
            payload = {"question": leaf.request}
            told.append((leaf.opened + 9 * SECOND, leaf.id, "asked", f"{agent} asked: Which?", payload))
        if leaf.waiting_on:
            words = f"{agent} waits for {leaf.waiting_on}."
            told.append((leaf.opened + 9 * SECOND, leaf.id, "waiting", words, {}))
        if leaf.ended is not None:
            payload = {"status": leaf.status, "why": "", "result": None, "spent": leaf.own}
            told.append((leaf.ended, leaf.id, "ended", f"{agent} ended.", payload))
            if leaf.above is not None:
                words = f"{agent}'s work came back to {leaf.above.kind[0]}."
                payload = {"from": leaf.id, "status": leaf.status, "told": ""}
                told.append((leaf.ended, leaf.above.id, "came back", words, payload))
    told.sort(key=lambda entry: entry[0])
    lines: list[dict[str, Any]] = []
    before = GENESIS
    for n, (at, piece, kind, summary, payload) in enumerate(told, 1):
        line = {"root": top.id, "n": n, "at": at, "piece": piece, "kind": kind, "summary": summary}
        line |= {"payload": canonical(payload), "before": before}
        before = line["hash"] = hash_of(line)
        lines.append(line)
    return lines


def _question(leaf: Leaf, root: str, person: str, now: int) -> dict[str, Any]:
    return {
        **{"id": leaf.request, "root": root, "piece": leaf.id, "agent": leaf.kind[0], "help_from": "Person"},
        **{"why": "Chosen", "asked_model": "", "question": "Which?", "context": "", "choices": "[]"},
        **{"through": "/".join(reversed(leaf.agents.split("/"))), "asked_of": person, "answer": "", "declined": False},
        **{"status": "Waiting", "answered_by": None, "answered_at": None, "cost_micros": 0},
        **{"asked_at": min(now, leaf.opened + 9 * SECOND), "deadline": None},
    }


def _call(leaf: Leaf, position: int, kind: str, subject: str) -> dict[str, Any]:
    return {
        **{"piece": leaf.id, "position": position, "call_id": f"call-1-{position}", "name": kind, "kind": kind},
        **{"state": "open", "subject": subject, "arguments": "{}", "answer": None, "ok": False},
    }


def _tell(session: Session, root: UUID, piece: str, now: datetime, kind: str, words: str, payload: Any) -> None:
    """One more line of the record."""
    whole = tables.whole.c
    head = session.execute(select(tables.whole).where(whole.id == root.hex).with_for_update()).one()
    line: dict[str, Any] = {"root": root.hex, "n": head.lines + 1, "at": to_micros(now), "piece": piece, "kind": kind}
    line |= {"summary": words, "payload": canonical(payload), "before": head.head}
    line["hash"] = hash_of(line)
    session.execute(insert(tables.line), [line])
    values = {"lines": line["n"], "head": line["hash"], "last_line_at": line["at"]}
    session.execute(update(tables.whole).where(whole.id == root.hex).values(values))


def grow(session: Session, root: UUID, above: UUID, now: datetime) -> UUID:
    """One more leg of a piece that goes on; answers its id."""
    row = session.execute(select(tables.piece).where(tables.piece.c.id == above.hex)).one()._mapping
    id = new_id()
    fresh = {"id": id, "parent": above.hex, "depth": row["depth"] + 1, "branch": f"{row['branch']}/{id}"}
    fresh |= {"agents": f"{row['agents']}/{row['agent']}", "opened_at": to_micros(now), "handed_on": 0}
    fresh |= {"status": "Working", "run": "held", "waiting_on": "", "waits_since": None, "let_go": False}
    fresh |= {"own_micros": 0, "tree_micros": 0, "model_calls": 0, "held_since": to_micros(now)}
    session.execute(insert(tables.piece), [{**row, **fresh}])
    session.execute(update(tables.piece).where(tables.piece.c.id == above.hex).values(handed_on=row["handed_on"] + 1))
    payload = {"to": id, "agent": row["agent"], "skill": row["skill"], "input": "", "limit": 100_000_000}
    _tell(session, root, above.hex, now, "handed on", f"{row['agent']} handed {row['skill']} on.", payload)
    return UUID(hex=id)


def touch(session: Session, root: UUID, piece: UUID, now: datetime) -> None:
    """One more answer of a piece's model, with what it cost, as a line of the record and in the sums above it."""
    row = session.execute(select(tables.piece).where(tables.piece.c.id == piece.hex)).one()
    answer = {"model": "Everyday", "micros": 100, "tokens_in": 100, "tokens_out": 20, "tokens_cached": 0}
    words = f"{row.agent} had an answer from Everyday: 100 tokens in, 20 out."
    _tell(session, root, piece.hex, now, "model answered", words, {**answer, "said": "", "calls": []})
    above, own = row.branch.split("/"), tables.piece.c
    spent = {"own_micros": own.own_micros + 100, "model_calls": own.model_calls + 1, "turn": own.turn + 1}
    session.execute(update(tables.piece).where(own.id.in_(above)).values(tree_micros=own.tree_micros + 100))
    session.execute(update(tables.piece).where(own.id == piece.hex).values(spent))
