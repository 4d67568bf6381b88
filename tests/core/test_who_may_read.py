"""Who reads what of work: that it happened, or what was said and changed, or nothing at all."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from handon import Delegation, Desk, LlmModel, NotAllowed, NotFound, Person, Policies, Policy, Specialist
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import (
    Answer,
    Clerk,
    Find,
    Head,
    Note,
    Oversee,
    Shop,
    hears,
    is_binder,
    is_master,
    look_up,
    model,
    note_shelf,
    shop,
)

SECRET = "Quittengelb"  # stands in every text of the work that is content
is_supervisor = Policy(lambda who: "supervisor" in who.roles)
is_auditor = Policy(lambda who: "auditor" in who.roles)
POLICIES = Policies(
    uses_agents=is_binder | is_master,
    supervises_agents=is_supervisor,
    audits_agents=is_auditor,
    reads_model_usage=is_master,
    manages_model_spend=is_master,
)
# Whom the work is for, whoever gave it and auditors read its content; a supervisor that it happened; nobody else any.
CONTENT, BARE, STRANGERS = ["Mia", "Noor", "Aud"], ["Sue"], ["Ann", "Gus"]


class Wise(Clerk):
    consults = "Senior"


class Chief(Head):
    delegates = Delegation(to=[Specialist.of(Wise, Note()), Specialist.of(Clerk, Find())])


@dataclass
class Scene:
    """A whole given by Noor for Mia: a proposal and a question wait in it, one piece has failed."""

    shop: Shop
    people: dict[str, Person]
    top: UUID
    proposal: UUID
    question: UUID

    def desk(self, name: str) -> Desk:
        return self.shop.agency.desk(self.people[name])

    async def pieces(self) -> list[UUID]:
        return [node.piece for node in await self.shop.agency.desk(None).work_tree(self.top)]


@pytest.fixture
async def scene(database: str, clock: TestClock) -> AsyncIterator[Scene]:
    models: list[LlmModel] = [model(), model("Senior")]
    async with shop(database, [Chief(), Wise(), Clerk()], clock=clock, models=models, policies=POLICIES) as opened:
        people = {"Mia": opened.mia, "Noor": opened.noor}
        for name, role in (("Aud", "auditor"), ("Sue", "supervisor"), ("Ann", "binder"), ("Gus", "guest")):
            people[name] = await opened.agency.add_person(f"{name}@bindery.test", name, roles=[role])
        write = Says.tool(note_shelf, {"shelf": str(opened.shelf), "note": SECRET}, said=SECRET)
        turn = Says.together(
            Says.hand_to(Wise, Note(), Says.row(opened.shelf)),
            Says.hand_to(Clerk, Find(), SECRET),
            Says.ask(f"{SECRET}?", [SECRET], context=SECRET),
            said=SECRET,
        )
        consult = Says.consult(SECRET, SECRET)
        failing = [Says.tool(look_up, {"word": SECRET}), *[Says.text(SECRET)] * 2]
        cast = AgentCast().plays(Chief, AgentScript(turn, Says.hand_back(Answer(text=SECRET))))
        cast.plays(Wise, AgentScript(consult, write, Says.hand_back(Answer(text=SECRET))).advises("Senior", SECRET))
        hears(opened.agency, cast.plays(Clerk, AgentScript(*failing)))
        outcome = await opened.agency.desk(opened.noor).of(Chief).do(Oversee(), SECRET, for_=opened.mia, about="A-1")
        assert outcome.waiting
        desk = opened.agency.desk(opened.mia)
        [proposal], [question] = await desk.proposals(), await desk.questions()
        yield Scene(opened, people, outcome.task, proposal.id, question.id)


READINGS: dict[str, Callable[[Desk, UUID], Any]] = {
    "work": lambda desk, id: desk.work(id),
    "outcome": lambda desk, id: desk.outcome(id),
    "piece": lambda desk, id: desk.piece(id),
    "work_tree": lambda desk, id: desk.work_tree(id),
    "cost_of": lambda desk, id: desk.cost_of(id),
    "handed_on_by": lambda desk, id: desk.handed_on_by(id),
    "trace_of": lambda desk, id: desk.trace_of(id),
    "lines": lambda desk, id: desk.lines(id, 2, 3),
    "verify_trace": lambda desk, id: desk.verify_trace(id),
    "help_of": lambda desk, id: desk.help_of(id),
    "pane": lambda desk, id: desk.pane(id),
}


# R8
@pytest.mark.parametrize("reading", READINGS)
async def test_a_supervisor_who_is_no_auditor_reads_that_work_happened_and_none_of_what_was_said(
    scene: Scene, reading: str
) -> None:
    for piece in await scene.pieces():
        for name in BARE:
            assert SECRET not in repr(await READINGS[reading](scene.desk(name), piece))


# R8
@pytest.mark.parametrize("name", CONTENT)
async def test_whom_it_is_for_and_whoever_gave_it_and_auditors_read_all_of_it(scene: Scene, name: str) -> None:
    desk = scene.desk(name)
    for reading in ("trace_of", "help_of", "pane"):
        assert SECRET in repr(await READINGS[reading](desk, scene.top)), reading
    assert (await desk.work(scene.top)).content
    assert (await desk.proposal(scene.proposal)).arguments["note"] == SECRET
    assert (await desk.question(scene.question)).context == SECRET
    failed = [node for node in await desk.work_tree(scene.top) if node.status == "Failed"]
    assert len(failed) == 1
    assert failed[0].outcome.startswith("It failed 2 times in a row.")


# R8
@pytest.mark.parametrize("reading", READINGS)
async def test_to_a_stranger_the_work_is_not_there_whichever_piece_of_it_is_asked_for(
    scene: Scene, reading: str
) -> None:
    for piece in await scene.pieces():
        for name in STRANGERS:
            with pytest.raises(NotFound, match="There is no such"):
                await READINGS[reading](scene.desk(name), piece)
        await READINGS[reading](scene.desk("Sue"), piece)


# R8
@pytest.mark.parametrize("name", [*BARE, *STRANGERS])
async def test_who_may_not_read_content_finds_no_proposal_and_no_question(scene: Scene, name: str) -> None:
    desk = scene.desk(name)
    with pytest.raises(NotFound):
        await desk.proposal(scene.proposal)
    with pytest.raises(NotFound):
        await desk.question(scene.question)
    for decide in (desk.approve, desk.refuse):
        with pytest.raises(NotFound):
            await decide(scene.proposal)
    with pytest.raises(NotFound):
        await desk.answer(scene.question, "x")
    assert (await desk.proposals(), await desk.questions(), await desk.answered()) == ([], [], [])


# R8
async def test_what_is_decided_is_no_more_open_to_a_supervisor_than_before(scene: Scene) -> None:
    mias = scene.desk("Mia")
    await mias.refuse(scene.proposal, SECRET)
    await mias.answer(scene.question, SECRET)
    await scene.shop.agency.settle()
    assert (await mias.outcome(scene.top)).result == Answer(text=SECRET)
    assert len(await mias.answered()) == 2
    for name in BARE:
        for reading, read in READINGS.items():
            assert SECRET not in repr(await read(scene.desk(name), scene.top)), reading
        assert await scene.desk(name).answered() == []


# R8
async def test_a_supervisor_reads_who_and_when_how_it_stands_and_what_it_cost(scene: Scene) -> None:
    bare, full = await scene.desk("Sue").work_tree(scene.top), await scene.desk("Mia").work_tree(scene.top)
    for one, other in zip(bare, full, strict=True):
        assert (one.piece, one.agent, one.status, one.own_micros, one.opened_at) == (
            other.piece,
            other.agent,
            other.status,
            other.own_micros,
            other.opened_at,
        )
    lines, all_said = await scene.desk("Sue").trace_of(scene.top), await scene.desk("Mia").trace_of(scene.top)
    assert [line.hash for line in lines] == [line.hash for line in all_said]
    assert {line.payload for line in lines} == {""}
    assert [line.micros for line in lines] == [line.micros for line in all_said]
    assert json.loads(all_said[0].payload)
    assert (await scene.desk("Sue").verify_trace(scene.top)).intact


# R8
async def test_lists_of_work_hold_what_one_may_know_of(scene: Scene) -> None:
    for name in [*CONTENT, *BARE]:
        assert [work.root for work in await scene.desk(name).works()] == [scene.top], name
    for name in STRANGERS:
        assert await scene.desk(name).works("all") == []
    for name, pieces in (("Mia", 3), ("Noor", 3), ("Aud", 0), ("Sue", 0), ("Ann", 0)):
        assert len(await scene.desk(name).my_work()) == pieces, name


# R8, R2
async def test_the_sponsor_who_decides_in_anothers_place_reads_what_is_decided(scene: Scene) -> None:
    await scene.shop.agency.seat("Chief", sponsor=scene.people["Ann"])
    with pytest.raises(NotFound):
        await scene.desk("Ann").proposal(scene.proposal)
    await scene.shop.agency.stand_in(scene.people["Ann"], scene.people["Mia"])
    assert (await scene.desk("Ann").proposal(scene.proposal)).arguments["note"] == SECRET


# R8, E5
async def test_who_may_stop_work_is_whom_it_is_for_whoever_gave_it_and_supervisors(scene: Scene) -> None:
    for name in STRANGERS:
        with pytest.raises(NotFound):
            await scene.desk(name).stop(scene.top)
    with pytest.raises(NotAllowed):
        await scene.desk("Aud").stop(scene.top)
    assert not (await scene.desk("Aud").work(scene.top)).may_stop
    for name in ("Mia", "Noor", "Sue"):
        assert (await scene.desk(name).work(scene.top)).may_stop
    await scene.desk("Sue").stop(scene.top)
    assert (await scene.desk("Mia").work(scene.top)).status == "Cancelled"


# R8, E5
async def test_why_work_was_stopped_is_content_too(scene: Scene) -> None:
    await scene.desk("Mia").stop(scene.top, SECRET)
    assert SECRET in (await scene.desk("Aud").piece(scene.top)).outcome
    for reading, read in READINGS.items():
        assert SECRET not in repr(await read(scene.desk("Sue"), scene.top)), reading
    assert SECRET not in repr(await scene.desk("Sue").works("all"))


# R8
async def test_a_piece_that_is_not_there_is_told_as_one_that_may_not_be_seen(scene: Scene) -> None:
    unknown = UUID(int=7)
    with pytest.raises(NotFound) as missing:
        await scene.desk("Ann").work(unknown)
    with pytest.raises(NotFound) as hidden:
        await scene.desk("Ann").work(scene.top)
    assert str(missing.value) == str(hidden.value)
