"""Handing a request over by plain forms, and taking it back."""

from __future__ import annotations

import re

from tests.web.conftest import Site, text_of


async def waiting(site: Site) -> str:
    return str((await (await site.desk(site.mia)).proposals())[0].id)


# P9
async def test_a_request_is_handed_over_with_a_note_and_taken_back_by_a_plain_form(site: Site) -> None:
    await site.wants_to_write("Torn")
    item, mia, noor = await waiting(site), await site.signed_in(site.mia), await site.signed_in(site.noor)
    card = (await mia.get(f"/inbox/{item}")).text
    assert f'href="/inbox/{item}/hand-over"' in card
    step = f"/inbox/{item}/hand-over"
    page = (await mia.get(step)).text
    assert re.findall(r"<option[^>]*>([^<]+)", page[page.index('id="to"') :]) == ["Choose…", "Noor, noor@bindery.test"]
    came = await mia.submit(step, step, to=str(site.noor.id), note="You know it.")
    assert came.url.path == "/inbox" and "Nothing waits for you" in text_of(came.text)
    assert "1 handed over by you, not decided yet" in text_of(came.text) and 'class="sub">to Noor' in came.text
    mine = text_of((await mia.get(f"/inbox/{item}")).text)
    assert "You handed this over to Noor" in mine and "Noor decides this." in mine and "Take it back" in mine
    theirs = text_of((await noor.get(f"/inbox/{item}")).text)
    assert "Mia handed this over to you" in theirs and "You know it." in theirs and "Approve" in theirs
    back = await mia.submit(f"/inbox/{item}", f"/inbox/{item}/put-back")
    assert back.url.path == f"/inbox/{item}" and "Approve" in text_of(back.text)
    assert "handed over by you" not in back.text
    assert (await noor.get(f"/inbox/{item}/hand-over")).status_code == 404


# P9
async def test_what_does_not_fit_is_said_beside_it_and_what_was_written_stays(site: Site) -> None:
    await site.wants_to_write("Torn")
    item, mia = await waiting(site), await site.signed_in(site.mia)
    step = f"/inbox/{item}/hand-over"
    for to, said in (("", "Choose somebody."), (str(site.mia.id), "It is put to Mia already.")):
        answer = await mia.submit(step, step, to=to, note="Please.")
        assert answer.status_code == 422 and said in text_of(answer.text) and "Please.</textarea>" in answer.text
    answer = await mia.submit(step, step, to=str(site.noor.id), note="x" * 2001)
    assert answer.status_code == 422 and "At most 2,000 letters" in answer.text
    assert await waiting(site) == item


# P9
async def test_who_takes_it_back_too_late_is_shown_what_came_of_it(site: Site) -> None:
    await site.wants_to_write("Torn")
    item, mia = await waiting(site), await site.signed_in(site.mia)
    await (await site.desk(site.mia)).hand_over((await (await site.desk(site.mia)).proposals())[0].id, site.noor)
    token = re.search(r'name="_csrf_token" value="([^"]+)"', (await mia.get(f"/inbox/{item}")).text)
    [found] = await (await site.desk(site.noor)).proposals()
    await (await site.desk(site.noor)).refuse(found.id)
    assert token is not None
    late = await mia.post(f"/inbox/{item}/put-back", data={"_csrf_token": token[1]})
    assert late.url.path == f"/inbox/{item}" and "Noor refused" in text_of(late.text)
