"""`/help/keys`: every key, and a switch for the single ones."""

from __future__ import annotations

from litestar import Response, get
from litestar.di import NamedDependency

from web.deps import Visit


@get("/help/keys")
async def keys(visit: NamedDependency[Visit]) -> Response[str]:
    return await visit.page("help/keys.html", nav="help")


handlers = (keys,)
