"""What needs a supervisor, put together for the page and for its stream alike."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from core.desk import Desk
from core.values import Active, Checked, Meter, Now, SpendLimit


@dataclass(frozen=True, slots=True)
class Needs:
    now: Now
    checked: Checked
    meter: Meter | None  # of today; None where the reader may not see what is spent
    near_limits: tuple[SpendLimit, ...]  # of a day or a month

    @property
    def near(self) -> int:
        """Wholes, days and months near their limit: what the money page lists."""
        return self.now.near + len(self.near_limits)

    def row(self, root: UUID) -> Active | None:
        return next((one for one in (*self.now.active, *self.now.kept) if one.root == root), None)


async def what_needs(
    desk: Desk, keep: Collection[UUID] = (), checked: Checked | None = None, meter: Meter | None = None
) -> Needs:
    """Ask the desk. `checked` and `meter`: what was found lately, so that it is not read again at once."""
    now = await desk.now(keep)
    money = desk.may.reads_model_usage or desk.may.manages_model_spend
    today = desk.today()
    return Needs(
        now=now,
        checked=checked or await desk.check_records(),
        meter=meter or (await desk.meter(today, today, models_only=True) if money else None),
        near_limits=tuple(limit for limit in await desk.spend_limits() if limit.near) if money else (),
    )
