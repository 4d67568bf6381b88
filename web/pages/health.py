"""`/health`: whether this process can do its work, for people and machines. Needs no session, tells no secrets."""

from __future__ import annotations

import time
from typing import Any

from litestar import Request, Response, get

from core.agency import Agency


@get("/health")
async def health(request: Request[Any, Any, Any]) -> Response[Any]:
    """200 while the database answers, 503 when it does not; words for a browser, JSON for anything else."""
    agency: Agency = request.app.state.agency
    began = time.perf_counter()
    try:
        await agency.people()
        answers = True
    except Exception:  # whatever the driver says, the answer is the same; the log of the store has it
        answers = False
    took = round((time.perf_counter() - began) * 1000)
    status = 200 if answers else 503
    if "text/html" not in request.headers.get("accept", ""):
        body = {
            "status": "ok" if answers else "failing",
            "database": answers,
            "database_ms": took,
            "public_key": agency.public_key,
        }
        return Response(body, media_type="application/json", status_code=status)
    html = request.app.state.renderer.html(
        "health.html",
        request,
        me=None,
        nav="",
        answers=answers,
        took=took,
        at=agency.clock.now(),
        key=agency.public_key,
    )
    return Response(html, media_type="text/html", status_code=status)
