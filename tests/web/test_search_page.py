"""Finding by words: each is shown what they may see, and nothing acts."""

from __future__ import annotations

import re

from tests.web.conftest import Site, text_of


def found(page: str) -> str:
    return page.split('id="found"')[1]


async def test_pages_agents_works_and_requests_are_found_by_their_words(site: Site) -> None:
    root = await site.wants_to_write("A torn SPINE", about="Rebinding the atlas")
    [proposal] = await (await site.desk(site.mia)).proposals()
    mia = await site.signed_in(site.mia)
    assert f'href="/work/{root}"' in found((await mia.get("/search?q=ATLAS")).text)
    assert f'href="/inbox/{proposal.id}"' in found((await mia.get("/search?q=torn spine")).text)
    assert 'href="/agents/Clerk"' in found((await mia.get("/search?q=keep shel")).text)
    assert 'href="/inbox/standing"' in found((await mia.get("/search?q=rules")).text)
    assert "has “xyzzy” in it" in text_of((await mia.get("/search?q=xyzzy")).text)


# R8
async def test_a_request_is_found_by_whom_it_is_for_and_a_work_by_who_may_see_it(site: Site) -> None:
    root = await site.wants_to_write("A torn spine", about="Rebinding the atlas")
    noor = await site.signed_in(site.noor)
    other = await site.signed_in(await site.agency.add_person("ida@bindery.test", "Ida", roles=["binder"]))
    assert "spine" not in found((await noor.get("/search?q=torn")).text).replace("“torn”", "")
    assert f'href="/work/{root}"' in found((await noor.get("/search?q=atlas")).text)
    assert "/work/" + str(root) not in (await other.get("/search?q=atlas")).text


async def test_signs_that_stand_for_others_in_a_query_are_looked_for_as_they_are(site: Site) -> None:
    await site.wants_to_write("x", about="100% linen_cloth")
    mia = await site.signed_in(site.mia)
    for q, there in (("100%25 linen_", True), ("100%25cloth", False), ("l_nen", False), ("!", False)):
        assert ("linen_cloth" in found((await mia.get(f"/search?q={q}")).text)) == there, q


# R9
async def test_acts_lead_to_their_pages_and_only_those_that_somebody_may_do(site: Site) -> None:
    mia, noor = await site.signed_in(site.mia), await site.signed_in(site.noor)
    theirs, hers = [found((await browser.get("/search?q=")).text) for browser in (mia, noor)]
    assert "Stop everything…" in hers and "Stop everything…" not in theirs
    assert "Give Clerk work: note…" in theirs and "<form" not in hers
    for address in re.findall(r'href="([^"]+)"', hers):
        answer = await noor.get(address.replace("&amp;", "&"))
        assert answer.status_code == 200, address
    for address in re.findall(r'href="([^"]+)"', theirs):
        assert (await mia.get(address.replace("&amp;", "&"))).status_code == 200, address


async def test_what_is_looked_for_stays_text(site: Site) -> None:
    mia = await site.signed_in(site.mia)
    page = (await mia.get("/search", params={"q": '"><b>x</b>'})).text
    assert "<b>x</b>" not in page and "&lt;b&gt;x" in page
    assert (await mia.get("/search", params={"q": "x" * 5000})).status_code == 200
