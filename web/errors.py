"""Every error as a page in words: what happened, what was not lost, what to do. Driver text goes to the log only.

A whole page for a whole page, a `.note` for a part of one, plain text for a stream. What is not there and what somebody
may not see are told in the same words.
"""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.response import Redirect
from litestar.types import ExceptionHandlersMap

from core.errors import BadInput, HandonError, NotAllowed, NotFound, NotWaiting, OutOfMoney, Stale, Unreachable
from web.security import CSRF_COOKIE

log = logging.getLogger("handon.web")
AnyRequest = Request[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """One error as a person is told it."""

    status: int
    title: str
    line: str


_TITLES: tuple[tuple[type[HandonError], int, str], ...] = (
    (NotFound, 404, "There is nothing here for you."),
    (NotAllowed, 403, "That is not yours to do."),
    (Stale, 409, "It has changed since you saw it."),
    (NotWaiting, 409, "It does not wait any more."),
    (OutOfMoney, 409, "There is no money left for it."),
    (BadInput, 422, "That does not fit."),
    (Unreachable, 503, "A model could not be reached."),
    (HandonError, 400, "That could not be done."),
)
NOTHING = "The address is wrong, the thing is gone, or it is somebody else’s work."


def told(error: HandonError) -> Told:
    """The status, title and sentence of an error of the agency's own."""
    status, title = next((status, title) for kind, status, title in _TITLES if isinstance(error, kind))
    return Told(status, title, NOTHING if status == 404 else str(error))


def _answer(request: AnyRequest, what: Told, code: str = "") -> Response[str]:
    if request.url.path == "/live":
        return Response(what.line, media_type="text/plain", status_code=what.status)
    part = request.headers.get("hx-request-type") == "partial"
    html = request.app.state.renderer.html(
        "_fragments/error_note.html" if part else "errors/error.html",
        None,
        me=request.scope.get("user"),
        nav="",
        told=what,
        code=code,
        back=_seen(request),
        **({"likes": request.state.likes} if "likes" in request.state else {}),
    )
    return Response(html, media_type="text/html", status_code=what.status)


def for_a_person(request: AnyRequest, error: HandonError) -> Response[Any]:
    return _answer(request, told(error))


def of_the_web(request: AnyRequest, error: HTTPException) -> Response[Any]:
    """What Litestar itself refuses: no such address, no session, no token in the form."""
    status = error.status_code
    if status == 401:
        return _to_the_door(request)
    if status == 404:
        return _answer(request, Told(404, "There is nothing here for you.", NOTHING))
    if status == 403 and "CSRF" in error.detail:
        line = (
            "This page was open for too long, or it came from elsewhere. Nothing was done. Open it again and repeat it."
        )
        answer = _answer(request, Told(403, "This form cannot be taken.", line))
        answer.delete_cookie(CSRF_COOKIE, path="/")  # one signed with an older secret would be refused for ever
        return answer
    if error.detail == "client disconnected prematurely":  # whoever sent it is gone: nothing was done, nobody is told
        log.info("%s %s: its sender went away", request.method, request.url.path)
        return Response("", status_code=400)
    if status >= 500:
        return gone_wrong(request, error)
    return _answer(
        request, Told(status, "That address cannot be read.", "A part of it does not fit. Nothing was done.")
    )


def gone_wrong(request: AnyRequest, error: Exception) -> Response[Any]:
    """Anything else is ours to mend: it is logged under a code, and the person is told the code."""
    code = f"e-{secrets.token_hex(2)} {secrets.token_hex(2)}"
    log.error("%s %s failed, %s", request.method, request.url.path, code, exc_info=error)
    return _answer(request, Told(500, "This page could not be made.", ""), code)


def _to_the_door(request: AnyRequest) -> Response[Any]:
    if request.url.path == "/live" or request.headers.get("hx-request"):
        return Response("Sign in first.", media_type="text/plain", status_code=401, headers={"HX-Refresh": "true"})
    return Redirect(f"/sign-in?next={quote(_seen(request), safe='/')}", status_code=303)


def _seen(request: AnyRequest) -> str:
    """The address of the page that was asked for, or whose form was sent."""
    seen = request.url if request.method == "GET" else urlsplit(request.headers.get("referer", "/"))
    return (f"{seen.path}?{seen.query}" if seen.query else seen.path) or "/"


handlers: ExceptionHandlersMap = {HandonError: for_a_person, HTTPException: of_the_web, Exception: gone_wrong}
