"""What a person chooses for their own pages: kept for them, on every page of theirs, and on nobody else's."""

from __future__ import annotations

import html
import json
import re

import pytest

from tests.web.conftest import Site, text_of

USUAL = {f"key.{key}": key for key in "areAwjkoung?"}


async def test_a_person_chooses_name_first_page_theme_and_time_zone_for_themselves_alone(site: Site) -> None:
    await site.wants_to_write("Torn")
    mia, noor = await site.signed_in(site.mia), await site.signed_in(site.noor)
    chosen = {"name": "Mia B.", "home": "work", "theme": "dark", "time_zone": "Asia/Kolkata"}
    page = await mia.submit("/settings", "/settings", **chosen)
    assert "Kept." in page.text
    assert '<html lang="en"' in page.text and 'data-theme="dark"' in page.text and 'content="dark"' in page.text
    home = await mia.get("/")
    assert home.url.path == "/work" and "Mia B." in home.text
    other = await (await site.signed_in(site.mia)).get("/")  # on another device too
    assert other.url.path == "/work" and "data-theme" in other.text
    assert "data-theme" not in (await noor.get("/settings")).text
    wrong = await mia.get("/work/01890000-0000-7000-8000-000000000000")
    assert wrong.status_code == 404 and 'data-theme="dark"' in wrong.text


async def test_times_stand_in_the_zone_that_was_chosen_without_script_too(site: Site) -> None:
    await site.wants_to_write("Torn")
    [proposal] = await (await site.desk(site.mia)).proposals()
    await (await site.desk(site.mia)).refuse(proposal.id)
    mia = await site.signed_in(site.mia)
    assert re.search(r">(\d+ \w+ )?\d\d:\d\d UTC</time>", (await mia.get("/inbox/answered")).text)
    await mia.submit("/settings", "/settings", name="Mia", time_zone="Asia/Kolkata")
    page = (await mia.get("/inbox/answered")).text
    assert re.search(r">(\d+ \w+ )?\d\d:\d\d IST</time>", page) and 'data-zone-is="Asia/Kolkata"' in page


async def test_what_does_not_fit_is_said_at_its_field_and_nothing_is_kept(site: Site) -> None:
    mia = await site.signed_in(site.mia)
    for field, text in (("name", " "), ("home", "elsewhere"), ("theme", "pink"), ("time_zone", "Middle/Earth")):
        given = {"name": "Changed", "theme": "dark"} | {field: text}
        answer = await mia.submit("/settings", "/settings", **given)
        assert answer.status_code == 422 and 'role="alert"' in answer.text, field
    page = (await mia.get("/settings")).text
    assert "data-theme" not in page and "Changed" not in page


async def test_the_first_page_of_somebody_who_may_not_open_it_any_more_is_the_usual_one(site: Site) -> None:
    mia = await site.signed_in(site.mia)
    assert 'value="now"' not in (await mia.get("/settings")).text
    await mia.submit("/settings", "/settings", name="Mia", home="now")
    assert (await mia.get("/")).url.path == "/inbox"


async def test_keys_are_chosen_shown_and_told_to_the_page(site: Site) -> None:
    mia = await site.signed_in(site.mia)
    page = await mia.submit("/settings/keys", "/settings/keys", **USUAL | {"key.a": "y", "single_keys": "yes"})
    assert "Kept." in page.text
    [told] = re.findall(r'data-keys="([^"]+)"', page.text)
    assert json.loads(html.unescape(told)) == [["a", "y"]]
    assert "<kbd>y</kbd> arms" in (await mia.get("/help/keys")).text
    page = await mia.submit("/settings/keys", "/settings/keys", **USUAL)  # not ticked
    assert 'data-keys="off"' in page.text
    assert "You have switched single keys off." in text_of((await mia.get("/help/keys")).text)
    page = await mia.submit("/settings/keys", "/settings/keys", **USUAL | {"single_keys": "yes"}, act="usual")
    assert 'data-keys="off"' in page.text  # only which, not whether


@pytest.mark.parametrize("wrong", [{"key.a": "r"}, {"key.a": "1"}, {"key.a": ""}, {"key.a": "ab"}])
async def test_two_keys_that_would_be_the_same_or_cannot_be_pressed_are_refused(site: Site, wrong) -> None:
    mia = await site.signed_in(site.mia)
    answer = await mia.submit("/settings/keys", "/settings/keys", **USUAL | {"single_keys": "yes"} | wrong)
    assert answer.status_code == 422 and 'role="alert"' in answer.text
    assert "data-keys" not in (await mia.get("/work")).text.split("<body>")[0]
