"""`/map/compare`: what changed between two versions of the map."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from handon import Agent, Delegation, Permits, Specialist, has_role
from handon.testing import TestClock
from tests import builders
from tests.builders import Clerk, Find, Note, Oversee, note_shelf
from tests.web.conftest import Browser, Site, opened, text_of
from web.app import create_app


class Gone(Agent):
    purpose = "You <b>go</b>."
    roles = {"helper"}
    skills = [Find()]


class Lead(Agent):
    purpose = "You have others do it."
    roles = {"helper"}
    skills = [Oversee()]
    delegates = Delegation(to=[Specialist.of(Clerk, Note())])


class Bold(Lead):
    may = Permits.changes_alone().never(note_shelf)
    delegates = Delegation(to=[Specialist.of(Clerk, Note()), Specialist.of(Clerk, Find())])


Bold.__name__ = "Lead"
POLICIES = replace(builders.POLICIES, supervises_agents=has_role("auditor"), uses_agents=has_role("binder"))


@asynccontextmanager
async def site(database: str, agents: list[Agent], clock: TestClock) -> AsyncIterator[tuple[Site, Browser]]:
    """An open site of that app, and Mia's browser."""
    agency = builders.make(database, agents, clock=clock, policies=POLICIES)
    app = create_app(agency)
    async with opened(app):
        mia = await agency.add_person("mia@bindery.test", "Mia", roles=["binder"])
        eve = await agency.add_person("eve@bindery.test", "Eve")
        found = Site(app, agency, mia, eve, mia.id)
        yield found, await found.signed_in(mia)


def part(page: str, kind: str) -> str:
    found = re.search(rf'<section class="block" aria-labelledby="{kind}">.*?</section>', page, re.S)
    assert found
    return found[0]


async def test_the_last_two_versions_are_compared_and_agents_that_are_there_are_links(
    sqlite_database: str, clock: TestClock
) -> None:
    async with site(sqlite_database, [Lead(), Clerk(), Gone()], clock) as (_, browser):
        alone = text_of((await browser.get("/map/compare")).text)
        assert "There is one version so far." in alone and "Compare" not in alone
    await clock.advance(timedelta(hours=2))
    async with site(sqlite_database, [Bold(), Clerk()], clock) as (_, browser):
        page = (await browser.get("/map/compare")).text
        words = text_of(page)
        assert "2 of 4 changes let agents do more." in words
        assert 'href="/agents/Lead"' in part(page, "added") and 'href="/agents/Clerk"' in part(page, "added")
        assert "Lead may hand “Find” on to Clerk now" in text_of(part(page, "added"))
        assert "more than before" in part(page, "added")
        assert "Gone is gone. It held “Look up a word” (reads)." in text_of(part(page, "removed"))
        assert "/agents/Gone" not in page and "less than before" in part(page, "removed")
        changed = text_of(part(page, "changed"))
        assert changed.index("Lead’s changes: proposes → alone") < changed.index("Under Lead")
        assert re.findall(r'<option value="(\d)" selected>', page) == ["1", "2"]
        head = (await browser.get("/map")).text
        assert 'href="/map/compare"' in head and "declared so since" in text_of(head)


async def test_the_other_way_round_and_the_same_twice_and_a_version_that_is_not_there(
    sqlite_database: str, clock: TestClock
) -> None:
    async with site(sqlite_database, [Lead(), Clerk(), Gone()], clock):
        pass
    async with site(sqlite_database, [Bold(), Clerk()], clock):
        pass
    async with site(sqlite_database, [Lead(), Clerk(), Gone()], clock) as (there, browser):
        back = (await browser.get("/map/compare?from=2&to=1")).text
        assert "Lead may no longer hand “Find” on to Clerk" in text_of(part(back, "removed"))
        assert "&lt;b&gt;" not in part(back, "added")  # a new agent says what it holds, not its purpose
        same = text_of((await browser.get("/map/compare?from=2&to=2")).text)
        assert "Nothing changed. Both are version 2." in same.replace("changed.Both", "changed. Both")
        assert "The same is declared in both." in text_of((await browser.get("/map/compare?from=1&to=3")).text)
        missing = await browser.get("/map/compare?to=9")
        assert missing.status_code == 404
        assert "There is no version 9 of the map; the last one is 3." in text_of(missing.text)
        assert (await browser.get("/map/compare?from=one")).status_code == 400
        stranger = await there.signed_in(there.noor)
        assert (await stranger.get("/map/compare")).status_code == 403
        assert (await stranger.get("/map?at=1")).status_code == 403


def drawn(page: str) -> list[str]:
    """The agents and the ways in the picture."""
    ways = re.findall(r'<a class="edge" href="[^"]*chosen=([\w.]+)#', page)
    return [*sorted(re.findall(r'data-agent="(\w+)"', page)), *sorted(ways)]


async def test_a_version_of_the_map_is_drawn_and_listed_as_it_was_declared_then(
    sqlite_database: str, clock: TestClock
) -> None:
    async with site(sqlite_database, [Lead(), Clerk(), Gone()], clock):
        pass
    await clock.advance(timedelta(hours=2))
    async with site(sqlite_database, [Bold(), Clerk()], clock) as (_, browser):
        first, second = [(await browser.get(f"/map?at={number}")).text for number in (1, 2)]
        assert drawn(first) == ["Clerk", "Gone", "Lead", "Lead.Clerk.Note"]
        assert drawn(second) == ["Clerk", "Lead", "Lead.Clerk.Find", "Lead.Clerk.Note"]
        words = text_of(first)
        assert re.search(r"version 1.*declared so from \S.*? to \S", words, re.S) and "as it is now" not in words
        assert "declared so since" in text_of(second) and "as it is now" in text_of(second)
        rows = [text_of(row) for row in re.findall(r'<tr><th scope="row">.*?</tr>', first, re.S)]
        assert len(rows) == 1 and rows[0].startswith("LeadNoteto Clerk")
        assert 'href="/map/compare?from=1"' in first and 'href="/map"' in first
        assert "<b>go</b>" not in first
        missing = await browser.get("/map?at=3")
        assert missing.status_code == 404 and (await browser.get("/map?at=x")).status_code == 400


async def test_an_earlier_version_tells_nothing_of_the_present(sqlite_database: str, clock: TestClock) -> None:
    async with site(sqlite_database, [Lead(), Clerk(), Gone()], clock) as (there, _):
        await there.agency.seat("Lead", sponsor=there.mia)
    async with site(sqlite_database, [Bold(), Clerk()], clock) as (there, browser):
        await there.agency.seat("Lead", sponsor=there.mia)
        now, then = (await browser.get("/map")).text, (await browser.get("/map?at=1")).text
        for said in ('class="person"', "Money used", "used now", "Last used"):
            assert said in now and said not in then
        assert "are told of the present only" in text_of(then)
        asked = (await browser.get("/map?at=1&lens=money")).text
        assert 'href="/map?at=1" aria-current="page">Limits' in asked
        agent = (await browser.get("/map?at=1&chosen=Gone")).text
        assert "Nobody hands anything on to it" in agent and "/agents/Gone" not in agent and "Sponsor" not in agent
        assert "You &lt;b&gt;go&lt;/b&gt;." in agent and "Look up a word" in agent
        way = text_of((await browser.get("/map?at=1&chosen=Lead.Clerk.Note")).text)
        assert "3 levels under a piece of Lead’s" in way and "Rules" not in way and "Its page" not in way
        assert "Its page now" in text_of((await browser.get("/map?at=1&chosen=Lead")).text)
        listed = (await browser.get("/map?at=1&view=list&q=note")).text
        assert 'name="at" value="1"' in listed and "Pieces" not in listed
        rows = (await browser.get("/map/list.csv?at=1")).text.splitlines()
        assert len(rows) == 2 and rows[0].endswith("gate,leads back") and rows[1].startswith("Lead,Note,Clerk,")
        assert drawn((await browser.get("/map?at=1&agent=Gone")).text) == ["Gone"]
        assert (await browser.get("/map?agent=Gone")).status_code == 404


async def test_amounts_of_an_earlier_version_stand_in_the_currency_it_counted_in(
    sqlite_database: str, clock: TestClock
) -> None:
    async with builders.make(sqlite_database, [Lead(), Clerk()], clock=clock, currency="USD"):
        pass
    async with site(sqlite_database, [Lead(), Clerk()], clock) as (_, browser):
        then, now = text_of((await browser.get("/map?at=1")).text), text_of((await browser.get("/map")).text)
        assert "$0.05 a task" in then and "€" not in then and "amounts are in USD" in then
        assert "€0.05 a task" in now
        assert "up to USD" in (await browser.get("/map/list.csv?at=1")).text
