"""What of a whole an address asks for, and the addresses that its rows lead to.

All of it can be shared: the filter, what is looked for, the chosen piece, and the branches that were opened or shut by
hand, by the last eight digits of their ids, `*400` behind one of which more than the first rows are shown. Every
control of the tree is such an address, so it does the same without script.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast
from urllib.parse import quote
from uuid import UUID

from core.reading.outline import mark_of
from core.values import Stand, TreeAsk, TreePage, TreeRest, TreeRow, TreeShow
from web.words import Look, look_of_node

CLOSED = 50  # how many branches an address may name
LONGEST = 200  # letters of what is looked for
SHAPES: Mapping[Stand, tuple[str, str]] = {
    Stand.YOURS: ("attention", "you"),
    Stand.PERSON: ("attention", "you"),
    Stand.ABANDONED: ("bad", "abandoned"),
    Stand.FAILED: ("bad", "failed"),
    Stand.WORKING: ("progress", "working"),
    Stand.AGENT: ("neutral", "agent"),
    Stand.STOPPING: ("progress", "stopping"),
    Stand.STOPPED: ("neutral", "stopped"),
    Stand.OFF: ("neutral", "off"),
    Stand.DONE: ("good", "done"),
}
FILTERS: Mapping[TreeShow, str] = {"going": "Not finished", "needs": "Needs somebody", "all": "All"}


def short(key: str) -> str:
    """A branch as an address names it."""
    id, mark, kind = key.partition("~")
    return f"{id[-8:]}{mark}{kind}"


@dataclass(frozen=True, slots=True)
class View:
    """One whole as an address has it. `page` is None in a stream, which knows its rows by itself."""

    root: UUID
    ask: TreeAsk
    place: str = ""  # "/timeline" for the rows over time, "/list" for them as headings
    page: TreePage | None = None

    @classmethod
    def of(cls, root: UUID, params: Mapping[str, Any], place: str = "") -> View:
        """From an address. What cannot be is left out."""
        show = params.get("show", "")
        try:
            chosen = UUID(params["piece"]) if params.get("piece") else None
        except ValueError:
            chosen = None
        ask = TreeAsk(
            opened=tuple(_opened(name) for name in _names(params.get("open", ""))),
            shut=tuple(_names(params.get("shut", ""))),
            show=cast(TreeShow, show) if show in FILTERS else "",
            find=str(params.get("find", "")).strip()[:LONGEST],
            chosen=chosen,
        )
        return cls(root, ask, place)

    def holding(self, page: TreePage) -> View:
        """With what it was answered: branches that closed themselves are not in its addresses any more."""
        opened = tuple((short(key), window) for key, window in page.opened)
        return replace(self, ask=replace(self.ask, opened=opened), page=page)

    # Addresses

    def address(self, **changes: Any) -> str:
        """The address with those parts of what is asked for changed."""
        ask = replace(self.ask, **changes)
        parts = [("show", ask.show), ("find", quote(ask.find)), ("open", ",".join(map(_written, ask.opened)))]
        parts += [("shut", ",".join(ask.shut)), ("piece", str(ask.chosen or ""))]
        query = "&".join(f"{name}={value}" for name, value in parts if value)
        return f"/work/{self.root}{self.place}" + (f"?{query}" if query else "")

    def choose(self, piece: UUID) -> str:
        return self.address(chosen=piece)

    def fold(self, row: TreeRow) -> str:
        """Where a row leads that is opened, or closed."""
        return self.shutting(row.key) if row.open else self.opening(row.key)

    def opening(self, key: str, window: int = 0) -> str:
        name = short(key)
        kept = tuple(one for one in self.ask.opened if one[0] != name)[1 - CLOSED :]
        shut = tuple(one for one in self.ask.shut if one != name)
        return self.address(opened=(*kept, (name, window)), shut=shut)

    def shutting(self, key: str) -> str:
        name = short(key)
        opened = tuple(one for one in self.ask.opened if one[0] != name)
        shut = tuple(one for one in self.ask.shut if one != name)[1 - CLOSED :]
        return self.address(opened=opened, shut=(*shut, name))

    def showing(self, show: TreeShow) -> str:
        return self.address(show=show, opened=(), shut=())

    def all_of_it(self) -> str:
        """Without filter and without what is looked for."""
        return self.address(show="all", find="")

    def elsewhere(self, place: str) -> str:
        """The same rows on another page of the whole."""
        return replace(self, place=place).address()

    def stream(self, lines: int, decided: Iterable[UUID]) -> str:
        """The address of the stream of what is shown, from the line on that the page was made at. `decided`: pieces
        that are shown as decided while that is held, of which no line tells."""
        assert self.page is not None
        parts = [("work", str(self.root)), ("after", str(lines))]
        parts += [("show", self.page.show)] if self.page.show != "all" else []
        parts += [("find", quote(self.ask.find)), ("open", ",".join(map(_written, self.ask.opened)))]
        parts += [("shut", ",".join(self.ask.shut)), ("place", self.place.strip("/"))]
        parts.append(("held", ",".join(piece.hex for piece in decided)))
        if not self.page.complete or any("~" in key for key in self.page.shown):
            parts.append(("shown", "".join(sorted(mark_of(key) for key in self.page.shown)) or "none"))
        return "/live?" + "&".join(f"{name}={value}" for name, value in parts if value)

    def mark(self, lines: int) -> str:
        """Tells one stream from another: a page with other rows has another."""
        return f"{zlib.crc32(self.stream(lines, ()).encode()):08x}"


def marks_in(text: str) -> frozenset[str] | None:
    """The rows that a stream was told of; None where it was told of none, which is all of them."""
    if not text:
        return None
    return frozenset(text[start : start + 6] for start in range(0, len(text), 6))


def pieces_in(text: str) -> list[UUID]:
    """The pieces that a stream was told of. What is no id is passed over: the page is told more than it need be."""
    return [UUID(hex=word) for word in text.split(",") if re.fullmatch("[0-9a-f]{32}", word)]


def row_id(row: TreeRow | TreeRest) -> str:
    """The id of a row in a page."""
    if isinstance(row, TreeRest):
        return f"r-{row.key[:32]}-{mark_of(row.key)}"
    return f"p-{row.node.piece}" if row.node is not None else f"g-{row.key[:32]}-{mark_of(row.key)}"


def look_of_row(row: TreeRow) -> Look:
    """The look of a piece; of a group the most urgent look of its legs."""
    if row.node is not None:
        return look_of_node(row.node, row.going)
    stand = row.below[0][0]
    tone, icon = SHAPES[stand]
    return Look(tone, icon, stand[0].upper() + stand[1:])


def most_urgent(row: TreeRow) -> Stand | None:
    """How the most urgent piece below a closed row stands, where somebody should know of it."""
    if row.open or not row.below or row.below[0][0] not in (Stand.YOURS, Stand.PERSON, Stand.ABANDONED, Stand.FAILED):
        return None
    return row.below[0][0]


def in_words(row: TreeRow) -> str:
    """What is below a row: "38 below: 30 done, 6 running, 1 waits for you"."""
    told = ", ".join(f"{number} {_for(stand, number)}" for stand, number in row.below)
    return f"{row.total_below} below: {told}"


def is_rest(row: TreeRow | TreeRest) -> bool:
    return isinstance(row, TreeRest)


def _for(stand: Stand, number: int) -> str:
    return stand if number == 1 else stand.replace("waits", "wait")


def _names(text: Any) -> list[str]:
    return [name for name in str(text).split(",") if 0 < len(name) <= 300][-CLOSED:]


def _opened(name: str) -> tuple[str, int]:
    key, _, number = name.partition("*")
    return key, int(number) if number.isascii() and number.isdigit() and len(number) < 6 else 0


def _written(opened: tuple[str, int]) -> str:
    key, window = opened
    return f"{key}*{window}" if window > 200 else key
