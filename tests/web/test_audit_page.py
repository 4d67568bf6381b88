"""The page of all records: what it proves and says, filters in the address, one line, and the files."""

from __future__ import annotations

import csv
import hashlib
import html
import io
import re
from uuid import UUID

import pytest

from core.record import verify_export
from handon.testing import AgentCast, AgentScript, Says
from tests.builders import Answer, Clerk, Find
from tests.staging import sql
from tests.web.conftest import Browser, Site, text_of
from web.audit_sieve import Asked
from web.moments import span


async def found(site: Site, text: str = "x", about: str = "Leaves") -> UUID:
    """Work for Mia that is done: three lines."""
    site.agency.script(AgentCast().plays(Clerk, AgentScript(Says.hand_back(Answer(text=text)))))
    return (await (await site.desk(site.mia)).of(Clerk).do(Find(), "x", about=about)).task


async def auditor(site: Site) -> Browser:
    return await site.signed_in(await site.agency.add_person("ava@bindery.test", "Ava", roles=["auditor"]))


# T3, T6
async def test_the_head_says_exactly_what_was_read_and_nothing_before_it_was(site: Site) -> None:
    await found(site)
    await site.wants_to_write("Torn")
    noor = await site.signed_in(site.noor)
    page = text_of((await noor.get("/audit")).text)
    assert "Not verified yet." in page and "Unbroken" not in page
    page = text_of((await noor.submit("/audit", "/audit/verification")).text)
    lines = (await (await site.desk(site.noor)).recorded()).lines
    assert re.search(rf"Unbroken\. Every record was read again .*: 2 records, {lines} lines\.", page)
    assert f"1 head is signed with the key {site.agency.public_key[:8]}…" in page
    assert "1 still grows, so its head is not signed yet" in page
    assert "not anchored outside this database" in page
    await found(site)
    assert "1 record is newer than that, and not read again" in text_of((await noor.get("/audit")).text)


# T3
async def test_a_broken_record_is_named_with_its_line_and_what_does_not_fit(site: Site) -> None:
    root = await found(site, about="The torn one")
    await sql(site.agency, "update line set payload = '{}' where root = :root and n = 2", root=root.hex)
    noor = await site.signed_in(site.noor)
    answer = await noor.submit("/audit", "/audit/verification")
    page = text_of(answer.text)
    assert "One record does not hold. It is The torn one, broken at line 2." in page
    assert "Line 2 was changed after it was written" in page
    assert f'href="/audit/{root}/2"' in answer.text


# R9
async def test_all_records_are_not_for_whom_neither_supervises_nor_audits(site: Site) -> None:
    await found(site)
    mia = await site.signed_in(site.mia)
    for address in ("/audit", "/audit/lines.csv", "/live?audit=0"):
        assert (await mia.get(address)).status_code == 403, address
    assert ">Audit<" not in (await mia.get("/work")).text
    assert ">Audit<" in (await (await site.signed_in(site.noor)).get("/work")).text


async def test_what_an_empty_filter_hides_is_said_with_its_number(site: Site) -> None:
    await found(site)
    noor = await site.signed_in(site.noor)
    page = await noor.get("/audit?kind=decided")
    assert "The filter hides all 3 lines there are." in text_of(page.text)
    assert 'href="/audit">Clear the filter' in page.text
    assert "There is no line up to then." in text_of((await noor.get("/audit?go_to=2001-01-01")).text)


async def test_a_filter_that_cannot_be_read_is_told_at_its_field_and_shows_nothing(site: Site) -> None:
    await found(site)
    noor = await site.signed_in(site.noor)
    for query in ("since=soon", "until=2026-02-31", "go_to=x", "kind=none", "person=me", "work=1"):
        answer = await noor.get(f"/audit?{query}")
        assert answer.status_code == 422 and 'role="alert"' in answer.text, query
        assert "was given work" not in answer.text
    assert (await noor.get("/audit/lines.csv?since=soon")).status_code == 422
    assert (await noor.get("/audit?before=nonsense&after=1.2.3&zone=Nowhere/At_all")).status_code == 200


async def test_pages_go_to_older_and_newer_lines_and_keep_the_filter(site: Site) -> None:
    for n in range(36):
        await found(site, about=f"Work {n}")
    noor = await site.signed_in(site.noor)

    def lines(page: str) -> list[str]:
        return re.findall(r'href="(/audit/[0-9a-f-]+/\d+)"', page.split('id="lines-h"')[1])

    def link(page: str, word: str) -> str:
        [found] = re.findall(rf'href="([^"]+)">{word}<', page)
        return html.unescape(found)

    first = (await noor.get("/audit?agent=Clerk")).text
    second = (await noor.get(link(first, "Older"))).text
    assert len(lines(first)) == 100 and len(lines(second)) == 8
    assert not set(lines(first)) & set(lines(second))
    assert "agent=Clerk" in link(first, "Older") and ">Newer<" not in first and ">Older<" not in second
    assert lines((await noor.get(link(second, "Newer"))).text) == lines(first)


@pytest.mark.parametrize(
    ("text", "zone", "begins", "ends"),
    [
        ("2031-03-30", "Europe/Vienna", "2031-03-29T23:00", "2031-03-30T22:00"),  # of 23 hours: clocks go on
        ("2031-03-03 09:00", "America/New_York", "2031-03-03T14:00", "2031-03-03T14:01"),
        ("2031-03-03T09:00:07Z", "America/New_York", "2031-03-03T09:00:07", "2031-03-03T09:00:08"),
    ],
)
def test_a_time_without_a_zone_is_the_readers_and_a_day_is_the_whole_of_it(text, zone, begins, ends) -> None:
    assert f"{span(text, zone).begins:%Y-%m-%dT%H:%M:%S}".startswith(begins)
    assert f"{span(text, zone).ends:%Y-%m-%dT%H:%M:%S}".startswith(ends)


def test_a_link_names_the_zone_that_its_times_are_in() -> None:
    asked = Asked.of({"since": "2031-03-03", "zone": "Europe/Vienna"}, "UTC")
    assert asked.query(before="x") == "?since=2031-03-03&zone=Europe%2FVienna&before=x"
    assert Asked.of({}, "Europe/Vienna").query() == ""


# R8
async def test_a_line_shows_its_content_to_who_may_read_it_and_its_place_in_the_chain_to_who_sees_the_work(
    site: Site,
) -> None:
    root = await site.wants_to_write("Torn <b>spine</b>")
    lines = await (await site.desk(site.mia)).lines(root)
    proposed = next(line for line in lines if line.kind == "proposed")
    address = f"/audit/{root}/{proposed.n}"
    for browser, reads in ((await site.signed_in(site.mia), True), (await site.signed_in(site.noor), False)):
        page = (await browser.get(address)).text
        assert ("Torn &lt;b&gt;spine" in page) == reads
        assert ("is content, which you may not read" in page) != reads
        assert proposed.hash in page and proposed.before in page and "it holds the hash of this line" in page
        assert "<b>spine" not in page


# T3
async def test_the_text_on_a_lines_page_gives_its_hash_to_the_letter(site: Site) -> None:
    root = await found(site, text='Ünï \u202e"quoted" & <tag>\n\t\x07 \\ end')
    browser = await auditor(site)
    for line in await (await site.desk(site.mia)).lines(root):
        page = (await browser.get(f"/audit/{root}/{line.n}")).text
        [said] = re.findall(r'<pre id="said"[^>]*>(.*?)</pre>', page, re.S)
        assert hashlib.sha256(html.unescape(said).encode()).hexdigest() == line.hash


async def test_a_line_that_is_not_there_is_not_found_and_a_number_too_large_leads_to_the_last(site: Site) -> None:
    root = await found(site)
    noor = await site.signed_in(site.noor)
    for n in ("0", "4", "-1", "99999999999"):
        assert (await noor.get(f"/audit/{root}/{n}")).status_code in (400, 404), n
    assert "Line 3" in text_of((await noor.get(f"/audit/{root}?n=99")).text)
    assert "Line 2" in text_of((await noor.get(f"/audit/{root}?n= 2")).text)


# T6, R8
async def test_a_record_is_downloaded_by_who_may_read_it_under_the_name_of_its_work(site: Site) -> None:
    root = await found(site)
    mia, noor = await site.signed_in(site.mia), await site.signed_in(site.noor)
    answer = await mia.get(f"/work/{root}/record.jsonl")
    assert answer.headers["content-disposition"] == f'attachment; filename="record-{root}.jsonl"'
    assert verify_export(answer.text)[0].intact
    assert (await noor.get(f"/work/{root}/record.jsonl")).status_code == 403
    assert "record.jsonl" in (await mia.get(f"/work/{root}/record")).text
    assert "record.jsonl" not in (await noor.get(f"/work/{root}/record")).text


# R8
async def test_a_file_of_lines_holds_what_the_filter_leaves_and_no_formula(site: Site) -> None:
    await found(site, about="=HYPERLINK(1)")
    await found(site, about="@SUM(1)")
    await found(site, about='Plain, "with" quotes')
    browser = await auditor(site)
    answer = await browser.get("/audit/lines.csv?kind=opened")
    heads, *rows = csv.reader(io.StringIO(answer.text))
    assert heads[:4] == ["time (UTC)", "work", "about", "line"]
    assert [row[2] for row in rows] == ['Plain, "with" quotes', "'@SUM(1)", "'=HYPERLINK(1)"]
    assert answer.headers["content-disposition"].startswith("attachment; filename=")


# T3
async def test_the_stream_tells_how_the_verification_stands_and_how_many_lines_are_new(site: Site) -> None:
    await found(site)
    noor = await site.signed_in(site.noor)
    async with site.stream(noor, "/live?audit=3") as stream:
        assert "Not verified yet." in (await stream.html())["data"]
        await found(site)
        data = (await stream.html())["data"]
        while "3 new lines, show" not in data:
            data = (await stream.html())["data"]
        await noor.submit("/audit", "/audit/verification")
        while "Unbroken." not in data:
            data = (await stream.html())["data"]
