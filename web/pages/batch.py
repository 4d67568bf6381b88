"""`/inbox/batch`: several proposals of one work looked at together, each in full, and decided one by one.

Nothing is merged: every one that was checked is decided by itself, in a transaction of its own, by the verb of its card
and with the fingerprint that was shown. One that was decided, has changed or is no longer needed is told, and hinders
no other. What cannot be taken back is listed, and decided on its own card alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.response import Redirect

from core.errors import HandonError, NotAllowed, NotFound
from core.values import Batch, Proposal
from web.came import Came
from web.deps import Visit, go
from web.naming import uuid_in

MOST = 50
NO_ACT = "Nothing was decided: press Approve or Refuse for that."
NOTHING = "Check at least one. Nothing was decided."
TOO_MANY = f"At most {MOST} are decided at once. Nothing was decided."


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for: the proposals with these ids, or all of an agent and an action in a work."""

    ids: tuple[UUID, ...]
    work: UUID | None
    agent: str
    action: str

    @classmethod
    def of(cls, visit: Visit) -> Asked:
        params = visit.request.query_params
        ids = [id for part in str(params.get("ids", "")).split(",")[: MOST + 1] if (id := uuid_in(part))]
        return cls(
            tuple(ids), uuid_in(params.get("in", "")), str(params.get("agent", "")), str(params.get("action", ""))
        )

    @property
    def query(self) -> str:
        """The query of this page."""
        if self.ids:
            return f"?ids={','.join(map(str, self.ids))}"
        return f"?{urlencode({'in': str(self.work or ''), 'agent': self.agent, 'action': self.action})}"

    async def found(self, visit: Visit) -> Batch:
        """Raises NotFound."""
        if self.ids:
            return await visit.desk.batch_of(self.ids)
        if self.work is None:
            raise NotFound("There are no such proposals.")
        return await visit.desk.batch(self.work, self.agent, self.action)


@get("/inbox/batch")
async def together(visit: NamedDependency[Visit]) -> Response[str] | Redirect:
    """Each in full, none checked. Decides nothing."""
    if not visit.request.query_params:
        return go("/inbox")
    return await _show(visit)


@post("/inbox/batch", status_code=200)
async def decide(visit: NamedDependency[Visit]) -> Response[str]:
    """Approve or refuse those that were checked, each by itself, and say of each what came of it."""
    form = await visit.request.form()
    chosen = dict.fromkeys(str(value) for name, value in form.multi_items() if name == "item")
    act, reason = str(form.get("act", "")), str(form.get("reason", "")).strip()
    wrong = NO_ACT if act not in ("approve", "refuse") else NOTHING if not chosen else ""
    if wrong or len(chosen) > MOST:
        return await _show(visit, wrong or TOO_MANY, 422, reason)
    works: set[UUID] = set()
    came = [await _decided(visit, act, one, reason, works) for one in chosen]
    return await _told(visit, came, "decided")


@post("/inbox/batch/undo", status_code=200)
async def undo(visit: NamedDependency[Visit]) -> Response[str]:
    """Take back those of them that are held still; of each other what came of it."""
    form = await visit.request.form()
    ids = [id for name, value in form.multi_items() if name == "item" and (id := uuid_in(str(value)))]
    came = []
    for id in ids[:MOST]:
        try:
            await visit.desk.take_back(id)
            came.append(Came(await visit.desk.proposal(id)))
        except HandonError as error:
            came.append(Came(await _still(visit, id), str(error)))
    return await _told(visit, came, "taken back")


async def _decided(visit: Visit, act: str, chosen: str, reason: str, works: set[UUID]) -> Came:
    """Decide one: "id.fingerprint". `works`: the one work of this batch, once it is known."""
    part, _, shown = chosen.partition(".")
    id, hold = uuid_in(part), visit.agency.settings.undo_for or None
    if id is None:
        return Came(None, "There is no such proposal.")
    try:
        opened = await visit.desk.proposal(id)
        if not works:
            works.add(opened.root)
        if opened.root not in works:
            raise NotAllowed("It belongs to another work: only those of one work are decided together.")
        if not opened.reversible:
            raise NotAllowed("It cannot be taken back, so it is decided on its own card.")
        if act == "approve":
            return Came(await visit.desk.approve(id, fingerprint=shown, hold=hold))
        if hold and reason:
            with suppress(HandonError):  # where none is kept the decision itself says why
                await visit.desk.keep_draft(id, "refuse", {"reason": reason})
        return Came(await visit.desk.refuse(id, reason, fingerprint=shown, hold=hold))
    except HandonError as error:
        return Came(await _still(visit, id), str(error))


async def _still(visit: Visit, id: UUID) -> Proposal | None:
    try:
        return await visit.desk.proposal(id)
    except NotFound:
        return None


async def _show(visit: Visit, trouble: str = "", status: int = 200, reason: str = "") -> Response[str]:
    asked = Asked.of(visit)
    batch = await asked.found(visit)
    return await visit.page(
        "inbox/batch.html",
        nav="inbox",
        status=status,
        batch=batch,
        query=asked.query,
        trouble=trouble,
        reason=reason,
        same=_same(batch.items),
        came=None,
    )


async def _told(visit: Visit, came: Sequence[Came], what: str) -> Response[str]:
    left = [one.item.id for one in came if one.item is not None and one.item.waits and one.item.may_decide]
    return await visit.page("inbox/batch_came.html", nav="inbox", came=came, what=what, left=left)


def _same(items: Sequence[Proposal]) -> dict[UUID, int]:
    """Of each that asks for exactly what one before it asks for: the number of that one."""
    first: dict[str, int] = {}
    return {
        one.id: first[one.fingerprint] for n, one in enumerate(items, 1) if first.setdefault(one.fingerprint, n) != n
    }


handlers = (together, decide, undo)
