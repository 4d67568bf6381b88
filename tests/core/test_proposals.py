"""Proposals: a change put to a person, who decides it once, exactly as shown; and the work that waits for it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from handon import (
    Agency,
    Agent,
    AlreadyDecided,
    NotAllowed,
    NotFound,
    NotWaiting,
    Proposal,
    Skill,
    Stale,
    TraceKind,
    action,
)
from handon.testing import AgentCast, AgentScript, Says, TestClock, Trajectory
from tests.builders import Answer, Clerk, Head, Note, Oversee, Shelf, Shop, add_shelf, hears, make, note_shelf, shop
from tests.staging import Office, Write, send_letter, sql, until

BACK = Says.hand_back(Answer(text="done"))


def write(opened: Shop, note: str, **more: Any) -> Any:
    return Says.tool(note_shelf, {"shelf": str(opened.shelf), "note": note}, **more)


async def proposed(opened: Shop, *turns: Any) -> tuple[Any, Any, list[Proposal]]:
    """Mia has the clerk work so: the whole's id, what was heard, and what waits for her."""
    heard = hears(opened.agency, AgentCast().plays(Clerk, AgentScript(*turns, BACK)))
    desk = opened.agency.desk(opened.mia)
    outcome = await desk.of(Clerk).do(Note(), await opened.the_shelf(), about="Shelf A-1")
    return outcome.task, heard, await desk.proposals()


# P5, P3
async def test_a_change_waits_and_an_approval_runs_it_exactly_as_shown(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        task, heard, [proposal] = await proposed(opened, write(opened, "dusty", said="It is dusty."))
        assert (proposal.sentence, proposal.said, proposal.status) == (
            "Write on A-1: dusty",
            "It is dusty.",
            "Waiting",
        )
        assert (proposal.arguments, proposal.asked_of_name) == (
            {"shelf": str(opened.shelf), "note": "dusty"},
            "Mia",
        )
        assert (await opened.the_shelf()).note == ""
        desk = opened.agency.desk(opened.mia)
        decided = await desk.approve(proposal.id, note="Go on.")
        assert (decided.status, decided.result, decided.decided_by) == ("Done", "Noted on A-1.", opened.mia.id)
        await opened.agency.settle()
        assert ((await opened.the_shelf()).note, (await opened.the_shelf()).count) == ("dusty", 1)
        assert heard.told(Clerk) == ["Noted on A-1.\nMia said with it: Go on."]
        assert (await desk.outcome(task)).done
        assert await desk.proposals() == []


# P6
@pytest.mark.parametrize("reason", ["", "It is not ours."])
async def test_a_refusal_runs_nothing_and_its_reason_reaches_the_model_which_goes_on(
    database: str, clock: TestClock, reason: str
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        task, heard, [proposal] = await proposed(opened, write(opened, "dusty"))
        decided = await opened.agency.desk(opened.mia).refuse(proposal.id, reason)
        await opened.agency.settle()
        assert (decided.status, decided.note, (await opened.the_shelf()).count) == ("Refused", reason, 0)
        told = "Mia refused this. It was not done: Write on A-1: dusty"
        assert heard.told(Clerk) == [f"{told}\nThe reason: {reason}" if reason else told]
        assert (await opened.agency.desk(opened.mia).outcome(task)).done


# P5
@pytest.mark.parametrize("second", ["approve", "refuse"])
async def test_of_two_who_decide_at_once_one_wins_and_the_other_is_told_who(
    database: str, clock: TestClock, second: str
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        await opened.agency.stand_in(opened.noor, opened.mia)
        task, _, [proposal] = await proposed(opened, write(opened, "dusty"))
        mias, noors = opened.agency.desk(opened.mia), opened.agency.desk(opened.noor)
        deciding = [mias.approve(proposal.id), getattr(noors, second)(proposal.id)]
        results = await asyncio.gather(*deciding, return_exceptions=True)
        await opened.agency.settle()
        [won] = [result for result in results if isinstance(result, Proposal)]
        [lost] = [result for result in results if not isinstance(result, Proposal)]
        assert isinstance(lost, AlreadyDecided)
        assert (lost.by, lost.status) == (won.decided_by_name, won.status)
        assert won.decided_by_name in str(lost)
        assert (await opened.the_shelf()).count == (1 if won.status == "Done" else 0)
        assert (await mias.outcome(task)).done
        decisions = [line for line in await mias.trace_of(task) if line.kind is TraceKind.DECIDED]
        assert len(decisions) == 1


# P5
async def test_ten_clicks_run_a_call_once(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        _, _, [proposal] = await proposed(opened, write(opened, "dusty"))
        desk = opened.agency.desk(opened.mia)
        clicks = await asyncio.gather(*[desk.approve(proposal.id) for _ in range(10)], return_exceptions=True)
        await opened.agency.settle()
        assert sum(isinstance(click, Proposal) for click in clicks) == 1
        assert sum(isinstance(click, AlreadyDecided) and click.by == "Mia" for click in clicks) == 9
        assert (await opened.the_shelf()).count == 1
        for decide in (desk.approve, desk.refuse):
            with pytest.raises(AlreadyDecided, match="already approved by Mia at 09:00 UTC"):
                await decide(proposal.id)


# P5, P3
async def test_three_proposals_of_one_turn_are_decided_in_any_order_each_its_own_call(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        three = Says.together(*[Says.tool(add_shelf, {"mark": mark}) for mark in ("A-2", "A-3", "A-4")])
        task, heard, waiting = await proposed(opened, three)
        first, second, third = waiting
        assert len({proposal.id for proposal in waiting}) == 3
        desk = opened.agency.desk(opened.mia)
        assert (await desk.approve(third.id)).result == "Added A-4."
        await opened.agency.settle()
        assert [proposal.id for proposal in await desk.proposals()] == [first.id, second.id]
        assert len(heard.of(Clerk)) == 1
        await desk.refuse(first.id, "Enough.")
        assert (await desk.approve(second.id)).result == "Added A-3."
        await opened.agency.settle()
        assert await desk.proposals() == []
        told = heard.told(Clerk)
        assert told[0].startswith("Mia refused this. It was not done: Add A-2")
        assert told[1:] == ["Added A-3.", "Added A-4."]
        assert (await desk.outcome(task)).done


# P5
async def test_an_approved_call_is_not_run_again_in_a_later_turn(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        task, _, [proposal] = await proposed(opened, write(opened, "dusty"), Says.ask("And now?"))
        desk = opened.agency.desk(opened.mia)
        await desk.approve(proposal.id)
        await opened.agency.settle()
        [question] = await desk.questions()
        await desk.answer(question.id, "Nothing.")
        await opened.agency.settle()
        assert (await opened.the_shelf()).count == 1
        assert (await desk.outcome(task)).done


# P5
async def test_an_approval_is_good_for_one_call_and_the_same_call_is_proposed_anew(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        _, _, [proposal] = await proposed(opened, write(opened, "dusty"), write(opened, "dusty"))
        desk = opened.agency.desk(opened.mia)
        await desk.approve(proposal.id)
        await opened.agency.settle()
        [again] = await desk.proposals()
        assert again.id != proposal.id
        assert (await opened.the_shelf()).count == 1


# P12
@pytest.mark.parametrize("verb", ["approve", "refuse"])
async def test_a_decision_on_another_call_than_the_one_that_waits_is_refused_as_stale(
    database: str, clock: TestClock, verb: str
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        _, _, [proposal] = await proposed(opened, write(opened, "dusty"))
        desk = opened.agency.desk(opened.mia)
        other = note_shelf.fingerprint({"shelf": str(opened.shelf), "note": "clean"})
        with pytest.raises(Stale):
            await getattr(desk, verb)(proposal.id, fingerprint=other)
        assert [left.status for left in await desk.proposals()] == ["Waiting"]
        assert (await opened.the_shelf()).count == 0
        decided = await getattr(desk, verb)(proposal.id, fingerprint=proposal.fingerprint)
        assert decided.status == ("Done" if verb == "approve" else "Refused")


# P12
def test_a_fingerprint_is_of_the_action_and_its_arguments_in_whatever_order() -> None:
    one = note_shelf.fingerprint({"shelf": "a", "note": "b"})
    assert one == note_shelf.fingerprint({"note": "b", "shelf": "a"})
    assert one != note_shelf.fingerprint({"shelf": "a", "note": "c"})
    assert one != add_shelf.fingerprint({"shelf": "a", "note": "b"})


# P9
async def test_nobody_else_decides_but_whoever_stands_in(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        ann = await opened.agency.add_person("ann@bindery.test", "Ann", roles=["binder"])
        _, _, [proposal] = await proposed(opened, write(opened, "dusty"))
        noors, anns = opened.agency.desk(opened.noor), opened.agency.desk(ann)
        assert await noors.proposals() == await anns.proposals() == []
        assert await noors.waiting_count() == await anns.waiting_count() == 0
        for verb in ("approve", "refuse"):
            with pytest.raises(NotAllowed):  # an auditor sees it
                await getattr(noors, verb)(proposal.id)
            with pytest.raises(NotFound):  # to a stranger it is not there
                await getattr(anns, verb)(proposal.id)
            with pytest.raises(NotAllowed):  # and the app itself is no person
                await getattr(opened.agency.desk(None), verb)(proposal.id)
        assert (await opened.the_shelf()).count == 0

        await opened.agency.stand_in(ann, opened.mia)
        assert [waiting.id for waiting in await anns.proposals()] == [proposal.id]
        await opened.agency.stand_in(ann, opened.mia, ends=True)
        with pytest.raises(NotFound):
            await anns.approve(proposal.id)
        await opened.agency.stand_in(ann, opened.mia)
        assert (await anns.approve(proposal.id)).decided_by_name == "Ann"
        assert (await opened.the_shelf()).count == 1


# P9
async def test_a_proposal_nobody_knows_is_not_found(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        with pytest.raises(NotFound):
            await opened.agency.desk(opened.mia).approve(opened.shelf)


# P1
async def test_what_is_asked_goes_to_the_person_the_work_is_for_not_to_whoever_gave_it(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        hears(opened.agency, AgentCast().plays(Clerk, AgentScript(write(opened, "dusty"), BACK)))
        noors, mias = opened.agency.desk(opened.noor), opened.agency.desk(opened.mia)
        outcome = await noors.of(Clerk).do(Note(), await opened.the_shelf(), for_=opened.mia)
        assert await noors.proposals() == []
        [proposal] = await mias.proposals()
        assert (await mias.work_tree(outcome.task))[0].waiting_on == "a decision from Mia"
        with pytest.raises(NotAllowed):
            await noors.approve(proposal.id)
        assert (await mias.approve(proposal.id)).status == "Done"


# P1
async def test_what_is_asked_in_work_for_nobody_goes_to_the_sponsor_of_the_agent_at_the_top(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Head(), Clerk()], clock=clock) as opened:
        await opened.agency.seat("Clerk", sponsor=opened.mia)
        cast = AgentCast().plays(Head, AgentScript(Says.hand_to(Clerk, Note(), Says.row(opened.shelf)), BACK))
        hears(opened.agency, cast.plays(Clerk, AgentScript(write(opened, "dusty"), BACK)))
        outcome = await opened.agency.desk(None).of(Head).do(Oversee(), "it")
        assert await opened.agency.desk(opened.mia).proposals() == []
        [proposal] = await opened.agency.desk(opened.noor).proposals()
        assert (proposal.asked_of, outcome.waiting_on) == (
            opened.noor.id,
            "Clerk, which waits for a decision from Noor",
        )
        assert (await opened.agency.desk(opened.noor).approve(proposal.id)).status == "Done"
        await opened.agency.settle()
        assert (await opened.agency.desk(None).outcome(outcome.task)).done


# P9, R10
async def test_the_sponsor_decides_once_the_person_is_gone(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        _, _, [proposal] = await proposed(opened, write(opened, "dusty"))
        noors = opened.agency.desk(opened.noor)
        with pytest.raises(NotAllowed):
            await noors.refuse(proposal.id)
        await opened.agency.deactivate(opened.mia)
        assert [waiting.id for waiting in await noors.proposals()] == [proposal.id]
        assert (await noors.refuse(proposal.id)).decided_by_name == "Noor"
        await opened.agency.settle()
        assert await Trajectory(opened.agency, proposal.root).still_going() == []


# P9, R10
async def test_whoever_was_deactivated_decides_nothing(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        _, _, [proposal] = await proposed(opened, write(opened, "dusty"))
        await opened.agency.deactivate(opened.mia)
        for verb in ("approve", "refuse"):
            with pytest.raises((NotAllowed, NotFound)):
                await getattr(opened.agency.desk(opened.mia), verb)(proposal.id)
        assert (await opened.the_shelf()).count == 0


# P9, E4
async def test_what_was_withdrawn_is_not_decided(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        task, _, [proposal] = await proposed(opened, write(opened, "dusty"))
        desk = opened.agency.desk(opened.mia)
        await desk.stop(task)
        with pytest.raises(NotWaiting):
            await desk.approve(proposal.id)
        assert await desk.proposals() == []
        assert (await desk.proposal(proposal.id)).status == "Withdrawn"
        assert (await opened.the_shelf()).count == 0


# P3
async def test_nothing_runs_and_nothing_is_spent_while_it_waits_over_days_and_restarts(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        task, _, [proposal] = await proposed(opened, write(opened, "dusty"))
        await clock.advance(timedelta(days=40))
        await opened.agency.settle()
        before = await opened.agency.desk(opened.mia).piece(task)
        assert (before.status, before.waiting_on, before.model_calls) == ("Waiting", "a decision from Mia", 1)
    async with shop(database, [Clerk()], clock=TestClock(clock.now())) as again:
        heard = hears(again.agency, AgentCast().plays(Clerk, AgentScript(BACK)))
        await again.agency.settle()
        desk = again.agency.desk(again.mia)
        assert await desk.piece(task) == before
        assert heard.all == []
        [same] = await desk.proposals()
        assert same.fingerprint == proposal.fingerprint
        await desk.approve(same.id, fingerprint=proposal.fingerprint)
        await again.agency.settle()
        noted = await again.agency.read(lambda session: session.get(Shelf, opened.shelf))
        assert (noted.note, noted.count) == ("dusty", 1)
        assert (await desk.outcome(task)).done


# P5
@pytest.mark.parametrize("second", ["approve", "refuse"])
async def test_of_two_who_decide_at_once_in_two_processes_one_wins_and_the_other_is_told_who(
    database: str, clock: TestClock, second: str
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened, make(database, clock=TestClock()) as other:
        await opened.agency.stand_in(opened.noor, opened.mia)
        for count in range(1, 6):
            before = (await opened.the_shelf()).count
            task, heard, [proposal] = await proposed(opened, write(opened, f"dusty {count}"))
            other.script(heard)
            mias, noors = opened.agency.desk(opened.mia), other.desk(opened.noor)
            both = [mias.approve(proposal.id), getattr(noors, second)(proposal.id)]
            results = await asyncio.gather(*(both if count % 2 else reversed(both)), return_exceptions=True)
            await until(lambda task=task: over(opened, other, task))
            [won] = [result for result in results if isinstance(result, Proposal)]
            [lost] = [result for result in results if not isinstance(result, Proposal)]
            assert isinstance(lost, AlreadyDecided), lost
            assert (lost.by, lost.status) == (won.decided_by_name, won.status)
            assert (await opened.the_shelf()).count == before + (won.status == "Done")
            assert len(heard.of(Clerk)) == 2
            decisions = [line for line in await mias.trace_of(task) if line.kind is TraceKind.DECIDED]
            assert [line.summary.split(" ")[0] for line in decisions] == [won.decided_by_name]
            assert (await mias.verify_trace(task)).intact


async def over(one: Shop, other: Agency, task: Any) -> bool:
    await asyncio.gather(one.agency.sweep(), other.sweep())
    return bool((await one.agency.desk(one.mia).outcome(task)).done)


# P5, A8
async def test_a_letter_approved_in_two_processes_at_once_is_sent_once(database: str, clock: TestClock) -> None:
    class Proposer(Agent):
        roles = {"helper"}
        skills = [Write()]

    post = Office.opens()
    post.delivered.set()
    async with (
        shop(database, [Proposer()], clock=clock) as opened,
        make(database, [Proposer()], clock=TestClock()) as other,
    ):
        for count in range(1, 6):
            heard = hears(
                opened.agency, AgentCast().plays(Proposer, AgentScript(Says.tool(send_letter, {"text": "x"}), BACK))
            )
            other.script(heard)
            desks = [opened.agency.desk(opened.mia), other.desk(opened.mia)]
            outcome = await desks[0].of(Proposer).do(Write(), "a letter")
            [proposal] = await desks[0].proposals()
            results = await asyncio.gather(*[desk.approve(proposal.id) for desk in desks * 2], return_exceptions=True)
            assert sum(isinstance(result, Proposal) for result in results) == 1
            await until(lambda task=outcome.task: over(opened, other, task))
            assert len(post.sent) == count
            assert heard.told(Proposer) == ["Delivered."]


# P5, H6
async def test_one_call_asked_for_twice_in_a_turn_is_put_twice_and_decided_each_by_itself(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        twice = Says.together(write(opened, "dusty"), write(opened, "dusty"))
        task, heard, [one, same] = await proposed(opened, twice)
        assert (one.fingerprint, one.sentence) == (same.fingerprint, same.sentence)
        assert one.id != same.id
        desk = opened.agency.desk(opened.mia)
        await desk.refuse(same.id)
        await desk.approve(one.id)
        await opened.agency.settle()
        assert (await opened.the_shelf()).count == 1
        assert [told.split(".")[0] for told in heard.told(Clerk)] == ["Noted on A-1", "Mia refused this"]
        assert (await desk.outcome(task)).done


# P5, P9
async def test_what_somebody_decided_keeps_their_name_and_the_time_once_they_are_gone(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        task, _, [proposal] = await proposed(opened, write(opened, "dusty"), Says.ask("And now?"))
        decided = await opened.agency.desk(opened.mia).approve(proposal.id)
        await opened.agency.settle()
        [question] = await opened.agency.desk(opened.mia).questions()
        await opened.agency.desk(opened.mia).answer(question.id, "Nothing.")
        await opened.agency.settle()
        noors = opened.agency.desk(opened.noor)
        lines = await noors.trace_of(task)
        await clock.advance(timedelta(days=3))
        await opened.agency.deactivate(opened.mia)
        kept = await noors.proposal(proposal.id)
        assert (kept.decided_by, kept.decided_by_name, kept.decided_at) == (opened.mia.id, "Mia", decided.decided_at)
        answered = await noors.question(question.id)
        assert (answered.answer, answered.answered_by_name) == ("Nothing.", "Mia")
        assert answered.answered_at == decided.decided_at
        assert await noors.trace_of(task) == lines
        assert (await noors.verify_trace(task)).intact


# P1, P9, R10
async def test_whoever_stands_in_for_somebody_who_is_gone_still_decides_and_so_does_the_sponsor_seated_since(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        ann = await opened.agency.add_person("ann@bindery.test", "Ann", roles=["binder"])
        await opened.agency.stand_in(ann, opened.mia)
        _, _, [proposal] = await proposed(opened, write(opened, "dusty"))
        await opened.agency.deactivate(opened.mia)
        await opened.agency.deactivate(opened.noor)
        bea = await opened.agency.add_person("bea@bindery.test", "Bea", roles=["master"])
        with pytest.raises(NotAllowed):  # Noor still answers for the clerk
            await opened.agency.desk(bea).refuse(proposal.id)
        await opened.agency.seat("Clerk", sponsor=bea)
        for person in (ann, bea):
            assert [waiting.id for waiting in await opened.agency.desk(person).proposals()] == [proposal.id]
        assert (await opened.agency.desk(ann).refuse(proposal.id)).decided_by_name == "Ann"
        with pytest.raises(AlreadyDecided, match="Ann"):
            await opened.agency.desk(bea).approve(proposal.id)
        await opened.agency.settle()
        assert await Trajectory(opened.agency, proposal.root).still_going() == []


# P9
async def test_the_stand_in_of_somebody_who_is_gone_too_decides_nothing(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        ann = await opened.agency.add_person("ann@bindery.test", "Ann", roles=["binder"])
        await opened.agency.stand_in(ann, opened.mia)
        _, _, [proposal] = await proposed(opened, write(opened, "dusty"))
        await opened.agency.deactivate(ann)
        for verb in ("approve", "refuse"):
            with pytest.raises((NotAllowed, NotFound)):
                await getattr(opened.agency.desk(ann), verb)(proposal.id)
        assert (await opened.agency.desk(opened.mia).approve(proposal.id)).status == "Done"


@action("Weigh", says="Weigh {grams} of {what}")
def weigh(grams: float, what: dict[str, Any]) -> str:
    weighed.append((grams, what))
    return "Weighed."


weighed: list[tuple[float, dict[str, Any]]] = []


class Weigh(Skill[str, Answer]):
    tools = [weigh]


class Weigher(Agent):
    roles = {"helper"}
    skills = [Weigh()]


async def to_weigh(opened: Shop, what: dict[str, Any]) -> Proposal:
    weighed.clear()
    script = AgentScript(Says.tool(weigh, {"grams": 1.5, "what": what}), BACK)
    hears(opened.agency, AgentCast().plays(Weigher, script))
    await opened.agency.desk(opened.mia).of(Weigher).do(Weigh(), "it")
    [proposal] = await opened.agency.desk(opened.mia).proposals()
    return proposal


# P5
@pytest.mark.parametrize(
    "what",
    [
        {"kind": "leather", "sheets": 3, "old": True, "mark": None, "of": ["a", {"b": []}]},
        pytest.param(
            {"parts": [0.25, {"share": 1e-3}]},
        ),
    ],
    ids=["no fractions", "fractions"],
)
async def test_the_call_runs_with_the_very_values_that_were_proposed(
    database: str, clock: TestClock, what: dict[str, Any]
) -> None:
    async with shop(database, [Weigher()], clock=clock) as opened:
        proposal = await to_weigh(opened, what)
        await opened.agency.desk(opened.mia).approve(proposal.id, fingerprint=proposal.fingerprint)
        assert weighed == [(1.5, what)]


# P7
async def test_a_fraction_that_was_not_changed_is_no_edit(database: str, clock: TestClock) -> None:
    async with shop(database, [Weigher()], clock=clock) as opened:
        proposal = await to_weigh(opened, {})
        decided = await opened.agency.desk(opened.mia).approve(proposal.id, args={"grams": 1.5})
        assert decided.edited is None


# P5, P12
async def test_arguments_that_are_not_those_of_the_fingerprint_are_not_run(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        _, _, [proposal] = await proposed(opened, write(opened, "dusty"))
        other = f'{{"note":"burnt","shelf":"{opened.shelf}"}}'
        await sql(
            opened.agency, "update proposal set arguments = :other where id = :id", other=other, id=proposal.id.hex
        )
        with pytest.raises(Stale):
            await opened.agency.desk(opened.mia).approve(proposal.id, fingerprint=proposal.fingerprint)
        assert (await opened.the_shelf()).count == 0


# P9, R10
async def test_whoever_was_deactivated_signs_in_no_more_and_is_signed_in_nowhere(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        agency = opened.agency
        session = await agency.use_link(await agency.sign_in_link(opened.mia.id))
        unused = await agency.sign_in_link(opened.mia.id)
        assert session is not None
        assert await agency.signed_in(session) == opened.mia
        await agency.deactivate(opened.mia)
        assert await agency.signed_in(session) is None
        assert await agency.use_link(unused) is None
        with pytest.raises(NotAllowed, match="deactivated"):
            await agency.sign_in_link(opened.mia.id)
