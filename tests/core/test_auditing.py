"""All records together: who reads which lines, what is found, and what a verification says of what it has read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from core import reading
from core.desk.auditing import LAST, place_of
from core.record import verify_export
from core.values import LineSieve, TraceKind
from handon import NotAllowed, NotFound, has_role
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import POLICIES, Answer, Clerk, Find, Note, Shop, note_shelf, shop
from tests.staging import sql

ALL = LineSieve()


@pytest.fixture
async def at(database: str, clock: TestClock) -> AsyncIterator[Shop]:
    """Noor supervises and may not read content; whoever is an auditor may."""
    policies = replace(POLICIES, audits_agents=has_role("auditor"))
    async with shop(database, clock=clock, policies=policies, sweep_every=timedelta(0)) as at:
        yield at


async def found(at: Shop, text: str, about: str = "Leaves") -> UUID:
    """Work for Mia that is done: three lines, of which the last says what was found."""
    at.agency.script(AgentCast().plays(Clerk, AgentScript(Says.hand_back(Answer(text=text)))))
    return (await at.agency.desk(at.mia).of(Clerk).do(Find(), "x", about=about)).task


async def wants(at: Shop, note: str) -> UUID:
    """Work for Mia whose clerk waits with a note."""
    turn = Says.tool(note_shelf, {"shelf": at.shelf, "note": note})
    at.agency.script(AgentCast().plays(Clerk, AgentScript(turn, Says.hand_back(Answer()))))
    return (await at.agency.desk(at.mia).of(Clerk).do(Note(), await at.the_shelf(), about="Shelf")).task


async def verified(at: Shop) -> Any:
    desk = at.agency.desk(at.noor)
    await desk.verify_all()
    await at.agency.verify_on()
    return await desk.verification()


# T3
async def test_lines_of_all_records_come_newest_first_and_page_by_page_none_twice_and_none_left_out(at, clock):
    for n in range(3):
        await found(at, "x", about=f"Work {n}")
        if n:  # two of them at one instant
            await clock.advance(timedelta(minutes=1))
    desk = at.agency.desk(at.noor)
    everything = await desk.audit(ALL, 1000)
    assert len(everything) == (await desk.recorded()).lines == 9
    assert [one.line.at for one in everything] == sorted((one.line.at for one in everything), reverse=True)
    places = [(round(one.line.at.timestamp() * 1e6), one.root.hex, one.line.n) for one in everything]
    pages = []
    place = None
    while page := await desk.audit(ALL, 2, before=place):
        pages += page
        place = places[len(pages) - 1]
    assert pages == everything
    assert await desk.audit(ALL, 3, after=places[5]) == everything[2:5]


# T3
@pytest.mark.parametrize("window", [1, 2, 5])
async def test_lines_that_are_looked_for_whole_by_whole_are_all_lines_in_their_order(at, clock, window):
    """Long works and short ones, one of them over all the others, several at one instant."""
    waits = await wants(at, "Torn")
    for n in range(6):
        await found(at, "x", about=f"Work {n}")
        if n % 2:
            await clock.advance(timedelta(minutes=2))
    await at.agency.desk(at.mia).stop(waits)

    def read(most, place, newer, **sieve):
        def look(tx):
            reader = reading.Reader(None, reading.ALL)
            return reading.audit(at.agency._house, tx, reader, LineSieve(**sieve), most, place, newer, window)

        return at.agency.store.read(look)

    everything = await read(1000, LAST, newer=False)
    places = [place_of(one) for one in everything]
    assert places == sorted(places, reverse=True) and len(places) == (await at.agency.desk(at.noor).recorded()).lines
    for most in (1, 3, 7):
        for n, place in enumerate(places):
            assert await read(most, place, newer=False) == everything[n + 1 : n + 1 + most]
            assert await read(most, place, newer=True) == everything[max(0, n - most) : n]
    opened = [one for one in everything if one.line.kind is TraceKind.OPENED]
    assert await read(3, LAST, newer=False, kind=TraceKind.OPENED) == opened[:3]
    between = {"since": opened[3].line.at, "until": opened[1].line.at}
    kept = [one for one in everything if between["since"] <= one.line.at < between["until"]]
    assert kept and await read(1000, LAST, newer=False, **between) == kept
    assert await read(1000, (0, "", 0), newer=True, **between) == kept


# T3
async def test_each_condition_narrows_and_together_they_narrow_further(at, clock):
    one = await found(at, "x")
    await clock.advance(timedelta(hours=1))
    two = await wants(at, "Torn")
    await clock.advance(timedelta(hours=1))
    [proposal] = await at.agency.desk(at.mia).proposals()
    await at.agency.desk(at.mia).refuse(proposal.id)
    desk = at.agency.desk(at.noor)

    async def kinds(**sieve: Any) -> list[str]:
        return [str(found.line.kind) for found in await desk.audit(LineSieve(**sieve), 100)]

    assert await kinds(work=one) == ["ended", "model answered", "opened"]
    assert await kinds(kind=TraceKind.DECIDED) == ["decided"]
    assert await kinds(kind=TraceKind.DECIDED, work=one) == []
    assert await kinds(agent="Clerk", kind=TraceKind.OPENED) == ["opened", "opened"]
    assert await kinds(agent="Nobody") == []
    assert await kinds(person=at.noor.id) == []
    assert "decided" in await kinds(person=at.mia.id)
    began = clock.now() - timedelta(hours=1)
    assert await kinds(until=began) == ["ended", "model answered", "opened"]
    assert "opened" in await kinds(since=began, until=began + timedelta(minutes=1), work=two)


# T3
async def test_what_somebody_decided_in_others_work_is_found_by_their_name(at):
    root = await wants(at, "Torn")
    await at.agency.desk(at.noor).stop(root)
    lines = await at.agency.desk(at.noor).audit(LineSieve(person=at.noor.id), 100)
    assert [str(one.line.kind) for one in lines] == ["stop asked"]


# R8
async def test_a_text_is_found_only_by_who_may_read_it(at):
    await wants(at, "100% rotten_wood")
    ava = await at.agency.add_person("ava@bindery.test", "Ava", roles=["auditor"])
    for who, text, there in (
        (ava, "100% ROTTEN_", True),
        (ava, "100%wood", False),
        (ava, "rotten!wood", False),
        (at.noor, "rotten", False),
        (None, "rotten", True),
    ):
        lines = await at.agency.desk(who).audit(LineSieve(text=text), 100)
        assert bool(lines) == there, text


# R8
async def test_whoever_only_supervises_reads_bare_sentences_and_no_payload(at):
    root = await wants(at, "Torn")
    lines = await at.agency.desk(at.noor).audit(ALL, 100)
    assert {one.content for one in lines} == {False}
    assert not any("Torn" in one.line.summary or one.line.payload for one in lines)
    assert (await at.agency.desk(at.noor).line(root, 1)).said == ""
    assert "Torn" in (await at.agency.desk(at.mia).line(root, 3)).said


# R9
async def test_all_records_together_are_refused_to_who_neither_supervises_nor_audits(at):
    root = await found(at, "x")
    desk = at.agency.desk(at.mia)
    for act in (desk.audit(ALL), desk.recorded(), desk.verification(), desk.verify_all()):
        with pytest.raises(NotAllowed, match="supervise or audit"):
            await act
    assert (await desk.line(root, 2)).of.line.n == 2  # of work that is theirs
    with pytest.raises(NotFound):
        await desk.line(root, 4)


# T3, T6
async def test_a_verification_says_what_was_read_and_whose_heads_are_signed(at):
    await found(at, "x")
    await wants(at, "Torn")
    assert await at.agency.desk(at.noor).verification() is None
    check = await verified(at)
    total = await at.agency.desk(at.noor).recorded()
    assert (check.works, check.of_works, check.lines) == (2, 2, total.lines)
    assert (check.signed, check.unsigned, check.by_other_key, check.broken) == (1, 1, 0, 0)
    assert check.keys == (at.agency.public_key,)
    assert check.ended_at is not None and check.by == "Noor"


# T3
async def test_a_verification_names_the_first_break_and_counts_the_others(at):
    roots = [await found(at, "x", about=f"Work {n}") for n in range(3)]
    for root, n in ((roots[1], 2), (roots[2], 1)):
        await sql(at.agency, "update line set summary = 'other' where root = :root and n = :n", root=root.hex, n=n)
    check = await verified(at)
    assert (check.works, check.broken, check.signed) == (3, 2, 1)
    root, about, n, why = check.first
    assert (root, about, n) == (roots[1], "Work 1", 2)
    assert why.startswith("Line 2 was changed after it was written")


# T3
async def test_a_verification_goes_on_step_by_step_after_a_restart_and_says_no_more_than_it_has_read(database, clock):
    async with shop(database, clock=clock) as at:
        for n in range(5):
            await found(at, "x", about=f"Work {n}")
        desk = at.agency.desk(at.noor)
        await desk.verify_all()
        await at.agency.verify_on(timedelta(0), lines=3)
        half = await desk.verification()
        assert (half.works, half.lines, half.ended_at) == (1, 3, None)
        await desk.verify_all()  # goes on with the same
        assert await desk.verification() == half
    async with shop(database, clock=clock) as at:
        await clock.advance(timedelta(seconds=2))
        whole = await at.agency.desk(at.noor).verification()
        assert (whole.works, whole.lines, whole.begun_at) == (5, 15, half.begun_at)
        assert whole.ended_at is not None


# T3
async def test_work_given_after_a_verification_began_is_not_said_to_be_read(at, clock):
    await found(at, "x")
    desk = at.agency.desk(at.noor)
    await desk.verify_all()
    await clock.advance(timedelta(seconds=1))
    await found(at, "x")
    await at.agency.verify_on()
    check = await desk.verification()
    assert (check.works, (await desk.recorded()).works) == (1, 2)


# T6
async def test_an_export_in_parts_is_the_export_to_the_letter(at):
    root = await found(at, "x")
    desk = at.agency.desk(at.mia)
    text = "".join([part async for part in await desk.export(root, part=2)])
    assert text == await desk.export_trace(root)
    assert verify_export(text)[0].intact
    assert json.loads(text.splitlines()[0])["lines"] == 3
    with pytest.raises(NotAllowed):
        await at.agency.desk(at.noor).export(root)
