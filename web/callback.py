"""The way to the provider and back.

Each attempt has a cookie of its own, named after its state: two tabs do not disturb each other. A state counts once,
for ten minutes. Whatever goes wrong ends on a page with a button to begin anew; nothing here goes on by itself, so
nothing can go round in a circle.
"""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, get
from litestar.response import Redirect

from core.agency import Agency
from core.errors import NotAllowed
from web.login import inside, let_in, page
from web.oidc import LASTS, Attempt, Provider, Refused, Seal, cookie_of, known_error, older

BACK = "/sign-in/back"
MOST = 5  # attempts that one browser may have under way
AnyRequest = Request[Any, Any, Any]

TOO_OLD = (
    "The way back belongs to a sign-in that is over: it was used before, began more than ten minutes ago, or began in "
    "another browser."
)


@get("/sign-in/at-provider")
async def begin(request: AnyRequest) -> Response[str] | Redirect:
    """Off to the provider."""
    provider: Provider | None = request.app.state.provider
    next = inside(request.query_params.get("next", "/"))
    if provider is None:
        return Redirect("/sign-in", status_code=303)
    try:
        address, attempt = await provider.begin(f"{request.url.scheme}://{request.url.netloc}{BACK}", next)
    except Refused as error:
        return _refused(request, str(error), next, status=error.status)
    answer = Redirect(address, status_code=303)
    seal: Seal = request.app.state.seal
    answer.set_cookie(
        key=attempt.cookie,
        value=seal.close(attempt),
        max_age=int(LASTS.total_seconds()),
        path="/sign-in",
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    for name in older(request.cookies, MOST - 1):
        answer.delete_cookie(name, path="/sign-in")
    return answer


@get(BACK)
async def back(request: AnyRequest) -> Response[str] | Redirect:
    """Back from the provider: whoever it says is there is signed in, or is told why not."""
    provider: Provider | None = request.app.state.provider
    if provider is None:
        return Redirect("/sign-in", status_code=303)
    state = request.query_params.get("state", "")
    attempt = _attempt(request, state)
    if attempt is None or not await _agency(request).use_state(state, LASTS):
        if request.user is not None:  # by this very sign-in, say: the back button leads here
            return Redirect("/", status_code=303)
        # Some providers leave the state out where they let nobody in. Then nothing but the kind of error is repeated.
        told = None if state else known_error(request.query_params.get("error", ""))
        return _refused(request, str(told or TOO_OLD), "/", status=told.status if told else 400)
    try:
        who = await provider.finish(attempt, request.query_params)
        session = await _agency(request).sign_in_as(who)
    except Refused as error:
        answer: Response[Any] = _refused(request, str(error), attempt.next, error.said, error.status)
    except NotAllowed as error:
        answer = _refused(request, str(error), attempt.next, status=403)
    else:
        answer = await let_in(request, session, attempt.next)
    answer.delete_cookie(attempt.cookie, path="/sign-in")
    return answer


@get("/sign-in/out")
async def out(request: AnyRequest) -> Response[str] | Redirect:
    """Signed out here; and the way to sign out at the provider, where it has one."""
    provider: Provider | None = request.app.state.provider
    if provider is None or request.user is not None:
        return Redirect("/sign-in", status_code=303)
    return page(request, "sign_in/out.html", there=await provider.sign_out_address())


def _attempt(request: AnyRequest, state: str) -> Attempt | None:
    """The attempt of that state, where this browser began it."""
    seal: Seal = request.app.state.seal
    attempt = seal.open(request.cookies.get(cookie_of(state), ""))
    return attempt if attempt is not None and attempt.state == state else None


def _refused(request: AnyRequest, why: str, next: str, said: str = "", status: int = 400) -> Response[str]:
    return page(request, "sign_in/refused.html", status=status, why=why, said=said, next=next)


def _agency(request: AnyRequest) -> Agency:
    agency: Agency = request.app.state.agency
    return agency


handlers = (begin, back, out)
