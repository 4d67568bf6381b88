"""`/inbox/{id}/draft`: what a person has written so far and not sent. The page's script sends it while they write."""

from __future__ import annotations

from typing import get_args
from uuid import UUID

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from core.errors import BadInput
from core.values import DraftAct
from web.deps import Visit, go
from web.waiting import written_in


@post("/inbox/{item:uuid}/draft")
async def keep(visit: NamedDependency[Visit], item: FromPath[UUID]) -> Redirect | Response[None]:
    """Keep it. Decides nothing."""
    form = await visit.form()
    act = next((known for known in get_args(DraftAct) if known == form.get("act")), None)
    if act is None:
        raise BadInput({"act": "There is no such draft."})
    await visit.desk.keep_draft(item, act, written_in(form))
    return Response(None, status_code=204) if "x-draft" in visit.request.headers else go(f"/inbox/{item}")


handlers = (keep,)
