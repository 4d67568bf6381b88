"""What waits for a person, as the inbox lists it: by whole, the whole whose oldest request is oldest first."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from core.desk import Desk
from core.errors import NotFound
from core.values import Proposal, Question
from core.words import label_of

Request = Proposal | Question


@dataclass(frozen=True, slots=True)
class Group:
    """The requests of one whole, oldest first."""

    root: UUID
    about: str
    requests: tuple[Request, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Everything that waits for one person. `total` is counted from the rows themselves, so no badge can differ."""

    groups: tuple[Group, ...]
    order: tuple[UUID, ...]  # as the list shows them

    @property
    def total(self) -> int:
        return len(self.order)

    @property
    def oldest(self) -> datetime | None:
        return min((request.asked_at for group in self.groups for request in group.requests), default=None)

    def place(self, item: UUID) -> int | None:
        return self.order.index(item) + 1 if item in self.order else None

    def before(self, item: UUID) -> UUID | None:
        place = self.place(item)
        return self.order[place - 2] if place and place > 1 else None

    def after(self, item: UUID) -> UUID | None:
        place = self.place(item)
        return self.order[place] if place and place < len(self.order) else None


MASKED = "hidden"  # how the agency writes an argument that no page may show


def masked_of(proposal: Proposal) -> set[str]:
    """The names of the arguments that are shown as hidden."""
    shown = dict(proposal.shown)
    return {
        name for name, value in proposal.arguments.items() if value != MASKED and shown.get(label_of(name)) == MASKED
    }


def changes_of(proposal: Proposal) -> list[tuple[str, str, str]]:
    """What a person changed before they approved: label, what stood there, what ran. Masked ones stay hidden."""
    masked = masked_of(proposal)
    return [
        (label_of(name), *((MASKED, MASKED) if name in masked else (_text(proposal.arguments.get(name)), _text(value))))
        for name, value in (proposal.edited or {}).items()
        if value != proposal.arguments.get(name)
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


async def what_waits(desk: Desk) -> Waiting:
    """Ask the desk, and put what it gives into the order of the list."""
    requests: list[Request] = [*await desk.proposals(), *await desk.questions()]
    requests.sort(key=lambda request: (request.asked_at, request.id))
    by_whole: dict[UUID, list[Request]] = {}
    for request in requests:
        by_whole.setdefault(request.root, []).append(request)
    groups = tuple(Group(root, found[0].about, tuple(found)) for root, found in by_whole.items())
    return Waiting(groups, tuple(request.id for group in groups for request in group.requests))


async def request_of(desk: Desk, item: UUID) -> Request:
    """The proposal or question of that id; one this person may not see is not found."""
    try:
        return await desk.proposal(item)
    except NotFound:
        return await desk.question(item)
