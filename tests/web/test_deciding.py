"""Deciding by plain forms, as a browser without script does."""

from __future__ import annotations

from handon import Proposal
from tests.web.conftest import Browser, Site, text_of


async def waiting(site: Site) -> str:
    return str((await (await site.desk(site.mia)).proposals())[0].id)


async def test_the_badge_is_as_many_as_the_list_holds(site: Site) -> None:
    browser = await site.signed_in(site.mia)
    for expected in (0, 1, 2):
        if expected:
            await site.wants_to_write("Torn", about=f"Shelf {expected}")
        page = (await browser.get("/inbox")).text
        assert page.count('class="req"') == expected
        assert f'id="badge"{"" if expected else " hidden"}>{expected}<' in page


async def test_a_card_says_what_through_whom_and_what_it_does_in_a_fixed_order(site: Site) -> None:
    await site.wants_to_write("Leaf 3 torn")
    page = text_of((await (await site.signed_in(site.mia)).get(f"/inbox/{await waiting(site)}")).text)
    order = [
        "Write on A-1: Leaf 3 torn",
        "note_shelf",
        "in Shelf A-1",
        "inside only",
        "Cannot be taken back",
        "What exactly",
    ]
    order += ["Why", "Clerk’s words", "Money", "Who waits", "Approve", "Edit…", "Refuse…", "on the record"]
    card = page[page.rindex("Proposal, 1 of 1") :]
    places = [card.index(part) for part in order]
    assert places == sorted(places)


async def test_approving_runs_the_call_once_and_shows_its_receipt(site: Site) -> None:  # P5
    root = await site.wants_to_write("Torn")
    item = await waiting(site)
    browser = await site.signed_in(site.mia)
    answer = await browser.submit(f"/inbox/{item}", f"/inbox/{item}/approval")
    assert answer.url.path == f"/inbox/{item}"
    assert "You approved" in text_of(answer.text)
    assert await site.the_note() == "Torn"
    await site.agency.settle()
    assert "Done" in text_of((await browser.get(f"/work/{root}")).text)


async def test_deciding_twice_says_who_was_first_and_changes_nothing(site: Site) -> None:  # P5
    await site.wants_to_write("Torn")
    item = await waiting(site)
    one, two = await site.signed_in(site.mia), await site.signed_in(site.mia)
    page = (await two.get(f"/inbox/{item}")).text
    token = page.split('name="_csrf_token" value="')[1].split('"')[0]
    await one.submit(f"/inbox/{item}", f"/inbox/{item}/approval")
    late = await two.post(f"/inbox/{item}/refusal", data={"_csrf_token": token, "reason": "No"})
    assert late.status_code == 409
    assert "Already approved by Mia" in text_of(late.text)
    assert await site.the_note() == "Torn"


async def test_a_decision_on_what_was_not_shown_is_refused_and_says_so(site: Site) -> None:  # P12
    await site.wants_to_write("Torn")
    item = await waiting(site)
    browser = await site.signed_in(site.mia)
    answer = await browser.submit(f"/inbox/{item}", f"/inbox/{item}/approval", fingerprint="0" * 64)
    assert answer.status_code == 409
    page = text_of(answer.text)
    assert "changed this while you read" in page
    assert "I have seen the change" in page
    assert await site.the_note() == ""


async def test_a_refusal_carries_its_reason_to_the_agent(site: Site) -> None:  # P6
    root = await site.wants_to_write("Torn")
    item = await waiting(site)
    browser = await site.signed_in(site.mia)
    answer = await browser.submit(f"/inbox/{item}/refusal", f"/inbox/{item}/refusal", reason="It is only stained")
    page = text_of(answer.text)
    assert "You refused" in page
    assert "It is only stained" in page
    await site.agency.settle()
    lines = await (await site.desk(site.mia)).trace_of(root)
    assert any("It is only stained" in line.payload for line in lines)
    assert await site.the_note() == ""


async def test_what_runs_is_what_was_last_on_the_screen(site: Site) -> None:  # P7
    await site.wants_to_write("Torn")
    item = await waiting(site)
    browser = await site.signed_in(site.mia)
    answer = await browser.submit(f"/inbox/{item}/edit", f"/inbox/{item}/edit", note="Stained, not torn")
    page = text_of(answer.text)
    assert "You approved, with changes" in page
    assert "Torn Stained, not torn" in page
    assert await site.the_note() == "Stained, not torn"


async def test_an_edit_that_changes_nothing_approves_what_was_shown(site: Site) -> None:  # P7
    await site.wants_to_write("Torn")
    item = await waiting(site)
    browser = await site.signed_in(site.mia)
    answer = await browser.submit(f"/inbox/{item}/edit", f"/inbox/{item}/edit", note="Torn")
    assert "You approved" in text_of(answer.text)
    assert "with changes" not in text_of(answer.text)


async def test_a_request_whose_work_was_stopped_needs_no_answer(site: Site) -> None:  # E4
    root = await site.wants_to_write("Torn")
    item = await waiting(site)
    browser = await site.signed_in(site.mia)
    page = (await browser.get(f"/inbox/{item}")).text
    token = page.split('name="_csrf_token" value="')[1].split('"')[0]
    stopped = await browser.submit(f"/work/{root}/stop", f"/work/{root}/stop", reason="Not this year")
    assert "Called off" in text_of(stopped.text)
    late = await browser.post(f"/inbox/{item}/approval", data={"_csrf_token": token})
    assert late.status_code == 409
    assert "needs no answer" in text_of(late.text)
    assert "Approve" not in text_of(late.text)
    assert 'id="badge" hidden' in late.text


async def test_a_question_is_answered_by_choice_or_in_own_words(site: Site) -> None:  # P8
    browser = await site.signed_in(site.mia)
    for fields, said in (
        ({"choice": "Indigo"}, "Indigo"),
        ({"choice": "own", "own": "Neither"}, "Neither"),
        ({"own": "Neither"}, "Neither"),
        ({"choice": "Slate", "own": "But matt"}, "Slate\n\nBut matt"),
    ):
        await site.asks("Which blue?", "Indigo", "Slate")
        item = (await (await site.desk(site.mia)).questions())[0].id
        empty = await browser.submit(f"/inbox/{item}", f"/inbox/{item}/answer")
        assert empty.status_code == 422
        assert "Nothing was sent" in text_of(empty.text)
        answer = await browser.submit(f"/inbox/{item}", f"/inbox/{item}/answer", **fields)
        assert "You answered" in text_of(answer.text)
        assert (await (await site.desk(site.mia)).question(item)).answer == said
        await site.agency.settle()


async def test_what_follows_a_choice_stands_under_it_as_the_agents_words(site: Site) -> None:  # P8
    await site.asks("Which blue?", ("Indigo", "It has to be ordered."), "Slate")
    item = (await (await site.desk(site.mia)).questions())[0].id
    page = (await (await site.signed_in(site.mia)).get(f"/inbox/{item}")).text
    assert '<b dir="auto">Indigo</b><small dir="auto">It has to be ordered.</small>' in page
    assert "What stands under a choice is Clerk’s words." in text_of(page)


async def test_a_question_may_be_declined_and_the_agent_is_told(site: Site) -> None:  # P8
    await site.asks("Which blue?")
    item = (await (await site.desk(site.mia)).questions())[0].id
    browser = await site.signed_in(site.mia)
    answer = await browser.submit(f"/inbox/{item}/decline", f"/inbox/{item}/decline", reason="I was not there")
    assert "could not say" in text_of(answer.text)
    assert (await (await site.desk(site.mia)).question(item)).declined


async def test_what_was_answered_keeps_who_and_when(site: Site) -> None:
    await site.wants_to_write("Torn")
    item = await waiting(site)
    browser = await site.signed_in(site.mia)
    await browser.submit(f"/inbox/{item}", f"/inbox/{item}/approval")
    page = (await browser.get("/inbox/answered")).text
    assert f"/inbox/{item}" in page and "approved by you" in text_of(page)


# P9, R8
async def test_what_was_answered_is_listed_by_who_decided_and_page_by_page_though_all_at_once(site: Site) -> None:
    await site.agency.stand_in(site.noor, for_=site.mia)
    mia, noor = await site.signed_in(site.mia), await site.signed_in(site.noor)
    shown: dict[str, str] = {}
    for note, desk in (("Torn", site.mia), ("Foxed", site.noor), ("Stained", None)):
        task = await site.wants_to_write(note)
        item = await waiting(site)
        if desk is None:
            await (await site.desk(site.mia)).stop(task, "Not this year")
        else:
            await (await site.desk(desk)).refuse(item)
        await site.agency.settle()
        shown[note] = f'href="/inbox/{item}"'

    async def listed(browser: Browser, query: str) -> set[str]:
        page = (await browser.get(f"/inbox/answered{query}")).text
        return {note for note, link in shown.items() if link in page}

    assert await listed(mia, "") == await listed(noor, "") == {"Torn", "Foxed", "Stained"}
    assert await listed(mia, "?by=me") == await listed(noor, "?by=others") == {"Torn"}
    assert await listed(mia, "?by=others") == await listed(noor, "?by=me") == {"Foxed"}
    assert await listed(mia, "?by=nobody") == {"Stained"}
    assert (await mia.get("/inbox/answered?by=everybody")).status_code == 400
    desk, seen, last = await site.desk(site.mia), [], None
    while found := await desk.answered(1, *((last.decided_at, last.id) if isinstance(last, Proposal) else ())):
        [last] = found
        seen.append(last.id)
    assert seen == [one.id for one in await desk.answered()] and len(set(seen)) == 3
