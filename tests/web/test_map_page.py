"""The map: the picture and its twin in words, what could reach what, and the page of one agent."""

from __future__ import annotations

import asyncio
import csv
import io
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from html import unescape
from typing import Any
from uuid import UUID

import pytest

from core import mapping
from handon import Agent, AgentLimits, Delegation, Permits, Specialist, has_role
from handon.testing import AgentCast, AgentScript, Says
from tests import builders, charts
from tests.browser.many import Registrar, Scribe, Typeset
from tests.builders import Answer, Clerk, Find, Note, Oversee, Shelf, note_shelf
from tests.web.conftest import Site, opened, text_of
from web.app import create_app
from web.lens import about_agent


class Chief(Agent):
    """Hands on to the clerk with a share, to a helper, and to somebody who may hand back on to it."""

    purpose = "You have <b>others</b> do it."
    roles = {"helper"}
    skills = [Oversee()]
    may = Permits.changes_alone()


class Deputy(Agent):
    purpose = "You stand in."
    roles = {"helper"}
    skills = [Oversee()]
    may = Permits.changes_alone().never(note_shelf)
    delegates = Delegation(to=[Specialist.of(Chief, Oversee())], max_depth=2)


class Loner(Agent):
    purpose = "You keep to yourself."
    roles = {"helper"}
    skills = [Oversee()]


Chief.delegates = Delegation(
    to=[
        Specialist.of(Clerk, Note(), budget=Decimal("0.012")),
        Specialist.of(Deputy, Oversee()),
        Specialist.helper(Find(), budget=Decimal("0.002")),
    ],
    max_depth=3,
)


@pytest.fixture
async def house(sqlite_database: str) -> AsyncIterator[Site]:
    """A site whose chief hands on."""
    policies = replace(builders.POLICIES, audits_agents=has_role("auditor"))
    agency = builders.make(
        sqlite_database, [Chief(), Deputy(), Clerk(), Loner()], policies=policies, name="The Shelves"
    )
    app = create_app(agency)
    async with opened(app):
        mia = await agency.add_person("mia@bindery.test", "Mia", roles=["binder"])
        noor = await agency.add_person("noor@bindery.test", "Noor", roles=["master"])
        for name in agency.agents:
            await agency.seat(name, sponsor=noor)

        def one_shelf(session: Any) -> UUID:
            shelf = Shelf(mark="A-1")
            session.add(shelf)
            session.flush()
            return shelf.id

        yield Site(app, agency, mia, noor, await agency.write(one_shelf))


def edges(html: str) -> list[str]:
    return re.findall(r'<a class="edge[^"]*" href="[^"]*chosen=([^"#]+)#chosen"', html)


async def test_the_map_draws_each_way_once_and_says_it_in_words_too(house: Site) -> None:  # D7
    page = (await (await house.signed_in(house.mia)).get("/map")).text
    wanted = ["Chief.Clerk.Note", "Chief.Deputy.Oversee", "Chief.helper.Find", "Deputy.Chief.Oversee"]
    assert sorted(edges(page)) == sorted(wanted)
    words = text_of(page)
    assert "4 agents · 4 ways of handing on" in words
    assert "Chief, Deputy may come back to themselves; the depth bounds it." in words
    assert len(re.findall('<th scope="row">', page)) == 4
    assert "depth 3 · up to €0.012" in words
    assert "Noor" in words and "answers for 4 agents" in words
    assert "<title>Noor answers for Chief, Deputy, Clerk and Loner</title>" in page


async def test_what_an_app_says_of_its_agents_stays_text_on_the_map(house: Site) -> None:
    browser = await house.signed_in(house.mia)
    for address in ("/map", "/map?chosen=Chief", "/agents/Chief"):
        page = (await browser.get(address)).text
        assert "<b>others</b>" not in page
        assert "&lt;b&gt;others" in page


async def test_one_agent_is_shown_with_its_neighbours_alone_in_the_picture_the_list_and_the_csv(house: Site) -> None:
    browser = await house.signed_in(house.mia)
    page = (await browser.get("/map?agent=Clerk")).text
    assert edges(page) == ["Chief.Clerk.Note", "Chief.helper.Find"]
    words = text_of(page)
    assert "Around Clerk2 agents" in words and "Deputy" not in words and "may come back" not in words
    assert 'href="/map"' in page
    assert "lens=money&amp;agent=Clerk" in page  # kept while something else is changed
    assert "Deputy" not in text_of((await browser.get("/map?agent=Clerk&view=list")).text)
    assert "Deputy" not in (await browser.get("/map/list.csv?agent=Clerk")).text
    assert "/map?agent=Chief" in (await browser.get("/map?chosen=Chief")).text
    assert (await browser.get("/map?agent=Nobody")).status_code == 404


async def test_shares_that_come_to_more_than_an_agent_may_spend_are_said(sqlite_database: str) -> None:  # M1
    class Giver(Agent):
        purpose, roles, skills = "You give.", {"helper"}, [Oversee()]
        limits = AgentLimits(per_task=Decimal("0.01"))
        delegates = Delegation(
            to=[
                Specialist.of(Clerk, Note(), budget=Decimal("0.006")),
                Specialist.helper(Find(), budget=Decimal("0.005")),
            ]
        )

    class Fair(Giver):
        limits = AgentLimits(per_task=Decimal("0.011"))

    agency = builders.make(sqlite_database, [Giver(), Fair(), Clerk()], policies=builders.POLICIES, name="The Shelves")
    app = create_app(agency)
    async with opened(app):
        mia = await agency.add_person("mia@bindery.test", "Mia", roles=["binder"])
        browser = await Site(app, agency, mia, mia, mia.id).signed_in(mia)
        words = text_of((await browser.get("/map?chosen=Fair")).text)
    assert "Giver’s shares come to €0.011, more than the €0.01 it may spend: not all can be used up." in words
    assert "Fair’s shares" not in words and "Shares€0.011 together" in words


@pytest.mark.parametrize(
    ("lens", "says"),
    [
        ("limits", "depth 3 · up to €0.012"),
        ("schemas", "shelf ⇒ text, number"),
        ("approvals", "asks for 2 of 2 changes"),
        ("money", "not used"),
    ],
)
async def test_each_lens_shows_its_own_thing(house: Site, lens: str, says: str) -> None:
    page = (await (await house.signed_in(house.mia)).get(f"/map?lens={lens}")).text
    begins = page.index('class="picture"')
    assert says in text_of(page[begins : page.index('class="legend', begins)])


def test_a_change_that_an_agent_never_makes_is_not_told_as_one_that_it_makes_alone() -> None:
    agents: dict[str, Agent] = {agent.name: agent for agent in (Typeset(), Registrar(), Scribe())}
    said = {
        agent.name: about_agent(agent, "approvals", [], str)
        for agent in mapping.the_map(agents, charts.top_limit).agents
    }
    assert said == {
        "Typeset": "holds no change itself",
        "Registrar": "asks for 0 of 1 change · 1 never",
        "Scribe": "asks for 1 of 1 change",
    }


async def test_columns_are_hidden_and_shown_by_the_address(house: Site) -> None:
    browser = await house.signed_in(house.mia)
    plain, other = (await browser.get("/map")).text, (await browser.get("/map?people=no&tools=yes")).text
    assert 'class="person"' in plain and 'class="tool"' not in plain
    assert 'class="person"' not in other and 'class="tool"' in other
    assert 'href="/map?people=no&amp;lens' not in plain and "/map?people=no" in plain


async def test_a_way_that_is_chosen_shows_both_schemas_its_limits_and_the_rules(house: Site) -> None:
    await (await house.desk(house.mia)).give_rule("Clerk", "note_shelf")
    browser = await house.signed_in(house.mia)
    page = (await browser.get("/map?chosen=Chief.Clerk.Note")).text
    words = text_of(page[page.index('id="chosen"') :])
    for said in (
        "Chief hands “Note” on to Clerk",
        "The id of the shelf.",
        "3 levels under a piece of Chief’s",
        "8 that one piece hands on in all",
        "€0.012",
        "Proposes every change.",
        "Clerk may do this alone for Mia: Write a note on the shelf.",
        "not used",
    ):
        assert said in words
    assert "chosen" not in text_of((await browser.get("/map?chosen=Nothing")).text)


async def test_an_agent_that_is_chosen_says_who_uses_it_and_whom_it_reaches(house: Site) -> None:
    page = (await (await house.signed_in(house.mia)).get("/map?chosen=Deputy")).text
    words = text_of(page[page.index('id="chosen"') : page.index("words-h")])
    assert "Used byChief oversee" in words
    assert "ReachesChief oversee" in words


async def test_the_list_is_sorted_and_filtered_and_comes_as_csv(house: Site) -> None:
    browser = await house.signed_in(house.mia)
    listed = (await browser.get("/map?view=list&sort=-limit")).text
    firsts = re.findall(r'<tr><th scope="row"><a[^>]*>(\w+)</a></th><td><b>(\w+)</b>', listed)
    assert firsts == [("Chief", "Oversee"), ("Deputy", "Oversee"), ("Chief", "Note"), ("Chief", "Find")]
    assert 'aria-sort="descending"' in listed
    filtered = text_of((await browser.get("/map?view=list&q=deputy%20chief")).text)
    assert "2 of 4 ways." in filtered
    nothing = text_of((await browser.get("/map?view=list&q=xyzzy")).text)
    assert "The filter leaves nothing. 4 ways are hidden by it." in nothing.replace("nothing.4", "nothing. 4")
    answer = await browser.get("/map/list.csv?q=clerk&sort=limit")
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["from"], row["to"], row["up to EUR"], row["leads back"]) for row in rows] == [
        ("Chief", "Clerk", "0.012", "no")
    ]


async def test_use_stands_on_the_map_and_work_under_way_is_marked(house: Site) -> None:
    turns = AgentScript(Says.tool(note_shelf, {"shelf": house.shelf, "note": "Torn"}), Says.hand_back(Answer()))
    chief = AgentScript(Says.hand_to(Clerk, Note(), house.shelf), Says.hand_back(Answer()))
    house.agency.script(AgentCast().plays(Chief, chief).plays(Clerk, turns))
    await (await house.desk(house.mia)).of(Chief).do(Oversee(), "Have it noted.")
    page = (await (await house.signed_in(house.mia)).get("/map?lens=money&view=")).text
    assert re.search(r'<a class="edge now" href="[^"]*Chief.Clerk.Note', page)
    assert re.search(r'<a class="edge unused" href="[^"]*Chief.helper.Find', page)
    assert "1 piece · €0.0002" in text_of(page)
    other = await house.agency.add_person("other@bindery.test", "Other", roles=["binder"])
    page = (await (await house.signed_in(other)).get("/map?lens=money")).text
    assert "edge now" not in page
    assert "not used in 30 days, in your work" in text_of(page)


async def test_a_page_of_the_map_or_of_an_agent_is_told_to_read_itself_anew_once_it_is_used_otherwise_than_it_shows(
    house: Site,
) -> None:
    browser = await house.signed_in(house.mia)

    async def events(address: str) -> list[str]:
        """What a stream says before it is silent."""
        async with house.stream(browser, address) as stream:
            assert await stream.status == 200
            first = await stream.html()
            assert 'id="badge"' in first["data"]
            try:
                async with asyncio.timeout(0.5):
                    return [(await stream.message(lambda message: message["event"] not in ("beat", "")))["event"]]
            except TimeoutError:
                return []

    streams = [
        re.search('hx-sse:connect="([^"]+)"', (await browser.get(address)).text)
        for address in ("/map", "/map?agent=Deputy", "/agents/Clerk", "/map?at=1", "/map?view=list&sort=-money")
    ]
    whole, part, clerk, *none = [unescape(found[1]) for found in streams if found]
    assert none == ["/live", "/live"]  # nothing changes there; and nothing is sorted anew under a reader
    assert await events(whole) == await events(part) == await events(clerk) == []
    turns = AgentScript(Says.tool(note_shelf, {"shelf": house.shelf, "note": "Torn"}), Says.hand_back(Answer()))
    chief = AgentScript(Says.hand_to(Clerk, Note(), house.shelf), Says.hand_back(Answer()))
    house.agency.script(AgentCast().plays(Chief, chief).plays(Clerk, turns))
    await (await house.desk(house.mia)).of(Chief).do(Oversee(), "Have it noted.")
    assert await events(whole) == await events(clerk) == ["resync"]
    assert await events(part) == []  # neither the deputy nor a neighbour's way to it has a part in that
    await (await house.desk(house.noor)).pause_agent("Deputy")
    assert await events(part) == ["resync"]
    stranger = await house.signed_in(await house.agency.add_person("nobody@bindery.test", "Nobody", roles=[]))
    for address in (whole, clerk):
        assert (await stranger.get(address)).status_code == 403
    for address in ("/live?map=x&agent=Nobody", "/live?used=x&agent=Nobody"):
        assert (await browser.get(address)).status_code == 404


async def test_asked_what_could_reach_a_tool_the_page_says_it_in_one_sentence(house: Site) -> None:  # R4, R5
    browser = await house.signed_in(house.mia)
    words = text_of((await browser.get("/map/ask?agent=Chief&tool=note_shelf")).text)
    assert "Yes, in 4 ways: 3 ask first, 1 stopped by a “never”." in words
    assert "proposes, by Clerk’s word" in words
    assert "the person the work is for; Noor, who answers for Chief, where it is for nobody" in words
    assert "at most €0.012 the share that Chief gives Clerk" in words
    assert "never: Deputy never does that, nor does anybody working for it" in words
    words = text_of((await browser.get("/map/ask?agent=Deputy&tool=note_shelf")).text)
    assert "Never. The one way is stopped, by Deputy’s “never”." in words
    words = text_of((await browser.get("/map/ask?agent=Loner&tool=note_shelf")).text)
    assert "No. Loner cannot come to “Write a note on the shelf”" in words
    words = text_of((await browser.get("/map/ask?agent=Chief&tool=look_up")).text)
    assert "it only reads, and passes" in words
    assert (await browser.get("/map/ask?agent=Nobody&tool=look_up")).status_code == 404
    assert (await browser.get("/map/ask?agent=Chief&tool=nothing")).status_code == 404


async def test_a_name_in_the_address_that_is_not_there_is_told_in_words_with_the_way_on(house: Site) -> None:
    browser = await house.signed_in(house.mia)
    for address, said in (
        ("/map/ask?agent=Nobody&tool=look_up", "There is no agent Nobody. Choose of those that are there."),
        ("/map/ask?agent=Chief&tool=nothing", "No agent holds the tool nothing. Choose of those that are there."),
        ("/map?agent=Nobody", "There is no agent Nobody."),
        ("/map?at=7", "There is no version 7 of the map; the last one is 1."),
        ("/map?at=1&agent=Nobody", "There is no agent Nobody."),
    ):
        answer = await browser.get(address)
        assert answer.status_code == 404 and said in text_of(answer.text)
        assert 'href="/map"' in answer.text[answer.text.index("<main") :]
    assert '<select id="tool"' in (await browser.get("/map/ask?agent=Nobody&tool=look_up")).text
    gone = (await browser.get("/map?chosen=Chief.Clerk.Gone")).text
    assert "The map has no agent and no way “Chief.Clerk.Gone” now." in text_of(gone) and edges(gone)


async def test_the_list_can_be_sorted_where_its_heads_are_not_shown(house: Site) -> None:
    listed = (await (await house.signed_in(house.mia)).get("/map?view=list&sort=-limit")).text
    assert re.search('<option value="-limit" selected>Up to, down</option>', listed)
    assert listed.count('name="sort"') == 1


async def test_a_page_of_an_agent_says_what_it_may_do_and_to_whom_it_hands_on(house: Site) -> None:
    browser = await house.signed_in(house.mia)
    words = text_of((await browser.get("/agents/Clerk")).text)
    for said in ("Write a note on the shelf note_shelf", "proposes", "Look up a word", "passes none", "€0.05"):
        assert said in words
    assert "Handed to it by Chief" in words.replace("byChief", "by Chief")
    words = text_of((await browser.get("/agents/Chief")).text)
    assert "itself, as a helper" in words and "3 levels deep, 8 pieces each at most" in words
    assert (await browser.get("/agents/Nobody")).status_code == 404


async def test_a_supervisor_pauses_an_agent_and_lets_it_go_on_and_says_who_answers_for_it(house: Site) -> None:  # R9
    noor = await house.signed_in(house.noor)
    page = await noor.get("/agents/Clerk/pause")
    assert "Nobody can give Clerk work" in text_of(page.text)
    answer = await noor.submit("/agents/Clerk/pause", "/agents/Clerk/pause")
    assert "Clerk is paused." in text_of(answer.text)
    assert "paused" in text_of((await noor.get("/map")).text)
    answer = await noor.submit("/agents/Clerk", "/agents/Clerk/resumption")
    assert "Clerk is paused." not in text_of(answer.text)
    answer = await noor.submit("/agents/Clerk", "/agents/Clerk/seat", sponsor=str(house.mia.id))
    assert "Mia answers for it" in text_of(answer.text)
    assert (await noor.submit("/agents/Clerk", "/agents/Clerk/seat", sponsor="x")).status_code == 422


async def test_who_does_not_supervise_is_offered_neither_and_told_who_may(house: Site) -> None:  # R9
    mia = await house.signed_in(house.mia)
    page = (await mia.get("/agents/Clerk")).text
    assert "/pause" not in page and "/seat" not in page
    assert "Those who supervise agents may say otherwise." in text_of(page)
    token = re.search(r'name="_csrf_token" value="([^"]+)"', page)
    assert token is not None
    for act in ("pause", "resumption", "seat"):
        answer = await mia.post(f"/agents/Clerk/{act}", data={"_csrf_token": token[1], "sponsor": str(house.mia.id)})
        assert answer.status_code == 403
        assert "by those who supervise agents" in text_of(answer.text)
    assert not (await (await house.desk(house.noor)).agent("Clerk")).agent.paused


async def test_a_rule_is_revoked_from_the_page_of_its_agent(house: Site) -> None:  # P10
    rule = await (await house.desk(house.mia)).give_rule("Clerk", "note_shelf")
    mia = await house.signed_in(house.mia)
    answer = await mia.submit("/agents/Clerk", f"/agents/Clerk/rules/{rule.id}/revocation")
    assert answer.url.path == "/agents/Clerk"
    assert "None that you may see." in text_of(answer.text)
    assert [one.holds for one in await (await house.desk(house.mia)).standing_rules()] == [False]


async def test_the_map_is_not_in_the_bar_of_somebody_it_is_not_for(house: Site) -> None:  # R9
    nobody = await house.agency.add_person("nobody@bindery.test", "Nobody", roles=[])
    browser = await house.signed_in(nobody)
    assert 'href="/map"' not in (await browser.get("/inbox")).text
    for address in ("/map", "/map/list.csv", "/map/ask", "/agents/Clerk"):
        answer = await browser.get(address)
        assert answer.status_code == 403
        assert "for those who use, supervise or audit agents" in text_of(answer.text)
    assert 'href="/map"' in (await (await house.signed_in(house.mia)).get("/inbox")).text


async def test_where_there_are_many_agents_the_list_comes_first_and_the_picture_is_one_of_groups(
    sqlite_database: str,
) -> None:
    body = {"purpose": "You are one of many.", "roles": {"helper"}, "skills": [Find()]}
    many: list[Any] = [type(f"Agent{number}", (Agent,), body) for number in range(201)]
    many[7].delegates = Delegation(to=[Specialist.of(many[8], Find()), Specialist.helper(Find())])
    many[8].delegates = Delegation(to=[Specialist.of(many[9], Find())])
    agency = builders.make(sqlite_database, [kind() for kind in many])
    app = create_app(agency)
    async with opened(app):
        mia = await agency.add_person("mia@bindery.test", "Mia", roles=["binder"])
        browser = await Site(app, agency, mia, mia, UUID(int=0)).signed_in(mia)
        first = (await browser.get("/map")).text
        assert "bunches" not in first and 'aria-current="page">List' in first
        groups = (await browser.get("/map?view=picture")).text
        assert 'class="picture"' not in groups and groups.count("<li><h2>") == 199
        box = groups[groups.index("bunches") :]
        assert box.index("Agent7<") < box.index("Agent0<") and "Agent8<" not in box
        assert "2 agents under it" in text_of(box)
        assert 'href="/map?open=Agent7"' in box and "/map?view=picture&amp;chosen=Agent0#chosen" in box
        opened_one = (await browser.get("/map?open=Agent7")).text
        assert re.findall(r'data-agent="(\w+)"', opened_one) == ["Agent7", "Agent8", "Agent9"]
        assert "Under Agent7" in text_of(opened_one) and 'href="/map?view=picture"' in opened_one
        assert len((await browser.get("/map/list.csv?open=Agent8")).text.splitlines()) == 2
        assert 'id="chosen"' in (await browser.get("/map?view=picture&chosen=Agent0")).text
        assert (await browser.get("/map?open=Nobody")).status_code == 404
        assert "(Agent0, Agent1, Agent2 and 198 more)" in (await browser.get("/map/ask")).text
