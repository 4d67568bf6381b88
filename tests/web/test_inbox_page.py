"""The list and its cards: filters, places, and the states a request may be found in."""

from __future__ import annotations

import re
from uuid import UUID

from handon.testing import AgentCast, AgentScript, Says
from tests.builders import Answer, Clerk, Note, Shelf, note_shelf
from tests.staging import sql
from tests.web.conftest import Browser, Site, text_of


async def waits(site: Site) -> list[UUID]:
    desk = await site.desk(site.mia)
    return [request.id for group in (await desk.waiting()).groups for request in group.requests]


async def token_of(browser: Browser, page: str) -> str:
    return re.findall(r'name="_csrf_token" value="([^"]+)"', (await browser.get(page)).text)[0]


async def test_proposals_and_questions_are_one_list_by_work(site: Site) -> None:
    await site.wants_to_write("Torn", about="Shelf 1")
    await site.asks("Which blue?")
    page = (await (await site.signed_in(site.mia)).get("/inbox")).text
    assert page.count('class="req"') == 2
    words = text_of(page)
    assert "2 wait for you" in words
    assert words.index("Shelf 1 1") < words.index("Write on A-1: Torn") < words.index("Which blue?")


async def test_a_filter_says_what_it_hides_and_is_kept_through_a_decision(site: Site) -> None:
    await site.wants_to_write("Torn", about="Shelf 1")
    await site.asks("Which blue?")
    browser = await site.signed_in(site.mia)
    page = text_of((await browser.get("/inbox?kind=question")).text)
    assert "Only questions, 1 hidden by the filter" in page
    assert "Write on A-1" not in page
    assert "2 wait for you" in page
    [question] = [request.id for request in await (await site.desk(site.mia)).questions()]
    keep = "?kind=question"
    assert f'href="/inbox/{question}{keep}"' in (await browser.get(f"/inbox{keep}")).text
    answer = await browser.submit(f"/inbox/{question}{keep}", f"/inbox/{question}/answer{keep}", own="Slate")
    assert str(answer.url).endswith(f"/inbox/{question}{keep}")
    left = text_of(answer.text)
    assert "Nothing that waits for you passes the filter: it hides the one request" in left
    assert (await browser.get("/inbox?kind=nonsense&in=x&after=1.2.3&agent=None")).status_code == 200


async def test_an_agent_or_a_work_is_left_out_by_a_filter_and_the_rest_is_shown(site: Site) -> None:
    whole = await site.wants_to_write("Torn", about="Shelf 1")
    await site.asks("Which blue?")
    browser = await site.signed_in(site.mia)
    words = text_of((await browser.get(f"/inbox?in=-{whole}")).text)
    assert "All, but none in Shelf 1, 1 hidden by the filter" in words
    assert "Write on A-1" not in words and "Which blue?" in words
    page = (await browser.get("/inbox?agent=-Clerk")).text
    assert "it hides all 2 requests" in text_of(page)
    assert '<option value="-Clerk" selected>' in page
    [question] = [request.id for request in await (await site.desk(site.mia)).questions()]
    keep = f"?in=-{whole}"
    assert f'href="/inbox/{question}{keep}"' in (await browser.get(f"/inbox{keep}")).text
    assert (await browser.get("/inbox?in=-nonsense&agent=-")).status_code == 200


async def test_previous_and_next_keep_the_order_and_n_goes_to_the_first(site: Site) -> None:
    for name in ("one", "two", "three"):
        await site.wants_to_write(name, about=name)
    first, second, third = await waits(site)
    browser = await site.signed_in(site.mia)
    page = (await browser.get(f"/inbox/{second}")).text
    assert "Proposal, 2 of 3" in text_of(page)
    assert re.search(rf'href="/inbox/{first}">Previous', page)
    assert re.search(rf'href="/inbox/{third}">Next', page)
    assert str((await browser.get("/inbox/next")).url).endswith(f"/inbox/{first}")


async def test_a_long_inbox_is_shown_fifty_at_a_time(site: Site) -> None:
    notes = [Says.tool(note_shelf, {"shelf": site.shelf, "note": f"Note {n}"}) for n in range(52)]
    script = AgentScript(Says.together(*notes), Says.hand_back(Answer(text="written")))
    site.agency.script(AgentCast().plays(Clerk, script))
    shelf = await site.agency.read(lambda session: session.get(Shelf, site.shelf))
    assert shelf is not None
    await (await site.desk(site.mia)).of(Clerk).do(Note(), shelf, about="Shelf A-1")
    browser = await site.signed_in(site.mia)
    one = (await browser.get("/inbox")).text
    assert one.count('class="req"') == 50
    assert "Shelf A-1 52" in text_of(one)  # the head counts those on other pages too
    assert "1 to 50 of 52" in text_of(one)
    [more] = re.findall(r'href="(/inbox\?after=[^"]+)"', one)
    two = (await browser.get(more)).text
    assert two.count('class="req"') == 2
    assert "51 to 52 of 52" in text_of(two)
    [last] = re.findall(r'class="req" href="/inbox/([0-9a-f-]+)"', two)[1:]
    card = (await browser.get(f"/inbox/{last}")).text
    assert "Proposal, 52 of 52" in text_of(card)
    assert card.count('class="req"') == 2  # the page that holds it


# R10
async def test_the_sponsor_takes_over_what_nobody_is_left_to_decide(site: Site) -> None:
    await site.wants_to_write("Torn")
    [item] = await waits(site)
    await site.agency.deactivate(site.mia)
    browser = await site.signed_in(site.noor)
    assert "put to Mia" in text_of((await browser.get("/inbox")).text)
    page = f"/inbox/{item}"
    assert "This was put to Mia, whose account was deactivated" in text_of((await browser.get(page)).text)
    taken = await browser.submit(page, f"{page}/takeover")
    assert "This was put to Mia" not in text_of(taken.text)
    assert "Approve" in text_of(taken.text)
    assert (await (await site.desk(site.noor)).proposal(item)).asked_of == site.noor.id


# P9
async def test_a_stand_in_is_told_for_whom_they_decide(site: Site) -> None:
    ada = await site.agency.add_person("ada@bindery.test", "Ada", roles=["binder"])
    await site.agency.stand_in(ada, site.mia)
    await site.wants_to_write("Torn")
    [item] = await waits(site)
    page = text_of((await (await site.signed_in(ada)).get(f"/inbox/{item}")).text)
    assert "You decide this for Mia, who named you to stand in." in page
    assert "From now on, alone" not in page  # her rule would lift nothing in Mia's work


# P5
async def test_what_was_written_is_not_lost_where_somebody_was_first(site: Site) -> None:
    await site.wants_to_write("Torn")
    [item] = await waits(site)
    browser = await site.signed_in(site.mia)
    token = await token_of(browser, f"/inbox/{item}")
    await (await site.desk(site.mia)).approve(item)
    late = await browser.post(f"/inbox/{item}/refusal", data={"_csrf_token": token, "reason": "Only stained"})
    words = text_of(late.text)
    assert late.status_code == 409
    assert "What you had written, which was not sent" in words
    assert "Only stained" in words


# E4
async def test_a_question_whose_work_has_ended_needs_no_answer(site: Site) -> None:
    root = await site.asks("Which blue?")
    [item] = await waits(site)
    await (await site.desk(site.mia)).stop(root)
    page = text_of((await (await site.signed_in(site.mia)).get(f"/inbox/{item}")).text)
    assert "This needs no answer" in page
    assert "Send answer" not in page


async def test_the_keys_are_listed_on_a_page_of_their_own(site: Site) -> None:
    page = text_of((await (await site.signed_in(site.mia)).get("/help/keys")).text)
    assert "None decides by itself" in page


# P6, P7
async def test_what_was_begun_is_there_again_on_the_next_visit_and_goes_to_nobody(site: Site) -> None:
    await site.wants_to_write("Torn")
    [item] = await waits(site)
    browser = await site.signed_in(site.mia)
    page = f"/inbox/{item}"
    token = await token_of(browser, page)
    begun = {"_csrf_token": token, "act": "refuse", "reason": "Only <stained>"}
    after = await browser.post(f"{page}/draft", data=begun)
    assert "You began to write a refusal and did not send it." in text_of(after.text)
    assert "Only &lt;stained&gt;</textarea>" in (await browser.get(f"{page}/refusal")).text
    sent = {"_csrf_token": token, "act": "edit", "note": "Wet", "fingerprint": "x"}
    assert (await browser.post(f"{page}/draft", data=sent, headers={"x-draft": "yes"})).status_code == 204
    assert 'value="Wet"' in (await browser.get(f"{page}/edit")).text
    assert (await (await site.desk(site.mia)).proposal(item)).may_decide
    answer = await browser.submit(f"{page}/edit", f"{page}/edit", note="Wet")
    assert "You approved" in text_of(answer.text)
    assert "You began" not in text_of(answer.text)
    assert await (await site.desk(site.mia)).drafts(item) == []
    assert (await browser.post(f"{page}/draft", data=sent)).status_code == 409
    other = {"_csrf_token": token, "act": "approve"}
    assert (await browser.post(f"{page}/draft", data=other)).status_code == 422


# P8
async def test_a_begun_answer_stands_in_the_question(site: Site) -> None:
    await site.asks("Which blue?", "Indigo", "Slate")
    [item] = await waits(site)
    browser = await site.signed_in(site.mia)
    page = f"/inbox/{item}"
    token = await token_of(browser, page)
    sent = {"_csrf_token": token, "act": "answer", "choice": "own", "own": "Neither of them"}
    found = (await browser.post(f"{page}/draft", data=sent)).text
    assert "Neither of them</textarea>" in found
    assert re.search(r'value="own" id="own" form="answer" checked', found)
    assert not re.search(r'value="Indigo" form="answer" checked', found)


# P11
async def test_what_nobody_answered_in_time_cannot_be_decided_and_was_not_refused(site: Site) -> None:
    await site.wants_to_write("Torn")
    [item] = await waits(site)
    browser = await site.signed_in(site.mia)
    token = await token_of(browser, f"/inbox/{item}")
    await sql(site.agency, "update proposal set deadline = 1")  # before the clock has looked
    page = (await browser.get(f"/inbox/{item}")).text
    words = text_of(page)
    assert "Nobody answered in time." in words
    assert "it was not refused either" in words
    assert "/approval" not in page
    late = await browser.post(f"/inbox/{item}/approval", data={"_csrf_token": token})
    assert late.status_code == 409
    assert "Your decision changed nothing" in text_of(late.text)
    assert await site.the_note() == ""
