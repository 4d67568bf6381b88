"""The tree of a whole without script: everything is in the address, and R8 holds on each page and stream."""

from __future__ import annotations

import asyncio
import html
import re
from datetime import timedelta
from uuid import UUID

import pytest

from bench.big_tree import Shape, plant
from core.values import Stand
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import Answer, Clerk, Find, Note, Shelf, look_up
from tests.web.conftest import Browser, Site, open_site, text_of
from web import live
from web.outline import SHAPES, View

CAST = (("Clerk", "Find"), ("Clerk", "Find"))
WIDE = Shape(pieces=400, heads=5, fan=260, depth=4, under=4, live=0.1, waiting=2)


async def planted(site: Site, shape: Shape = WIDE) -> UUID:
    return await site.agency.write(
        lambda session: plant(
            session, shape, person=site.mia.id, name="Mia", cast=CAST, now=site.agency.clock.now(), about="A large one"
        )
    )


def rows_in(page: str) -> list[str]:
    return re.findall(r'<div role="row" class="tr" id="(?:p|g)-[^"]+"[^>]*>', page)


async def follow(browser: Browser, page: str, words: str) -> str:
    """The page behind the link of those words."""
    found = re.search(rf'<a[^>]*href="([^"]+)"[^>]*>(?:(?!</a>).)*{words}', page, re.S)
    assert found, words
    return (await browser.get(html.unescape(found[1]))).text


async def test_a_branch_is_opened_and_closed_by_links_that_name_it(site: Site) -> None:
    root = await planted(site)
    browser = await site.signed_in(site.mia)
    page = (await browser.get(f"/work/{root}?show=all")).text
    group = next(row for row in rows_in(page) if 'id="g-' in row)
    assert 'aria-expanded="true"' in group  # two of it wait for somebody, and lead the way
    opened = await follow(browser, page, "show 200 more")
    assert len(rows_in(opened)) > len(rows_in(page)) + 150
    again = (await browser.get(f"/work/{root}?show=all&shut={root.hex[-8:]}")).text
    assert len(rows_in(again)) == 1
    assert "399" in text_of(again)  # counted where it is closed


async def test_the_list_has_the_rows_of_the_tree_as_headings_under_headings_and_says_the_same(site: Site) -> None:
    root = await planted(site)
    browser = await site.signed_in(site.mia)
    tree, listed = [(await browser.get(f"/work/{root}{place}?show=all")).text for place in ("", "/list")]
    levels = [int(level) for level in re.findall(r'<div role="row" class="tr" id="[^"]+"[^>]*aria-level="(\d+)"', tree)]
    assert [int(level) for level in re.findall(r"<h([2-6])>", listed)] == [min(level + 1, 6) for level in levels]
    pieces = re.findall(r'data-piece="([^"]+)"', tree)
    assert re.findall(rf'href="/work/{root}/piece/([0-9a-f-]+)"><b>', listed) == pieces
    assert text_of(listed).count("Waits for you") == text_of(tree).count("Waits for you") > 0
    more = await follow(browser, listed, "show 200 more")
    assert f'href="/work/{root}/list?' in more and len(re.findall(r"<h[2-6]>", more)) > len(levels)
    noors = (await (await site.signed_in(site.noor)).get(f"/work/{root}/list?show=all&find=letter")).text
    assert "what was asked for and handed back" not in noors  # R8
    assert (await browser.get(f"/work/{UUID(int=1)}/list")).status_code == 404


async def test_a_large_whole_that_goes_on_leaves_out_what_has_finished_and_says_how_much(site: Site) -> None:
    root = await planted(site)
    browser = await site.signed_in(site.mia)
    page = (await browser.get(f"/work/{root}")).text
    assert len(re.findall('role="row"', page)) <= 201  # the head too
    assert 'aria-rowcount="401"' in page
    assert re.search(r"\d+ finished left out", text_of(page))
    assert re.search(r'aria-current="true">Not finished', page)


async def test_an_empty_answer_says_which_filter_hides_how_many_and_how_to_clear_it(site: Site) -> None:
    root = await site.wants_to_write("Torn")
    await (await site.desk(site.mia)).stop(root)
    browser = await site.signed_in(site.mia)
    page = (await browser.get(f"/work/{root}?show=going")).text
    assert "The filter “Not finished” leaves out 1 piece." in text_of(page)
    assert 'href="/work/' in page and "show=all" in page
    page = (await browser.get(f"/work/{root}?find=nothing+like+it")).text
    assert "No piece matches “nothing like it”." in text_of(page)
    assert rows_in(await follow(browser, page, "Show the tree"))


async def test_what_is_looked_for_in_the_content_is_found_by_those_who_may_read_it(site: Site) -> None:  # R8
    site.agency.script(AgentCast().plays(Clerk, AgentScript(Says.hand_back(Answer(text="a secret colophon")))))
    outcome = await (await site.desk(site.mia)).of(Clerk).do(Find(), "it")
    for person, found in ((site.mia, True), (site.noor, False)):
        page = (await (await site.signed_in(person)).get(f"/work/{outcome.task}?show=all&find=secret")).text
        assert bool(rows_in(page)) is found


async def test_filters_and_branches_are_kept_by_every_link_of_the_page(site: Site) -> None:
    root = await planted(site)
    browser = await site.signed_in(site.mia)
    page = (await browser.get(f"/work/{root}?show=all&open={root.hex[-8:]}")).text
    links = [html.unescape(link) for link in re.findall(r'href="([^"]+)"[^>]*data-choose', page)]
    assert links and all("show=all" in link and "piece=" in link for link in links)
    timeline = await follow(browser, page, "Timeline")
    assert len(rows_in(timeline)) == len(rows_in(page))


@pytest.mark.parametrize(
    "query",
    ["open=nothing", "open=*", "open=a*b,%00", "shut=~~~", "show=some", "piece=1", "find=%25", "open=" + "a," * 900],
)
async def test_an_address_that_makes_no_sense_shows_the_tree(site: Site, query: str) -> None:
    root = await site.wants_to_write("Torn")
    answer = await (await site.signed_in(site.mia)).get(f"/work/{root}?{query}")
    assert answer.status_code == 200
    assert "Torn" in text_of(answer.text) or "find" in query


def test_an_address_names_fifty_branches_at_most() -> None:
    root = UUID(int=1)
    view = View.of(root, {"open": ",".join(f"{n:08x}" for n in range(80))})
    assert len(view.ask.opened) == 50
    assert view.opening(f"{1:032x}").count(",") == 49


async def test_timeline_and_pane_hold_no_more_than_their_reader_may_read(site: Site) -> None:  # R8
    root = await site.wants_to_write("A secret tear")
    browser = await site.signed_in(site.noor)
    for address in (f"/work/{root}/timeline", f"/work/{root}/stop", f"/work/{root}?find=tear&show=all"):
        answer = await browser.get(address)
        assert answer.status_code == 200
        assert "secret" not in answer.text, address
    for part in ("asked", "back", "said", "in-2", "out-2"):
        assert (await browser.get(f"/work/{root}/piece/{root}/text/{part}")).status_code == 404


async def test_a_long_text_is_not_in_the_page_and_is_there_when_it_is_asked_for(site: Site) -> None:
    large = "x" * 40_000
    script = AgentScript(Says.tool(look_up, {"word": large}), Says.hand_back(Answer(text=large)))
    site.agency.script(AgentCast().plays(Clerk, script))
    desk = await site.desk(site.mia)
    shelf = await site.agency.read(lambda session: session.get(Shelf, site.shelf))
    outcome = await desk.of(Clerk).do(Note(), shelf)
    browser = await site.signed_in(site.mia)
    page = (await browser.get(f"/work/{outcome.task}/piece/{outcome.task}")).text
    assert large[:3000] not in page and large[:3000].upper() not in page
    assert "all 40 000 letters" in text_of(page)
    [call] = (await desk.pane(outcome.task)).calls
    whole = await browser.get(f"/work/{outcome.task}/piece/{outcome.task}/text/out-{call.n}")
    assert whole.text == large.upper()
    assert whole.headers["content-type"].startswith("text/plain")


async def test_a_branch_is_stopped_by_those_who_may_and_by_nobody_else(site: Site) -> None:  # E5
    root = await planted(site)
    desk = await site.desk(site.mia)
    piece = next(node for node in await desk.work_tree(root) if node.depth == 2 and not node.status.final)
    browser = await site.signed_in(site.mia)
    said = text_of((await browser.get(f"/work/{root}/stop?piece={piece.piece}")).text)
    found = await desk.to_stop_branch(piece.piece)
    assert (f"{found.going} pieces are called off" if found.going > 1 else "It is called off.") in said
    assert "goes on without it" in said and "stay spent" in said
    stranger = await site.agency.add_person("zoe@bindery.test", "Zoe", roles=["binder"])
    other = await site.signed_in(stranger)
    assert (await other.get(f"/work/{root}/stop?piece={piece.piece}")).status_code == 404
    answer = await browser.submit(f"/work/{root}/stop?piece={piece.piece}", f"/work/{root}/stop", reason="enough")
    assert str(answer.url).endswith(f"?piece={piece.piece}")
    pane = text_of(answer.text)
    assert "Asked" in pane and "enough" in pane
    node = next(node for node in await desk.work_tree(root) if node.piece == piece.piece)
    assert node.stopping or node.status.final
    assert ("not confirmed yet" in pane) is node.stopping


async def test_a_list_is_told_again_when_it_has_changed_and_not_because_time_has_passed(
    sqlite_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LOOK", 0.02)
    clock = TestClock()
    async with open_site(sqlite_database, clock) as site:
        await site.wants_to_write("Torn", about="The first")
        async with site.stream(await site.signed_in(site.mia), "/live?works=going") as stream:
            assert "The first" in (await stream.html())["data"]
            looks = site.agency.clock.now()
            for _ in range(5):
                await clock.advance(timedelta(minutes=3))  # its age is another by now
                await asyncio.sleep(0.03)
            assert site.agency.clock.now() > looks
            await site.wants_to_write("Torn", about="The second")
            assert "The second" in (await stream.html())["data"]


def test_every_way_to_stand_has_its_shape() -> None:
    assert set(SHAPES) == set(Stand)
