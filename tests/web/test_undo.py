"""Taking a decision back on the pages: its receipt, the line over other pages, and what is said when it is too late."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import text

from handon import Permits
from handon.testing import TestClock
from tests.builders import note_shelf
from tests.web.conftest import Site, open_site, text_of

FIVE = timedelta(seconds=5)


@pytest.fixture
def clock() -> TestClock:
    return TestClock()


@pytest.fixture
async def site(sqlite_database: str, clock: TestClock) -> AsyncIterator[Site]:
    async with open_site(sqlite_database, clock, undo_for=FIVE) as site:
        yield site


async def waiting(site: Site) -> UUID:
    [found] = await (await site.desk(site.mia)).proposals()
    return found.id


# P5
async def test_a_decision_becomes_its_receipt_and_can_be_taken_back_by_a_plain_form(
    site: Site, clock: TestClock
) -> None:
    await site.wants_to_write("Torn")
    item, mia = await waiting(site), await site.signed_in(site.mia)
    answer = await mia.submit(f"/inbox/{item}", f"/inbox/{item}/approval")
    page = text_of(answer.text)
    assert answer.url.path == f"/inbox/{item}"
    assert "You approved 09:00:00" in page and "goes to Clerk at 09:00:05" in page and "Nothing has run" in page
    assert 'id="badge" hidden' in answer.text and await site.the_note() == ""
    back = await mia.submit(f"/inbox/{item}", f"/inbox/{item}/undo")
    assert back.url.path == f"/inbox/{item}" and "Approve" in text_of(back.text)
    await clock.advance(FIVE)
    assert await site.the_note() == "" and await waiting(site) == item


# P5
async def test_once_it_is_carried_out_the_receipt_says_when_and_it_is_too_late_to_take_it_back(
    site: Site, clock: TestClock
) -> None:
    await site.wants_to_write("Torn")
    item, mia = await waiting(site), await site.signed_in(site.mia)
    page = (await mia.submit(f"/inbox/{item}", f"/inbox/{item}/approval")).text
    token = page.split('name="_csrf_token" value="')[1].split('"')[0]
    await clock.advance(FIVE)
    receipt = text_of((await mia.get(f"/inbox/{item}")).text)
    assert "You approved 09:00:00 UTC · released 09:00:05" in receipt and "Undo" not in receipt
    late = await mia.post(f"/inbox/{item}/undo", data={"_csrf_token": token})
    assert late.status_code == 409
    assert "Not taken back. It is too late to take it back: it was carried out at 09:00:05 UTC." in text_of(late.text)
    assert await site.the_note() == "Torn"


# P5
async def test_what_was_written_is_kept_as_a_draft_also_without_script(site: Site, clock: TestClock) -> None:
    await site.wants_to_write("Torn")
    item, mia = await waiting(site), await site.signed_in(site.mia)
    for act, fields in (("refusal", {"reason": "Only stained"}), ("edit", {"note": "Stained"})):
        await mia.submit(f"/inbox/{item}/{act}", f"/inbox/{item}/{act}", **fields)
        await mia.submit(f"/inbox/{item}", f"/inbox/{item}/undo")
        assert next(iter(fields.values())) in (await mia.get(f"/inbox/{item}/{act}")).text
    await mia.submit(f"/inbox/{item}/edit", f"/inbox/{item}/edit", note="Stained")
    assert "with changes" in text_of((await mia.get(f"/inbox/{item}")).text)
    await clock.advance(FIVE)
    assert await site.the_note() == "Stained"
    await site.agency.settle()
    await site.asks("Which blue?", "Indigo", "Slate")
    [question] = await (await site.desk(site.mia)).questions()
    await mia.submit(f"/inbox/{question.id}", f"/inbox/{question.id}/answer", choice="Slate", own="But matt")
    back = await mia.submit(f"/inbox/{question.id}", f"/inbox/{question.id}/undo")
    assert "But matt</textarea>" in back.text and 'value="Slate" form="answer" checked' in back.text


# P5, P9
async def test_a_stand_in_sees_that_it_is_decided_and_neither_undoes_it_nor_decides(site: Site) -> None:
    await site.wants_to_write("Torn")
    await site.agency.stand_in(site.noor, for_=site.mia)
    item, mia, noor = await waiting(site), await site.signed_in(site.mia), await site.signed_in(site.noor)
    page = (await noor.get(f"/inbox/{item}")).text
    token = page.split('name="_csrf_token" value="')[1].split('"')[0]
    await mia.submit(f"/inbox/{item}/refusal", f"/inbox/{item}/refusal", reason="Between us")
    theirs = text_of((await noor.get(f"/inbox/{item}")).text)
    assert "Mia refused 09:00:00" in theirs and "Until then Mia may take it back" in theirs
    assert "Undo" not in theirs and "Between us" not in theirs
    late = await noor.post(f"/inbox/{item}/approval", data={"_csrf_token": token})
    assert late.status_code == 409 and "Already refused by Mia" in text_of(late.text)
    late = await noor.post(f"/inbox/{item}/undo", data={"_csrf_token": token})
    assert late.status_code == 409 and "You have decided nothing here" in text_of(late.text)


# P5, P9
async def test_what_broke_on_our_side_waits_again_and_says_so(site: Site, clock: TestClock) -> None:
    await site.wants_to_write("Torn")
    item, mia = await waiting(site), await site.signed_in(site.mia)
    await mia.submit(f"/inbox/{item}", f"/inbox/{item}/approval")
    broken = "CREATE TRIGGER broken BEFORE UPDATE ON proposal BEGIN SELECT RAISE(ABORT, 'the disk says no'); END"
    await site.agency.write(lambda session: session.execute(text(broken)))
    await clock.advance(FIVE)
    page = text_of((await mia.get(f"/inbox/{item}")).text)
    assert "Your yes of 09:00:00 UTC was not carried out. Something went wrong on our side." in page
    assert "It waits for a decision again." in page and "Refuse…" in page and "the disk" not in page
    line = text_of((await mia.get(f"/inbox/{item}/held")).text)
    assert line == "Your yes of 09:00:00 UTC was not carried out: Write on A-1: Torn"


# P5, P9, R8
async def test_what_its_decider_may_not_decide_by_then_waits_again_and_says_why(site: Site, clock: TestClock) -> None:
    await site.wants_to_write("Torn")
    await site.agency.stand_in(site.noor, for_=site.mia)
    item, mia, noor = await waiting(site), await site.signed_in(site.mia), await site.signed_in(site.noor)
    await noor.submit(f"/inbox/{item}", f"/inbox/{item}/approval")
    await site.agency.stand_in(site.noor, for_=site.mia, ends=True)
    await clock.advance(FIVE)
    page = text_of((await mia.get(f"/inbox/{item}")).text)
    assert "yes of 09:00:00 UTC was not carried out. Noor may not decide this any more." in page
    assert "It waits for a decision again." in page and "Refuse…" in page
    assert (
        text_of((await noor.get(f"/inbox/{item}/held")).text) == "What you decided here is not yours to see any more."
    )


# P5, R11
async def test_a_yes_to_what_a_rule_forbids_by_then_is_shown_as_refused_by_that_rule(
    site: Site, clock: TestClock
) -> None:
    await site.wants_to_write("Torn")
    item, mia = await waiting(site), await site.signed_in(site.mia)
    await mia.submit(f"/inbox/{item}", f"/inbox/{item}/approval")
    site.agency.agents["Clerk"].may = Permits.proposes_changes().never(note_shelf)
    await clock.advance(FIVE)
    page = text_of((await mia.get(f"/inbox/{item}")).text)
    assert "Refused by rule. Clerk never does that" in page and "Refuse…" not in page and "Undo" not in page
    assert await site.the_note() == ""


# P5, E4
async def test_what_was_called_off_meanwhile_is_no_longer_needed(site: Site, clock: TestClock) -> None:
    root = await site.wants_to_write("Torn")
    item, mia = await waiting(site), await site.signed_in(site.mia)
    await mia.submit(f"/inbox/{item}", f"/inbox/{item}/approval")
    await mia.submit(f"/work/{root}/stop", f"/work/{root}/stop", reason="Not this year")
    for _ in range(2):
        page = text_of((await mia.get(f"/inbox/{item}")).text)
        assert "Your yes of 09:00:00 UTC was not carried out. It is no longer needed" in page and "Undo" not in page
        await clock.advance(FIVE)


async def test_the_line_over_other_pages_says_what_came_of_the_last_decision(site: Site, clock: TestClock) -> None:
    await site.wants_to_write("Torn")
    item, mia = await waiting(site), await site.signed_in(site.mia)
    assert 'id="held" role="status"></div>' in (await mia.get("/work")).text
    await mia.submit(f"/inbox/{item}", f"/inbox/{item}/approval")
    page = (await mia.get("/work")).text
    assert "You approved Write on A-1: Torn 09:00:00 UTC · goes to Clerk at 09:00:05" in text_of(page)
    assert f'action="/inbox/{item}/undo"' in page and 'hx-trigger="load delay:5400ms"' in page
    assert 'id="held" role="status"></div>' in (await mia.get(f"/inbox/{item}")).text  # its card says it itself
    await clock.advance(FIVE)
    assert "released 09:00:05" in text_of((await mia.get(f"/inbox/{item}/held")).text)
    assert 'id="held" role="status"></div>' in (await mia.get("/work")).text


async def test_the_script_of_a_wide_page_is_sent_on_to_the_next_request_and_a_plain_form_is_not(site: Site) -> None:
    for note in ("Torn", "Stained", "Foxed"):
        await site.wants_to_write(note)
    first, second, third = [proposal.id for proposal in await (await site.desk(site.mia)).proposals()]
    mia = await site.signed_in(site.mia)
    on = await mia.submit(f"/inbox/{second}", f"/inbox/{second}/approval", _then="next")
    assert f'"path": "/inbox/{third}"' in on.headers["HX-Location"]
    on = await mia.submit(f"/inbox/{third}", f"/inbox/{third}/approval", _then="next")
    assert f'"path": "/inbox/{first}"' in on.headers["HX-Location"]
    last = await mia.submit(f"/inbox/{first}", f"/inbox/{first}/approval", _then="next")  # nothing else waits
    assert last.url.path == f"/inbox/{first}" and "HX-Location" not in last.headers


# P5
async def test_an_open_receipt_is_told_when_its_decision_is_carried_out(site: Site, clock: TestClock) -> None:
    await site.wants_to_write("Torn")
    item, mia = await waiting(site), await site.signed_in(site.mia)
    page = (await mia.submit(f"/inbox/{item}", f"/inbox/{item}/approval")).text
    address = page.split('hx-sse:connect="')[1].split('"')[0].replace("&amp;", "&")
    assert "was=Waiting-held" in address
    async with site.stream(mia, address) as stream:
        assert "article" not in (await stream.html())["data"]
        await clock.advance(FIVE)
        told = await stream.message(lambda message: "released" in message["data"])
        assert "You approved" in text_of(told["data"])
