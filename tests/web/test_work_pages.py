"""The pages of work: giving it, watching it, what a reader may not read, and stopping it."""

from __future__ import annotations

import re

import pytest

from handon.testing import AgentCast, AgentScript, Says
from tests.builders import Answer, Clerk
from tests.web.conftest import Site, text_of


async def test_work_is_given_by_a_form_made_from_the_skill(site: Site) -> None:
    site.agency.script(AgentCast().plays(Clerk, AgentScript(Says.hand_back(Answer(text="found")))))
    browser = await site.signed_in(site.mia)
    fields = {
        "agent": "Clerk",
        "skill": "Find",
        "in.result": "the old colophon",
        "about": "A colophon",
        "limit": "0.02",
    }
    answer = await browser.submit("/work/new?agent=Clerk&skill=Find", "/work/new", **fields)
    assert answer.url.path.startswith("/work/0")
    assert "A colophon" in text_of(answer.text)
    assert "of €0.02" in text_of(answer.text)


async def test_a_form_that_is_sent_twice_gives_the_work_once(site: Site) -> None:
    script = AgentScript(Says.hand_back(Answer(text="found")), Says.hand_back(Answer(text="found")))
    site.agency.script(AgentCast().plays(Clerk, script))
    browser = await site.signed_in(site.mia)
    page = await browser.get("/work/new?agent=Clerk&skill=Find")
    form = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
    form |= {"agent": "Clerk", "skill": "Find", "in.result": "the old colophon"}
    first, second = [await browser.post("/work/new", data=form) for _ in range(2)]
    assert first.url == second.url
    other = await browser.post("/work/new", data=form | {"in.result": "the new colophon"})
    assert other.url != first.url  # gone back to and changed
    assert len(await (await site.desk(site.mia)).works("all")) == 2


async def test_a_row_is_chosen_from_those_that_both_may_read(site: Site) -> None:  # R7
    site.agency.script(AgentCast().plays(Clerk, AgentScript(Says.hand_back(Answer(text="seen")))))
    browser = await site.signed_in(site.mia)
    page = (await browser.get("/work/new?agent=Clerk&skill=Note")).text
    assert f'value="{site.shelf}"' in page
    answer = await browser.submit(
        "/work/new?agent=Clerk&skill=Note", "/work/new", agent="Clerk", skill="Note", **{"in.row": str(site.shelf)}
    )
    assert answer.url.path.startswith("/work/0")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"in.row": ""}, "Choose a shelf."),
        ({"limit": "three"}, "Write a number, such as 3.5."),
        ({"limit": "0"}, "Write more than nothing."),
        ({"in.row": "0190a3b2-0000-7000-8000-000000000000"}, "Nothing was given yet."),
    ],
)
async def test_what_does_not_fit_is_said_at_its_field_and_what_was_written_stays(
    site: Site, fields: dict[str, str], said: str
) -> None:
    browser = await site.signed_in(site.mia)
    given = {"agent": "Clerk", "skill": "Note", "in.row": str(site.shelf), "about": "Keep this"} | fields
    answer = await browser.submit("/work/new?agent=Clerk&skill=Note", "/work/new", **given)
    assert answer.status_code == 422
    assert said in text_of(answer.text)
    assert 'value="Keep this"' in answer.text
    assert await (await site.desk(site.mia)).works("all") == []


async def test_a_page_of_work_says_which_line_it_was_made_at(site: Site) -> None:
    root = await site.wants_to_write("Torn")
    work = await (await site.desk(site.mia)).work(root)
    page = (await (await site.signed_in(site.mia)).get(f"/work/{root}")).text
    assert f'hx-sse:connect="/live?work={root}&amp;after={work.lines}"' in page


async def test_the_record_says_in_words_what_was_proven(site: Site) -> None:  # T3
    root = await site.wants_to_write("Torn")
    desk = await site.desk(site.mia)
    verdict = await desk.verify_trace(root)
    page = text_of((await (await site.signed_in(site.mia)).get(f"/work/{root}/record")).text)
    assert "Unbroken." in page
    assert verdict.proven in page


async def test_whoever_may_not_read_the_content_is_told_so_and_sees_that_work_happened(site: Site) -> None:  # R8
    root = await site.wants_to_write("A secret tear")
    supervisor, giver = await site.signed_in(site.noor), await site.signed_in(site.mia)
    for address in (f"/work/{root}", f"/work/{root}/record", f"/work/{root}/piece/{root}"):
        hers, noors = (await giver.get(address)).text, (await supervisor.get(address)).text
        assert "secret tear" in hers, address
        assert "secret tear" not in noors, address
        assert "Clerk" in noors, address
    pane = text_of((await supervisor.get(f"/work/{root}/piece/{root}")).text)
    assert "for whoever may read the content" in pane
    assert "€0.0" in pane


async def test_a_stream_holds_no_more_than_its_reader_may_read(site: Site) -> None:  # R8
    root = await site.wants_to_write("A secret tear")
    async with site.stream(await site.signed_in(site.noor), f"/live?work={root}&after=0") as stream:
        data = (await stream.html())["data"]
    assert "secret tear" not in data
    assert "Clerk" in data


async def test_stopping_says_first_what_it_does(site: Site) -> None:  # E5
    root = await site.wants_to_write("Torn")
    browser = await site.signed_in(site.mia)
    page = text_of((await browser.get(f"/work/{root}/stop")).text)
    assert "called off" in page
    assert "stay spent" in page
    assert (await (await site.desk(site.mia)).work(root)).going == 1
    answer = await browser.submit(f"/work/{root}/stop", f"/work/{root}/stop")
    assert answer.url.path == f"/work/{root}"
    assert (await (await site.desk(site.mia)).work(root)).going == 0


async def test_a_piece_is_a_part_for_the_pane_and_a_page_of_its_own(site: Site) -> None:
    root = await site.wants_to_write("Torn")
    browser = await site.signed_in(site.mia)
    whole = (await browser.get(f"/work/{root}/piece/{root}")).text
    part = (await browser.get(f"/work/{root}/piece/{root}", headers={"HX-Request-Type": "partial"})).text
    assert whole.startswith("<!doctype html>") or "<!doctype html>" in whole
    assert "<!doctype" not in part
    assert "data-pane" in part


async def test_closed_rows_are_in_the_address_and_hide_what_is_under_them(site: Site) -> None:
    root = await site.wants_to_write("Torn")
    page = (await (await site.signed_in(site.mia)).get(f"/work/{root}?closed={root}")).text
    assert 'aria-level="1"' in page


async def test_work_is_listed_by_whether_it_has_finished(site: Site) -> None:
    root = await site.wants_to_write("Torn")
    browser = await site.signed_in(site.mia)
    assert str(root) in (await browser.get("/work")).text
    assert str(root) not in (await browser.get("/work?show=finished")).text
    await (await site.desk(site.mia)).stop(root)
    assert str(root) not in (await browser.get("/work")).text
    assert str(root) in (await browser.get("/work?show=finished")).text


async def test_a_time_in_an_address_that_names_no_zone_is_in_utc_on_every_list(site: Site) -> None:
    root = await site.wants_to_write("Torn")
    [proposal] = await (await site.desk(site.mia)).proposals()
    await (await site.desk(site.mia)).refuse(proposal.id)
    mia, noor = await site.signed_in(site.mia), await site.signed_in(site.noor)
    for browser, address in (
        (mia, f"/work?show=all&before={{}}&id={root}"),
        (mia, "/inbox/answered?before={}"),
        (noor, f"/abandoned?before={{}}&id={root}"),
        (noor, f"/money/calls?before={{}}&piece={root}&n=1"),
        (noor, "/stop/result?since={}"),
    ):
        for moment in ("2031-03-03T09:00:00", "2031-03-03T09:00:00Z", "0001-01-01T00:00:00", "9999-12-31T23:59:59"):
            answer = await browser.get(address.format(moment))
            assert answer.status_code == 200, (address, moment)
    shown = (await mia.get("/inbox/answered?before=2999-01-01T00:00:00")).text
    assert "Write on A-1: Torn" in shown
