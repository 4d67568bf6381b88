"""The pages of whoever supervises: now, waits, abandoned work, and stopping everything."""

from __future__ import annotations

import asyncio
import re
from decimal import Decimal
from uuid import UUID

import pytest

from handon import ModelAnswer, ModelRequest, Status
from handon.testing import AgentCast, AgentScript, Says
from tests.builders import Answer, Clerk, Find
from tests.staging import Staged, sql
from tests.web.conftest import Site

FOUND = Says.hand_back(Answer(text="found"))
PAGES = ("/now", "/waits", "/abandoned", "/stop", "/stop/result?since=2031-03-03T09:00:00Z")


def text_of(html: str) -> str:
    """The words on a page, each cell of a table apart."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).replace(" ,", ",").replace(" .", ".")


class Always:
    """Answers the same to whoever asks, however often."""

    def answer(self, model: str, request: ModelRequest) -> ModelAnswer:
        return FOUND.answer()


async def held(site: Site, about: str = "A colophon") -> tuple[Staged, UUID]:
    """Work whose model is being asked, until it is let go."""
    staged = Staged(Always(), Clerk)
    site.agency.script(staged)
    task = await (await site.desk(site.mia)).of(Clerk).start(Find(), "x", about=about)
    await staged.holds(1)
    return staged, task


async def gone(site: Site, task: UUID) -> None:
    """Nothing was heard of it for an hour."""
    await sql(site.agency, "update whole set last_line_at = last_line_at - 3600000000 where id = :id", id=task.hex)
    await sql(site.agency, "update piece set held_since = held_since - 3600000000 where root = :id", id=task.hex)


# R9
async def test_the_pages_are_for_those_who_supervise_and_others_are_told_so(site: Site) -> None:
    await site.wants_to_write("Torn")
    mia, noor = await site.signed_in(site.mia), await site.signed_in(site.noor)
    for address in PAGES:
        assert (await noor.get(address)).status_code == 200, address
        answer = await mia.get(address)
        assert answer.status_code == 403, address
        assert "for those who supervise agents" in text_of(answer.text)
    assert 'href="/now"' not in (await mia.get("/work")).text
    for stream in ("/live?now=true", "/live?stopped=2031-03-03T09:00:00Z"):
        assert (await mia.get(stream)).status_code == 403


async def test_a_supervisor_comes_to_what_needs_them(site: Site) -> None:
    assert (await (await site.signed_in(site.noor)).get("/")).url.path == "/now"
    assert (await (await site.signed_in(site.mia)).get("/")).url.path == "/inbox"


# P3, R8
async def test_four_sentences_say_what_needs_somebody_and_hold_nothing_of_the_content(site: Site) -> None:
    browser = await site.signed_in(site.noor)
    empty = text_of((await browser.get("/now")).text)
    for sentence in (
        "Nothing waits for people",
        "Nothing is near its limit",
        "Nothing is abandoned",
        "No record to check",
    ):
        assert sentence in empty
    assert "No work is under way." in empty
    root = await site.wants_to_write("A secret tear")
    page = (await browser.get("/now")).text
    words = text_of(page)
    assert "1 waits for people asked just now, of Mia" in words
    assert "1 record is unbroken" in words
    assert "Waits for Mia" in words and "Clerk: a decision from Mia" in words
    assert f'href="/work/{root}/stop"' in page
    assert "Clerk waits for a decision from Mia Shelf A-1 just now" in words
    assert "secret" not in page
    assert "secret" not in (await browser.get("/waits")).text


# M6, M7
async def test_what_is_near_a_limit_is_counted_as_the_money_page_lists_it(site: Site) -> None:
    root = await site.wants_to_write("Torn", about="The torn shelf")
    await sql(site.agency, "update piece set own_micros = 45000, tree_micros = 45000 where id = :id", id=root.hex)
    await (await site.desk(site.noor)).set_spend_limit(Decimal("0.0001"), agent="Clerk", period="day")
    browser = await site.signed_in(site.noor)
    now = text_of((await browser.get("/now")).text)
    assert "2 are near their limit The torn shelf at 90 %, Clerk today at" in now
    money = text_of((await browser.get("/money")).text)
    assert money.count("Near its limit") + money.count("Used up") == 2


# T3
async def test_a_record_that_does_not_hold_is_the_worst_of_news(site: Site) -> None:
    root = await site.wants_to_write("Torn", about="The torn shelf")
    await sql(site.agency, "update line set summary = 'Else' where root = :id and n = 2", id=root.hex)
    page = (await (await site.signed_in(site.noor)).get("/now")).text
    assert "A record does not hold The torn shelf, from line 2 on" in text_of(page)
    assert f'href="/work/{root}/record"' in page


# P3
async def test_waits_older_than_a_page_come_first_and_the_others_after(site: Site) -> None:
    site.agency.script(AgentCast().plays(Clerk, AgentScript(Says.ask("Which?"), FOUND)))
    desk = await site.desk(site.mia)
    for n in range(51):
        await desk.of(Clerk).do(Find(), f"{n}", about=f"Number {n}.")
    browser = await site.signed_in(site.noor)
    page = (await browser.get("/waits")).text
    assert "Number 0." in page and "Number 50." not in page
    later = page.split('href="/waits?after=')[1].split('"')[0].replace("&amp;", "&")
    last = (await browser.get(f"/waits?after={later}")).text
    assert "Number 50." in last and "Number 49." not in last
    assert "51 wait for people" in text_of((await browser.get("/now")).text)


# A1
async def test_abandoned_work_is_closed_by_a_form(site: Site) -> None:
    staged, task = await held(site)
    await gone(site, task)
    browser = await site.signed_in(site.noor)
    assert "1 is abandoned" in text_of((await browser.get("/now")).text)
    page = text_of((await browser.get("/abandoned")).text)
    assert "A colophon" in page and "In the middle of a step: Clerk." in page
    answer = await browser.submit("/abandoned", f"/abandoned/{task}/closing")
    assert answer.url.path == f"/work/{task}"
    assert (await (await site.desk(site.mia)).piece(task)).status is Status.FAILED
    after = text_of((await browser.get("/abandoned")).text)
    assert "Nothing is abandoned." in after and "Failed A colophon for Mia" in after
    assert "1 was abandoned" in text_of((await browser.get("/now")).text)
    staged.hold_no_more()


# A7
async def test_abandoned_work_is_taken_up_again_by_a_form(site: Site) -> None:
    staged, task = await held(site)
    await gone(site, task)
    browser = await site.signed_in(site.noor)
    form = (await browser.get("/abandoned")).text
    await browser.submit("/abandoned", f"/abandoned/{task}/taking-up")
    await staged.holds(2)  # the one that was thought gone, and the one that went on
    token = form.split('name="_csrf_token" value="')[1].split('"')[0]
    late = await browser.post(f"/abandoned/{task}/closing", data={"_csrf_token": token})
    assert late.status_code == 409
    assert "It is not abandoned any more" in text_of(late.text)
    staged.hold_no_more()
    await site.agency.settle()
    assert (await (await site.desk(site.mia)).piece(task)).status is Status.DONE


# E5
@pytest.mark.parametrize("typed", ["", "two", "1", "3", "-2", "2.0", "²", "9" * 30])
async def test_everything_is_stopped_only_by_whoever_writes_how_much_that_is(site: Site, typed: str) -> None:
    for note in ("Torn", "Worn"):
        await site.wants_to_write(note)
    browser = await site.signed_in(site.noor)
    answer = await browser.submit("/stop", "/stop", works=typed, reason="Because of fire")
    assert answer.status_code == 422
    assert "Nothing was stopped." in text_of(answer.text) or "in digits" in text_of(answer.text)
    assert "Because of fire" in answer.text
    assert len(await (await site.desk(site.noor)).works("going")) == 2


# E4, E5
async def test_stopping_everything_says_first_what_it_does_and_then_how_far_it_has_come(site: Site) -> None:
    await site.wants_to_write("Torn")
    staged, task = await held(site)
    browser = await site.signed_in(site.noor)
    page = text_of((await browser.get("/stop")).text)
    assert "2 works are called off, with 2 pieces" in page
    assert "1 proposal or question is withdrawn" in page
    assert "1 piece is in the middle of a step and ends after it" in page
    assert "stay spent" in page
    answer = await browser.submit("/stop", "/stop", works="2", reason="Fire.")
    assert answer.url.path == "/stop/result"
    assert "Stopping 1 1 of 2 works has ended." in text_of(answer.text)
    assert "1 piece has not confirmed yet" in text_of(answer.text)
    stream = re.search(r'hx-sse:connect="([^"]+)"', answer.text)
    assert stream is not None
    async with site.stream(browser, stream[1].replace("&amp;", "&")) as told:
        assert "Stopping 1" in text_of((await told.html())["data"])
        staged.hold_no_more()
        assert "Stopped 2 of 2 works have ended." in text_of((await told.html())["data"])
    assert (await (await site.desk(site.mia)).outcome(task)).why == "Noor stopped it: Fire."
    assert "Nothing to stop." in text_of((await browser.get("/stop")).text)


# E5
async def test_two_who_stop_everything_at_once_stop_it_once(site: Site) -> None:
    root = await site.wants_to_write("Torn")
    browser = await site.signed_in(site.noor)
    form = (await browser.get("/stop")).text
    token = form.split('name="_csrf_token" value="')[1].split('"')[0]
    fields = {"_csrf_token": token, "works": "1", "reason": ""}
    answers = await asyncio.gather(*(browser.post("/stop", data=fields) for _ in range(2)))
    assert {answer.status_code for answer in answers} <= {200, 422}
    lines = [line.summary for line in await (await site.desk(site.mia)).trace_of(root)]
    assert sum("was asked to stop" in line for line in lines) == 1


async def test_the_page_of_now_is_told_what_changes_and_no_row_is_taken_from_under_its_reader(site: Site) -> None:
    first = await site.wants_to_write("Torn", about="The first")
    browser = await site.signed_in(site.noor)
    async with site.stream(browser, "/live?now=true") as stream:
        assert f'id="a-{first}"' in (await stream.html())["data"]
        await (await site.desk(site.noor)).stop(first)
        data = (await stream.html())["data"]
        while "Called off" not in data:
            data = (await stream.html())["data"]
        assert f'id="a-{first}"' in data and "Nothing waits for people" in data
        second = await site.wants_to_write("Worn", about="The second")
        data = (await stream.html())["data"]
        while "1 waits for people" not in data:
            data = (await stream.html())["data"]
        assert f'id="a-{second}"' not in data
        assert "1 more to see" in data


# T3
async def test_the_stream_of_now_does_not_read_the_records_again_for_every_change(site: Site) -> None:
    root = await site.wants_to_write("Torn")
    browser = await site.signed_in(site.noor)
    async with site.stream(browser, "/live?now=true") as stream:
        was = re.search(r"\d+ lines? read", (await stream.html())["data"])
        assert was is not None
        await (await site.desk(site.noor)).stop(root)
        data = (await stream.html())["data"]
        while "Called off" not in data:
            data = (await stream.html())["data"]
        assert was[0] in data


# R8
async def test_what_agents_and_people_wrote_stays_text(site: Site) -> None:
    root = await site.wants_to_write("Torn", about="<i onclick=x>slant</i>")
    browser = await site.signed_in(site.noor)
    for address in ("/now", "/waits", "/stop"):
        page = (await browser.get(address)).text
        assert "slant" in page and "<i onclick" not in page, address
    assert root
