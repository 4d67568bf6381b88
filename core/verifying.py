"""Reading every record again (rule T3), a little at a time, so that neither memory nor the work under way suffers.

A verification is a row: it says how far it has come and what was found, so it goes on after a restart, every process
sees it, and a page never says more than was read. Each whole is read in one snapshot. Two processes that go on at the
same time do no harm: the second one's step is dropped.

Its weakness: a whole that was taken away with its record leaves no gap that it could see. Only an anchor outside this
database would, and there is none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import and_, bindparam, func, or_, select, update

from core import ids, record
from core.house import House
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import verification, whole

STEP = 2000  # lines that one step reads, and at least one whole record
WORKS = 200  # records of one step
KEYS = 3  # that are named

_BEGIN = insert_into(verification)
_OPEN = Statement(
    select(verification).where(verification.c.ended_at.is_(None)).order_by(verification.c.begun_at).limit(1)
)
_THERE = Statement(select(func.count().label("works")).select_from(whole))
_NEXT = Statement(
    select(whole.c.id, whole.c.lines, whole.c.opened_at, whole.c.signature, whole.c.signed_by)
    .where(
        whole.c.opened_at <= bindparam("begun"),
        or_(
            whole.c.opened_at > bindparam("after"),
            and_(whole.c.opened_at == bindparam("after"), whole.c.id > bindparam("than")),
        ),
    )
    .order_by(whole.c.opened_at, whole.c.id)
    .limit(WORKS)
)
_FIELDS = ("after_at", "after_root", "works", "lines", "signed", "by_other_key", "keys", "broken")
_FOUND = ("first_root", "first_line", "first_why", "ended_at")
_GO_ON = Statement(
    update(verification)
    .where(
        verification.c.id == bindparam("check"),
        verification.c.after_root == bindparam("from_root"),
        verification.c.ended_at.is_(None),
    )
    .values({name: bindparam(f"new_{name}") for name in (*_FIELDS, *_FOUND)})
)


@dataclass(frozen=True, slots=True)
class Step:
    """How far a verification has come, and how far it had come before."""

    id: str
    came_from: str
    begun_at: int
    after_at: int
    after_root: str
    works: int
    lines: int
    signed: int
    by_other_key: int
    keys: str
    broken: int
    first_root: str | None
    first_line: int | None
    first_why: str
    over: bool = False


def begin(tx: Tx, by: str | None) -> None:
    """Have every record that is there now read again. Where that is under way already it goes on: nothing begins."""
    if tx.one(_OPEN) is not None:
        return
    tx.run(
        _BEGIN,
        id=ids.new_id(),
        asked_by=by,
        begun_at=tx.now,
        ended_at=None,
        after_at=-1,
        after_root="",
        of_works=tx.one(_THERE).works,
        works=0,
        lines=0,
        signed=0,
        by_other_key=0,
        keys="",
        broken=0,
        first_root=None,
        first_line=None,
        first_why="",
    )


def read_on(house: House, tx: Tx, lines: int = STEP) -> Step | None:
    """Read the next records of the verification under way, about so many lines; None where none is. Writes nothing."""
    row = tx.one(_OPEN)
    if row is None:
        return None
    so_far: dict[str, Any] = {name: getattr(row, name) for name in (*_FIELDS, *_FOUND[:-1])}
    step = Step(id=row.id, came_from=row.after_root, begun_at=row.begun_at, **so_far)
    todo = tx.all(_NEXT, begun=row.begun_at, after=row.after_at, than=row.after_root)
    for of in todo:
        if step.lines - row.lines >= lines:
            return step
        step = _read(house, tx, step, of)
    return step if len(todo) == WORKS else replace(step, over=True)


def _read(house: House, tx: Tx, step: Step, of: Any) -> Step:
    verdict = record.verify_tree(tx, of.id)
    step = replace(
        step, after_at=of.opened_at, after_root=of.id, works=step.works + 1, lines=step.lines + verdict.lines
    )
    if not verdict.intact:
        first = (
            step
            if step.first_root
            else replace(step, first_root=of.id, first_line=verdict.broken_at, first_why=verdict.why)
        )
        return replace(first, broken=step.broken + 1)
    if of.signature is None:
        return step
    other = house.signer is not None and of.signed_by != house.signer.public
    keys = step.keys.split("\n") if step.keys else []
    if of.signed_by not in keys and len(keys) < KEYS:
        keys.append(of.signed_by)
    return replace(step, signed=step.signed + 1, by_other_key=step.by_other_key + other, keys="\n".join(keys))


def keep(tx: Tx, step: Step) -> bool:
    """Write a step down; False where another process was first."""
    values = {f"new_{name}": getattr(step, name) for name in (*_FIELDS, *_FOUND[:-1])}
    done = tx.run(_GO_ON, check=step.id, from_root=step.came_from, new_ended_at=tx.now if step.over else None, **values)
    return done == 1
