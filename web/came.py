"""What came of proposals that were decided together: as their page tells it, and as its stream goes on telling it."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from sse_starlette import ServerSentEvent

from core.values import Proposal
from web.deps import Visit


@dataclass(frozen=True, slots=True)
class Came:
    """What came of one of them: as it stands now, and why nothing was done where nothing was."""

    item: Proposal | None
    why_not: str = ""

    @property
    def held(self) -> bool:
        """Whether it can be taken back still."""
        return self.item is not None and self.item.hold is not None and self.item.hold.lasts and not self.why_not


@dataclass
class CameWatch:
    """Those that were held when the page was made, until none of them is."""

    ids: tuple[UUID, ...]
    rest: float
    root: UUID | None = None
    owes: bool = False
    came: dict[UUID, Came] = field(default_factory=dict)
    over: bool = False
    waiting: int | None = None

    async def news(self, visit: Visit) -> list[ServerSentEvent]:
        waiting = await visit.desk.waiting_count()
        was = self.came
        if not self.over:
            self.came = {id: Came(await visit.desk.proposal(id)) for id in self.ids}
            self.over = not any(one.held for one in self.came.values())
        changed = [one for id, one in self.came.items() if was.get(id) != one]
        if not changed and waiting == self.waiting:
            return []
        self.waiting = waiting
        came = list(self.came.values())
        html = visit.renderer.html("live/came.html", visit.request, changed=changed, came=came, waiting=waiting)
        return [ServerSentEvent(data=html)]
