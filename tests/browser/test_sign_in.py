"""The story of somebody who signs in at a provider, in two tabs, goes back, and signs out in both places."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from oidc_provider_mock import run_server_in_thread
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Serve
from tests.browser.test_axe import _faults, axe

__all__ = ["axe"]
pytestmark = pytest.mark.browser


@pytest.fixture
def issuer() -> Iterator[str]:
    with run_server_in_thread() as server:
        yield f"http://localhost:{server.server_port}"


def authorize(page: Page, name: str) -> None:
    """What somebody does on the provider's page."""
    page.get_by_placeholder("sub").fill(name)
    page.get_by_role("button", name="Authorize").click()


def test_signing_in_at_a_provider_in_two_tabs_going_back_and_signing_out(
    serve: Serve, fresh: Open, issuer: str, axe: str
) -> None:
    mia = {"email": "mia@bindery.test", "email_verified": True, "groups": ["g-masters"]}
    httpx.put(f"{issuer}/users/mia", json=mia).raise_for_status()
    server = serve(
        HANDON_OIDC_ISSUER=issuer,
        HANDON_OIDC_CLIENT_ID="handon",
        HANDON_OIDC_CLIENT_SECRET="a-secret-of-the-client",
        HANDON_OIDC_ROLES_CLAIM="groups",
        HANDON_OIDC_ROLES="g-masters=master",
    )
    page = fresh(base_url=server.base, bypass_csp=True)

    # Two tabs begin, each at a page of its own.
    page.goto("/work?show=all")
    other = page.context.new_page()
    other.goto(f"{server.base}/work")
    for tab in (page, other):
        tab.get_by_role("link", name="Sign in", exact=True).click()
        expect(tab.get_by_role("heading", name="Authorize Client")).to_be_visible()

    # Both come through, each to its own page.
    authorize(page, "mia")
    page.wait_for_url(re.compile(r"/work\?show=all$"))
    authorize(other, "mia")
    other.wait_for_url(re.compile(r"/work$"))
    page.reload()
    expect(page.locator(".top-end")).to_contain_text("Mia")

    # Going back over the sign-in harms nothing: whoever is signed in stays so.
    other.go_back()
    other.goto(f"{server.base}/sign-in/back?state=old&code=old")
    expect(other.locator(".top-end")).to_contain_text("Mia")

    # Signed out here, and then there.
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You are signed out.")
    page.get_by_role("link", name="Sign out there too").click()
    page.wait_for_url(re.compile(re.escape(issuer)))
    other.goto(f"{server.base}/inbox")
    expect(other.get_by_role("link", name="Sign in", exact=True)).to_be_visible()

    # Called off there, it is told here and begins anew with one press.
    other.get_by_role("link", name="Sign in", exact=True).click()
    other.get_by_role("button", name="Deny").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("You are not signed in.")
    other.get_by_role("link", name="Sign in again").click()
    expect(other.get_by_role("heading", name="Authorize Client")).to_be_visible()

    # And axe finds nothing to say about the pages at the door.
    pages = {"door": "/sign-in", "refused": "/sign-in/back?error=access_denied", "out": "/sign-in/out"}
    assert [fault for name, address in pages.items() for fault in _faults(page, axe, name, server.base + address)] == []
