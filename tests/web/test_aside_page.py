"""Setting a request aside on the pages."""

from __future__ import annotations

import re
from datetime import timedelta

from handon.testing import TestClock
from tests.web.conftest import open_site, text_of
from tests.web.test_undo import waiting


# P9
async def test_a_request_is_set_aside_until_a_time_and_comes_back_by_itself(sqlite_database: str) -> None:
    clock = TestClock()
    async with open_site(sqlite_database, clock) as site:
        await site.wants_to_write("Torn")
        item, mia = await waiting(site), await site.signed_in(site.mia)
        offered = (await mia.get(f"/inbox/{item}/aside")).text
        values = re.findall(r'name="until" value="([^"]+)">([\w ]+) <small>', offered)
        assert [words for _, words in values] == ["In an hour", "This afternoon", "Tomorrow morning"]
        listed = await mia.submit(f"/inbox/{item}/aside", f"/inbox/{item}/aside", until=values[2][0])
        assert listed.url.path == "/inbox"
        page = text_of(listed.text)
        assert "Nothing waits for you" in page and "1 set aside, not counted here" in page
        assert "back 4 Mar 09:00 UTC" in page and 'id="badge" hidden' in listed.text
        card = text_of((await mia.get(f"/inbox/{item}")).text)
        assert "You set this aside until 4 Mar 09:00 UTC. Clerk still waits." in card and "Approve" in card
        await clock.advance(timedelta(hours=24))
        page = text_of((await mia.get("/inbox")).text)
        assert "1 waits for you" in page and "set aside" not in page


# P9
async def test_it_is_brought_back_from_its_card_and_a_time_that_is_none_is_said_to_be_none(
    sqlite_database: str,
) -> None:
    clock = TestClock()
    async with open_site(sqlite_database, clock) as site:
        await site.asks("Which blue?", "Indigo", "Slate")
        [question] = await (await site.desk(site.mia)).questions()
        mia, address = await site.signed_in(site.mia), f"/inbox/{question.id}/aside"
        for until in ("soon", "2031-03-03T08:00:00+00:00"):
            assert (await mia.submit(address, address, until=until)).status_code in (400, 422)
        await mia.submit(address, address, until=(clock.now() + timedelta(hours=1)).isoformat())
        assert "1 set aside" in text_of((await mia.get("/inbox")).text)
        back = await mia.submit(f"/inbox/{question.id}", address)
        assert back.url.path == f"/inbox/{question.id}"
        assert "1 waits for you" in text_of(back.text) and "set this aside" not in text_of(back.text)
