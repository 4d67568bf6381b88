"""Signing in: links that are good once, sessions of our own, and who is sent to the door."""

from __future__ import annotations

import pytest

from tests.web.conftest import Site, text_of


async def test_opening_a_link_changes_nothing_and_only_its_button_signs_in(site: Site) -> None:
    link = f"/sign-in/link/{await site.agency.sign_in_link(site.mia.id)}"
    browser = site.browser()
    for _ in range(20):  # a mail scanner, say
        page = await browser.get(link)
        assert "Sign in as Mia" in page.text
        assert "handon" not in browser.cookies
    answer = await browser.submit(link, link)
    assert answer.url.path == "/inbox"
    assert "Mia" in answer.text


async def test_a_link_signs_in_once(site: Site) -> None:
    link = f"/sign-in/link/{await site.agency.sign_in_link(site.mia.id)}"
    await site.browser().submit(link, link)
    again = await site.browser().get(link)
    assert again.status_code == 410
    assert "used up" in again.text


async def test_a_token_the_browser_brings_along_is_never_adopted(site: Site) -> None:
    browser = site.browser(cookies={"handon": "chosen-by-somebody-else"})
    link = f"/sign-in/link/{await site.agency.sign_in_link(site.mia.id)}"
    page = await browser.get(link)
    token = page.text.split('name="_csrf_token" value="')[1].split('"')[0]
    answer = await browser.post(link, data={"_csrf_token": token}, follow_redirects=False)
    cookie = answer.headers["set-cookie"]
    assert "chosen-by-somebody-else" not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie


async def test_signing_in_again_ends_the_session_before(site: Site) -> None:
    browser = await site.signed_in(site.mia)
    old = browser.cookies["handon"]
    link = f"/sign-in/link/{await site.agency.sign_in_link(site.mia.id)}"
    await browser.submit(link, link)
    assert browser.cookies["handon"] != old
    assert await site.agency.signed_in(old) is None


async def test_signing_out_ends_the_session_in_the_database_too(site: Site) -> None:
    browser = await site.signed_in(site.mia)
    token = browser.cookies["handon"]
    answer = await browser.submit("/inbox", "/sign-out")
    assert answer.url.path == "/sign-in"
    assert await site.agency.signed_in(token) is None
    assert (await browser.get("/work")).url.path == "/sign-in"


@pytest.mark.parametrize("address", ["/", "/inbox", "/work", "/work/new", "/inbox/answered", "/no/such/page"])
async def test_every_page_sends_whoever_is_not_signed_in_to_the_door(site: Site, address: str) -> None:
    answer = await site.browser().get(address, follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/sign-in?next=")


async def test_streams_and_fragments_are_refused_rather_than_sent_to_the_door(site: Site) -> None:
    browser = site.browser()
    assert (await browser.get("/live", follow_redirects=False)).status_code == 401
    fragment = await browser.get("/work", headers={"HX-Request": "true"}, follow_redirects=False)
    assert fragment.status_code == 401


@pytest.mark.parametrize("elsewhere", ["//evil.test/", "https://evil.test/", "/\\evil.test", "javascript:alert(1)"])
async def test_signing_in_goes_on_only_to_this_site(site: Site, elsewhere: str) -> None:
    link = f"/sign-in/link/{await site.agency.sign_in_link(site.mia.id)}"
    answer = await site.browser().submit(link, link, next=elsewhere)
    assert answer.url.host == "site.test"
    assert answer.url.path == "/inbox"


async def test_signing_in_goes_on_to_the_page_that_was_asked_for(site: Site) -> None:
    link = f"/sign-in/link/{await site.agency.sign_in_link(site.mia.id)}?next=/work%3Fshow%3Dall"
    page = await site.browser().get(link)
    assert 'name="next" value="/work?show=all"' in page.text


async def test_the_door_is_open_and_so_is_the_health_page(site: Site) -> None:
    browser = site.browser()
    assert (await browser.get("/sign-in")).status_code == 200
    assert (await browser.get("/health")).json()["status"] == "ok"
    page = await browser.get("/health", headers={"accept": "text/html"})
    assert "Answers" in text_of(page.text)
