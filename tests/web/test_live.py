"""The stream: nothing missed, nothing repeated, nothing left open."""

from __future__ import annotations

import re

import pytest

from tests.web.conftest import Site
from web import live


def lines_in(data: str) -> list[int]:
    return [int(number) for number in re.findall(r'id="l-(\d+)"', data)]


async def test_a_stream_replays_what_came_after_the_page_and_then_goes_on_live(site: Site) -> None:
    root = await site.wants_to_write("Torn")
    desk = await site.desk(site.mia)
    made_at = (await desk.work(root)).lines - 2
    async with site.stream(await site.signed_in(site.mia), f"/live?work={root}&after={made_at}") as stream:
        assert await stream.status == 200
        first = await stream.html()
        assert int(first["id"]) == made_at + 2
        proposal = (await desk.proposals())[0]
        await desk.approve(proposal.id)
        numbers = [int(first["id"])]
        while not (await desk.work(root)).status.final or numbers[-1] < (await desk.work(root)).lines:
            numbers.append(int((await stream.html())["id"]))
    assert numbers == sorted(set(numbers))


async def test_a_reader_who_comes_back_goes_on_where_they_left_off(site: Site) -> None:
    root = await site.wants_to_write("Torn")
    total = (await (await site.desk(site.mia)).work(root)).lines
    browser = await site.signed_in(site.mia)
    headers = {"Last-Event-ID": str(total - 1)}
    async with site.stream(browser, f"/live?work={root}&after=0", **headers) as stream:
        message = await stream.html()
    assert int(message["id"]) == total
    assert lines_in(message["data"])[-1] == total


async def test_rows_of_the_stream_are_the_rows_of_the_page(site: Site) -> None:
    root = await site.wants_to_write("Torn")
    browser = await site.signed_in(site.mia)
    page = (await browser.get(f"/work/{root}?piece={root}")).text
    async with site.stream(browser, f"/live?work={root}&after=0") as stream:
        data = (await stream.html())["data"]
    for part in (
        f'id="p-{root}"',
        'aria-level="1" aria-posinset="1" aria-setsize="1"',
        "Waits for you",
        "<b>Clerk</b>",
    ):
        assert part in page
        assert part in data


async def test_whoever_is_too_far_behind_is_told_to_read_the_page_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = await site.wants_to_write("Torn")
    total = (await (await site.desk(site.mia)).work(root)).lines
    monkeypatch.setattr(live, "REPLAY", 2)
    async with site.stream(await site.signed_in(site.mia), f"/live?work={root}&after=0") as stream:
        message = await stream.message(lambda message: message["event"] == "resync")
    assert int(message["id"]) == total


async def test_the_inbox_is_told_of_a_new_request_and_the_badge_with_it(site: Site) -> None:
    browser = await site.signed_in(site.mia)
    async with site.stream(browser, "/live?inbox=true") as stream:
        assert 'id="badge" hidden>0<' in (await stream.html())["data"]
        await site.wants_to_write("Torn")
        data = ""
        while 'id="badge">1<' not in data:
            data = (await stream.html())["data"]
    assert "Write on A-1: Torn" in data


async def test_an_open_card_is_replaced_only_once_somebody_has_decided(site: Site) -> None:
    await site.wants_to_write("Torn")
    desk = await site.desk(site.mia)
    item = (await desk.proposals())[0].id
    browser = await site.signed_in(site.mia)
    async with site.stream(browser, f"/live?inbox=true&item={item}&was=Waiting") as stream:
        assert "#open" not in (await stream.html())["data"]
        await desk.refuse(item, "No")
        data = ""
        while "#open" not in data:
            data = (await stream.html())["data"]
    assert "refused" in data


async def test_each_line_comes_once_to_the_page_of_a_record_and_what_it_does_not_hold_is_counted(site: Site) -> None:
    root = await site.wants_to_write("Torn")
    desk = await site.desk(site.mia)
    browser = await site.signed_in(site.mia)
    made_at = (await desk.work(root)).lines
    async with site.stream(browser, f"/live?record={root}&after=0&until={made_at + 1}") as stream:
        first = await stream.html()
        assert lines_in(first["data"]) == list(range(1, made_at + 1))
        assert "Unbroken" in first["data"]  # T2
        await desk.approve((await desk.proposals())[0].id)
        came: list[int] = []
        while not came:
            message = await stream.html()
            came = lines_in(message["data"])
        assert came == [made_at + 1] and message["id"] == str(made_at + 1)  # the page holds no more
        while not (await desk.work(root)).status.final or "later" not in message["data"]:
            message = await stream.html()
            assert lines_in(message["data"]) == []
    async with site.stream(browser, f"/live?record={root}&after=0&until=500", **{"Last-Event-ID": "3"}) as stream:
        assert lines_in((await stream.html())["data"])[0] == 4


async def test_the_stream_of_a_record_says_no_more_than_its_reader_may_read(site: Site) -> None:
    root = await site.wants_to_write("Torn to pieces")
    said = []
    for person in (site.mia, site.noor):
        async with site.stream(await site.signed_in(person), f"/live?record={root}&after=0&until=500") as stream:
            said.append((await stream.html())["data"])
    mias, noors = said
    assert lines_in(mias) == lines_in(noors)
    assert "Torn to pieces" in mias and "Torn to pieces" not in noors  # R8


async def test_a_stream_of_what_its_reader_may_not_see_is_not_found(site: Site) -> None:
    browser = await site.signed_in(site.mia)
    nowhere = "0190a3b2-0000-7000-8000-000000000000"
    assert (await browser.get(f"/live?work={nowhere}")).status_code == 404
    assert (await browser.get(f"/live?inbox=true&item={nowhere}")).status_code == 404


async def test_a_stream_is_neither_kept_nor_held_back_on_its_way(site: Site) -> None:
    async with site.stream(await site.signed_in(site.mia), "/live") as stream:
        assert await stream.status == 200
        assert (await stream.message())["event"] == "beat"
    assert stream.headers["cache-control"] == "no-store"
    assert stream.headers["x-accel-buffering"] == "no"
    assert stream.headers["content-type"].startswith("text/event-stream")


async def test_a_stream_ends_with_a_word_when_the_agency_leaves(site: Site) -> None:
    async with site.stream(await site.signed_in(site.mia), "/live") as stream:
        await stream.html()
        site.agency.bus.close()
        message = await stream.message(lambda message: message["event"] == "bye")
        assert message["id"] == ""
        with pytest.raises(EOFError):
            await stream.message()


async def test_a_stream_ends_when_its_reader_goes(site: Site) -> None:
    async with site.stream(await site.signed_in(site.mia), "/live") as stream:
        await stream.html()
    assert stream.ended.is_set()


async def test_a_stream_ends_when_the_session_does(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "ASK_AGAIN", 0.0)
    monkeypatch.setattr(live, "LOOK", 0.05)
    browser = await site.signed_in(site.mia)
    async with site.stream(browser, "/live") as stream:
        await stream.html()
        await site.agency.sign_out(browser.cookies["handon"])
        assert (await stream.message(lambda message: message["event"] == "signed-out"))["data"] == ""
