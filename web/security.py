"""What every answer carries so that a browser runs nothing but our own files, and who may post a form.

There is no inline script, style or handler anywhere, and no feature of htmx that needs `eval`: so the policy has no
exceptions. Pages are never kept by a cache; only files under /static are, by their own header.
"""

from __future__ import annotations

from litestar.config.csrf import CSRFConfig
from litestar.datastructures import MutableScopeHeaders
from litestar.types import Message, Scope

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
CSRF_COOKIE = "handon_form"


async def guard_answers(message: Message, scope: Scope) -> None:
    """Put the headers on every answer, streams and files too."""
    if message["type"] != "http.response.start":
        return
    headers = MutableScopeHeaders.from_message(message)
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("Cache-Control", "no-store")
    if scope.get("scheme") == "https":
        headers.setdefault("Strict-Transport-Security", "max-age=31536000")


def csrf(secret: str) -> CSRFConfig:
    """Forms carry a signed token that must match a cookie. The secret stays the same over restarts, or every open
    page would be refused until its cookie was cleared."""
    return CSRFConfig(secret=secret, cookie_name=CSRF_COOKIE, cookie_httponly=True, cookie_samesite="lax")
