"""A provider of identities that does as a test says, right or wrong: a small server on this machine.

It has no page of its own: a test takes the state out of the address that it is sent to, and comes back by itself.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

CLIENT = "handon"
SECRET = "a-secret-of-the-client"
FIRST = RSAKey.generate_key(2048, {"kid": "first"})


class Provider:
    """Answers rightly until a test changes something: `claims` (None leaves one out), `described`, `keys`, `signer`,
    `header`, `tokens` and `more` (what it tells when asked)."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.keys = [FIRST]
        self.signer: RSAKey | OctKey = self.keys[0]
        self.nonce = ""
        self.subject = "s-1"
        self.claims: dict[str, Any] = {}
        self.header: dict[str, Any] = {}
        self.described: dict[str, Any] = {}
        self.tokens: dict[str, Any] = {}
        self.more: dict[str, Any] | None = None
        self.id_token: Callable[[], str] = self.signed
        self.fails: tuple[int, dict[str, Any]] | None = None  # what the token endpoint answers instead
        self.asked: Counter[str] = Counter()
        self.exchanges: list[dict[str, str]] = []

    def description(self) -> dict[str, Any]:
        found = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/keys",
            "id_token_signing_alg_values_supported": ["RS256"],
        } | self.described
        return {name: value for name, value in found.items() if value is not None}

    def all_claims(self) -> dict[str, Any]:
        now = int(time.time())
        found = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": self.subject,
            "iat": now,
            "exp": now + 300,
            "nonce": self.nonce,
            "email": "mia@bindery.test",
            "email_verified": True,
            "name": "Mia",
        } | self.claims
        return {name: value for name, value in found.items() if value is not None}

    def signed(self) -> str:
        header = {"alg": "RS256", "kid": "first"} | self.header
        header = {name: value for name, value in header.items() if value is not None}
        return jwt.encode(header, self.all_claims(), self.signer, algorithms=[header["alg"]])

    def unsigned(self) -> str:
        parts = [json.dumps(part).encode() for part in ({"alg": "none"}, self.all_claims())]
        return ".".join([base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts] + [""])

    def answer(self, path: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        self.asked[path] += 1
        if path == "/.well-known/openid-configuration":
            return 200, self.description()
        if path == "/keys":
            return 200, {"keys": [key.as_dict(private=False) for key in self.keys]}
        if path == "/userinfo":
            return 200, self.more or {"sub": self.subject}
        if path == "/token":
            self.exchanges.append(form)
            if self.fails is not None:
                return self.fails
            return 200, {
                "access_token": "an-access-token",
                "token_type": "Bearer",
                "refresh_token": "a-refresh-token",
                "id_token": self.id_token(),
            } | self.tokens
        return 404, {}


def half_hash(token: str) -> str:
    """What `at_hash` is of a token, beside RS256."""
    return base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()[:16]).rstrip(b"=").decode()


@contextmanager
def running() -> Iterator[Provider]:
    """One that answers on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["content-length"])).decode()
            self._answer({name: values[-1] for name, values in parse_qs(text).items()})

        def _answer(self, form: dict[str, str]) -> None:
            status, found = provider.answer(self.path.partition("?")[0], form)
            body = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = Provider(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield provider
    server.shutdown()
    server.server_close()
