"""`/start`: for somebody who is new here: what there is, what is missing, and the steps to a first decision."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence

from litestar import Response, get
from litestar.di import NamedDependency

from core.values import Giving
from web.deps import Visit
from web.forms import Field, fields_of


@get("/start")
async def start(visit: NamedDependency[Visit]) -> Response[str]:
    """Each step says how it stands, and turns done by itself. Opening it gives and spends nothing."""
    gives = await visit.desk.gives()
    return await visit.page(
        "start/index.html",
        nav="start",
        found=await visit.desk.beginning(),
        tries=[(giving, sample) for giving in gives if (sample := sample_of(giving)) is not None],
        key=secrets.token_urlsafe(16),
        signs_in=visit.request.app.state.provider is not None,
        demo=visit.request.app.state.demo,
    )


def sample_of(giving: Giving) -> dict[str, str] | None:
    """What the form of a skill is filled in with to try it in one click: the first row, or what its input has as
    defaults and examples. None where something would have to be thought up."""
    if giving.row is not None:
        return {"row": str(giving.rows[0][0])} if giving.rows else None
    fields = list(_single(fields_of(giving.schema)))
    if any(field.required and not field.value for field in fields):
        return None
    return {field.name: field.value for field in fields}


def _single(fields: Sequence[Field]) -> Iterator[Field]:
    for field in fields:
        if field.control == "group":
            yield from _single(field.fields)
        else:
            yield field


handlers = (start,)
