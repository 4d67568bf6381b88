"""Which proxies are believed when they say by what address Handon was asked for.

A proxy that ends TLS asks over plain http. Its `X-Forwarded-Proto` and `X-Forwarded-Host` say what the browser asked
for, and anybody can write them: so they count only where the other end of the connection is a proxy that was named.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import Any

from litestar.types import ASGIApp, Receive, Scope, Send

from core.errors import HandonError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_HOST = re.compile(r"([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")


def networks(text: str | None) -> tuple[Network, ...]:
    """The addresses and networks of a list ("10.0.0.7, 192.168.0.0/16"). Raises HandonError."""
    found = []
    for part in (text or "").replace(",", " ").split():
        try:
            found.append(ipaddress.ip_network(part))
        except ValueError:
            raise HandonError(f"{part!r} is no address of a proxy, and no network such as 192.168.0.0/16.") from None
    return tuple(found)


class BehindProxies:
    """The application, asked by the address that a trusted proxy says the browser used."""

    def __init__(self, app: ASGIApp, trusted: Sequence[Network]) -> None:
        self._app = app
        self._trusted = tuple(trusted)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        said: Any = scope
        if said["type"] == "http" and self._trusts(said):
            said = {**said, **_as_forwarded(said)}
        await self._app(said, receive, send)

    def _trusts(self, scope: Any) -> bool:
        try:
            peer = ipaddress.ip_address((scope.get("client") or [""])[0])
        except ValueError:  # a socket of the machine's own has no address
            return False
        return any(peer in network for network in self._trusted)


def _as_forwarded(scope: Any) -> dict[str, Any]:
    """The parts of a request that a proxy puts right. Of several values the last counts: the proxy itself wrote it."""
    said = {name.lower(): value.decode("latin-1").rpartition(",")[2].strip() for name, value in scope["headers"]}
    scheme, host = said.get(b"x-forwarded-proto", "").lower(), said.get(b"x-forwarded-host", "")
    changed: dict[str, Any] = {}
    if scheme in ("http", "https"):
        changed["scheme"] = scheme
    if _HOST.fullmatch(host):
        others = [(name, value) for name, value in scope["headers"] if name.lower() != b"host"]
        changed["headers"] = [*others, (b"host", host.encode("latin-1"))]
    return changed
