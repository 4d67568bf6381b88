"""The rows of a whole that a page shows, and those of them that a change can be seen in.

A page opens with the way to everything that needs somebody, the first two levels, and what is under way, as far as
FIRST rows go; what has ended is closed. Branches that were opened by hand come after that, up to MOST rows: past
them, the branch that has ended and is farthest from the one opened last closes itself. The filter and what is looked
for choose pieces here, so that what is left out can be counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, or_, select

from core.asking import held
from core.house import House
from core.reading import outline as outlines
from core.reading.decided import decided
from core.reading.outline import Outline, in_hundreds
from core.reading.reader import Reader, skill_label, whole_of
from core.reading.requests import for_you
from core.reading.works import NODE, node_of
from core.sql import Statement
from core.store import Tx
from core.tables import help, piece, proposal
from core.values import Stand, TreeAsk, TreePage, TreeRest, TreeRow, TreeShow

FIRST = 200  # rows that a page opens with
MOST = 1000  # rows of a page
SMALL = 40  # pieces: so few are shown whole
OPENED = 50  # branches that an address opens
FOUND = 500  # pieces that a search finds

_ids: list[Any] = [bindparam(f"id{n}") for n in range(outlines.AT_ONCE)]
_NODES = Statement(select(*(piece.c[name] for name in NODE)).where(piece.c.id.in_(_ids)))
_ASKED = tuple(
    Statement(
        select(table.c.piece)
        .where(table.c.root == bindparam("root"), table.c.status == "Waiting", *more)
        .order_by(table.c.asked_at, table.c.id)
    )
    for table, more in (
        (proposal, (proposal.c.decided_at.is_(None), held.not_held(proposal))),
        (help, (help.c.help_from == "Person", held.not_held(help))),
    )
)


def _like(*columns: Any) -> Any:
    return or_(*(column.ilike(bindparam("text"), escape="!") for column in columns))


def _texts(*columns: Any) -> Statement:
    return Statement(
        select(piece.c.id)
        .where(piece.c.root == bindparam("root"), _like(*columns))
        .order_by(piece.c.opened_at, piece.c.id)
        .limit(FOUND)
    )


_SAID = _texts(piece.c.waiting_on)
_SAID_AND_CONTENT = _texts(piece.c.waiting_on, piece.c.input, piece.c.outcome, piece.c.result)


def yours_of(tx: Tx, reader: Reader, root: str) -> set[str]:
    """The pieces of a whole whose requests wait for the reader."""
    return {where for of, where in for_you(tx, reader) if of == root}


def asked_of(tx: Tx, root: str) -> list[str]:
    """The pieces of a whole that wait for a person themselves, those that asked first before the others. What was
    decided and is held waits for nobody (rule P5)."""
    return list(dict.fromkeys(row.piece for statement in _ASKED for row in tx.all(statement, root=root)))


def tree_page(house: House, tx: Tx, reader: Reader, id: str, ask: TreeAsk) -> TreePage:
    """What a page shows of a whole. What is looked for is sought in the names, in whom a piece waits for, and, for
    those who may read it, in the content (rule R8)."""
    of = whole_of(tx, reader, id)
    by = decided(tx, of.id).pieces
    outline = outlines.read(tx, of.id, yours_of(tx, reader, of.id), by)
    asked = [piece for piece in asked_of(tx, of.id) if piece in outline.of]
    usual: TreeShow = "going" if len(outline.of) > FIRST and not outline.final(of.id) else "all"
    show = ask.show or usual
    found = _look_for(house, tx, reader, of, outline, ask.find) if ask.find else None
    layout = _Layout(outline, show, found, asked, _opened(outline, ask), _named(outline, ask.shut))
    if ask.chosen is not None and ask.chosen.hex in outline.of and found is None:
        layout.lead_to(ask.chosen.hex)
    layout.lay()
    maker = Maker(house, tx, of, reader, outline, by)
    keys = [placed[0] for placed in layout.rows if placed[1] is not None]
    made = maker.rows({key: level for key, level, _ in layout.rows if level is not None}, layout.parents, found or ())
    rows: list[TreeRow | TreeRest] = []
    for key, level, rest in layout.rows:
        rows.append(made[key] if level is not None else _rest(house, outline, layout, key, rest))
    return TreePage(
        rows=tuple(rows),
        show=show,
        usual=usual,
        find=ask.find,
        pieces=len(outline.of),
        going=outline.going,
        needs=len(asked),
        matches=len(found or ()),
        shown=frozenset(keys),
        complete=sum(1 for key in keys if "~" not in key) == len(outline.of),
        closed=tuple(_label(house, outline, key) for key in layout.dropped),
        opened=layout.kept,
    )


def _rest(house: House, outline: Outline, layout: _Layout, key: str, rest: tuple[int, int, int, int]) -> TreeRest:
    level, shown, more, finished = rest
    total = len(outline.entries(key))
    window = min(MOST - FIRST, (layout.windows.get(key, 0) or shown) + FIRST)
    return TreeRest(key, _label(house, outline, key), level, shown, min(more, FIRST), total, finished, window)


def _label(house: House, outline: Outline, key: str) -> str:
    if "~" in key:
        agent, _, skill = key.partition("~")[2].partition(".")
        return f"{house.label(agent)}, {skill_label(house, agent, skill).lower()}"
    bare = outline.of[key]
    return f"{house.label(bare.agent)}, {skill_label(house, bare.agent, bare.skill).lower()}"


def _opened(outline: Outline, ask: TreeAsk) -> list[tuple[str, int]]:
    found = {}
    for name, window in ask.opened[-OPENED:]:
        key = outline.find(name)
        if key is not None:
            found[key] = max(1, min(window or FIRST, MOST - FIRST))
    return list(found.items())


def _named(outline: Outline, names: Iterable[str]) -> set[str]:
    return {key for name in list(names)[-OPENED:] if (key := outline.find(name)) is not None}


def _look_for(house: House, tx: Tx, reader: Reader, of: Any, outline: Outline, text: str) -> set[str]:
    wanted = text.strip().lower()
    kinds: dict[tuple[str, str], bool] = {}
    found: set[str] = set()
    for bare in outline.of.values():
        if bare.kind not in kinds:
            named = f"{house.label(bare.agent)}, {skill_label(house, bare.agent, bare.skill)}".lower()
            kinds[bare.kind] = wanted in named or wanted in named.replace(",", "")
        if kinds[bare.kind] or (len(wanted) >= 8 and wanted.replace("-", "") in bare.id):
            found.add(bare.id)
    escaped = "".join(f"!{letter}" if letter in "!%_" else letter for letter in wanted)
    statement = _SAID_AND_CONTENT if reader.content(of) else _SAID
    found.update(row.id for row in tx.all(statement, root=of.id, text=f"%{escaped}%") if row.id in outline.of)
    return found


class _Layout:
    """Which rows there are, in their order."""

    def __init__(
        self,
        outline: Outline,
        show: TreeShow,
        found: set[str] | None,
        asked: Sequence[str],
        opened: list[tuple[str, int]],
        shut: set[str],
    ) -> None:
        self.outline = outline
        self.show = show
        self.found = found
        self.asked = asked
        self.windows = dict(opened)
        self.shut = shut - set(self.windows)
        self.rows: list[tuple[str, int | None, tuple[int, int, int, int]]] = []  # of a rest: the branch, and no level
        self.parents: set[str] = set()  # branches that are open
        self.dropped: list[str] = []
        self.leading: list[str] = []
        self._room = FIRST
        self._on_the_way: set[str] = set()

    @property
    def kept(self) -> tuple[tuple[str, int], ...]:
        return tuple(self.windows.items())

    def lead_to(self, key: str) -> None:
        """Show this row, whatever the filter says."""
        self.leading.append(key)

    def lay(self) -> None:
        while True:
            self._choose()
            self._emit()
            over = len(self.rows) - FIRST
            if not self.windows and over > 0 and self._room > FIRST // 2:
                self._room -= over  # what says what is left out takes room too
            elif self.windows and len(self.rows) > MOST:
                self._close_one()
            else:
                return

    def _close_one(self) -> None:
        """One branch that was opened by hand, to bring the rows down."""
        place = {key: n for n, (key, level, _) in enumerate(self.rows) if level is not None}
        *others, last = self.windows
        ended = [key for key in others if self.outline.final(key)]
        if ended:
            victim = max(ended, key=lambda key: abs(place.get(key, MOST) - place.get(last, MOST)))
        elif others:
            victim = others[0]
        else:
            self.windows[last] //= 2
            return
        del self.windows[victim]
        self.dropped.append(victim)

    def _passes(self, key: str) -> bool:
        if self.found is not None or self.show == "needs":
            return key in self._on_the_way
        return self.show == "all" or key in self._on_the_way or not self.outline.final(key)

    def _choose(self) -> None:
        """Which rows are there, best first, as far as the room goes."""
        outline = self.outline
        self._chosen: set[str] = set()
        self._on_the_way = set()
        wanted: list[str] = list(self.leading)
        if self.found is not None:
            wanted += [id for id in outline.of if id in self.found]
        elif self.show != "all" or not outline.final(outline.root):
            wanted += self.asked
        for id in wanted:
            path = outline.path(id)
            if len(self._chosen) + len(path) <= self._room or id in self.leading:
                self._chosen.update(path)
                self._on_the_way.update(path)
        if self._passes(outline.root) or self.windows:
            self._chosen.add(outline.root)
        if outline.root in self._chosen and outline.root not in self.shut:
            self._fill(outline.root, FIRST, self._room)
        if self.found is None and self.show != "needs":
            self._go_on()
        for key, window in self.windows.items():  # last, so that none of the others goes for it
            self._chosen.update(outline.path(key))
            self._fill(key, window, 2 * MOST, everything=True)

    def _go_on(self) -> None:
        """Open what is under way, level by level; and all of a whole that is small."""
        outline = self.outline
        small = len(outline.of) <= SMALL
        level = [key for key in outline.entries(outline.root) if key in self._chosen]
        while level and len(self._chosen) < self._room:
            below: list[str] = []
            for key in level:
                grouped = "~" in key
                if key in self.shut or key in self.windows or (not small and (grouped or outline.final(key))):
                    continue
                self._fill(key, FIRST, self._room)
                below += [entry for entry in outline.entries(key) if entry in self._chosen]
            level = below

    def _fill(self, branch: str, window: int, room: int, *, everything: bool = False) -> None:
        """Show the first rows of a branch that pass, or the first of all, that the room is left for."""
        taken = 0
        for entry in self.outline.entries(branch):
            if taken >= window or len(self._chosen) >= room:
                return
            if everything or self._passes(entry):
                self._chosen.add(entry)
                taken += 1

    def _emit(self) -> None:
        """The rows in the order of the tree, each branch followed by what of it is left out."""
        outline, self.rows, self.parents = self.outline, [], set()
        nothing = (0, 0, 0, 0)
        todo: list[tuple[str, int | None, tuple[int, int, int, int]]] = []
        if outline.root in self._chosen:
            todo.append((outline.root, 1, nothing))
        while todo:
            key, level, rest = todo.pop()
            self.rows.append((key, level, rest))
            if level is None or key in self.shut:
                continue
            entries = outline.entries(key)
            shown = [entry for entry in entries if entry in self._chosen]
            if not shown:
                continue
            self.parents.add(key)
            if len(shown) < len(entries):
                by_hand = key in self.windows
                if not by_hand and (self.found is not None or self.show == "needs"):
                    todo.extend((entry, level + 1, nothing) for entry in reversed(shown))
                    continue
                left = [entry for entry in entries if entry not in self._chosen]
                more = len(left) if by_hand else sum(1 for entry in left if self._passes(entry))
                todo.append((key, None, (level + 1, len(shown), more, len(left) - more)))
            todo.extend((entry, level + 1, nothing) for entry in reversed(shown))


class Maker:
    """Makes rows from an outline and the receipts of the pieces that are shown."""

    def __init__(
        self, house: House, tx: Tx, of: Any, reader: Reader, outline: Outline, decided_by: Mapping[str, str]
    ) -> None:
        self._house = house
        self._decided_by = decided_by  # by piece
        self._tx = tx
        self._of = of
        self._content = reader.content(of)
        self._outline = outline

    def rows(self, levels: dict[str, int], parents: Collection[str], found: Collection[str] = ()) -> dict[str, TreeRow]:
        """The rows of those keys. `parents`: those that are open."""
        outline, pieces = self._outline, [key for key in levels if "~" not in key]
        receipts = {row.id: row for row in in_hundreds(self._tx, _NODES, pieces)}
        made = {}
        for key, level in levels.items():
            if "~" in key:
                made[key] = self._group(key, level, key in parents)
            elif key in receipts:
                row = self._piece(receipts[key], level, key in parents)
                made[key] = replace(row, found=True) if key in found and outline.above(key) is not None else row
        return made

    def _piece(self, receipt: Any, level: int, is_open: bool) -> TreeRow:
        outline, key = self._outline, receipt.id
        bare = outline.of[key]
        node = node_of(
            *(self._house, receipt, self._of, self._content, bare.base is Stand.YOURS),
            decided_by=self._decided_by.get(key, ""),
        )
        live = outline.live.get(key, {})
        going = tuple(self._house.label(outline.of[id].agent) for id in live) if len(live) == 1 else ("",) * len(live)
        place, siblings = outline.place(key)
        return TreeRow(
            key=key,
            node=node,
            agent_label=node.agent_label,
            skill_label=node.skill_label,
            level=level,
            place=place,
            siblings=siblings,
            children=len(outline.legs.get(key, ())),
            open=is_open,
            below=outline.counts(key),
            going=going,
            own_micros=node.own_micros,
            tree_micros=node.tree_micros,
        )

    def _group(self, key: str, level: int, is_open: bool) -> TreeRow:
        outline = self._outline
        agent, _, skill = key.partition("~")[2].partition(".")
        place, siblings = outline.place(key)
        spent = outline.spent(key)
        return TreeRow(
            key=key,
            node=None,
            agent_label=self._house.label(agent),
            skill_label=skill_label(self._house, agent, skill),
            level=level,
            place=place,
            siblings=siblings,
            children=len(outline.members(key)),
            open=is_open,
            below=outline.counts(key),
            going=(),
            own_micros=spent,
            tree_micros=spent,
        )
