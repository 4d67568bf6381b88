"""The pages of money: what was spent, what is limited, who may see and set it."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from handon import ModelAnswer, ModelRequest
from handon.testing import AgentCast, AgentScript, Says
from tests.builders import Answer, Clerk, Find
from tests.web.conftest import Site


def text_of(html: str) -> str:
    """The words on a page, each cell of a table apart."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


FOUND = Says.hand_back(Answer(text="found"))


async def spends(site: Site, about: str = "A colophon", on: str | None = None) -> None:
    site.agency.script(AgentCast().plays(Clerk, AgentScript(FOUND)))
    await (await site.desk(site.mia)).of(Clerk).do(Find(), "x", about=about, on=on)


# M8
async def test_the_page_says_exactly_what_was_spent_by_model_agent_person_and_work(site: Site) -> None:
    await spends(site)
    page = text_of((await (await site.signed_in(site.noor)).get("/money")).text)
    assert "€0.0002 today · no call is under way" in page
    for row in (
        "Everyday 1 100 20 0.0002",
        "Clerk 1 100 20 0.0002",
        "Mia 1 100 20 0.0002",
        "A colophon 1 100 20 0.0002",
    ):
        assert row in page
    assert "Everyday scripted-Everyday Clerk 1.00 1.00 5.00" in page  # its price


# R9
async def test_who_neither_reads_usage_nor_manages_spend_is_told_who_does(site: Site) -> None:
    await spends(site)
    browser = await site.signed_in(site.mia)
    for address in ("/money", "/money/calls", "/money/limit"):
        answer = await browser.get(address)
        assert answer.status_code == 403, address
        assert "manage model spend" in text_of(answer.text)
        assert "0.0002" not in answer.text
    assert 'href="/money"' not in (await browser.get("/work")).text
    assert 'href="/money"' in (await (await site.signed_in(site.noor)).get("/work")).text


# M7
async def test_a_limit_is_set_changed_and_taken_away_by_a_form(site: Site) -> None:
    browser = await site.signed_in(site.noor)
    form = "/money/limit?of=agent:Clerk&period=day"
    page = await browser.submit(form, "/money/limit", of="agent:Clerk", period="day", limit="3,50", act="set")
    assert page.url.path == "/money"
    assert "Clerk a day Noor" in text_of(page.text)
    [limit] = await (await site.desk(site.noor)).spend_limits()
    assert (limit.limit_micros, limit.set_by) == (3_500_000, "Noor")
    shown = (await browser.get(form)).text
    assert 'value="3.50"' in shown and "Noor set it" in text_of(shown)
    await browser.submit(form, "/money/limit", of="agent:Clerk", period="day", limit="3,50", act="take away")
    assert await (await site.desk(site.noor)).spend_limits() == []


# M7
async def test_a_person_is_limited_too(site: Site) -> None:
    browser = await site.signed_in(site.noor)
    fields = {"of": f"person:{site.mia.id}", "period": "month", "limit": "20", "act": "set"}
    await browser.submit("/money/limit", "/money/limit", **fields)
    [limit] = await (await site.desk(site.noor)).spend_limits()
    assert (limit.person, limit.period, limit.limit_micros) == (site.mia.id, "month", 20_000_000)


# M7
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"limit": ""}, "Write an amount, such as 3.50."),
        ({"limit": "lots"}, "Write an amount, such as 3.50."),
        ({"limit": "-1"}, "Write no less than nothing."),
        ({"limit": "0.0000001"}, "no finer than a millionth"),
        ({"limit": "9" * 40}, "more than can be counted"),
        ({"of": "agent:Nobody"}, "Choose an agent or a person."),
        ({"of": ""}, "Choose an agent or a person."),
        ({"period": "week"}, "Choose a day or a month."),
    ],
)
async def test_a_limit_that_does_not_fit_is_said_at_its_field_and_nothing_is_changed(
    site: Site, fields: dict[str, str], said: str
) -> None:
    browser = await site.signed_in(site.noor)
    given = {"of": "agent:Clerk", "period": "day", "limit": "3", "act": "set"} | fields
    answer = await browser.submit("/money/limit", "/money/limit", **given)
    assert answer.status_code == 422
    assert said in text_of(answer.text)
    if "limit" in fields:
        assert f'value="{fields["limit"]}"' in answer.text
    assert await (await site.desk(site.noor)).spend_limits() == []


# R9
async def test_a_form_that_is_sent_by_whoever_may_not_sets_nothing(site: Site) -> None:
    browser = await site.signed_in(site.mia)
    token = await browser.submit("/work/new?agent=Clerk&skill=Find", "/work/new", agent="Clerk", skill="Find")
    kept = token.text.split('name="_csrf_token" value="')[1].split('"')[0]
    fields = {"_csrf_token": kept, "of": "agent:Clerk", "period": "day", "limit": "3", "act": "set"}
    assert (await browser.post("/money/limit", data=fields)).status_code == 403
    assert await (await site.desk(site.noor)).spend_limits() == []


# M8
async def test_other_days_are_chosen_by_a_form_and_what_is_no_day_is_said(site: Site) -> None:
    await spends(site)
    browser = await site.signed_in(site.noor)
    old = text_of((await browser.get("/money?show=days&first=2001-02-03&last=2001-02-04")).text)
    assert "€0.00 from 3 February 2001 to 4 February 2001" in old
    assert "No model was asked in these days" in old
    for days, said in [
        ("first=2001-13-01&last=2001-02-04", "Write a day as 2031-03-14."),
        ("first=2001-02-05&last=2001-02-04", "The last day comes before the first."),
        ("first=0001-01-01&last=2001-02-04", "Choose days of the years"),
    ]:
        answer = await browser.get(f"/money?show=days&{days}")
        assert answer.status_code == 422
        assert said in text_of(answer.text)
    for show in ("week", "month"):
        assert "Money €0.0002" in text_of((await browser.get(f"/money?show={show}")).text)


# M9
async def test_a_call_without_usage_figures_is_marked_as_estimated_and_its_tokens_are_not_said_to_be_none(
    site: Site,
) -> None:
    def answer(model: str, request: ModelRequest) -> ModelAnswer:
        return ModelAnswer(calls=FOUND.answer().calls)

    site.agency.script(answer)
    await (await site.desk(site.mia)).of(Clerk).do(Find(), "x")
    browser = await site.signed_in(site.noor)
    page, calls = text_of((await browser.get("/money")).text), text_of((await browser.get("/money/calls")).text)
    assert "1 call came back without usage figures. It was charged what had been held for it" in page
    assert "not told not told estimated" in calls


# M8
async def test_calls_older_than_a_page_are_on_the_next(site: Site) -> None:
    site.agency.script(AgentCast().plays(Clerk, AgentScript(FOUND)))
    desk = await site.desk(site.mia)
    for n in range(51):
        await desk.of(Clerk).do(Find(), f"{n}", about=f"Number {n}.")
    browser = await site.signed_in(site.noor)
    page = (await browser.get("/money/calls")).text
    assert "Number 50." in page and "Number 0." not in page
    older = page.split('href="/money/calls?before=')[1].split('"')[0].replace("&amp;", "&")
    last = (await browser.get(f"/money/calls?before={older}")).text
    assert "Number 0." in last and "Number 1." not in last


# M2
async def test_accounts_stand_with_their_limits(site: Site) -> None:
    await site.agency.set_limit("order 7", Decimal("0.0002"))
    await site.agency.set_limit("order 8", Decimal("0.5"))
    page = text_of((await (await site.signed_in(site.noor)).get("/money")).text)
    assert re.search(r"order 7 the app, [^€]+ €0.00 €0.00 €0.0002 0 %", page)
    assert re.search(r"order 8 the app, [^€]+ €0.00 €0.00 €0.50 0 %", page)


# M2, M7
async def test_what_several_works_are_charged_to_is_limited_by_a_form_and_the_next_call_keeps_to_it(site: Site) -> None:
    await spends(site, on="order 7")
    browser = await site.signed_in(site.noor)
    form = "/money/account?key=order%207"
    assert "It is not limited" in text_of((await browser.get(form)).text)
    assert "Write an amount" in (await browser.submit(form, "/money/account", key="order 7", limit="x", act="set")).text
    page = await browser.submit(form, "/money/account", key="order 7", limit="0,0002", act="set")
    assert re.search(r"order 7 Noor, [^€]+ €0.0002 €0.00 €0.0002 100 %", text_of(page.text))
    site.agency.script(AgentCast().plays(Clerk, AgentScript(FOUND)))
    refused = await (await site.desk(site.mia)).of(Clerk).do(Find(), "x", on="order 7")
    assert "the limit of order 7 of EUR 0.0002 had EUR 0.00 left" in refused.why
    await browser.submit(form, "/money/account", key="order 7", act="take away")
    assert (await (await site.desk(site.mia)).of(Clerk).do(Find(), "x", on="order 7")).done
    shown = text_of((await browser.get(form)).text)
    assert "Noor took its limit away" in shown
    assert (await browser.get("/money/account?key=order%2099")).status_code == 404
    assert (await browser.get("/money/account?key=agent:Clerk:2031-03-03")).status_code == 404
    assert (await (await site.signed_in(site.mia)).get(form)).status_code == 403


# M8
async def test_what_agents_and_people_wrote_stays_text(site: Site) -> None:
    await spends(site, about="<b onclick=x>bold</b>")
    browser = await site.signed_in(site.noor)
    for address in ("/money", "/money/calls"):
        assert "<b onclick" not in (await browser.get(address)).text
