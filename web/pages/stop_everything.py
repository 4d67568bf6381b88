"""`/stop`: what stopping everything does, on a page of its own; then the act; then how far it has come."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import quote

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import Redirect

from core.errors import BadInput
from web.deps import Visit, aware, go


@get("/stop")
async def consequences(visit: NamedDependency[Visit]) -> Response[str]:
    """What would be called off, and what cannot be taken back. Changes nothing."""
    return await _show(visit, {}, "")


@post("/stop")
async def stop(visit: NamedDependency[Visit]) -> Response[str] | Redirect:
    """Call every whole off, where the number that was typed is the number there are."""
    posted = await visit.form()
    text = posted.get("works", "").strip()
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        return await _show(visit, posted, "Write how many works there are, in digits.")
    try:
        since = await visit.desk.stop_everything(int(text), posted.get("reason", ""))
    except BadInput as error:
        return await _show(visit, posted, error.fields["works"])
    return go(f"/stop/result?since={quote(since.isoformat())}")


@get("/stop/result")
async def result(visit: NamedDependency[Visit], since: FromQuery[datetime]) -> Response[str]:
    """How far it has come: counts down until the last piece has ended."""
    stopping = await visit.desk.stopping(aware(since))
    return await visit.page("stop/result.html", nav="now", since=aware(since), stopping=stopping)


async def _show(visit: Visit, posted: dict[str, str], wrong: str) -> Response[str]:
    return await visit.page(
        "stop/index.html",
        nav="now",
        status=422 if wrong else 200,
        found=await visit.desk.to_stop(),
        posted=posted,
        wrong=wrong,
    )


handlers = (consequences, stop, result)
