"""OpenID Connect, as the relying party: where somebody is sent to sign in, and what of the answer is believed.

Code flow with PKCE. Authlib speaks to the provider and joserfc checks signatures; which keys, algorithms, issuers,
audiences and times are accepted is said here and not left to either. No token is kept or logged: what is left of an
answer is an `Identity`.

An attempt travels in a cookie of its own, sealed, so that tabs do not disturb each other and nothing is written before
somebody comes back.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import json
import logging
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2
from authlib.integrations.base_client import OAuthError  # type: ignore[import-untyped]
from authlib.integrations.httpx_client import AsyncOAuth2Client  # type: ignore[import-untyped]
from cryptography.fernet import Fernet, InvalidToken
from joserfc import jwt
from joserfc.errors import ExpiredTokenError, JoseError
from joserfc.jwk import Key, KeySet
from joserfc.jws import JWSRegistry, extract_compact

from core.errors import HandonError
from core.values import Identity

log = logging.getLogger("handon.web")

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
LASTS = timedelta(minutes=10)  # an attempt
SKEW = 60  # seconds that the provider's clock may differ from ours
KEPT = timedelta(hours=1)  # the provider's description of itself
PATIENCE = 10.0  # seconds for one answer of the provider
COOKIE = "handon_at_"
LONGEST = 1000  # characters of an address to go on to: a longer one would not fit into a cookie
SHOWN = 300  # characters of what the provider says that a page repeats


class Refused(HandonError):
    """Nobody was signed in. `said` is what the provider said, in its own words; `status` is of the page."""

    def __init__(self, sentence: str, said: str = "", status: int = 400) -> None:
        self.said, self.status = said[:SHOWN], status
        super().__init__(sentence)


@dataclass(frozen=True, slots=True)
class Configured:
    """One provider, as whoever runs Handon configured it."""

    issuer: str
    client_id: str
    client_secret: str = field(default="", repr=False)  # none: a public client, by PKCE alone
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    roles_claim: str = ""
    roles: tuple[tuple[str, str], ...] = ()  # a value of the claim, and a role of the app that it gives

    @property
    def host(self) -> str:
        return urlsplit(self.issuer).netloc


def configured(
    issuer: str | None,
    client_id: str | None,
    client_secret: str | None = None,
    scopes: str | None = None,
    roles_claim: str | None = None,
    roles: str | None = None,
) -> Configured | None:
    """The provider that is configured; None where nothing is. Raises HandonError where it does not hold together."""
    if not issuer and not client_id:
        return None
    if not issuer or not client_id:
        raise HandonError("A provider needs both an issuer and a client id: HANDON_OIDC_ISSUER, HANDON_OIDC_CLIENT_ID.")
    if not _safe(issuer, loopback_too=True) or "?" in issuer or "#" in issuer:
        raise HandonError(f"{issuer!r} is no issuer: it is an https address, without a query.")
    if bool(roles_claim) != bool(roles):
        raise HandonError(
            "A claim of roles needs to be told which of its values gives which role, and the other way round: "
            "HANDON_OIDC_ROLES_CLAIM=groups, HANDON_OIDC_ROLES=shop-binders=binder,shop-masters=master."
        )
    asked = dict.fromkeys(["openid", *(scopes or "email profile").replace(",", " ").split()])
    return Configured(issuer, client_id, client_secret or "", tuple(asked), roles_claim or "", _mapping(roles or ""))


def _mapping(text: str) -> tuple[tuple[str, str], ...]:
    found = []
    for pair in filter(None, (part.strip() for part in text.split(","))):
        value, equals, role = pair.rpartition("=")
        if not equals or not value.strip() or not role.strip():
            raise HandonError(f"{pair!r} of the roles is no pair. Write the claim's value, =, and the app's role.")
        found.append((value.strip(), role.strip()))
    return tuple(found)


def _safe(address: object, loopback_too: bool) -> bool:
    """Whether what is sent there cannot be read on the way."""
    try:
        parts = urlsplit(address) if isinstance(address, str) else urlsplit("")
        host = parts.hostname or ""
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and loopback_too and _loopback(host)))


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# Attempts


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to sign in: what only the browser that began it brings back."""

    state: str
    nonce: str
    verifier: str
    back: str  # where the provider sends the browser, as it was told
    next: str  # where the person wanted to go

    @classmethod
    def new(cls, back: str, next: str) -> Attempt:
        return cls(secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48), back, next)

    @property
    def cookie(self) -> str:
        return cookie_of(self.state)


def cookie_of(state: str) -> str:
    """The name of the cookie that the attempt of this state travels in."""
    return COOKIE + hashlib.sha256(state.encode()).hexdigest()[:16]


class Seal:
    """Seals attempts with a secret of the agency's, so that they outlive a restart and every server reads them."""

    def __init__(self, secret: str, now: Callable[[], datetime]) -> None:
        self._fernet = Fernet(base64.urlsafe_b64encode(hashlib.sha256(secret.encode()).digest()))
        self._now = now

    def close(self, attempt: Attempt) -> str:
        text = json.dumps(asdict(attempt)).encode()
        return self._fernet.encrypt_at_time(text, int(self._now().timestamp())).decode()

    def open(self, sealed: str) -> Attempt | None:
        """None where it was not sealed here, or too long ago."""
        now = int(self._now().timestamp())
        try:
            text = self._fernet.decrypt_at_time(sealed.encode(), int(LASTS.total_seconds()), now)
        except InvalidToken:
            return None
        kept = json.loads(text)
        return Attempt(**kept) if set(kept) == set(Attempt.__slots__) else None  # or another version sealed it


def older(cookies: Mapping[str, str], kept: int) -> list[str]:
    """The names of the cookies of attempts, without the newest that are kept."""

    def at(name: str) -> int:
        try:
            return int.from_bytes(base64.urlsafe_b64decode(cookies[name])[1:9])  # Fernet writes the time there
        except ValueError:
            return 0

    return sorted((name for name in cookies if name.startswith(COOKIE)), key=at, reverse=True)[kept:]


# The provider


class Provider:
    """What is known of the configured provider. Its description is asked for when it is first needed, and again after
    an hour; its keys again whenever a token names one that is not known."""

    def __init__(self, configured: Configured, now: Callable[[], datetime]) -> None:
        self.configured = configured
        self._now = now
        self._described: tuple[datetime, dict[str, Any]] | None = None
        self._keys: KeySet | None = None

    async def begin(self, back: str, next: str) -> tuple[str, Attempt]:
        """Where to send the browser, and the attempt to keep. Raises Refused."""
        described = await self._description()
        attempt = Attempt.new(back, next if len(json.dumps(next)) <= LONGEST else "/")
        async with self._client(described, back) as client:
            address, _ = client.create_authorization_url(
                described["authorization_endpoint"],
                state=attempt.state,
                nonce=attempt.nonce,
                code_verifier=attempt.verifier,
            )
        return str(address), attempt

    async def finish(self, attempt: Attempt, answer: Mapping[str, str]) -> Identity:
        """Who came back. Raises Refused where the provider let nobody in, or what it sent cannot be believed."""
        described = await self._description()
        if "iss" in answer or described.get("authorization_response_iss_parameter_supported") is True:
            self._believe(answer.get("iss") == self.configured.issuer, "the answer is another provider's")
        if "error" in answer:
            raise _in_words(answer["error"], answer.get("error_description", ""))
        self._believe(bool(answer.get("code")), "it holds no code")
        tokens = await self._exchange(described, attempt, answer["code"])
        claims = await self._claims(described, attempt, tokens)
        return self._identity(await self._with_more(described, claims, tokens))

    async def sign_out_address(self) -> str | None:
        """Where somebody signs out at the provider too; None where it has no such page, or does not answer."""
        try:
            described = await self._description()
        except Refused:
            return None
        address = described.get("end_session_endpoint")
        if not self._trusts(address):
            return None
        glue = "&" if urlsplit(address).query else "?"
        return f"{address}{glue}client_id={quote(self.configured.client_id, safe='')}"

    # What it says of itself

    async def _description(self) -> dict[str, Any]:
        if self._described is not None and self._now() - self._described[0] < KEPT:
            return self._described[1]
        found = await self._get(f"{self.configured.issuer.rstrip('/')}/.well-known/openid-configuration")
        issuer = found.get("issuer")
        if issuer != self.configured.issuer:
            log.error("The provider at %s says that its issuer is %r.", self.configured.issuer, issuer)
            raise Refused("The provider says that it is another one than Handon is configured for.", status=503)
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if not self._trusts(found.get(name)):
                log.error("The provider at %s has no %s that can be used.", self.configured.issuer, name)
                raise Refused("The provider’s description of itself cannot be used.", status=503)
        self._described = (self._now(), found)
        self._keys = None  # a key that was withdrawn is not believed for longer than this
        return found

    def _trusts(self, address: object) -> bool:
        return _safe(address, loopback_too=_loopback(urlsplit(self.configured.issuer).hostname or ""))

    async def _get(self, address: str, token: str = "") -> dict[str, Any]:
        headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        try:
            async with httpx2.AsyncClient(timeout=PATIENCE) as client:
                answer = await client.get(address, headers=headers)
                answer.raise_for_status()
                found = answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            raise self._unreachable(error) from None
        if not isinstance(found, dict):
            raise self._unreachable(TypeError("no object"))
        return found

    def _unreachable(self, error: Exception) -> Refused:
        log.warning("The provider %s gave no answer that can be used: %s", self.configured.issuer, type(error).__name__)
        return Refused(f"{self.configured.host} does not answer as it should.", status=503)

    async def _key_set(self, described: dict[str, Any], *, anew: bool) -> KeySet:
        if self._keys is None or anew:
            found = await self._get(described["jwks_uri"])
            try:
                signing = [key for key in found["keys"] if key.get("use", "sig") == "sig"]
                self._keys = KeySet.import_key_set({"keys": signing})
            except (JoseError, KeyError, TypeError, ValueError, AttributeError) as error:
                raise self._unreachable(error) from None
        return self._keys

    # What it answers

    def _client(self, described: dict[str, Any], back: str) -> Any:
        offered = described.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        by = "client_secret_basic" if "client_secret_basic" in offered else "client_secret_post"
        return AsyncOAuth2Client(
            self.configured.client_id,
            self.configured.client_secret or None,
            token_endpoint_auth_method=by if self.configured.client_secret else "none",
            scope=" ".join(self.configured.scopes),
            redirect_uri=back,
            code_challenge_method="S256",
            timeout=PATIENCE,
        )

    async def _exchange(self, described: dict[str, Any], attempt: Attempt, code: str) -> dict[str, Any]:
        try:
            async with self._client(described, attempt.back) as client:
                return dict(
                    await client.fetch_token(
                        described["token_endpoint"],
                        grant_type="authorization_code",
                        code=code,
                        code_verifier=attempt.verifier,
                    )
                )
        except OAuthError as error:
            log.warning("The provider %s refused a code: %s", self.configured.issuer, _line(error.error)[:SHOWN])
            raise _in_words(str(error.error), str(error.description or "")) from None
        except (httpx2.HTTPError, ValueError) as error:
            raise self._unreachable(error) from None

    async def _claims(self, described: dict[str, Any], attempt: Attempt, tokens: dict[str, Any]) -> dict[str, Any]:
        """The claims of the ID token, once everything about it is right."""
        text = tokens.get("id_token")
        if not isinstance(text, str):
            self._believe(False, "it holds no ID token")
        offered = described.get("id_token_signing_alg_values_supported") or ["RS256"]
        algorithms = [name for name in ALGORITHMS if name in offered]
        expected = jwt.JWTClaimsRegistry(
            now=int(self._now().timestamp()),
            leeway=SKEW,
            iss={"essential": True, "value": self.configured.issuer},
            aud={"essential": True, "value": self.configured.client_id},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": attempt.nonce},
        )
        try:
            key = await self._key_of(described, str(text))
            token = jwt.decode(str(text), key, registry=JWSRegistry(algorithms=algorithms, strict_check_header=False))
            expected.validate(token.claims)
        except ExpiredTokenError:
            self._believe(False, "its ID token has expired")
        except (JoseError, ValueError, TypeError) as error:
            self._believe(False, f"its ID token is not right ({getattr(error, 'description', '') or error})")
        claims = token.claims
        audience = claims["aud"]
        alone = isinstance(audience, str) or len(audience) == 1
        meant = claims.get("azp") == self.configured.client_id if "azp" in claims else alone
        self._believe(meant, "its ID token is meant for another application")
        self._believe(_right_subject(claims["sub"]), "its ID token names nobody")
        if "at_hash" in claims:
            right = _half_hash(str(tokens.get("access_token", "")), token.header["alg"])
            self._believe(
                hmac.compare_digest(str(claims["at_hash"]).encode(), right), "its tokens do not belong together"
            )
        return claims

    async def _key_of(self, described: dict[str, Any], text: str) -> Key:
        """The key that a token names. Keys are asked for anew where it is not among them, as after a change of keys."""
        header = extract_compact(text.encode()).headers()
        for anew in (False, True):
            keys = await self._key_set(described, anew=anew)
            fitting = [key for key in keys if _fits(key, header)]
            if len(fitting) == 1:
                return fitting[0]
        raise ValueError("it names no key that the provider has")

    async def _with_more(
        self, described: dict[str, Any], claims: dict[str, Any], tokens: dict[str, Any]
    ) -> dict[str, Any]:
        """What the ID token leaves out and the provider tells when asked; what the token says counts."""
        wanted = ["email", "email_verified", *filter(None, [self.configured.roles_claim])]
        address, token = described.get("userinfo_endpoint"), tokens.get("access_token")
        if all(_find(claims, name) is not None for name in wanted) or not (self._trusts(address) and token):
            return claims
        more = await self._get(str(address), str(token))
        self._believe(more.get("sub") == claims["sub"], "what it tells is about somebody else")
        if more.get("email") != claims.get("email", more.get("email")):
            more.pop("email_verified", None)  # which is said of another address
        return more | claims

    def _identity(self, claims: dict[str, Any]) -> Identity:
        email = _line(claims.get("email"))
        name = _line(claims.get("name")) or _line(claims.get("preferred_username")) or email.partition("@")[0]
        return Identity(
            issuer=self.configured.issuer,
            subject=claims["sub"],
            email=email,
            email_verified=claims.get("email_verified") in (True, "true"),
            name=name[:200],
            roles=self._roles(claims) if self.configured.roles_claim else None,
        )

    def _roles(self, claims: dict[str, Any]) -> frozenset[str]:
        found = _find(claims, self.configured.roles_claim)
        values = found if isinstance(found, list) else [found]
        return frozenset(role for value, role in self.configured.roles if value in values)

    def _believe(self, holds: bool, otherwise: str) -> None:
        if not holds:
            log.warning("What the provider %s sent was not believed: %s.", self.configured.issuer, otherwise)
            raise Refused(f"What {self.configured.host} sent cannot be believed: {otherwise}.")


def _fits(key: Key, header: Mapping[str, Any]) -> bool:
    """Whether a token may be signed with this key: by its id where the token names one, and by its kind."""
    kinds = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
    if key.key_type != kinds.get(str(header.get("alg", ""))[:2]):
        return False
    return "kid" not in header or key.kid == header["kid"]


def _find(claims: Mapping[str, Any], name: str) -> Any:
    """A claim by its name; where there is none of that name, by its path (`realm.roles`)."""
    if name in claims:
        return claims[name]
    at: Any = claims
    for part in name.split("."):
        at = at.get(part) if isinstance(at, dict) else None
    return at


def _line(value: object) -> str:
    """Text on one line, without what cannot be seen."""
    return "".join(letter for letter in value if letter.isprintable()).strip() if isinstance(value, str) else ""


def _right_subject(subject: object) -> bool:
    return isinstance(subject, str) and bool(re.fullmatch(r"[\x20-\x7e]{1,255}", subject))


def _half_hash(text: str, algorithm: str) -> bytes:
    kind = hashlib.sha512 if algorithm.startswith("Ed") else getattr(hashlib, f"sha{algorithm[2:]}")
    digest: bytes = kind(text.encode()).digest()
    return base64.urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=")


_SENTENCES = {
    "access_denied": ("You were not let in at the provider, or you called it off.", 403),
    "login_required": ("You are not signed in at the provider.", 403),
    "interaction_required": ("The provider needs something of you first.", 403),
    "consent_required": ("The provider needs your consent first.", 403),
    "temporarily_unavailable": ("The provider cannot sign anybody in just now.", 503),
    "server_error": ("Something went wrong at the provider.", 503),
    "invalid_grant": ("The provider does not take this answer, or not a second time.", 400),
    "invalid_client": ("The provider does not know Handon by what is configured here. Tell whoever runs Handon.", 503),
    "unauthorized_client": ("The provider does not let Handon do this. Tell whoever runs Handon.", 503),
    "invalid_scope": ("The provider does not tell Handon what it asks for. Tell whoever runs Handon.", 503),
}


def known_error(error: str) -> Refused | None:
    """A known error of a provider's, in our words alone; None where it is not known."""
    return _in_words(error, "") if error in _SENTENCES else None


def _in_words(error: str, said: str) -> Refused:
    """An error of the provider's. Its own text is repeated as text, and known codes are said in our words."""
    sentence, status = _SENTENCES.get(error, ("The provider did not sign you in.", 400))
    return Refused(sentence, said=_line(said) or ("" if error in _SENTENCES else _line(error)), status=status)
