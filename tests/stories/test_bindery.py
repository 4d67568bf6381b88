"""Four stories of the bindery, from the work being given to its end: a rebinding planned by three agents.

Mia, a binder, gives the planner a volume. It has the leaves counted by the collator and the cloth priced by the
buyer, side by side. Noor, the master, answers for the agents.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from examples.bindery import (
    BinderyRole,
    Buyer,
    ClothAsk,
    ClothPrice,
    Collator,
    CountLeaves,
    LeafCount,
    Plan,
    Planner,
    PlanRebinding,
    PriceCloth,
    Volume,
    bindery,
    note_on_volume,
    price_per_metre,
)
from handon import Agency, Desk, Person, Status, TraceKind
from handon.testing import AgentCast, AgentScript, ProcessDied, Says, TestClock, Trajectory


@dataclass
class Bindery:
    agency: Agency
    mia: Person
    noor: Person
    volume_id: UUID

    @property
    def desk(self) -> Desk:
        return self.agency.desk(self.mia)

    async def volume(self) -> Volume:
        found = await self.agency.read(lambda session: session.get(Volume, self.volume_id))
        assert found is not None
        return found

    def plans(self, plan: Plan) -> AgentCast:
        """A cast in which the planner hands both pieces on in one turn, then hands back the plan."""
        both = Says.together(
            Says.hand_to(Collator, CountLeaves(), Says.row(self.volume_id)),
            Says.hand_to(Buyer, PriceCloth(), ClothAsk(colour="oxblood", metres=Decimal(2))),
        )
        return AgentCast().plays(Planner, AgentScript(both, Says.hand_back(plan)))

    async def plan(self, answer: Any) -> Any:
        self.agency.script(answer)
        return await self.desk.of(Planner).do(PlanRebinding(), await self.volume(), about="Rebinding MS-12")


@pytest.fixture
async def opened(database: str, clock: TestClock) -> AsyncIterator[Bindery]:
    async with bindery(database=database, clock=clock) as agency:
        mia = await agency.add_person("mia@bindery.test", "Mia", roles=[BinderyRole.BINDER])
        noor = await agency.add_person("noor@bindery.test", "Noor", roles=[BinderyRole.MASTER])
        for agent in agency.agents:
            await agency.seat(agent, sponsor=noor)

        def one_volume(session: Any) -> UUID:
            volume = Volume(shelfmark="MS-12")
            session.add(volume)
            session.flush()
            return volume.id

        yield Bindery(agency, mia, noor, await agency.write(one_volume))


counts = AgentScript(Says.hand_back(LeafCount(leaves=212, finding="Complete.")))
prices = AgentScript(Says.tool(price_per_metre, {"colour": "oxblood"}), Says.hand_back(ClothPrice(euros=Decimal(29))))


# H1, H2, H3, M1, M5, T3
async def test_a_plan_is_made_of_what_two_others_found_out(opened: Bindery) -> None:
    plan = Plan(leaves=212, cloth=Decimal(29), summary="212 leaves, and two metres of oxblood.")
    outcome = await opened.plan(opened.plans(plan).plays(Collator, counts).plays(Buyer, prices))

    assert outcome.done
    assert outcome.result == plan
    whole = Trajectory(opened.agency, outcome.task)
    assert await whole.tree() == [
        "Planner · Plan rebinding: Done",
        "  Collator · Count leaves: Done",
        "  Buyer · Price cloth: Done",
    ]
    counting, pricing = await opened.desk.handed_on_by(outcome.task)
    assert (counting.requester, counting.about) == (opened.mia.id, "Rebinding MS-12")
    assert pricing.limit_micros == 6_000
    assert [counting.spent_micros, pricing.spent_micros] == [200, 400]
    cost = 400 + 200 + 400
    assert (outcome.cost_micros, await whole.tree_cost(), await opened.desk.cost_of(outcome.task)) == (cost,) * 3
    assert await opened.agency.spent_against(f"task:{outcome.task}") == Decimal("0.001")
    lines = await opened.desk.trace_of(outcome.task)
    for piece in (outcome.task, counting.id, pricing.id):
        verdict = await opened.desk.verify_trace(piece)
        assert (verdict.intact, verdict.lines) == (True, len(lines))


# P1, P2, P3, P4, P5, A6
async def test_a_note_waits_for_mia_and_the_plan_with_it_for_as_long_as_she_takes(
    opened: Bindery, clock: TestClock
) -> None:
    missing = "Leaves 40-41 missing"
    cast = opened.plans(Plan(leaves=210, cloth=Decimal(29), summary="210 leaves; the gap is noted."))
    note = Says.tool(note_on_volume, {"volume": str(opened.volume_id), "note": missing}, said="Two are missing.")
    cast.plays(Collator, AgentScript(note, Says.hand_back(LeafCount(leaves=210)))).plays(Buyer, prices)
    outcome = await opened.plan(cast)

    assert outcome.waiting
    assert not outcome.done
    nodes = await opened.desk.work_tree(outcome.task)
    assert [(node.agent, node.status, node.waiting_on) for node in nodes] == [
        ("Planner", "Waiting", "Collator, which waits for a decision from Mia"),
        ("Collator", "Waiting", "a decision from Mia"),
        ("Buyer", "Done", ""),
    ]
    [proposal] = await opened.desk.proposals()
    assert proposal.sentence == f"Write on MS-12: {missing}"
    assert (proposal.said, proposal.asked_through) == ("Two are missing.", "Collator, working for Planner")
    assert await opened.agency.desk(opened.noor).proposals() == []

    await clock.advance(timedelta(days=30))
    await opened.agency.settle()
    assert await opened.desk.work_tree(outcome.task) == nodes
    assert (await opened.volume()).note == ""

    assert (await opened.desk.approve(proposal.id)).status == "Done"
    await opened.agency.settle()
    assert (await opened.volume()).note == missing
    assert await Trajectory(opened.agency, outcome.task).still_going() == []
    done = await opened.desk.piece(outcome.task)
    assert done.status is Status.DONE
    assert "the gap is noted" in (done.result_json or "")
    assert (await opened.desk.verify_trace(outcome.task)).intact


# M1, M6, E2, H3
async def test_a_buyer_that_talks_its_share_away_is_stopped_and_the_plan_is_made_without_it(opened: Bindery) -> None:
    cast = opened.plans(Plan(leaves=212, cloth=Decimal(0), summary="The cloth could not be priced."))
    # 1,000 tokens in and 600 out cost 4,000 of its 6,000 micros; what a second call could cost does not fit.
    talk = Says.tool(price_per_metre, {"colour": "oxblood"}, tokens=(1000, 600))
    cast.plays(Collator, counts).plays(Buyer, AgentScript(talk, Says.hand_back(ClothPrice(euros=Decimal(29)))))
    outcome = await opened.plan(cast)

    assert outcome.done
    assert outcome.result.cloth == 0
    whole = Trajectory(opened.agency, outcome.task)
    assert (await whole.tree())[2] == "  Buyer · Price cloth: Stopped"
    [told] = [text for text in await whole.said() if text.startswith("Buyer was stopped: Its money ran out:")]
    assert told.endswith("What it had found: price_per_metre answered 14.5")
    came_back = [line for line in await opened.desk.trace_of(outcome.task) if line.kind is TraceKind.CAME_BACK]
    assert any("price_per_metre answered 14.5" in line.payload for line in came_back)
    for node in await opened.desk.work_tree(outcome.task):
        assert node.reserved_micros == 0
        assert node.tree_micros <= node.limit_micros


# A1, A2, A3, E4, M3
async def test_work_whose_process_died_is_closed_once_it_has_been_quiet_long_enough(
    opened: Bindery, clock: TestClock
) -> None:
    cast = opened.plans(Plan(leaves=212, cloth=Decimal(29))).plays(Collator, counts).plays(Buyer, prices)

    def dies(model: str, request: Any) -> Any:
        if request.agent == "Buyer" and len(request.messages) > 2:
            raise ProcessDied
        return cast.answer(model, request)

    with pytest.raises(ProcessDied):
        await opened.plan(dies)
    [top] = [piece for piece in await opened.desk.my_work() if piece.parent is None]
    whole = Trajectory(opened.agency, top.id)
    assert await whole.tree() == [
        "Planner · Plan rebinding: Working",
        "  Collator · Count leaves: Done",
        "  Buyer · Price cloth: Working",
    ]

    await clock.advance(timedelta(minutes=25))
    assert not await opened.agency.was_abandoned(top.id)
    await clock.advance(timedelta(minutes=15))
    await opened.agency.settle()
    assert await whole.tree() == [
        "Planner · Plan rebinding: Failed",
        "  Collator · Count leaves: Done",
        "  Buyer · Price cloth: Failed",
    ]
    ended = await opened.desk.piece(top.id)
    assert ended.outcome == "It stopped without reporting back: whatever was doing it is gone."
    assert await whole.still_going() == []
    assert all(node.reserved_micros == 0 for node in await opened.desk.work_tree(top.id))
    assert (await opened.desk.verify_trace(top.id)).intact
