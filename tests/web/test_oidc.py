"""Signing in at a provider: against a kept mock of one over HTTP, and against one that answers wrongly on purpose."""

from __future__ import annotations

import base64
import hashlib
import logging
import sqlite3
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc.jwk import OctKey, RSAKey
from oidc_provider_mock import run_server_in_thread

from handon.testing import TestClock
from tests.provider import CLIENT, SECRET, Provider, half_hash, running
from tests.web.conftest import BASE, Browser, Site, open_site, text_of
from web.oidc import Configured, configured
from web.proxies import BehindProxies, networks

ANOTHER = RSAKey.generate_key(2048, {"kid": "second"})
START = "/sign-in/at-provider"


def query_of(address: str) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(urlsplit(address).query).items()}


# At a provider as they are


@pytest.fixture(scope="module")
def mock() -> Iterator[str]:
    """The issuer of a running mock provider."""
    with run_server_in_thread() as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
async def at_mock(mock: str, sqlite_database: str) -> AsyncIterator[Site]:
    roles = (("g-binders", "binder"), ("g-masters", "master"))
    oidc = Configured(mock, CLIENT, SECRET, roles_claim="groups", roles=roles)
    async with open_site(sqlite_database, oidc=oidc) as site:
        yield site


async def known_there(mock: str, subject: str, **claims: Any) -> None:
    async with httpx.AsyncClient() as client:
        (await client.put(f"{mock}/users/{subject}", json=claims)).raise_for_status()


async def press_there(address: str, **form: str) -> str:
    """Press a button of the provider's page; answers the address that it sends the browser back to."""
    async with httpx.AsyncClient() as client:
        answer = await client.post(address, data=form)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


async def begun(browser: Browser, next: str = "/inbox") -> str:
    """The address at the provider that the browser is sent to."""
    answer = await browser.get(START, params={"next": next}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


async def through(browser: Browser, subject: str, next: str = "/inbox") -> httpx.Response:
    """Sign in at the mock as somebody it knows."""
    return await browser.get(await press_there(await begun(browser, next), sub=subject))


async def test_somebody_signs_in_at_the_provider_and_comes_to_the_page_they_wanted(at_mock: Site, mock: str) -> None:
    await known_there(mock, "mia", email="mia@bindery.test", email_verified=True)
    browser = at_mock.browser()
    door = await browser.get("/work?show=all")
    assert "Sign in" in door.text
    assert f'href="{START}?next=/work%3Fshow%3Dall"' in door.text
    answer = await through(browser, "mia", "/work?show=all")
    assert str(answer.url) == f"{BASE}/work?show=all"
    assert "mia@bindery.test" in answer.text
    assert [person.name for person in await at_mock.agency.people()] == ["Mia", "Noor"]


async def test_what_is_sent_to_the_provider_is_a_code_flow_with_pkce_state_and_nonce(at_mock: Site) -> None:
    sent = query_of(await begun(at_mock.browser()))
    assert (sent["response_type"], sent["client_id"], sent["scope"]) == ("code", CLIENT, "openid email profile")
    assert sent["redirect_uri"] == f"{BASE}/sign-in/back"
    assert sent["code_challenge_method"] == "S256"
    assert min(len(sent[name]) for name in ("state", "nonce", "code_challenge")) >= 43


async def test_whoever_calls_it_off_there_is_told_so_and_may_begin_again(at_mock: Site) -> None:
    browser = at_mock.browser()
    answer = await browser.get(await press_there(await begun(browser, "/work"), action="deny"))
    assert answer.status_code == 403
    assert "You were not let in at the provider, or you called it off." in text_of(answer.text)
    assert f'href="{START}?next=/"' in answer.text  # this one forgets the state, and with it where they wanted to go
    assert "handon" not in browser.cookies


# R10
async def test_somebody_who_was_deactivated_is_refused_in_words(at_mock: Site, mock: str) -> None:
    await known_there(mock, "mia", email="mia@bindery.test", email_verified=True)
    await through(at_mock.browser(), "mia")
    await at_mock.agency.deactivate(at_mock.mia)
    browser = at_mock.browser()
    answer = await through(browser, "mia")
    assert answer.status_code == 403
    assert "Your account here was deactivated." in text_of(answer.text)
    assert "handon" not in browser.cookies


async def test_roles_of_the_claim_are_given_and_taken_away_at_each_sign_in_and_no_others(
    at_mock: Site, mock: str
) -> None:
    agency, mia = at_mock.agency, {"email": "mia@bindery.test", "email_verified": True}

    async def roles() -> set[str]:
        return {role for person in await agency.people() if person.name == "Mia" for role in person.roles}

    await agency.grant(at_mock.mia, "auditor")
    await known_there(mock, "mia", **mia, groups=["g-masters", "g-binders", "g-unknown", 7])
    await through(at_mock.browser(), "mia")
    assert await roles() == {"binder", "master", "auditor"}
    await known_there(mock, "mia", **mia, groups="g-masters")
    await through(at_mock.browser(), "mia")
    assert await roles() == {"binder", "master", "auditor"}  # she was a binder before the claim said so
    await known_there(mock, "mia", **mia)
    await through(at_mock.browser(), "mia")
    assert await roles() == {"binder", "auditor"}


async def test_signing_out_ends_the_session_here_and_leads_to_the_providers_own(at_mock: Site, mock: str) -> None:
    await known_there(mock, "mia", email="mia@bindery.test", email_verified=True)
    browser = at_mock.browser()
    await through(browser, "mia")
    token = browser.cookies["handon"]
    answer = await browser.submit("/inbox", "/sign-out")
    assert await at_mock.agency.signed_in(token) is None
    assert "You are signed out." in text_of(answer.text)
    assert f'href="{mock}/oauth2/end_session?client_id={CLIENT}"' in answer.text


async def test_a_code_that_is_used_a_second_time_is_refused_by_the_provider_and_signs_nobody_in(
    at_mock: Site, mock: str
) -> None:
    await known_there(mock, "mia", email="mia@bindery.test", email_verified=True)
    one, other = at_mock.browser(), at_mock.browser()
    code = query_of(await press_there(await begun(one), sub="mia"))
    state = query_of(await begun(other))["state"]
    assert (await one.get("/sign-in/back", params=code)).status_code == 200
    answer = await other.get("/sign-in/back", params=code | {"state": state})
    assert answer.status_code == 400
    assert "not a second time" in text_of(answer.text)
    assert "handon" not in other.cookies


async def test_two_tabs_of_one_browser_both_come_through_and_the_later_session_counts(at_mock: Site, mock: str) -> None:
    await known_there(mock, "mia", email="mia@bindery.test", email_verified=True)
    browser = at_mock.browser()
    one, other = await begun(browser, "/work"), await begun(browser, "/work?show=all")
    first = await browser.get(await press_there(one, sub="mia"))
    token = browser.cookies["handon"]
    second = await browser.get(await press_there(other, sub="mia"))
    assert [str(first.url), str(second.url)] == [f"{BASE}/work", f"{BASE}/work?show=all"]
    assert browser.cookies["handon"] != token
    assert await at_mock.agency.signed_in(token) is None
    assert not [name for name in browser.cookies if name.startswith("handon_at_")]


# At one that answers wrongly


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running() as provider:
        yield provider


@pytest.fixture
async def at_provider(provider: Provider, sqlite_database: str) -> AsyncIterator[Site]:
    async with open_site(sqlite_database, oidc=Configured(provider.issuer, CLIENT, SECRET)) as site:
        yield site


async def come_back(browser: Browser, provider: Provider, **changes: str) -> httpx.Response:
    """Begin, and come back as from the provider; `changes` are made to what the browser brings along."""
    sent = query_of(await begun(browser))
    provider.nonce = sent["nonce"]
    return await browser.get("/sign-in/back", params={"code": "one", "state": sent["state"]} | changes)


async def signs_in(site: Site, provider: Provider) -> bool:
    """Whether somebody is signed in by what the provider says now; where not, nothing was added either."""
    browser = site.browser()
    answer = await come_back(browser, provider)
    if answer.status_code == 200:
        assert "handon" in browser.cookies
        return True
    assert "You are not signed in." in answer.text
    assert "handon" not in browser.cookies
    assert len(await site.agency.people()) == 2
    return False


async def test_the_right_token_signs_in_and_its_code_came_with_the_secret_and_the_verifier(
    at_provider: Site, provider: Provider
) -> None:
    sent = query_of(await begun(browser := at_provider.browser()))
    provider.nonce = sent["nonce"]
    answer = await browser.get("/sign-in/back", params={"code": "one", "state": sent["state"]})
    assert answer.url.path == "/inbox"
    [form] = provider.exchanges
    assert (form["code"], form["redirect_uri"]) == ("one", f"{BASE}/sign-in/back")
    challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
    assert challenge == sent["code_challenge"]


async def test_no_token_code_or_secret_is_stored_or_logged(
    at_provider: Site, provider: Provider, sqlite_database: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    provider.claims = {"email": None, "email_verified": None}
    provider.more = {"sub": "s-1", "email": "mia@bindery.test", "email_verified": True}
    browser = at_provider.browser()
    sent = query_of(await begun(browser))
    provider.nonce = sent["nonce"]
    await browser.get("/sign-in/back", params={"code": "the-code", "state": sent["state"]})
    provider.claims = {"nonce": "another"}  # what is not believed is not logged either
    assert not await signs_in(at_provider, provider)
    with sqlite3.connect(sqlite_database.removeprefix("sqlite:///")) as rows:
        kept = "\n".join(rows.iterdump())
    said = "\n".join(
        record.getMessage() for record in caplog.records if record.name.partition(".")[0] not in ("httpx", "httpcore")
    )
    assert "s-1" in kept
    assert "was not believed" in said
    hidden = ["an-access-token", "a-refresh-token", "eyJ", "the-code", SECRET, browser.cookies["handon"]]
    hidden += [sent["state"], sent["nonce"], provider.exchanges[0]["code_verifier"]]
    assert [text for text in hidden if text in kept or text in said] == []


WRONG: dict[str, dict[str, Any]] = {
    "of another issuer": {"iss": "https://elsewhere.test"},
    "without an issuer": {"iss": None},
    "for another application": {"aud": "another"},
    "for another application, though asked for by this one": {"aud": "another", "azp": CLIENT},
    "for nobody": {"aud": None},
    "for several, of which none asked": {"aud": [CLIENT, "another"]},
    "for this one, asked for by another": {"azp": "another"},
    "of another attempt": {"nonce": "another"},
    "of no attempt": {"nonce": None},
    "expired": {"exp": 1_700_000_000},
    "that never expires": {"exp": None},
    "from the future": {"iat": 4_000_000_000, "exp": 4_000_000_300},
    "not yet valid": {"nbf": 4_000_000_000},
    "without a subject": {"sub": None},
    "with an empty subject": {"sub": ""},
    "with a subject that is no text": {"sub": 7},
    "with a subject that cannot be seen": {"sub": "s\x001"},
    "beside another access token": {"at_hash": half_hash("another")},
}


@pytest.mark.parametrize("claims", WRONG.values(), ids=WRONG)
async def test_a_token_that_is_not_right_signs_nobody_in(
    at_provider: Site, provider: Provider, claims: dict[str, Any]
) -> None:
    provider.claims = claims
    assert not await signs_in(at_provider, provider)
    provider.claims = {"at_hash": half_hash("an-access-token"), "aud": [CLIENT, "another"], "azp": CLIENT}
    assert await signs_in(at_provider, provider)


async def test_a_clock_that_differs_by_less_than_a_minute_harms_nothing(at_provider: Site, provider: Provider) -> None:
    now = int(at_provider.agency.clock.now().timestamp())
    provider.claims = {"iat": now + 30, "exp": now - 30}
    assert await signs_in(at_provider, provider)
    provider.claims = {"exp": now - 90}
    assert not await signs_in(at_provider, provider)


async def test_a_token_that_nobody_signed_signs_nobody_in(at_provider: Site, provider: Provider) -> None:
    provider.described = {"id_token_signing_alg_values_supported": ["none", "RS256"]}
    provider.id_token = provider.unsigned
    assert not await signs_in(at_provider, provider)
    provider.id_token = provider.signed
    assert await signs_in(at_provider, provider)


async def test_a_token_that_another_key_signed_signs_nobody_in(at_provider: Site, provider: Provider) -> None:
    provider.signer = RSAKey.import_key(ANOTHER.as_dict(private=True) | {"kid": "first"})
    assert not await signs_in(at_provider, provider)
    provider.header = {"kid": "unknown"}
    assert not await signs_in(at_provider, provider)


async def test_a_token_signed_with_the_clients_secret_or_the_public_key_signs_nobody_in(
    at_provider: Site, provider: Provider
) -> None:
    provider.described = {"id_token_signing_alg_values_supported": ["HS256", "RS256"]}
    for secret in (SECRET.encode(), provider.keys[0].as_pem(private=False)):
        provider.signer, provider.header = OctKey.import_key(base64.b64encode(secret).decode()), {"alg": "HS256"}
        assert not await signs_in(at_provider, provider)


async def test_a_token_signed_in_another_way_than_the_provider_says_signs_nobody_in(
    at_provider: Site, provider: Provider
) -> None:
    provider.header = {"alg": "RS512"}
    assert not await signs_in(at_provider, provider)
    provider.header = {}
    assert await signs_in(at_provider, provider)


async def test_an_answer_without_an_id_token_signs_nobody_in(at_provider: Site, provider: Provider) -> None:
    provider.tokens = {"id_token": None}
    assert not await signs_in(at_provider, provider)
    provider.tokens = {"id_token": "no.token.atall"}
    assert not await signs_in(at_provider, provider)


async def test_keys_are_asked_for_anew_when_a_token_names_one_that_is_not_known(
    at_provider: Site, provider: Provider
) -> None:
    assert await signs_in(at_provider, provider)
    assert await signs_in(at_provider, provider)
    assert provider.asked["/keys"] == 1
    provider.signer = ANOTHER
    provider.keys, provider.header = [provider.signer], {"kid": "second"}
    assert await signs_in(at_provider, provider)
    assert provider.asked["/keys"] == 2
    assert provider.asked["/.well-known/openid-configuration"] == 1
    provider.header = {"kid": "first"}  # which was withdrawn
    assert not await signs_in(at_provider, provider)


async def test_a_token_that_names_no_key_is_believed_only_where_the_provider_has_one_of_its_kind(
    at_provider: Site, provider: Provider
) -> None:
    provider.header = {"kid": None}
    provider.keys = [provider.keys[0], ANOTHER]
    assert not await signs_in(at_provider, provider)
    provider.keys = [provider.keys[0]]
    assert await signs_in(at_provider, provider)


async def test_a_provider_that_says_it_is_another_is_not_used(at_provider: Site, provider: Provider) -> None:
    provider.described = {"issuer": "https://elsewhere.test"}
    answer = await at_provider.browser().get(START, follow_redirects=False)
    assert answer.status_code == 503
    assert "another one than Handon is configured for" in text_of(answer.text)
    provider.described = {}
    assert await signs_in(at_provider, provider)


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri"])
@pytest.mark.parametrize(
    "address", [None, "http://elsewhere.test/", "javascript://127.0.0.1/%0aalert(1)", "http://[", 7]
)
async def test_a_provider_whose_addresses_cannot_be_used_safely_is_not_used(
    at_provider: Site, provider: Provider, name: str, address: Any
) -> None:
    provider.described = {name: address}
    assert (await at_provider.browser().get(START, follow_redirects=False)).status_code == 503


async def test_a_provider_that_does_not_answer_is_said_in_words(sqlite_database: str) -> None:
    async with open_site(sqlite_database, oidc=Configured("http://127.0.0.1:9", CLIENT, SECRET)) as site:
        answer = await site.browser().get(START, params={"next": "/work"}, follow_redirects=False)
    assert answer.status_code == 503
    assert "127.0.0.1:9 does not answer as it should." in text_of(answer.text)
    assert f'href="{START}?next=/work"' in answer.text


async def test_an_answer_that_another_provider_gave_is_refused(at_provider: Site, provider: Provider) -> None:
    assert (await come_back(at_provider.browser(), provider, iss="https://elsewhere.test")).status_code == 400
    assert (await come_back(at_provider.browser(), provider, iss=provider.issuer)).status_code == 200
    assert len(provider.exchanges) == 1


async def test_what_the_provider_says_went_wrong_is_shown_as_text_and_only_to_whoever_began(
    at_provider: Site, provider: Provider
) -> None:
    denied = await come_back(at_provider.browser(), provider, error="access_denied")
    assert denied.status_code == 403
    assert f'href="{START}?next=/inbox"' in denied.text
    hostile = {"error": "server_error", "error_description": "<script>alert(1)</script> \u202egnorw" + "x" * 1000}
    browser = at_provider.browser()
    answer = await come_back(browser, provider, **hostile)
    assert answer.status_code == 503
    assert "&lt;script&gt;alert(1)" in answer.text
    assert "<script>alert" not in answer.text
    assert "\u202e" not in answer.text
    assert "x" * 400 not in answer.text
    stranger = await at_provider.browser().get("/sign-in/back", params=hostile | {"state": "guessed"})
    assert stranger.status_code == 400
    assert "alert(1)" not in stranger.text
    unclaimed = await at_provider.browser().get("/sign-in/back", params=hostile | {"error": "<b>unheard of</b>"})
    assert unclaimed.status_code == 400
    assert "unheard of" not in unclaimed.text


async def test_a_code_that_the_provider_turns_down_is_said_in_words(at_provider: Site, provider: Provider) -> None:
    provider.fails = (400, {"error": "invalid_client", "error_description": "unknown client handon"})
    answer = await come_back(at_provider.browser(), provider)
    assert answer.status_code == 503
    assert "The provider does not know Handon by what is configured here." in text_of(answer.text)
    assert "unknown client handon" in text_of(answer.text)
    provider.fails = (500, {})
    assert (await come_back(at_provider.browser(), provider)).status_code == 503


# States


async def test_a_state_comes_back_once_and_whoever_is_signed_in_by_then_goes_on(
    at_provider: Site, provider: Provider
) -> None:
    browser = at_provider.browser()
    sent = query_of(await begun(browser, "/work"))
    provider.nonce = sent["nonce"]
    kept = dict(browser.cookies)
    back = {"code": "one", "state": sent["state"]}
    assert (await browser.get("/sign-in/back", params=back)).url.path == "/work"
    again = await browser.get("/sign-in/back", params=back)  # the back button
    assert (again.status_code, again.url.path) == (200, "/inbox")
    replayed = await at_provider.browser(cookies=kept).get("/sign-in/back", params=back)
    assert replayed.status_code == 400
    assert "it was used before" in text_of(replayed.text)
    assert len(provider.exchanges) == 1


async def test_a_state_that_this_browser_did_not_begin_signs_nobody_in(at_provider: Site, provider: Provider) -> None:
    sent = query_of(await begun(at_provider.browser()))
    provider.nonce = sent["nonce"]
    victim = at_provider.browser()
    await begun(victim)
    answer = await victim.get("/sign-in/back", params={"code": "one", "state": sent["state"]})
    assert answer.status_code == 400
    assert "began in another browser" in text_of(answer.text)
    assert provider.exchanges == []
    assert (await victim.get("/sign-in/back")).status_code == 400


async def test_a_state_that_is_too_old_ends_on_a_page_that_begins_anew_and_goes_nowhere_by_itself(
    provider: Provider, sqlite_database: str, clock: TestClock
) -> None:
    oidc = Configured(provider.issuer, CLIENT, SECRET)
    async with open_site(sqlite_database, clock=clock, oidc=oidc) as site:
        browser = site.browser()
        back = {"code": "one", "state": query_of(await begun(browser))["state"]}
        await clock.advance(timedelta(minutes=11))
        answer = await browser.get("/sign-in/back", params=back, follow_redirects=False)
    assert answer.status_code == 400
    assert "began more than ten minutes ago" in text_of(answer.text)
    assert f'href="{START}?next=/"' in answer.text
    assert "http-equiv" not in answer.text
    assert provider.exchanges == []


async def test_an_attempt_outlives_a_restart_of_the_server(provider: Provider, sqlite_database: str) -> None:
    oidc = Configured(provider.issuer, CLIENT, SECRET)
    async with open_site(sqlite_database, oidc=oidc) as site:
        browser = site.browser()
        sent = query_of(await begun(browser))
        kept = dict(browser.cookies)
    provider.nonce = sent["nonce"]
    async with open_site(sqlite_database, oidc=oidc) as site:
        answer = await site.browser(cookies=kept).get("/sign-in/back", params={"code": "one", "state": sent["state"]})
    assert answer.url.path == "/inbox"


async def test_a_browser_keeps_the_cookies_of_a_few_attempts_only(at_provider: Site) -> None:
    browser = at_provider.browser()
    for _ in range(12):
        await begun(browser)
    assert len([name for name in browser.cookies if name.startswith("handon_at_")]) == 5


async def test_an_address_that_is_too_long_for_a_cookie_is_left_behind_and_the_sign_in_is_not(
    at_provider: Site, provider: Provider
) -> None:
    browser = at_provider.browser()
    sent = query_of(await begun(browser, "/work?about=" + "é" * 2000))
    provider.nonce = sent["nonce"]
    assert len(next(iter(browser.cookies.values()))) < 4000
    answer = await browser.get("/sign-in/back", params={"code": "one", "state": sent["state"]})
    assert answer.url.path == "/inbox"


async def test_cookies_are_for_the_server_alone_and_over_tls_for_tls_alone(
    at_provider: Site, provider: Provider
) -> None:
    for base, secure in ((BASE, False), ("https://site.test", True)):
        browser = at_provider.browser()
        begin = await browser.get(f"{base}{START}", follow_redirects=False)
        sent = query_of(begin.headers["location"])
        assert sent["redirect_uri"] == f"{base}/sign-in/back"
        provider.nonce = sent["nonce"]
        answer = await browser.get(
            f"{base}/sign-in/back", params={"code": "one", "state": sent["state"]}, follow_redirects=False
        )
        for cookie in (begin.headers["set-cookie"], answer.headers["set-cookie"]):
            assert ("HttpOnly" in cookie, "SameSite=lax" in cookie, "Secure" in cookie) == (True, True, secure)


# Who it is


async def test_an_unverified_address_never_finds_or_adds_anybody(at_provider: Site, provider: Provider) -> None:
    for claims in (
        {"email_verified": False},
        {"email_verified": None},
        {"email_verified": "false"},
        {"email": "new@bindery.test", "email_verified": False},
        {"email": None},
    ):
        provider.claims = claims
        assert not await signs_in(at_provider, provider)
    provider.claims = {}
    assert await signs_in(at_provider, provider)
    provider.claims = {"email_verified": False, "email": "other@bindery.test"}  # by now she is known by her subject
    browser = at_provider.browser()
    assert "mia@bindery.test" in (await come_back(browser, provider)).text


async def test_somebody_whom_nobody_added_is_added_with_no_role(at_provider: Site, provider: Provider) -> None:
    provider.claims = {"sub": "s-9", "email": "Ada@Bindery.test", "name": "A\x00da\u202e"}
    assert (await come_back(at_provider.browser(), provider)).status_code == 200
    [ada] = [person for person in await at_provider.agency.people() if person.email == "ada@bindery.test"]
    assert (ada.name, ada.roles) == ("Ada", frozenset())


async def test_another_subject_with_the_address_of_somebody_known_is_refused_until_she_is_forgotten(
    at_provider: Site, provider: Provider
) -> None:
    assert await signs_in(at_provider, provider)
    provider.subject = "s-2"
    assert not await signs_in(at_provider, provider)
    await at_provider.agency.forget_identities(at_provider.mia)
    assert await signs_in(at_provider, provider)


async def test_what_the_token_leaves_out_is_asked_for_and_believed_only_of_the_same_subject(
    at_provider: Site, provider: Provider
) -> None:
    provider.claims = {"email": None, "email_verified": None}
    provider.more = {"sub": "s-1", "email": "mia@bindery.test", "email_verified": True}
    assert await signs_in(at_provider, provider)
    provider.more = {"sub": "another", "email": "noor@bindery.test", "email_verified": True}
    assert not await signs_in(at_provider, provider)
    provider.subject = "s-3"  # whose unverified address is not made verified by what is said of another
    provider.claims = {"email": "noor@bindery.test", "email_verified": None}
    provider.more = {"sub": "s-3", "email": "s3@bindery.test", "email_verified": True}
    assert not await signs_in(at_provider, provider)


async def test_where_the_token_and_what_is_told_differ_the_token_counts(
    provider: Provider, sqlite_database: str
) -> None:
    oidc = Configured(provider.issuer, CLIENT, SECRET, roles_claim="groups", roles=(("g-masters", "master"),))
    provider.claims = {"email_verified": False}
    provider.more = {"sub": "s-1", "email": "mia@bindery.test", "email_verified": True, "groups": ["g-masters"]}
    async with open_site(sqlite_database, oidc=oidc) as site:
        assert not await signs_in(site, provider)
        provider.claims = {}
        assert await signs_in(site, provider)
        assert {person.name for person in await site.agency.people() if "master" in person.roles} == {"Mia", "Noor"}


@pytest.mark.parametrize(
    "elsewhere",
    ["//evil.test/", "https://evil.test/", "/\\evil.test", "/\t/evil.test", "/\r/evil.test", "javascript:alert(1)"],
)
async def test_it_goes_on_only_to_this_site(at_provider: Site, provider: Provider, elsewhere: str) -> None:
    browser = at_provider.browser()
    sent = query_of(await begun(browser, elsewhere))
    provider.nonce = sent["nonce"]
    answer = await browser.get("/sign-in/back", params={"code": "one", "state": sent["state"]}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


# Behind a proxy


FORWARDED = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "handon.test"}


async def sent_back_to(site: Site, trusted: str, headers: dict[str, str], peer: str = "10.0.0.7") -> httpx.Response:
    app: Any = BehindProxies(site.app, networks(trusted))
    transport = httpx.ASGITransport(app, client=(peer, 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://inside:8100") as client:
        return await client.get(START, headers=headers)


async def test_a_trusted_proxy_says_by_what_address_handon_was_asked_for(at_provider: Site) -> None:
    for trusted in ("10.0.0.7", "192.168.0.1, 10.0.0.0/8"):
        answer = await sent_back_to(at_provider, trusted, FORWARDED)
        assert query_of(answer.headers["location"])["redirect_uri"] == "https://handon.test/sign-in/back"
        assert "Secure" in answer.headers["set-cookie"]
        assert "strict-transport-security" in answer.headers


@pytest.mark.parametrize(
    ("trusted", "peer"), [("", "10.0.0.7"), ("10.0.0.8", "10.0.0.7"), ("10.0.0.7", "127.0.0.1"), ("10.0.0.7", "")]
)
async def test_nobody_else_is_believed_about_it(at_provider: Site, trusted: str, peer: str) -> None:
    answer = await sent_back_to(at_provider, trusted, FORWARDED, peer)
    assert query_of(answer.headers["location"])["redirect_uri"] == "http://inside:8100/sign-in/back"
    assert "Secure" not in answer.headers["set-cookie"]


async def test_of_what_a_proxy_passes_on_only_its_own_word_counts_and_only_where_it_is_an_address(
    at_provider: Site,
) -> None:
    said = {"X-Forwarded-Proto": "ftp, https", "X-Forwarded-Host": "evil.test, handon.test:8443"}
    answer = await sent_back_to(at_provider, "10.0.0.7", said)
    assert query_of(answer.headers["location"])["redirect_uri"] == "https://handon.test:8443/sign-in/back"
    wrong = {"X-Forwarded-Proto": "gopher", "X-Forwarded-Host": "evil.test/@"}
    answer = await sent_back_to(at_provider, "10.0.0.7", wrong)
    assert query_of(answer.headers["location"])["redirect_uri"] == "http://inside:8100/sign-in/back"


# The door, and what is configured


async def test_without_a_provider_and_without_the_demo_the_door_says_what_to_configure(site: Site) -> None:
    door = text_of((await site.browser().get("/sign-in")).text)
    assert "Nobody can sign in here yet: no provider is configured." in door
    assert "HANDON_OIDC_ISSUER" in door
    for address in (START, "/sign-in/back?state=x&code=y", "/sign-in/out"):
        answer = await site.browser().get(address)
        assert (answer.status_code, answer.url.path) == (200, "/sign-in")


def test_a_configuration_is_read_from_plain_text() -> None:
    found = configured("https://login.test", "me", "s", "email, groups", "groups", "a=binder, b = master ,a=master")
    assert found is not None
    assert found.scopes == ("openid", "email", "groups")
    assert found.roles == (("a", "binder"), ("b", "master"), ("a", "master"))
    assert "secret" not in repr(replace(found, client_secret="a-secret"))
    assert configured(None, None) is None
