"""Who is there: a cookie that holds a random token, kept hashed by the agency; and the pages at the door. Where a
provider signs people in, `callback` has the way there and back.

A link signs in once, and only when its button is pressed: opening it (as mail scanners do) changes nothing. Signing in
always makes a fresh session; a token that a browser brings along is never adopted.
"""

from __future__ import annotations

import re
from typing import Any

from litestar import Request, Response, get, post
from litestar.connection import ASGIConnection
from litestar.exceptions import NotAuthorizedException
from litestar.handlers.base import BaseRouteHandler
from litestar.middleware import AbstractAuthenticationMiddleware, AuthenticationResult
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect

from core.agency import Agency
from web.render import Connection, Renderer

COOKIE = "handon"
DAYS = 14


class SignedIn(AbstractAuthenticationMiddleware):
    """Reads the cookie and puts the person into `request.user`, or None."""

    async def authenticate_request(self, connection: ASGIConnection[Any, Any, Any, Any]) -> AuthenticationResult:
        token = connection.cookies.get(COOKIE)
        agency: Agency = connection.app.state.agency
        return AuthenticationResult(user=await agency.signed_in(token) if token else None, auth=token)


async def let_in(request: Request[Any, Any, Any], session: str, next: str) -> Redirect:
    """Give the browser its new session, end the one it had, and go on."""
    agency: Agency = request.app.state.agency
    if request.auth:
        await agency.sign_out(request.auth)
    answer = Redirect(inside(next), status_code=303)
    answer.set_cookie(
        key=COOKIE,
        value=session,
        max_age=DAYS * 24 * 3600,
        path="/",
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return answer


def must_be_signed_in(connection: Connection, _: BaseRouteHandler) -> None:
    """Refuse whoever is not signed in: `errors` sends a page to the door, and a stream or fragment away."""
    if connection.scope.get("user") is None:
        raise NotAuthorizedException("Sign in first.")


def inside(address: str) -> str:
    """An address of this site to go on to; anything else is the start page."""
    local = re.fullmatch(r"/(?![/\\])[^\\\x00-\x1f\x7f]*", address) is not None
    return address if local and not address.startswith("/sign-in") else "/"


def page(request: Request[Any, Any, Any], template: str, status: int = 200, **context: Any) -> Response[str]:
    """A page at the door."""
    state = request.app.state
    renderer: Renderer = state.renderer
    at = state.provider.configured.host if state.provider is not None else ""
    html = renderer.html(template, request, demo=state.demo, host=request.url.netloc, provider=at, **context)
    return Response(html, media_type="text/html", status_code=status)


@get("/sign-in")
async def door(request: Request[Any, Any, Any], next: FromQuery[str] = "/") -> Response[str] | Redirect:
    """The page at the door. Whoever is signed in already goes on."""
    if request.user is not None:
        return Redirect(inside(next), status_code=303)
    return page(request, "sign_in/door.html", next=inside(next))


@get("/sign-in/link/{token:str}")
async def link(request: Request[Any, Any, Any], token: FromPath[str], next: FromQuery[str] = "/") -> Response[str]:
    """Whose link it is, and a button. Looking at it does not use it up."""
    agency: Agency = request.app.state.agency
    person = await agency.link_for(token)
    if person is None:
        return page(request, "sign_in/used.html", status=410)
    return page(request, "sign_in/link.html", person=person, token=token, next=inside(next))


@post("/sign-in/link/{token:str}")
async def use_link(request: Request[Any, Any, Any], token: FromPath[str]) -> Response[str] | Redirect:
    """Use the link up and sign in: a new session, and the one that was there before ends."""
    agency: Agency = request.app.state.agency
    session = await agency.use_link(token)
    if session is None:
        return page(request, "sign_in/used.html", status=410)
    form = await request.form()
    return await let_in(request, session, str(form.get("next") or "/"))


@post("/sign-out")
async def sign_out(request: Request[Any, Any, Any]) -> Redirect:
    """End this session, here and in the agency's own rows. The provider's own goes on: the next page leads there."""
    agency: Agency = request.app.state.agency
    if request.auth:
        await agency.sign_out(request.auth)
    answer = Redirect("/sign-in/out" if request.app.state.provider is not None else "/sign-in", status_code=303)
    answer.delete_cookie(COOKIE, path="/")
    return answer


handlers = (door, link, use_link, sign_out)
