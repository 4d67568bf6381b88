"""The outline of a whole: which pieces there are, how each stands, and how many stand how below it.

Read once, narrow, and then kept up to date by whoever follows the whole: a change costs what it touches and the
pieces above it, whatever the size of the whole. It holds no content, and nothing of it is shown as it is: rows are
made from it and from the receipts of the pieces that are shown (`rows`).

Weakness: reading it takes time that grows with the whole, about a tenth of a second for 10,000 pieces.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select

from core.sql import Statement
from core.store import Tx
from core.tables import piece
from core.values import Stand, Status

GROUPED = 20  # legs of one kind of a piece, after which they are one row
STANDS = tuple(Stand)
_PLACE = {stand: n for n, stand in enumerate(STANDS)}
_FINAL: dict[str, Stand] = {
    Status.DONE: Stand.DONE,
    Status.FAILED: Stand.FAILED,
    Status.STOPPED: Stand.STOPPED,
    Status.CANCELLED: Stand.OFF,
}
AT_ONCE = 100  # pieces that one statement reads

_narrow: Any = select(
    piece.c.id,
    piece.c.parent,
    piece.c.depth,
    piece.c.agent,
    piece.c.skill,
    piece.c.status,
    piece.c.closing,
    piece.c.abandoned,
    piece.c.own_micros,
    piece.c.waiting_on.like("%, which waits for %").label("below"),
)
_ALL = Statement(
    _narrow.where(piece.c.root == bindparam("root")).order_by(piece.c.depth, piece.c.opened_at, piece.c.id)
)
_ids: list[Any] = [bindparam(f"id{n}") for n in range(AT_ONCE)]
_SOME = Statement(_narrow.where(piece.c.id.in_(_ids)).order_by(piece.c.depth, piece.c.opened_at, piece.c.id))


def in_hundreds(tx: Tx, statement: Statement, ids: Collection[str], **params: Any) -> Iterator[Any]:
    """The rows of a statement that takes a hundred ids, for however many there are."""
    listed = list(ids)
    for start in range(0, len(listed), AT_ONCE):
        some = listed[start : start + AT_ONCE]
        padded = some + [some[0]] * (AT_ONCE - len(some))
        yield from tx.all(statement, **{f"id{n}": id for n, id in enumerate(padded)}, **params)


def group_of(parent: str, agent: str, skill: str) -> str:
    """The key of all legs of one kind of a piece."""
    return f"{parent}~{agent}.{skill}"


def mark_of(key: str) -> str:
    """Six digits for a row, with which a stream is told that it is shown. Two rows may have the same, seldom; then one
    is sent that is not there, which does no harm."""
    return f"{zlib.crc32(key.encode()):08x}"[:6] if "~" in key else key[-6:]


@dataclass(slots=True)
class Bare:
    """One piece, as far as its branch needs it."""

    id: str
    parent: str | None
    depth: int
    agent: str
    skill: str
    at: int  # its place among all legs of its parent, from 0
    at_kind: int  # among those of its kind
    base: Stand  # as its own receipt has it
    stand: Stand  # as it counts
    own_micros: int

    @property
    def kind(self) -> tuple[str, str]:
        return self.agent, self.skill


class Outline:
    """Every piece of one whole. `put` keeps it true."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.of: dict[str, Bare] = {}
        self.legs: dict[str, list[str]] = {}
        self.kinds: dict[str, dict[tuple[str, str], list[str]]] = {}
        self.live: dict[str, dict[str, None]] = {}  # legs that go on, in their order
        self.below: dict[str, list[int]] = {}  # by piece: how many below stand how, in the order of STANDS
        self._groups: dict[str, list[int]] = {}  # by group, once asked for: its legs and everything below them
        self._spent: dict[str, int] = {}  # by group, likewise
        self._entries: dict[str, tuple[int, list[str]]] = {}  # by piece: how many legs it had, and its rows
        self.going = 0

    # Being kept up to date

    def put(self, row: Any, yours: Collection[str], held: Collection[str] = ()) -> None:
        """A piece that is new, or has changed."""
        base = _stand(row, yours, held)
        known = self.of.get(row.id)
        if known is None:
            self._add(row, base)
            return
        if row.own_micros != known.own_micros:
            self._spend(known, row.own_micros - known.own_micros)
        known.base = base
        self._settle(known)

    def _add(self, row: Any, base: Stand) -> None:
        at, at_kind = 0, 0
        if row.parent is not None:
            legs = self.legs.setdefault(row.parent, [])
            alike = self.kinds.setdefault(row.parent, {}).setdefault((row.agent, row.skill), [])
            at, at_kind = len(legs), len(alike)
            legs.append(row.id)
            alike.append(row.id)
        bare = Bare(row.id, row.parent, row.depth, row.agent, row.skill, at, at_kind, base, base, 0)
        self.of[row.id] = bare
        self.going += not base.final
        self._count(bare, None, base)
        self._spend(bare, row.own_micros)
        self._tell_above(bare)

    def _settle(self, bare: Bare) -> None:
        """A piece that works while legs of its own go on waits for them."""
        now = bare.base
        if now is Stand.WORKING and self.live.get(bare.id):
            now = Stand.AGENT
        if now is bare.stand:
            return
        was, bare.stand = bare.stand, now
        self.going += was.final - now.final
        self._count(bare, was, now)
        if was.final != now.final:
            self._tell_above(bare)

    def _tell_above(self, bare: Bare) -> None:
        if bare.parent is None:
            return
        live = self.live.setdefault(bare.parent, {})
        if bare.stand.final:
            live.pop(bare.id, None)
        else:
            live[bare.id] = None
        self._settle(self.of[bare.parent])

    def _count(self, bare: Bare, was: Stand | None, now: Stand) -> None:
        for counts in self._sums_over(bare):
            counts[_PLACE[now]] += 1
            if was is not None:
                counts[_PLACE[was]] -= 1

    def _sums_over(self, bare: Bare) -> Iterator[list[int]]:
        while bare.parent is not None:
            group = self._groups.get(group_of(bare.parent, bare.agent, bare.skill)) if self._groups else None
            if group is not None:
                yield group
            yield self.below.setdefault(bare.parent, [0] * len(STANDS))
            bare = self.of[bare.parent]

    def _spend(self, bare: Bare, more: int) -> None:
        bare.own_micros += more
        at: Bare | None = bare if self._spent else None
        while at is not None and at.parent is not None:
            key = group_of(at.parent, at.agent, at.skill)
            if key in self._spent:
                self._spent[key] += more
            at = self.of[at.parent]

    # Being asked

    def entries(self, key: str) -> list[str]:
        """The rows right under a branch: legs, and groups of legs, in the order of the first of each."""
        if "~" in key:
            return self.members(key)
        legs = self.legs.get(key, [])
        kept = self._entries.get(key)
        if kept is not None and kept[0] == len(legs):
            return kept[1]
        found: list[tuple[int, str]] = []
        for (agent, skill), alike in self.kinds.get(key, {}).items():
            if len(alike) > GROUPED:
                found.append((self.of[alike[0]].at, group_of(key, agent, skill)))
            else:
                found += [(self.of[id].at, id) for id in alike]
        made = [id for _, id in sorted(found)]
        self._entries[key] = len(legs), made
        return made

    def members(self, group: str) -> list[str]:
        parent, _, kind = group.partition("~")
        agent, _, skill = kind.partition(".")
        return self.kinds.get(parent, {}).get((agent, skill), [])

    def branch_of(self, id: str) -> str | None:
        """The branch whose row it stands under: the piece above it, or the group that it is one of."""
        bare = self.of[id]
        if bare.parent is None:
            return None
        if len(self.kinds[bare.parent][bare.kind]) > GROUPED:
            return group_of(bare.parent, bare.agent, bare.skill)
        return bare.parent

    def above(self, key: str) -> str | None:
        """The branch that a row stands under; of a group the piece whose legs they are."""
        return key.partition("~")[0] if "~" in key else self.branch_of(key)

    def path(self, key: str) -> list[str]:
        """The rows from the top down to that one, itself included."""
        found = []
        at: str | None = key
        while at is not None:
            found.append(at)
            at = self.above(at)
        return found[::-1]

    def place(self, key: str) -> tuple[int, int]:
        """Its place among its siblings, from 1, and how many they are."""
        branch = self.above(key)
        if branch is None:
            return 1, 1
        entries = self.entries(branch)
        place = self.of[key].at_kind if "~" in branch else entries.index(key)
        return place + 1, len(entries)

    def counts(self, key: str) -> tuple[tuple[Stand, int], ...]:
        """How many below stand how, the most urgent first; of a group its own legs too."""
        found = self._group(key) if "~" in key else self.below.get(key, [])
        return tuple((stand, number) for stand, number in zip(STANDS, found, strict=False) if number)

    def spent(self, group: str) -> int:
        self._group(group)
        return self._spent[group]

    def _group(self, key: str) -> list[int]:
        if key not in self._groups:
            counts, spent = [0] * len(STANDS), 0
            for id in self.members(key):
                counts[_PLACE[self.of[id].stand]] += 1
                for n, number in enumerate(self.below.get(id, ())):
                    counts[n] += number
            for id in self.under(self.members(key)):
                spent += self.of[id].own_micros
            self._groups[key], self._spent[key] = counts, spent
        return self._groups[key]

    def under(self, ids: Iterable[str]) -> Iterator[str]:
        """Those pieces and everything below them."""
        todo = list(ids)
        while todo:
            id = todo.pop()
            yield id
            todo.extend(self.legs.get(id, ()))

    def going_under(self, id: str) -> Iterator[str]:
        """The piece and everything below it that goes on."""
        todo = [id]
        while todo:
            at = todo.pop()
            yield at
            todo.extend(self.live.get(at, ()))

    def final(self, key: str) -> bool:
        """Whether a piece has ended; of a group, whether all its legs have."""
        if "~" in key:
            return all(self.of[id].stand.final for id in self.members(key))
        return self.of[key].stand.final

    def find(self, name: str) -> str | None:
        """The branch that a key from an address names, whole or by the last eight digits of its id."""
        id, mark, kind = name.partition("~")
        if id not in self.of:
            if len(id) != 8:
                return None
            found = next((known for known in self.of if known.endswith(id)), None)
            if found is None:
                return None
            id = found
        key = f"{id}{mark}{kind}"
        return key if not mark or self.members(key) else None


def read(tx: Tx, root: str, yours: Collection[str], held: Collection[str]) -> Outline:
    """The outline of a whole as it stands. `yours`: pieces whose requests wait for the reader; `held`: those for which
    somebody has decided, so that they wait for nobody."""
    outline = Outline(root)
    rows = tx.all(_ALL, root=root)
    for row in rows:
        bare = Bare(row.id, row.parent, row.depth, row.agent, row.skill, 0, 0, _stand(row, yours, held), Stand.DONE, 0)
        bare.own_micros = row.own_micros
        outline.of[row.id] = bare
        if row.parent is not None:
            legs = outline.legs.setdefault(row.parent, [])
            alike = outline.kinds.setdefault(row.parent, {}).setdefault(bare.kind, [])
            bare.at, bare.at_kind = len(legs), len(alike)
            legs.append(row.id)
            alike.append(row.id)
            if not bare.base.final:
                outline.live.setdefault(row.parent, {})[row.id] = None
    for bare in reversed(outline.of.values()):  # legs come after their parent, so each is summed up before it is told
        bare.stand = Stand.AGENT if bare.base is Stand.WORKING and outline.live.get(bare.id) else bare.base
        outline.going += not bare.stand.final
        if bare.parent is None:
            continue
        sums = outline.below.setdefault(bare.parent, [0] * len(STANDS))
        sums[_PLACE[bare.stand]] += 1
        own = outline.below.get(bare.id)
        if own is not None:
            for n, number in enumerate(own):
                sums[n] += number
    return outline


def catch_up(tx: Tx, outline: Outline, ids: Collection[str], yours: Collection[str], held: Collection[str]) -> None:
    """Read those pieces anew, and what they hang under."""
    wanted = set(ids)
    for id in ids:
        at = outline.of.get(id)
        while at is not None and at.parent is not None and at.parent not in wanted:
            wanted.add(at.parent)
            at = outline.of[at.parent]
    for row in sorted(in_hundreds(tx, _SOME, sorted(wanted)), key=lambda row: row.depth):
        if row.parent is None or row.parent in outline.of:
            outline.put(row, yours, held)


def _stand(row: Any, yours: Collection[str], held: Collection[str]) -> Stand:
    if row.abandoned:
        return Stand.ABANDONED
    ended = _FINAL.get(row.status)
    if ended is not None:
        return ended
    if row.closing is not None:
        return Stand.STOPPING
    if row.id in yours:
        return Stand.YOURS
    if row.status == Status.WAITING:
        if row.id in held:
            return Stand.WORKING
        return Stand.AGENT if row.below else Stand.PERSON
    return Stand.WORKING
