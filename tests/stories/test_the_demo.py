"""The demo of the bindery, without its pauses: each volume's story ends as the tour says."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select

from examples.bindery import Planner, PlanRebinding, Volume, bindery, open_demo
from handon import Agency, Status
from handon.testing import Trajectory

DONE = ["Planner · Plan rebinding: Done", "  Collator · Count leaves: Done", "  Buyer · Price cloth: Done"]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDON_DEMO_PACE", "0")


@pytest.fixture
async def demo(database: str) -> AsyncIterator[Agency]:
    async with bindery(database=database) as agency:
        await open_demo(agency)
        await agency.settle()
        yield agency


async def mias(agency: Agency) -> Any:
    [mia] = [person for person in await agency.people() if person.name == "Mia"]
    return await agency.desk_of(mia.id)


async def rebinding(agency: Agency, shelfmark: str) -> UUID:
    """Mia gives the planner this volume; answers when nothing moves any more."""
    volume = await agency.read(lambda session: session.scalar(select(Volume).where(Volume.shelfmark == shelfmark)))
    desk = await mias(agency)
    outcome = await desk.of(Planner).do(PlanRebinding(), volume, about=f"Rebinding {shelfmark}")
    await agency.settle()
    return outcome.task


async def asked_in(agency: Agency, whole: UUID) -> list[Any]:
    return [proposal for proposal in await (await mias(agency)).proposals() if proposal.root == whole]


async def plan_of(agency: Agency, whole: UUID) -> dict[str, Any]:
    piece = await (await mias(agency)).piece(whole)
    assert piece.status is Status.DONE
    return json.loads(piece.result_json)


async def note_on(agency: Agency, shelfmark: str) -> str:
    return await agency.read(lambda session: session.scalar(select(Volume.note).where(Volume.shelfmark == shelfmark)))


async def test_one_whole_is_under_way_and_its_note_waits_for_mia(demo: Agency) -> None:
    [work] = await (await mias(demo)).works("all")
    assert (work.about, work.status) == ("Rebinding MS-14", Status.WAITING)
    [proposal] = await asked_in(demo, work.root)
    assert proposal.sentence == "Write on MS-14: Leaves 40-41 missing"
    assert proposal.asked_through == "Collator, working for Planner"


async def test_the_demo_is_set_up_once_however_often_it_is_opened(demo: Agency) -> None:
    await open_demo(demo)
    await open_demo(demo)
    await demo.settle()
    assert [person.name for person in await demo.people()] == ["Mia", "Noor"]
    assert await demo.read(lambda session: session.scalar(select(func.count()).select_from(Volume))) == 8
    assert len(await (await mias(demo)).works("all")) == 1


async def test_a_note_that_waits_outlives_the_server(database: str) -> None:
    async with bindery(database=database) as agency:
        await open_demo(agency)
        await agency.settle()
    async with bindery(database=database) as agency:
        await open_demo(agency)
        [proposal] = await (await mias(agency)).proposals()
        await (await mias(agency)).approve(proposal.id)
        await agency.settle()
        assert await Trajectory(agency, proposal.root).tree() == DONE
        assert await note_on(agency, "MS-14") == "Leaves 40-41 missing"


@pytest.mark.parametrize("shelfmark", ["MS-12", "MS-15"])
async def test_where_all_goes_well_nobody_is_asked(demo: Agency, shelfmark: str) -> None:
    whole = await rebinding(demo, shelfmark)
    assert await Trajectory(demo, whole).tree() == DONE
    assert await asked_in(demo, whole) == []


async def test_a_refused_note_is_not_written_and_the_plan_says_so(demo: Agency) -> None:
    whole = await rebinding(demo, "MS-13")
    [proposal] = await asked_in(demo, whole)
    await (await mias(demo)).refuse(proposal.id, "I know; it is being mended.")
    await demo.settle()
    assert await Trajectory(demo, whole).tree() == DONE
    assert await note_on(demo, "MS-13") == ""
    assert "It was not noted on the volume." in (await plan_of(demo, whole))["summary"]


async def test_the_buyer_talks_its_money_away_and_the_plan_is_made_without_the_cloth(demo: Agency) -> None:
    whole = await rebinding(demo, "MS-16")
    assert await Trajectory(demo, whole).tree() == [*DONE[:2], "  Buyer · Price cloth: Stopped"]
    plan = await plan_of(demo, whole)
    assert float(plan["cloth"]) == 0
    assert "The cloth could not be priced." in plan["summary"]


async def test_two_notes_are_asked_for_one_after_the_other(demo: Agency) -> None:
    whole = await rebinding(demo, "MS-17")
    notes = []
    while asked := await asked_in(demo, whole):
        [proposal] = asked
        notes.append(proposal.arguments["note"])
        await (await mias(demo)).approve(proposal.id)
        await demo.settle()
    assert notes == ["Leaf 3 torn, lower corner", "Leaves 81-88 bound upside down"]
    assert await Trajectory(demo, whole).tree() == DONE


async def test_six_notes_are_asked_for_at_once_and_all_that_are_approved_stand_on_the_volume(demo: Agency) -> None:
    whole = await rebinding(demo, "MS-19")
    mia = await mias(demo)
    batch = await mia.batch(whole, "Collator", "note_on_volume")
    notes = [str(proposal.arguments["note"]) for proposal in batch.items]
    assert len(notes) == 6
    for n, proposal in enumerate(batch.items):
        await (mia.refuse(proposal.id, "It is dry by now.") if n == 2 else mia.approve(proposal.id))
    await demo.settle()
    assert await Trajectory(demo, whole).tree() == DONE
    assert "Not all of it was noted." in (await plan_of(demo, whole))["summary"]
    written = await demo.read(lambda session: session.scalar(select(Volume.note).where(Volume.shelfmark == "MS-19")))
    assert sorted(str(written).split("; ")) == sorted(note for n, note in enumerate(notes) if n != 2)


async def test_a_count_that_does_not_fit_is_handed_back_again(demo: Agency) -> None:
    whole = await rebinding(demo, "MS-18")
    assert await Trajectory(demo, whole).tree() == DONE
    assert (await plan_of(demo, whole))["leaves"] == 206
    collator = (await (await mias(demo)).work_tree(whole))[1]
    assert collator.model_calls == 2
