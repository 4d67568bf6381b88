"""What every answer carries, what a form needs, and what a page never holds."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.web.conftest import Site, text_of

PAGES = ["/inbox", "/inbox/answered", "/work", "/work?show=finished", "/work?show=all", "/work/new", "/health"]


@pytest.mark.parametrize("address", [*PAGES, "/sign-in", "/no/such/page", "/live"])
async def test_every_answer_carries_the_strict_policy(site: Site, address: str) -> None:
    if address == "/live":
        async with site.stream(await site.signed_in(site.mia), address) as stream:
            assert await stream.status == 200
            headers = stream.headers
    else:
        headers = dict((await (await site.signed_in(site.mia)).get(address, headers={"accept": "text/html"})).headers)
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("address", PAGES)
async def test_no_page_holds_inline_script_style_or_handlers(site: Site, address: str) -> None:
    page = (await (await site.signed_in(site.mia)).get(address, headers={"accept": "text/html"})).text
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)
    assert not re.search(r"<style|\sstyle=|\son\w+=|hx-on|\"js:|javascript:", page)


async def test_files_are_kept_for_ever_under_an_address_of_their_content(site: Site) -> None:
    browser = site.browser()
    page = (await browser.get("/sign-in")).text
    for address in re.findall(r'(?:href|src)="(/static/[^"#]+)"', page):
        answer = await browser.get(address)
        assert answer.status_code == 200, address
        assert "immutable" in answer.headers["cache-control"], address
        assert "set-cookie" not in answer.headers, address


async def test_a_form_without_its_token_is_refused_in_words_and_does_nothing(site: Site) -> None:
    await site.wants_to_write("Torn")
    browser = await site.signed_in(site.mia)
    proposal = (await (await site.desk(site.mia)).proposals())[0]
    answer = await browser.post(f"/inbox/{proposal.id}/approval", data={"fingerprint": proposal.fingerprint})
    assert answer.status_code == 403
    assert "This form cannot be taken." in text_of(answer.text)
    assert await site.the_note() == ""


async def test_opening_any_page_any_number_of_times_changes_nothing(site: Site) -> None:
    root = await site.wants_to_write("Torn")
    browser, desk = await site.signed_in(site.mia), await site.desk(site.mia)
    proposal = (await desk.proposals())[0]
    before = await desk.trace_of(root)
    work = [f"/work/{root}", f"/work/{root}/record", f"/work/{root}/stop", f"/work/{root}/piece/{root}"]
    cards = [f"/inbox/{proposal.id}", f"/inbox/{proposal.id}/edit", f"/inbox/{proposal.id}/refusal"]
    for address in [*PAGES, *work, *cards] * 3:
        assert (await browser.get(address)).status_code == 200, address
    assert await desk.trace_of(root) == before
    assert await desk.proposals() == [proposal]


async def test_what_an_agent_wrote_never_becomes_markup(site: Site) -> None:
    hostile = "<script>alert(1)</script><hx-partial hx-target='#badge'>x</hx-partial>"
    root = await site.wants_to_write(hostile, about="<img src=x onerror=alert(1)>")
    browser = await site.signed_in(site.mia)
    proposal = (await (await site.desk(site.mia)).proposals())[0]
    for address in ("/inbox", f"/inbox/{proposal.id}", f"/inbox/{proposal.id}/edit", f"/work/{root}", "/work"):
        page = (await browser.get(address)).text
        assert "<script>alert" not in page, address
        assert "<img src=x" not in page, address
        assert "<hx-partial" not in page, address


async def test_what_is_not_there_and_what_is_not_yours_are_told_in_the_same_words(site: Site) -> None:
    await site.wants_to_write("Torn")
    proposal = (await (await site.desk(site.mia)).proposals())[0]
    browser = await site.signed_in(site.noor)
    not_hers = await browser.get(f"/inbox/{proposal.id}")
    not_there = await browser.get("/inbox/0190a3b2-0000-7000-8000-000000000000")
    assert not_hers.status_code == not_there.status_code == 404
    assert text_of(not_hers.text) == text_of(not_there.text)


async def test_an_error_of_ours_is_told_by_a_code_and_never_in_the_drivers_words(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: object, *args: object, **kwargs: object) -> None:
        raise RuntimeError("connection to server at 10.0.0.7 failed: password of handon")

    monkeypatch.setattr("core.desk.Desk.works", broken)
    answer = await (await site.signed_in(site.mia)).get("/work")
    assert answer.status_code == 500
    assert "This page could not be made." in answer.text
    assert "10.0.0.7" not in answer.text
    assert re.search(r"e-[0-9a-f]{4} [0-9a-f]{4}", answer.text)


async def test_a_form_whose_sender_goes_away_midway_is_no_error_of_ours(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    parts = iter([{"type": "http.request", "body": b"about=", "more_body": True}, {"type": "http.disconnect"}])
    sent: list[Any] = []

    async def receive() -> Any:
        return next(parts)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/x-www-form-urlencoded"), (b"cookie", b"csrftoken=x"), (b"host", b"test")]
    path = "/sign-in/link/nothing"
    scope = {
        **{"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http"},
        **{"path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": headers},
        **{"client": ("127.0.0.1", 1), "server": ("test", 80), "app": site.app, "state": {}},
    }
    with caplog.at_level("INFO", "handon.web"):
        await site.app(scope, receive, send)  # type: ignore[arg-type]
    assert "went away" in caplog.text
    assert "ERROR" not in caplog.text
