"""A whole as rows: every piece with its level, its place among its siblings, and what lies below it, summed up.

Made from what a desk gives, for the page and for the live stream alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from core.values import WorkNode
from web.words import Look, look_of_node

BELOW = ("you", "abandoned", "failed", "working", "agent", "stopping", "stopped", "off", "done")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the tree. `below` counts looks, most urgent first; a `hidden` row is under a closed one."""

    node: WorkNode
    look: Look
    level: int
    place: int
    siblings: int
    children: int
    below: tuple[tuple[Look, int], ...]
    total_below: int
    open: bool = True
    hidden: bool = False


def rows_of(nodes: list[WorkNode], closed: Collection[UUID] = ()) -> list[Row]:
    """The rows in the order of the tree. Those under a closed piece are hidden, not left out."""
    under: dict[UUID | None, list[WorkNode]] = {}
    for node in nodes:
        under.setdefault(node.parent, []).append(node)
    looks = {node.piece: look_of_node(node, _going(under.get(node.piece, []))) for node in nodes}
    below: dict[UUID, Counter[Look]] = {}
    for node in reversed(nodes):  # children come after their parent, so each is whole when it is asked for
        found: Counter[Look] = Counter()
        for child in under.get(node.piece, []):
            found[_bare(looks[child.piece])] += 1
            found.update(below[child.piece])
        below[node.piece] = found
    shut: set[UUID] = set()
    rows = []
    for node in nodes:
        hidden = node.parent in shut
        if hidden or node.piece in closed:
            shut.add(node.piece)
        siblings = under[node.parent]
        found = below[node.piece]
        rows.append(
            Row(
                node=node,
                look=looks[node.piece],
                level=node.depth + 1,
                place=siblings.index(node) + 1,
                siblings=len(siblings),
                children=len(under.get(node.piece, [])),
                below=tuple(sorted(found.items(), key=lambda item: BELOW.index(item[0].icon))),
                total_below=sum(found.values()),
                open=node.piece not in closed,
                hidden=hidden,
            )
        )
    return rows


def with_above(nodes: list[WorkNode], pieces: Collection[UUID]) -> set[UUID]:
    """Those pieces and every piece above them: the rows that a change can be seen in."""
    parents = {node.piece: node.parent for node in nodes}
    found: set[UUID] = set()
    for piece in pieces:
        at: UUID | None = piece
        while at is not None and at in parents and at not in found:
            found.add(at)
            at = parents[at]
    return found


def _going(children: list[WorkNode]) -> tuple[str, ...]:
    return tuple(child.agent_label for child in children if not child.status.final)


def _bare(look: Look) -> Look:
    """Whom a piece waits for is left out, so that those of one kind are counted together."""
    if look.icon == "you":
        return Look(look.tone, look.icon, "waits for a person")
    if look.icon == "agent":
        return Look(look.tone, look.icon, "waits for agents")
    return Look(look.tone, look.icon, look.word.lower())
