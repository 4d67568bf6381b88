"""The record: one hash-chained trace for each whole, and the lock that orders it. The only writer of lines.

A transaction that touches a tree first takes its `Tree`: that locks the tree's row (decision 3), so lines are
numbered without gaps or forks, and whoever comes second sees what the first one did. Lines gather on the `Tree` and
are written last in the transaction, together.

A line's hash is SHA-256 over the hash of the line before and the canonical JSON of everything it says. Nothing in it
is a float.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select, update

from core.declare.schemas import canonical, to_json
from core.errors import NotFound
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import line, piece, whole
from core.values import TraceKind, Verdict

GENESIS = "0" * 64
HASHED = ("root", "n", "at", "piece", "kind", "summary")  # what a line says, in the order it is hashed

# What a line of each kind says to somebody who may not read content (rule R8). A new kind needs its sentence here.
KINDS: Mapping[TraceKind, str] = {
    TraceKind.OPENED: "{agent} was given work",
    TraceKind.MODEL_ANSWERED: "{agent} had an answer from its model",
    TraceKind.TOOL_RAN: "{agent} used a tool",
    TraceKind.PROPOSED: "{agent} proposed a change",
    TraceKind.DECIDED: "A proposal of {agent} was decided",
    TraceKind.ASKED: "{agent} asked a person",
    TraceKind.ANSWERED: "{agent} was answered",
    TraceKind.HANDED_ON: "{agent} handed work on",
    TraceKind.CAME_BACK: "Work came back to {agent}",
    TraceKind.CONSULTED: "{agent} consulted a model",
    TraceKind.WAITING: "{agent} waits",
    TraceKind.RESUMED: "{agent} goes on",
    TraceKind.RETRIED: "{agent} tries again",
    TraceKind.RULE_USED: "{agent} used a standing rule",
    TraceKind.STOP_ASKED: "{agent} was asked to stop",
    TraceKind.ENDED: "{agent} ended",
    TraceKind.ABANDONED: "{agent} was closed as abandoned",
    TraceKind.LATE_ANSWER: "An answer for {agent} came too late",
    TraceKind.BEGUN: "{agent} began something outside",
}

# On SQLite the transaction itself is the lock (BEGIN IMMEDIATE), and FOR UPDATE is left out by its dialect.
_LOCK = Statement(select(whole).where(whole.c.id == bindparam("id")).with_for_update())
_LOCK_OF = Statement(
    select(whole)
    .where(whole.c.id == select(piece.c.root).where(piece.c.id == bindparam("piece")).scalar_subquery())
    .with_for_update()
)
_ADVANCE = Statement(
    update(whole)
    .where(whole.c.id == bindparam("root"))
    .values(lines=bindparam("count"), head=bindparam("last"), last_line_at=bindparam("at"))
)
_INSERT = insert_into(line)
_LINES = Statement(select(line).where(line.c.root == bindparam("root")).order_by(line.c.n))
_HEAD = Statement(select(whole.c.lines, whole.c.head).where(whole.c.id == bindparam("root")))


class Tree:
    """A whole, locked for the length of this transaction."""

    __slots__ = (
        "about",
        "accounts",
        "first_new",
        "given_by",
        "head",
        "lines",
        "opened_at",
        "person",
        "root",
        "waiting",
    )

    def __init__(self, row: Any) -> None:
        self.root: str = row.id
        self.person: str | None = row.person
        self.given_by: str | None = row.given_by
        self.about: str = row.about
        self.accounts: tuple[str, ...] = tuple(row.accounts.split("\n")) if row.accounts else ()
        self.lines: int = row.lines
        self.head: str = row.head
        self.opened_at: int = row.opened_at
        self.first_new = self.lines
        self.waiting: list[dict[str, Any]] = []  # lines of this transaction, not written yet

    def append(
        self, now: int, piece: str, kind: TraceKind, summary: str, payload: Mapping[str, Any] | None = None
    ) -> int:
        """Add a line; answers its number. It is written with the transaction, or not at all (rule T5)."""
        n = self.lines + 1
        text = canonical(payload or {})
        entry: dict[str, Any] = {
            "root": self.root,
            "n": n,
            "at": now,
            "piece": piece,
            "kind": str(kind),
            "summary": summary,
            "payload": text,
            "before": self.head,
        }
        entry["hash"] = hash_of(entry)
        self.waiting.append(entry)
        self.lines, self.head = n, entry["hash"]
        return n

    def _write(self, tx: Tx) -> None:
        if self.waiting:
            tx.many(_INSERT, self.waiting)
            tx.run(_ADVANCE, root=self.root, count=self.lines, last=self.head, at=tx.now)


def hash_of(entry: Mapping[str, Any]) -> str:
    """The hash of a line, from the hash before it and what it says."""
    said = to_json([entry[name] for name in HASHED])
    return hashlib.sha256(f"{entry['before']}\n{said}\n{entry['payload']}".encode()).hexdigest()


def lock(tx: Tx, root: str) -> Tree:
    """Lock a tree, once per transaction. Raises NotFound where there is none."""
    tree = tx.held.get(root)
    if tree is None:
        row = tx.one(_LOCK, id=root)
        if row is None:
            raise NotFound("There is no such work.")
        tree = hold(tx, row)
    return tree


def lock_of(tx: Tx, piece_id: str) -> Tree:
    """Lock the tree of a piece. Raises NotFound."""
    row = tx.one(_LOCK_OF, piece=piece_id)
    if row is None:
        raise NotFound("There is no such work.")
    return tx.held[row.id] if row.id in tx.held else hold(tx, row)


def hold(tx: Tx, row: Any) -> Tree:
    """A tree whose row this transaction has locked or just made."""
    tree = Tree(row)
    tx.held[tree.root] = tree
    tx.before_end(tree._write)
    return tree


def bare(kind: TraceKind, agent: str) -> str:
    """What a line says to somebody who may know that work happened, and not what was said."""
    return KINDS[kind].format(agent=agent)


@dataclass(frozen=True, slots=True)
class _Fault:
    at: int
    why: str


def verify(lines: Iterable[Any], count: int | None, head: str | None) -> Verdict:
    """Check a chain: every number, every hash, and the count and head kept apart from it. Names the first fault."""
    fault: _Fault | None = None
    before, n = GENESIS, 0
    for entry in lines:
        expected = n + 1
        if entry.n != expected:
            fault = _Fault(expected, f"Line {expected} is missing: line {entry.n} follows line {n}.")
        elif entry.before != before:
            fault = _Fault(
                entry.n, f"Line {entry.n} does not follow line {n}: one of the two was put in, moved or changed."
            )
        elif hash_of(entry._asdict()) != entry.hash:
            fault = _Fault(
                entry.n, f"Line {entry.n} was changed after it was written: what it says does not give its hash."
            )
        if fault:
            break
        before, n = entry.hash, entry.n
    if fault is None and count is not None and n != count:
        fault = _Fault(
            n + 1, f"The record ends at line {n}, and {count} were written: its end was cut off or added to."
        )
    if fault is None and head is not None and before != head:
        fault = _Fault(n, "The last line is not the one that was written: its hash is not the tree's head.")
    if fault:
        return Verdict(False, n, fault.at, fault.why, f"Broken at line {fault.at}.")
    proven = (
        f"{n} lines, each following from the one before, up to the head kept with the work. The head is not signed."
    )
    return Verdict(True, n, None, "", proven)


def verify_tree(tx: Tx, root: str) -> Verdict:
    kept = tx.one(_HEAD, root=root)
    return verify(tx.all(_LINES, root=root), kept.lines, kept.head)
