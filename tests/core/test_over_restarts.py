"""What waits over a restart: another process, of an app that may say otherwise by now, goes on from where it stood."""

from __future__ import annotations

import asyncio
import re
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from handon import (
    Agency,
    Agent,
    Context,
    Delegation,
    Gate,
    NotFound,
    Permits,
    Skill,
    Specialist,
    Stale,
    Status,
    TraceKind,
    action,
    query,
)
from handon.testing import AgentCast, AgentScript, Says, TestClock, Trajectory
from tests.builders import Answer, Clerk, Find, Head, Heard, Note, Oversee, Shelf, Shop, add_shelf, note_shelf, shop
from tests.core.test_gate import Top, cast_of, saying, three
from tests.staging import Office, Staged, Write, check_money, reopened, rows_of, send_letter

BACK = Says.hand_back(Answer(text="done"))
MARKS = ["A-2", "A-3", "A-4"]


async def marks(agency: Agency) -> list[str]:
    """The shelves there are but for the first, by their marks."""
    return sorted(
        await agency.read(lambda session: list(session.scalars(select(Shelf.mark).where(Shelf.mark != "A-1"))))
    )


async def noted(agency: Agency, shelf: UUID) -> int:
    """How often the shelf was written on."""
    found = await agency.read(lambda session: session.get(Shelf, shelf))
    assert found is not None
    return found.count


async def decisions(agency: Agency, task: UUID) -> list[str]:
    lines = await agency.desk(None).trace_of(task)
    return [line.summary for line in lines if line.kind is TraceKind.DECIDED]


# P3, P5, P6
@pytest.mark.parametrize("refused", [None, 0, 1, 2])
async def test_three_calls_of_one_turn_are_answered_third_first_second_with_a_restart_before_each(
    database: str, refused: int | None
) -> None:
    three = Says.together(*[Says.tool(add_shelf, {"mark": mark}) for mark in MARKS])
    heard = Heard(AgentCast().plays(Clerk, AgentScript(three, BACK)))
    async with shop(database, clock=TestClock()) as at:
        at.agency.script(heard)
        outcome = await at.agency.desk(at.mia).of(Clerk).do(Note(), await at.the_shelf())
        asked = [proposal.id for proposal in await at.agency.desk(at.mia).proposals()]
    assert len(set(asked)) == 3
    expected = [f"Added {mark}." for mark in MARKS]
    for which, left in ((2, [0, 1]), (0, [1]), (1, [])):
        async with reopened(database, heard, [Clerk()], clock=TestClock()) as agency:
            await agency.settle()
            desk = agency.desk(at.mia)
            if which == refused:
                await desk.refuse(asked[which], "No.")
                expected[which] = f"Mia refused this. It was not done: Add {MARKS[which]}\nThe reason: No."
            else:
                assert (await desk.approve(asked[which])).result == expected[which]
            await agency.settle()
            assert [proposal.id for proposal in await desk.proposals()] == [asked[n] for n in left]
            assert len(heard.of(Clerk)) == (1 if left else 2)
    assert heard.told(Clerk) == expected
    async with reopened(database, heard, [Clerk()], clock=TestClock()) as agency:
        await agency.settle()
        assert await marks(agency) == [mark for n, mark in enumerate(MARKS) if n != refused]
        assert len(await decisions(agency, outcome.task)) == 3
        assert (await agency.desk(at.mia).outcome(outcome.task)).done
        assert (await agency.desk(at.mia).verify_trace(outcome.task)).intact
    assert len(heard.of(Clerk)) == 2


class Collate(Skill[str, Answer]):
    description = "Put it together."
    tools = [note_shelf]


class Collator(Agent):
    """Hands its own kind of work on to its own kind, and proposes its changes."""

    roles = {"helper"}
    skills = [Collate()]

    @property
    def delegates(self) -> Delegation:  # type: ignore[override]
        return Delegation(to=[Specialist.of(Collator, Collate())])


class Planner(Agent):
    roles = {"helper"}
    skills = [Oversee()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(Collator, Collate())])


# P2, P4, P5
@pytest.mark.parametrize("first", ["upper", "deeper"])
async def test_one_agent_at_two_levels_proposes_the_same_call_twice_and_each_is_decided_by_itself(
    database: str, first: str
) -> None:
    staff: list[Agent] = [Planner(), Collator()]
    async with shop(database, staff, clock=TestClock()) as at:
        same = Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "dusty"})
        cast = AgentCast().plays(Planner, AgentScript(Says.hand_to(Collator, Collate(), "it"), BACK))
        both = Says.together(Says.hand_to(Collator, Collate(), "deeper"), same)
        cast.plays(Collator, AgentScript(both, Says.hand_back(Answer(text="upper"))), piece=1)
        cast.plays(Collator, AgentScript(same, Says.hand_back(Answer(text="deeper"))), piece=2)
        heard = Heard(cast)
        at.agency.script(heard)
        outcome = await at.agency.desk(at.mia).of(Planner).do(Oversee(), "it")
        proposals = await at.agency.desk(at.mia).proposals()
    assert len({proposal.fingerprint for proposal in proposals}) == 1
    by_way = {proposal.asked_through: proposal.id for proposal in proposals}
    ways = {"upper": "Collator, working for Planner", "deeper": "Collator, working for Collator, working for Planner"}
    assert set(by_way) == set(ways.values())
    for name, count in ((first, 1), *((name, 2) for name in ways if name != first)):
        async with reopened(database, heard, staff, clock=TestClock()) as agency:
            await agency.desk(at.mia).approve(by_way[ways[name]])
            await agency.settle()
            assert await noted(agency, at.shelf) == count
    async with reopened(database, heard, staff, clock=TestClock()) as agency:
        assert (await agency.desk(at.mia).outcome(outcome.task)).done
        ended = [
            (line.agent_label, line.piece)
            for line in await agency.desk(at.mia).trace_of(outcome.task)
            if line.kind is TraceKind.ENDED
        ]
        upper, deeper = (node.piece for node in (await agency.desk(at.mia).work_tree(outcome.task))[1:])
        assert ended == [("Collator", deeper), ("Collator", upper), ("Planner", outcome.task)]
    assert [Answer.model_validate_json(text).text for text in heard.told(Planner)] == ["upper"]
    assert len(heard.of(Collator)) == 4


class Free(Clerk):
    may = Permits.changes_alone()


class Chief(Head):
    """Has one write alone, and one propose."""

    delegates = Delegation(to=[Specialist.of(Free, Note()), Specialist.of(Clerk, Note())])


# P3, P4, H1
async def test_what_was_done_beside_a_piece_that_waited_is_not_handed_out_again_after_a_restart(database: str) -> None:
    staff: list[Agent] = [Chief(), Free(), Clerk()]
    async with shop(database, staff, clock=TestClock()) as at:
        write = Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "dusty"})
        both = Says.together(*[Says.hand_to(agent, Note(), Says.row(at.shelf)) for agent in (Free, Clerk)])
        cast = AgentCast().plays(Chief, AgentScript(both, BACK)).plays(Clerk, AgentScript(write, BACK))
        heard = Heard(cast.plays(Free, AgentScript(write, Says.hand_back(Answer(text="written")))))
        at.agency.script(heard)
        outcome = await at.agency.desk(at.mia).of(Chief).do(Oversee(), "it")
        assert (await at.the_shelf()).count == 1
    async with reopened(database, heard, staff, clock=TestClock()) as agency:
        await agency.settle()
        [proposal] = await agency.desk(at.mia).proposals()
        await agency.desk(at.mia).approve(proposal.id)
        await agency.settle()
        assert await noted(agency, at.shelf) == 2
        assert await Trajectory(agency, outcome.task).tree() == [
            "Chief · Oversee: Done",
            "  Free · Note: Done",
            "  Clerk · Note: Done",
        ]
        check_money(await rows_of(agency, outcome.task))
    assert [len(heard.of(agent)) for agent in (Chief, Free, Clerk)] == [2, 2, 2]
    assert [Answer.model_validate_json(text).text for text in heard.told(Chief)] == ["written", "done"]


# P3, P4
async def test_a_person_who_sends_work_back_three_times_has_nothing_before_it_done_again(database: str) -> None:
    async with shop(database, [Free()], clock=TestClock()) as at:
        write = Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "dusty"})
        heard = Heard(AgentCast().plays(Free, AgentScript(write, *[Says.ask("Is it right?")] * 3, BACK)))
        at.agency.script(heard)
        outcome = await at.agency.desk(at.mia).of(Free).do(Note(), await at.the_shelf())
    for round in (1, 2, 3):
        async with reopened(database, heard, [Free()], clock=TestClock()) as agency:
            [question] = await agency.desk(at.mia).questions()
            await agency.desk(at.mia).answer(question.id, f"Not yet: {round}.")
            await agency.settle()
            assert await noted(agency, at.shelf) == 1
    assert heard.told(Free) == ["Noted on A-1.", "Not yet: 1.", "Not yet: 2.", "Not yet: 3."]
    assert len(heard.all) == 5
    async with reopened(database, heard, [Free()]) as agency:
        assert (await agency.desk(at.mia).outcome(outcome.task)).done


# P5, A8
@pytest.mark.parametrize("verb", ["approve", "refuse"])
async def test_a_decision_that_a_lost_process_took_in_is_gone_on_from_and_not_carried_out_again(
    database: str, verb: str
) -> None:
    """The process that takes the decision in runs nothing, as if it had died between the decision and the next turn."""
    write = {"note": "dusty"}
    async with shop(database, clock=TestClock()) as at:
        script = AgentScript(Says.tool(note_shelf, {"shelf": str(at.shelf), **write}), BACK)
        heard = Heard(AgentCast().plays(Clerk, script))
        at.agency.script(heard)
        outcome = await at.agency.desk(at.mia).of(Clerk).do(Note(), await at.the_shelf())
    async with reopened(database, heard, [Clerk()], clock=TestClock(), concurrency=0) as agency:
        [proposal] = await agency.desk(at.mia).proposals()
        await getattr(agency.desk(at.mia), verb)(proposal.id)
    count = 1 if verb == "approve" else 0
    for _ in range(2):
        async with reopened(database, heard, [Clerk()], clock=TestClock()) as agency:
            await agency.settle()
            assert await noted(agency, at.shelf) == count
            assert (await agency.desk(at.mia).outcome(outcome.task)).done
    assert len(heard.all) == 2


class Bare(Note):
    """`Note` as a later version of the app has it: the tools are gone."""

    tools = []

    @property
    def name(self) -> str:
        return "Note"


def clerk(**said: Any) -> Agent:
    """`Clerk` as a later version of the app declares it."""
    return type("Clerk", (Agent,), {"roles": {"helper"}, "skills": [Note()], **said})()  # type: ignore[no-any-return]


# R11, P6
@pytest.mark.parametrize("verb", ["approve", "refuse"])
@pytest.mark.parametrize("app", ["gate opened", "tool gone"])
async def test_what_a_person_refuses_is_not_done_whatever_the_app_says_by_then(
    database: str, verb: str, app: str
) -> None:
    async with shop(database, clock=TestClock()) as at:
        script = AgentScript(Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "dusty"}), BACK)
        heard = Heard(AgentCast().plays(Clerk, script))
        at.agency.script(heard)
        outcome = await at.agency.desk(at.mia).of(Clerk).do(Note(), await at.the_shelf())
    later = clerk(may=Permits.changes_alone()) if app == "gate opened" else clerk(skills=[Bare()])
    async with reopened(database, heard, [later], clock=TestClock()) as agency:
        await agency.settle()
        [proposal] = await agency.desk(at.mia).proposals()
        decided = await getattr(agency.desk(at.mia), verb)(proposal.id)
        await agency.settle()
        runs = verb == "approve" and app == "gate opened"
        assert await noted(agency, at.shelf) == (1 if runs else 0)
        assert decided.status == ("Done" if runs else "Refused")
        assert decided.decided_by == (None if verb == "approve" and app == "tool gone" else at.mia.id)
        [told] = heard.told("Clerk")
        assert told.startswith("Noted on A-1." if runs else ("A rule refused this.", "Mia refused this."))
        assert (await agency.desk(at.mia).outcome(outcome.task)).done


# P9, E1
async def test_what_an_agent_that_is_gone_had_asked_has_a_way_out(database: str) -> None:
    staff: list[Agent] = [Head(), Clerk()]
    async with shop(database, staff, clock=TestClock()) as at:
        cast = AgentCast().plays(Head, AgentScript(Says.hand_to(Clerk, Note(), Says.row(at.shelf)), BACK))
        write = Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "dusty"})
        heard = Heard(cast.plays(Clerk, AgentScript(write, BACK)))
        at.agency.script(heard)
        outcome = await at.agency.desk(at.mia).of(Head).do(Oversee(), "it")

    class Hermit(Head):
        delegates = None

        @property
        def name(self) -> str:
            return "Head"

    async with reopened(database, heard, [Hermit()], clock=TestClock()) as agency:
        desk = agency.desk(at.mia)
        [proposal] = await desk.proposals()
        with pytest.raises(NotFound, match="Clerk is no longer an agent of this app"):
            await desk.approve(proposal.id)
        await desk.refuse(proposal.id)
        await agency.settle()
        assert await Trajectory(agency, outcome.task).tree() == ["Head · Oversee: Done", "  Clerk · Note: Failed"]
        assert heard.told(Head) == ["Clerk failed: Clerk is no longer an agent of this app."]
        assert await noted(agency, at.shelf) == 0


# P8, H1
async def test_questions_and_proposals_of_one_turn_are_answered_over_restarts_each_its_own_call(database: str) -> None:
    turn = Says.together(
        Says.ask("Which?"),
        Says.tool(add_shelf, {"mark": "A-2"}),
        Says.ask("When?"),
        Says.tool(add_shelf, {"mark": "A-3"}),
    )
    heard = Heard(AgentCast().plays(Clerk, AgentScript(turn, BACK)))
    async with shop(database, clock=TestClock()) as at:
        at.agency.script(heard)
        await at.agency.desk(at.mia).of(Clerk).do(Note(), await at.the_shelf())

    async def next_one(agency: Agency, kind: str) -> Any:
        desk = agency.desk(at.mia)
        return (await (desk.questions() if kind == "question" else desk.proposals()))[-1]

    for kind in ("question", "proposal", "proposal", "question"):
        async with reopened(database, heard, [Clerk()], clock=TestClock()) as agency:
            one, desk = await next_one(agency, kind), agency.desk(at.mia)
            await (desk.answer(one.id, f"To {one.question}") if kind == "question" else desk.approve(one.id))
            await agency.settle()
    assert heard.told(Clerk) == ["To Which?", "Added A-2.", "To When?", "Added A-3."]


def writer(**said: Any) -> Agent:
    """`Writer` as some version of the app declares it: it proposes its letters."""
    kept = {"roles": {"helper"}, "skills": [Write()]}
    return type("Writer", (Agent,), {**kept, **said})()  # type: ignore[no-any-return]


async def letter_approved(database: str, heard: Heard) -> tuple[Shop, UUID, UUID]:
    """Mia approves a letter in a process that is lost before the letter leaves: the shop, the whole, the proposal."""
    async with shop(database, [writer()], clock=TestClock()) as at:
        at.agency.script(heard)
        outcome = await at.agency.desk(at.mia).of("Writer").do(Write(), "a letter")
    async with reopened(database, heard, [writer()], clock=TestClock(), concurrency=0) as agency:
        [proposal] = await agency.desk(at.mia).proposals()
        decided = await agency.desk(at.mia).approve(proposal.id)
        assert (decided.status, decided.decided_by_name) == ("Waiting", "Mia")
    return at, outcome.task, proposal.id


def letters() -> Heard:
    return Heard(AgentCast().plays("Writer", AgentScript(Says.tool(send_letter, {"text": "Dear Noor"}), BACK)))


# P5, A8
@pytest.mark.parametrize("word", [Permits(), Permits().proposes_every_time(send_letter)], ids=["as before", "stricter"])
async def test_a_letter_that_was_approved_and_had_not_left_leaves_once_from_the_next_process(
    database: str, word: Permits
) -> None:
    post, heard = Office.opens(), letters()
    post.delivered.set()
    at, task, proposal = await letter_approved(database, heard)
    assert post.sent == []
    for _ in range(2):
        async with reopened(database, heard, [writer(may=word)], clock=TestClock()) as agency:
            await agency.settle()
            assert post.sent == ["Dear Noor"]
            assert (await agency.desk(at.mia).proposal(proposal)).status == "Done"
            assert (await agency.desk(at.mia).outcome(task)).done
    assert heard.told("Writer") == ["Delivered."]


# R5, R11
async def test_a_letter_that_was_approved_and_has_been_forbidden_before_it_left_is_not_sent(database: str) -> None:
    post, heard = Office.opens(), letters()
    post.delivered.set()
    at, task, proposal = await letter_approved(database, heard)
    forbids = writer(may=Permits().never(send_letter))
    async with reopened(database, heard, [forbids], clock=TestClock()) as agency:
        await agency.settle()
        assert post.sent == []
        assert (await agency.desk(at.mia).proposal(proposal)).status == "Refused"
        [told] = heard.told("Writer")
        assert "Writer never does that" in told
        said = await decisions(agency, task)
        assert [line.split(" ")[0] for line in said] == ["Mia", "A"]  # Mia approved, a rule refused
        assert (await agency.desk(at.mia).outcome(task)).done


# R4, R5, R11
@pytest.mark.parametrize("word", [Permits(), Permits().never(send_letter)], ids=["propose", "never"])
async def test_a_letter_it_might_have_sent_alone_is_not_sent_where_its_word_was_tightened_before_it_left(
    database: str, word: Permits
) -> None:
    post, staged = Office.opens(), Staged(letters(), "Writer")
    post.delivered.set()
    async with shop(database, [writer(may=Permits.changes_alone())], clock=TestClock()) as at:
        at.agency.script(staged)
        task = await at.agency.desk(at.mia).of("Writer").start(Write(), "a letter")
        await staged.holds(1)
        # It is answered while its process leaves: the letter is to be sent, and this process begins nothing more.
        asyncio.get_running_loop().call_later(0.1, staged.hold_no_more)
    assert post.sent == []
    async with reopened(database, staged, [writer(may=word)], clock=TestClock()) as agency:
        await agency.settle()
        assert post.sent == []
        assert (await agency.desk(at.mia).outcome(task)).status in (Status.DONE, Status.WAITING)


# R10
async def test_a_letter_for_somebody_who_was_deactivated_before_it_left_is_not_sent(database: str) -> None:
    post, heard = Office.opens(), letters()
    post.delivered.set()
    at, task, _ = await letter_approved(database, heard)
    async with reopened(database, heard, [writer()], clock=TestClock(), concurrency=0) as agency:
        await agency.deactivate(at.mia)
    async with reopened(database, heard, [writer()], clock=TestClock()) as agency:
        await agency.settle()
        assert (await agency.desk(None).piece(task)).status is Status.CANCELLED
        assert post.sent == []


# R5, R11
@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("gate", [Gate.PROPOSE_EVERY_TIME, Gate.NEVER])
async def test_what_waited_is_ruled_by_the_word_of_every_agent_above_as_the_next_process_declares_it(
    database: str, which: int, gate: Gate
) -> None:
    waited = three(*[saying(Gate.PROPOSE)] * 3)
    async with shop(database, waited, clock=TestClock()) as at:
        heard = Heard(cast_of(at))
        at.agency.script(heard)
        outcome = await at.agency.desk(at.mia).of(Top).do(Oversee(), "the shelves")
    words = [saying(Gate.PROPOSE)] * 3
    words[which] = saying(gate)
    stricter = three(*words)
    async with reopened(database, heard, stricter, clock=TestClock()) as agency:
        await agency.settle()
        desk = agency.desk(at.mia)
        [proposal] = await desk.proposals()
        decided = await desk.approve(proposal.id)
        await agency.settle()
        assert (await desk.outcome(outcome.task)).done
        assert await desk.proposals() == []
        assert await noted(agency, at.shelf) == (0 if gate is Gate.NEVER else 1)
        if gate is Gate.NEVER:
            assert (decided.status, decided.decided_by) == ("Refused", None)
            assert decided.note.startswith(f"Refused by rule. {stricter[which].name} never does that")
            assert "never does that" in heard.told("Last")[0]
        else:
            assert (decided.status, decided.decided_by_name) == ("Done", "Mia")
        assert len(await decisions(agency, outcome.task)) == 1


# P2, P4
async def test_two_rows_of_one_inbox_are_told_apart_by_id_whatever_order_they_are_listed_in(database: str) -> None:
    """Two calls of one tool: the second is refused and the first approved, from a list turned round."""
    async with shop(database, clock=TestClock()) as at:
        both = Says.together(*[Says.tool(add_shelf, {"mark": mark}) for mark in MARKS[:2]])
        heard = Heard(AgentCast().plays(Clerk, AgentScript(both, BACK)))
        at.agency.script(heard)
        await at.agency.desk(at.mia).of(Clerk).do(Note(), await at.the_shelf())
    async with reopened(database, heard, [Clerk()], clock=TestClock()) as agency:
        desk = agency.desk(at.mia)
        for proposal in reversed(await desk.proposals()):
            decide = desk.refuse if proposal.arguments["mark"] == "A-3" else desk.approve
            await decide(proposal.id, fingerprint=proposal.fingerprint)
        await agency.settle()
        assert await marks(agency) == ["A-2"]


def renewed(takes: str) -> Agent:
    """`Clerk` whose tool takes something else since."""

    def more(ctx: Context, shelf: Shelf, note: str, count: int = 7) -> str:
        shelf.note, shelf.count = note, count
        return "Noted."

    def other(ctx: Context, shelf: Shelf, text: str) -> str:
        shelf.note, shelf.count = text, 7
        return "Noted."

    function = {"more": more, "other": other}[takes]
    function.__annotations__ = {**function.__annotations__, "ctx": Context, "shelf": Shelf}
    function.__name__ = "note_shelf"
    tool = action("Write a note on the shelf")(function)
    return clerk(skills=[type("Note", (Note,), {"tools": [tool]})()])


# P5, P12
@pytest.mark.parametrize("takes", ["more", "other"])
async def test_a_call_that_would_run_with_other_arguments_than_were_shown_is_stale(database: str, takes: str) -> None:
    async with shop(database, clock=TestClock()) as at:
        script = AgentScript(Says.tool(note_shelf, {"shelf": str(at.shelf), "note": "dusty"}), BACK)
        heard = Heard(AgentCast().plays(Clerk, script))
        at.agency.script(heard)
        outcome = await at.agency.desk(at.mia).of(Clerk).do(Note(), await at.the_shelf())
    async with reopened(database, heard, [renewed(takes)], clock=TestClock()) as agency:
        desk = agency.desk(at.mia)
        [proposal] = await desk.proposals()
        with pytest.raises(Stale):
            await desk.approve(proposal.id, fingerprint=proposal.fingerprint)
        assert await noted(agency, at.shelf) == 0
        await desk.refuse(proposal.id)
        await agency.settle()
        assert (await desk.outcome(outcome.task)).done


def named(name: str, **said: Any) -> Agent:
    """An agent whose class is called `name`, and who proposes its notes."""
    return type(name, (Agent,), {"roles": {"helper"}, "skills": [Note()], **said})()  # type: ignore[no-any-return]


NAMES = ["Планировщик", "計画", "助手", "Élodie", "Elodie", "Àlodie", "Collator" * 10, "Collator" * 10 + "s"]


# D3, P2
async def test_agents_of_any_name_are_told_apart_over_a_restart_by_models_and_by_people(database: str) -> None:
    """All at once under one head, some of which clean to the same: each proposes its own note."""

    def staff() -> list[Agent]:
        agents = [named(name) for name in NAMES]
        return [named("Head", may=Permits.changes_alone(), skills=[Oversee()], delegates=to(agents)), *agents]

    def to(agents: list[Agent]) -> Delegation:
        return Delegation(to=[Specialist.of(type(agent), Note()) for agent in agents])

    first, second = staff(), staff()
    async with shop(database, first, clock=TestClock()) as at:
        legs = [Says.hand_to(type(agent), Note(), Says.row(at.shelf)) for agent in first[1:]]
        assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", leg.calls[0].name) for leg in legs)
        assert len({leg.calls[0].name for leg in legs}) == len(NAMES)
        cast = AgentCast().plays("Head", AgentScript(Says.together(*legs), BACK))
        for agent in first[1:]:
            note = Says.tool(note_shelf, {"shelf": str(at.shelf), "note": agent.name})
            cast.plays(agent.name, AgentScript(note, Says.hand_back(Answer(text=agent.name))))
        heard = Heard(cast)
        at.agency.script(heard)
        outcome = await at.agency.desk(at.mia).of("Head").do(Oversee(), "it")
    async with reopened(database, heard, second, clock=TestClock()) as agency:
        desk = agency.desk(at.mia)
        proposals = {proposal.agent: proposal for proposal in await desk.proposals()}
        assert set(proposals) == set(NAMES)
        for name, proposal in proposals.items():
            assert proposal.sentence == f"Write on A-1: {name}"
            assert proposal.asked_through == f"{agency.agents[name].shown_as}, working for Head"
            await desk.approve(proposal.id)
        await agency.settle()
        assert (await desk.outcome(outcome.task)).done
        assert await noted(agency, at.shelf) == len(NAMES)
    assert [Answer.model_validate_json(told).text for told in heard.told("Head")] == NAMES


# P5, E4
async def test_a_letter_that_was_approved_and_whose_work_was_stopped_before_it_left_is_not_told_as_undecided(
    database: str,
) -> None:
    post, heard = Office.opens(), letters()
    post.delivered.set()
    at, task, proposal = await letter_approved(database, heard)
    async with reopened(database, heard, [writer()], clock=TestClock(), concurrency=0) as agency:
        await agency.desk(at.mia).stop(task)
        assert (await agency.desk(at.mia).piece(task)).status is Status.CANCELLED
        found = await agency.desk(at.mia).proposal(proposal)
        assert (found.status, found.decided_by) == ("Failed", at.mia.id) and "it was not done" in found.result
        assert not any("undecided" in line for line in await decisions(agency, task))
    async with reopened(database, heard, [writer()], clock=TestClock()) as agency:
        await agency.settle()
    assert post.sent == []


class Two(Head):
    """May hand two pieces on."""

    delegates = Delegation(to=[Specialist.of(Clerk, Find())], max_pieces=2)


# D6
async def test_what_a_piece_handed_on_before_a_restart_counts_after_it(database: str) -> None:
    staff: list[Agent] = [Two(), Clerk()]
    find = Says.hand_to(Clerk, Find(), "ink")
    cast = AgentCast().plays(Two, AgentScript(find, find, find, BACK))
    heard = Heard(cast.plays(Clerk, AgentScript(Says.ask("Which ink?"), BACK)))
    async with shop(database, staff, clock=TestClock()) as at:
        at.agency.script(heard)
        outcome = await at.agency.desk(at.mia).of(Two).do(Oversee(), "it")
    for _ in range(2):
        async with reopened(database, heard, staff, clock=TestClock()) as agency:
            [question] = await agency.desk(at.mia).questions()
            await agency.desk(at.mia).answer(question.id, "Black.")
            await agency.settle()
    async with reopened(database, heard, staff, clock=TestClock()) as agency:
        assert (await agency.desk(at.mia).outcome(outcome.task)).done
        assert len(await agency.desk(at.mia).handed_on_by(outcome.task)) == 2
    assert heard.told(Two)[-1].startswith("Nothing more is handed on: Two has handed on 2 pieces")


# D2, R1
async def test_a_helper_works_by_the_account_of_the_agent_that_handed_it_the_work(database: str) -> None:
    class Told(Skill[str, Answer]):
        tools = [who]

    class Solo(Agent):
        roles = {"helper"}
        skills = [Told()]
        may = Permits.changes_alone()
        delegates = Delegation(to=[Specialist.helper(Told())])

    async with shop(database, [Solo()], clock=TestClock()) as at:
        cast = AgentCast().plays(Solo, AgentScript(Says.hand_to_helper(Told(), "it"), BACK), piece=1)
        heard = Heard(cast.plays(Solo, AgentScript(Says.tool(who, {}), BACK), piece=2))
        at.agency.script(heard)
        assert (await at.agency.desk(at.mia).of(Solo).do(Told(), "it")).done
        assert heard.told(Solo)[0] == "Solo with helper for Mia"


@query("Say who this is")
def who(ctx: Context) -> str:
    return f"{ctx.agent.name} with {', '.join(sorted(ctx.agent.roles))} for {ctx.person.name if ctx.person else '-'}"
