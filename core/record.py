"""The record: one hash-chained trace for each whole, and the lock that orders it. The only writer of lines.

A transaction that touches a tree first takes its `Tree`: that locks the tree's row (decision 3), so lines are
numbered without gaps or forks, and whoever comes second sees what the first one did. Lines gather on the `Tree` and
are written last in the transaction, together.

A line's hash is SHA-256 over the hash of the line before and the canonical JSON of everything it says. Nothing in it
is a float.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sqlalchemy import bindparam, select, update

from core.declare.schemas import canonical, to_json
from core.errors import BadInput, NotFound
from core.signing import signed
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import line, piece, whole
from core.values import TraceKind, Verdict

GENESIS = "0" * 64
READ = 1000  # lines at once
HASHED = ("root", "n", "at", "piece", "kind", "summary")  # what a line says, in the order it is hashed
ENDS = (TraceKind.ENDED, TraceKind.ABANDONED)  # told of the top, they end the record, and its head is signed

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
    TraceKind.ANSWER_LOST: "An answer for {agent} was lost",
    TraceKind.EXPIRED: "A request of {agent} expired",
    TraceKind.HANDED_OVER: "A request of {agent} was handed over",
    TraceKind.TAKEN_OVER: "A request of {agent} was taken over",
    TraceKind.TAKEN_UP: "{agent}'s work was taken up again",
    TraceKind.REDEFINED: "{agent}'s skill was defined anew",
    TraceKind.NOT_CARRIED_OUT: "A decision on a request of {agent} was not carried out",
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
_SIGN = Statement(
    update(whole).where(whole.c.id == bindparam("root")).values(signature=bindparam("mark"), signed_by=bindparam("key"))
)
_INSERT = insert_into(line)
_NEXT = Statement(
    select(line)
    .where(line.c.root == bindparam("root"), line.c.n > bindparam("after"))
    .order_by(line.c.n)
    .limit(bindparam("most"))
)
_SOME = Statement(
    select(line)
    .where(line.c.root == bindparam("root"), line.c.n > bindparam("after"), line.c.n <= bindparam("to"))
    .order_by(line.c.n)
)
_HEAD = Statement(select(whole).where(whole.c.id == bindparam("root")))


class Tree:
    """A whole, locked for the length of this transaction."""

    __slots__ = (
        "about",
        "accounts",
        "ended",
        "given_by",
        "head",
        "lines",
        "opened_at",
        "person",
        "root",
        "signer",
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
        self.ended: bool = row.ended_at is not None
        self.signer: Signer | None = None
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
            if self.ended:
                mark = self.signer.sign(self.root, self.lines, self.head) if self.signer else None
                tx.run(_SIGN, root=self.root, mark=mark, key=self.signer.public if self.signer else None)


def hash_of(entry: Mapping[str, Any]) -> str:
    """The hash of a line, from the hash before it and what it says."""
    return hashlib.sha256(said_by(entry).encode()).hexdigest()


def said_by(entry: Mapping[str, Any]) -> str:
    """What is hashed of a line: the hash before it, what it says, and its payload, each on a row of its own."""
    return f"{entry['before']}\n{to_json([entry[name] for name in HASHED])}\n{entry['payload']}"


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


class Signer(Protocol):
    """Signs heads; see `core.signing`."""

    public: str

    def sign(self, root: str, lines: int, head: str) -> str: ...


@dataclass(frozen=True, slots=True)
class _Fault:
    at: int
    why: str


@dataclass(frozen=True, slots=True)
class Head:
    """What is kept apart from the lines: how many there are, the last one's hash, and who signed it."""

    root: str
    lines: int
    head: str
    signature: str | None
    signed_by: str | None


def verify(lines: Iterable[Mapping[str, Any]], kept: Head) -> Verdict:
    """Check a chain: every number and hash, then count, head and signature. Names the first fault.

    The record of work that has ended is signed: without a signature it does not hold.
    """
    fault: _Fault | None = None
    before, n, ended = GENESIS, 0, False
    for entry in lines:
        expected = n + 1
        if entry["n"] != expected:
            fault = _Fault(expected, f"Line {expected} is missing: line {entry['n']} follows line {n}.")
        elif entry["root"] != kept.root:
            fault = _Fault(expected, f"Line {expected} belongs to another record.")
        elif entry["before"] != before:
            why = f"Line {expected} does not follow line {n}: one of the two was put in, moved or changed."
            fault = _Fault(expected, why)
        elif hash_of(entry) != entry["hash"]:
            why = f"Line {expected} was changed after it was written: what it says does not give its hash."
            fault = _Fault(expected, why)
        if fault:
            break
        before, n = entry["hash"], expected
        ended = ended or (entry["piece"] == kept.root and entry["kind"] in ENDS)
    if fault is None and n != kept.lines:
        why = f"The record ends at line {n}, and {kept.lines} were written: its end was cut off or added to."
        fault = _Fault(min(n, kept.lines) + 1, why)
    if fault is None and before != kept.head:
        fault = _Fault(n, "The last line is not the one that was written: its hash is not the head kept with the work.")
    if fault is None and kept.signature is None and ended:
        fault = _Fault(n, "The work has ended, and the signature of its head is gone.")
    if fault is None and kept.signature is not None and not _signed(kept):
        fault = _Fault(n, "The signature does not fit the head: either was changed after the work had ended.")
    if fault:
        return Verdict(False, n, fault.at, fault.why, f"Broken at line {fault.at}.")
    proven = f"{n} lines, each following from the one before, up to the head kept with the work"
    if kept.signature is None:
        return Verdict(True, n, None, "", f"{proven}. The head is not signed.")
    return Verdict(True, n, None, "", f"{proven}, which is signed by the key {(kept.signed_by or '')[:16]}….")


def _signed(kept: Head) -> bool:
    return signed(kept.signed_by or "", kept.signature or "", kept.root, kept.lines, kept.head)


def head_of(tx: Tx, root: str) -> Head:
    row = tx.one(_HEAD, root=root)
    return Head(root, row.lines, row.head, row.signature, row.signed_by)


def verify_tree(tx: Tx, root: str, signer: Signer | None = None) -> Verdict:
    """Check a whole's record as it stands in the tables; says so where its head bears another key than `signer`'s."""
    kept = head_of(tx, root)
    verdict = verify((row._asdict() for row in _each(tx, root)), kept)
    if not verdict.intact or kept.signed_by is None or signer is None or kept.signed_by == signer.public:
        return verdict
    return replace(verdict, proven=f"{verdict.proven} That is not the key this agency signs with now.")


def _each(tx: Tx, root: str) -> Iterator[Any]:
    """Every line that is there, whatever its number, without holding a whole record."""
    rows = tx.all(_NEXT, root=root, after=-(1 << 31), most=READ)
    while rows:
        yield from rows
        rows = tx.all(_NEXT, root=root, after=rows[-1].n, most=READ) if len(rows) == READ else []


# Exporting: JSON Lines, the head first, then each line with the time as it is hashed.

FORMAT = "handon record 1"


def export(tx: Tx, root: str) -> str:
    kept = head_of(tx, root)
    return exported_head(kept) + exported_lines(tx, root, 0, kept.lines)


def exported_head(kept: Head) -> str:
    first = {
        "format": FORMAT,
        "root": kept.root,
        "lines": kept.lines,
        "head": kept.head,
        "signature": kept.signature,
        "signed_by": kept.signed_by,
    }
    return f"{to_json(first)}\n"


def exported_lines(tx: Tx, root: str, after: int, to: int) -> str:
    """The lines numbered above `after`, up to `to`: a record only grows, so parts of it fit the head read first."""
    rows = tx.all(_SOME, root=root, after=after, to=to)
    return "".join(f"{to_json(row._asdict())}\n" for row in rows)


def verify_export(text: str) -> tuple[Verdict, str | None]:
    """Check an exported record with nothing but its text; answers what was found, and the key that signed its head:
    None where it bears no signature. Raises BadInput for what is no exported record."""
    try:
        first, *entries = [json.loads(row) for row in text.splitlines() if row.strip()]
        if first["format"] != FORMAT:
            raise BadInput({"": f"This is not a record as Handon exports it: its format is {first['format']!r}."})
        kept = Head(first["root"], first["lines"], first["head"], first["signature"], first["signed_by"])
        return verify(entries, kept), kept.signed_by if kept.signature is not None else None
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput({"": f"This is not a record as Handon exports it: {type(error).__name__}: {error}."}) from None
