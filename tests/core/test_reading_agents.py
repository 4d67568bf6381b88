"""The map as somebody reads it: use and last work by who may see it, and the acts of those who supervise."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from handon import AgentLimits, NotAllowed, NotFound, Status, has_role
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import POLICIES, Answer, Clerk, Find, Head, Note, Oversee, Shop, note_shelf, shop

FOUND = Says.hand_back(Answer(text="Found."))


def cast() -> AgentCast:
    head = AgentScript(Says.hand_to(Clerk, Find(), "a word"), Says.hand_back(Answer(text="Done.")))
    return AgentCast().plays(Head, head).plays(Clerk, AgentScript(FOUND))


async def work_for(open_shop: Shop, person: Any) -> Any:
    open_shop.agency.script(cast())
    return await open_shop.agency.desk(person).of(Head).do(Oversee(), "Have it found.")


def find_way(drawn: Any) -> Any:
    return next(way for way in drawn.ways if way.key == "Head.Clerk.Find")


# D7
async def test_the_map_says_of_each_way_how_it_was_used_of_late(database: str) -> None:
    async with shop(database, [Head(), Clerk()]) as open_shop:
        outcome = await work_for(open_shop, open_shop.mia)
        desk = await open_shop.agency.desk_of(open_shop.mia.id)
        [leg] = await desk.handed_on_by(outcome.task)
        way = find_way(await desk.agents_map())
        assert (way.pieces, way.micros, way.going, way.last_at) == (1, leg.spent_micros, 0, leg.opened_at)
        other = next(way for way in (await desk.agents_map()).ways if way.key == "Head.Clerk.Note")
        assert (other.pieces, other.micros, other.last_at) == (0, 0, None)


# D7
async def test_what_was_used_long_ago_is_not_of_late(database: str, clock: TestClock) -> None:
    async with shop(database, [Head(), Clerk()], clock=clock) as open_shop:
        await work_for(open_shop, open_shop.mia)
        await clock.advance(timedelta(days=31))
        desk = await open_shop.agency.desk_of(open_shop.mia.id)
        assert find_way(await desk.agents_map()).pieces == 0


# R8
async def test_who_only_uses_agents_sees_the_use_of_their_own_work_and_a_supervisor_that_of_all(database: str) -> None:
    async with shop(database, [Head(), Clerk()]) as open_shop:
        other = await open_shop.agency.add_person("other@bindery.test", "Other", roles=["binder"])
        await work_for(open_shop, open_shop.mia)
        await work_for(open_shop, other)
        mine = await (await open_shop.agency.desk_of(open_shop.mia.id)).agents_map()
        alls = await (await open_shop.agency.desk_of(open_shop.noor.id)).agents_map()
        assert (find_way(mine).pieces, mine.everybodys) == (1, False)
        assert (find_way(alls).pieces, alls.everybodys) == (2, True)


# R8
async def test_the_last_work_of_an_agent_is_what_its_reader_may_see(database: str) -> None:
    policies = replace(POLICIES, audits_agents=has_role("auditor"))
    async with shop(database, [Head(), Clerk()], policies=policies) as open_shop:
        other = await open_shop.agency.add_person("other@bindery.test", "Other", roles=["binder"])
        mias = await work_for(open_shop, open_shop.mia)
        others = await work_for(open_shop, other)
        seen = {}
        for person in (open_shop.mia, other, open_shop.noor):
            page = await (await open_shop.agency.desk_of(person.id)).agent("Clerk")
            seen[person.name] = [root for root, _ in page.works]
            assert {node.agent for _, node in page.works} == {"Clerk"}
        assert seen == {"Mia": [mias.task], "Other": [others.task], "Noor": [others.task, mias.task]}


# R8
async def test_a_supervisor_is_told_that_work_ended_and_not_what_was_said(database: str) -> None:
    policies = replace(POLICIES, audits_agents=has_role("auditor"))
    async with shop(database, [Clerk()], policies=policies) as open_shop:
        stopped = AgentScript(Says.tool(note_shelf, {"shelf": open_shop.shelf, "note": "Torn"}))
        open_shop.agency.script(AgentCast().plays(Clerk, stopped))
        desk = await open_shop.agency.desk_of(open_shop.mia.id)
        outcome = await desk.of(Clerk).do(Note(), await open_shop.the_shelf())
        await desk.stop(outcome.task, "It is a secret.")
        [(_, mias)] = (await desk.agent("Clerk")).works
        [(_, noors)] = (await (await open_shop.agency.desk_of(open_shop.noor.id)).agent("Clerk")).works
        assert (mias.status, noors.status) == (Status.CANCELLED, Status.CANCELLED)
        assert "secret" in mias.outcome
        assert noors.outcome == ""


# R8
async def test_what_goes_on_and_what_waits_is_counted_for_each_reader(database: str) -> None:
    async with shop(database, [Clerk()]) as open_shop:
        other = await open_shop.agency.add_person("other@bindery.test", "Other", roles=["binder"])
        asks = AgentScript(Says.tool(note_shelf, {"shelf": open_shop.shelf, "note": "Torn"}))
        open_shop.agency.script(AgentCast().plays(Clerk, asks))
        await open_shop.agency.desk(open_shop.mia).of(Clerk).do(Note(), await open_shop.the_shelf())
        counts = {}
        for person in (open_shop.mia, other, open_shop.noor):
            page = await (await open_shop.agency.desk_of(person.id)).agent("Clerk")
            counts[person.name] = (page.working, page.waiting)
        assert counts == {"Mia": (1, 1), "Other": (0, 0), "Noor": (1, 1)}


# R8
async def test_what_an_agent_spent_of_late_is_that_of_its_own_pieces_in_the_work_that_its_reader_may_see(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Head(), Clerk()], clock=clock) as open_shop:
        other = await open_shop.agency.add_person("other@bindery.test", "Other", roles=["binder"])
        outcome = await work_for(open_shop, open_shop.mia)
        desks = [await open_shop.agency.desk_of(person.id) for person in (open_shop.mia, other, open_shop.noor)]
        [leg] = await desks[0].handed_on_by(outcome.task)
        [(_, whole)] = (await desks[0].agent("Head")).works
        assert 0 < leg.spent_micros < whole.tree_micros

        async def seen(name: str) -> list[tuple[int, int]]:
            return [(page.pieces, page.spent_micros) for page in [await desk.agent(name) for desk in desks]]

        assert await seen("Clerk") == [(1, leg.spent_micros), (0, 0), (1, leg.spent_micros)]
        assert (await seen("Head"))[0] == (1, whole.tree_micros - leg.spent_micros)
        await clock.advance(timedelta(days=31))
        assert await seen("Clerk") == [(0, 0)] * 3


# R9
async def test_the_map_is_for_those_who_use_supervise_or_audit_agents(database: str) -> None:
    policies = replace(POLICIES, audits_agents=has_role("auditor"))
    async with shop(database, [Clerk()], policies=policies) as open_shop:
        nobody = await open_shop.agency.add_person("nobody@bindery.test", "Nobody", roles=[])
        auditor = await open_shop.agency.add_person("auditor@bindery.test", "Auditor", roles=["auditor"])
        desk = await open_shop.agency.desk_of(nobody.id)
        for refused in (desk.agents_map(), desk.agent("Clerk"), desk.what_could_reach("Clerk", "note_shelf")):
            with pytest.raises(NotAllowed):
                await refused
        for person in (auditor, open_shop.mia, open_shop.noor):
            assert (await (await open_shop.agency.desk_of(person.id)).agents_map()).agents


# R9
async def test_only_who_supervises_says_who_answers_for_an_agent_and_pauses_it(database: str) -> None:
    async with shop(database, [Clerk()]) as open_shop:
        mia = await open_shop.agency.desk_of(open_shop.mia.id)
        noor = await open_shop.agency.desk_of(open_shop.noor.id)
        for refused in (mia.seat_agent("Clerk", open_shop.mia), mia.pause_agent("Clerk"), mia.resume_agent("Clerk")):
            with pytest.raises(NotAllowed):
                await refused
        await noor.seat_agent(Clerk, open_shop.mia)
        await noor.pause_agent(Clerk)
        agent = (await mia.agent("Clerk")).agent
        assert (agent.sponsor, agent.sponsor_name, agent.paused) == (open_shop.mia.id, "Mia", True)
        with pytest.raises(NotAllowed, match="paused"):
            await mia.of(Clerk).start(Find(), "a word")
        await noor.resume_agent(Clerk)
        await noor.seat_agent(Clerk, None)
        agent = (await mia.agent("Clerk")).agent
        assert (agent.sponsor, agent.sponsor_name, agent.paused) == (None, "", False)


# R9, R10
async def test_nobody_who_was_deactivated_answers_for_an_agent(database: str) -> None:
    async with shop(database, [Clerk()]) as open_shop:
        noor = await open_shop.agency.desk_of(open_shop.noor.id)
        await noor.seat_agent("Clerk", open_shop.mia)
        await open_shop.agency.deactivate(open_shop.mia)
        assert (await noor.agent("Clerk")).agent.sponsor is None
        with pytest.raises(NotAllowed):
            await noor.seat_agent("Clerk", open_shop.mia)
        with pytest.raises(NotFound):
            await noor.seat_agent("Nobody", open_shop.noor)
        with pytest.raises(NotFound):
            await noor.agent("Nobody")


class Frugal(Clerk):
    limits = AgentLimits(per_day=Decimal("0.5"))


# M7, R9
async def test_a_limit_that_was_set_for_a_day_is_told_to_whoever_reads_usage_and_else_what_is_declared(
    database: str,
) -> None:
    async with shop(database, [Frugal()]) as open_shop:
        noor = await open_shop.agency.desk_of(open_shop.noor.id)
        mia = await open_shop.agency.desk_of(open_shop.mia.id)
        await noor.set_spend_limit(Decimal("0.2"), agent="Frugal", period="day")
        told = [(await desk.agents_map()).agents[0].day_micros for desk in (noor, mia)]
        assert told == [200_000, 500_000]
        assert [limit.limit_micros for limit in (await noor.agent("Frugal")).limits or ()] == [200_000]
        assert (await mia.agent("Frugal")).limits is None


# R6, P10
async def test_a_page_of_an_agent_names_its_rules_and_those_that_its_reader_may_revoke(database: str) -> None:
    async with shop(database, [Clerk()]) as open_shop:
        mia = await open_shop.agency.desk_of(open_shop.mia.id)
        noor = await open_shop.agency.desk_of(open_shop.noor.id)
        rule = await mia.give_rule(Clerk, note_shelf)
        auditor = await open_shop.agency.add_person("other@bindery.test", "Other", roles=["binder"])
        other = await open_shop.agency.desk_of(auditor.id)
        pages = [await desk.agent("Clerk") for desk in (mia, noor, other)]
        assert [[one.id for one in page.rules] for page in pages] == [[rule.id], [rule.id], []]
        assert [page.may_revoke for page in pages] == [{rule.id}, {rule.id}, set()]
        [path] = (await mia.what_could_reach("Clerk", "note_shelf")).paths
        assert path.lifted
        await mia.revoke_rule(rule.id)
        assert (await mia.agent("Clerk")).rules == ()
        [path] = (await mia.what_could_reach("Clerk", "note_shelf")).paths
        assert not path.lifted


# P1
async def test_what_could_reach_says_whom_work_for_nobody_asks_and_who_on_the_way_is_paused(database: str) -> None:
    async with shop(database, [Head(), Clerk()]) as open_shop:
        await open_shop.agency.seat(Head, open_shop.mia)
        await open_shop.agency.pause(Clerk)
        found = await (await open_shop.agency.desk_of(open_shop.mia.id)).what_could_reach(Head, "note_shelf")
        [path] = found.paths
        assert (found.sponsor_name, path.paused) == ("Mia", "Clerk")
        assert (path.gate, path.word_of) == ("propose", "Clerk")
