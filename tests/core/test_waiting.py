"""Work that waits for a person: who waits for what, all the way up, and how it goes on from where it stood."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from handon import Agent, Context, Delegation, Permits, Skill, Specialist, Status, TraceKind, action
from handon.testing import AgentCast, AgentScript, ModelAnswer, ModelRequest, Says, TestClock, Trajectory
from tests.builders import Answer, Clerk, Find, Head, Note, Oversee, Shelf, Shop, hears, note_shelf, shop

BACK = Says.hand_back(Answer(text="done"))


def write(opened: Shop, note: str) -> Any:
    return Says.tool(note_shelf, {"shelf": str(opened.shelf), "note": note})


def hand_note(opened: Shop) -> Any:
    return Says.hand_to(Clerk, Note(), Says.row(opened.shelf))


async def oversee(opened: Shop, cast: Any, agent: type[Agent] = Head) -> tuple[Any, Any]:
    heard = hears(opened.agency, cast)
    outcome = await opened.agency.desk(opened.mia).of(agent).do(Oversee(), "the shelves")
    return outcome, heard


@action("Sign", says="Sign")
def sign(ctx: Context) -> str:
    return f"Signed by {ctx.agent.name} for {ctx.person.name if ctx.person else 'nobody'} in {ctx.piece}"


class Sign(Skill[str, Answer]):
    tools = [sign]


class Signer(Agent):
    roles = {"helper"}
    skills = [Sign()]


# P5
async def test_an_approved_call_runs_as_whoever_said_yes_and_as_the_piece_that_proposed_it(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Signer()], clock=clock) as opened:
        await opened.agency.stand_in(opened.noor, opened.mia)
        hears(opened.agency, AgentCast().plays(Signer, AgentScript(Says.tool(sign, {}), Says.tool(sign, {}), BACK)))
        outcome = await opened.agency.desk(opened.mia).of(Signer).do(Sign(), "it")
        for person in (opened.mia, opened.noor):
            [proposal] = await opened.agency.desk(person).proposals()
            decided = await opened.agency.desk(person).approve(proposal.id)
            assert decided.result == f"Signed by Signer for {person.name} in {outcome.task}"
            await opened.agency.settle()


class Upper(Agent):
    roles = {"helper"}
    skills = [Oversee()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(Head, Oversee()), Specialist.of(Clerk, Find())])


# P2, P3, P4
async def test_each_piece_says_what_it_waits_for_and_they_go_on_bottom_up(database: str, clock: TestClock) -> None:
    async with shop(database, [Upper(), Head(), Clerk()], clock=clock) as opened:
        cast = AgentCast().plays(Upper, AgentScript(Says.hand_to(Head, Oversee(), "it"), BACK))
        cast.plays(Head, AgentScript(hand_note(opened), BACK)).plays(Clerk, AgentScript(write(opened, "x"), BACK))
        outcome, heard = await oversee(opened, cast, Upper)
        desk = opened.agency.desk(opened.mia)
        assert [(node.status, node.waiting_on) for node in await desk.work_tree(outcome.task)] == [
            ("Waiting", "Head, which waits for Clerk, which waits for a decision from Mia"),
            ("Waiting", "Clerk, which waits for a decision from Mia"),
            ("Waiting", "a decision from Mia"),
        ]
        [proposal] = await desk.proposals()
        assert proposal.asked_through == "Clerk, working for Head, working for Upper"
        assert proposal.waits_above == ("Head", "Upper")

        await desk.approve(proposal.id)
        await opened.agency.settle()
        nodes = await desk.work_tree(outcome.task)
        assert [(node.status, node.waiting_on, node.model_calls) for node in nodes] == [("Done", "", 2)] * 3
        ended = [line.agent_label for line in await desk.trace_of(outcome.task) if line.kind is TraceKind.ENDED]
        assert ended == ["Clerk", "Head", "Upper"]
        assert len(heard.all) == 6


# P2
async def test_a_piece_at_the_top_asks_through_nobody(database: str, clock: TestClock) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        hears(opened.agency, AgentCast().plays(Clerk, AgentScript(write(opened, "x"))))
        desk = opened.agency.desk(opened.mia)
        await desk.of(Clerk).do(Note(), await opened.the_shelf())
        [proposal] = await desk.proposals()
        assert (proposal.asked_through, proposal.waits_above) == ("", ())


# P3
async def test_a_piece_that_waits_for_several_names_each_and_the_list_shrinks_as_they_are_decided(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Upper(), Head(), Clerk()], clock=clock) as opened:
        both = Says.together(Says.hand_to(Head, Oversee(), "it"), Says.hand_to(Clerk, Find(), "ink"))
        cast = AgentCast().plays(Upper, AgentScript(both, BACK))
        cast.plays(Head, AgentScript(Says.ask("Which shelf?"), BACK)).plays(Clerk, AgentScript(Says.ask("Ink?"), BACK))
        outcome, _ = await oversee(opened, cast, Upper)
        desk = opened.agency.desk(opened.mia)
        assert outcome.waiting_on == (
            "Head, which waits for an answer from Mia; Clerk, which waits for an answer from Mia"
        )
        of_head = next(question for question in await desk.questions() if question.agent == "Head")
        await desk.answer(of_head.id, "All of them.")
        await opened.agency.settle()
        assert (await desk.outcome(outcome.task)).waiting_on == "Clerk, which waits for an answer from Mia"


# P3
async def test_a_piece_above_does_not_wait_while_another_piece_of_its_turn_still_works(
    database: str, clock: TestClock
) -> None:
    go_on = asyncio.Event()
    async with shop(database, [Head(), Clerk()], clock=clock) as opened:
        both = Says.together(hand_note(opened), Says.hand_to(Clerk, Find(), "ink"))
        cast = AgentCast().plays(Head, AgentScript(both, BACK)).plays(Clerk, AgentScript(write(opened, "x"), BACK))

        async def answer(model: str, request: ModelRequest) -> ModelAnswer:
            if request.agent == "Clerk" and "ink" in request.messages[1].text:
                await go_on.wait()
                return BACK.answer()
            return cast.answer(model, request)

        opened.agency.script(answer)
        desk = opened.agency.desk(opened.mia)
        task = await desk.of(Head).start(Oversee(), "it")
        for _ in range(500):
            if await desk.proposals():
                break
            await asyncio.sleep(0.01)
        assert [node.status for node in await desk.work_tree(task)] == ["Working", "Waiting", "Working"]
        go_on.set()
        await opened.agency.settle()
        assert [node.status for node in await desk.work_tree(task)] == ["Waiting", "Waiting", "Done"]
        assert (await desk.piece(task)).waiting_on == "Clerk, which waits for a decision from Mia"


# P4, H1
async def test_what_was_done_beside_a_piece_that_waited_is_not_done_again(database: str, clock: TestClock) -> None:
    async with shop(database, [Boss(), Clerk(), Free()], clock=clock) as opened:
        turn = Says.together(Says.hand_to(Free, Note(), Says.row(opened.shelf)), hand_note(opened), write(opened, "1"))
        cast = AgentCast().plays(Boss, AgentScript(turn, BACK))
        cast.plays(Free, AgentScript(write(opened, "2"), BACK)).plays(Clerk, AgentScript(write(opened, "3"), BACK))
        outcome, heard = await oversee(opened, cast, Boss)
        assert (await opened.the_shelf()).count == 2
        desk = opened.agency.desk(opened.mia)
        [proposal] = await desk.proposals()
        await desk.approve(proposal.id)
        await opened.agency.settle()
        assert (await opened.the_shelf()).count == 3
        assert {agent: len(heard.of(agent)) for agent in ("Boss", "Free", "Clerk")} == {
            "Boss": 2,
            "Free": 2,
            "Clerk": 2,
        }
        assert await Trajectory(opened.agency, outcome.task).tree() == [
            "Boss · Oversee: Done",
            "  Free · Note: Done",
            "  Clerk · Note: Done",
        ]
        assert len(heard.told(Boss)) == 3


class Free(Clerk):
    may = Permits.changes_alone()


class BossOversee(Oversee):
    tools = [note_shelf]

    @property
    def name(self) -> str:
        return "Oversee"


class Boss(Agent):
    roles = {"helper"}
    skills = [BossOversee()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(Free, Note()), Specialist.of(Clerk, Note())])


# P3, P9
@pytest.mark.parametrize("first", [0, 1])
async def test_two_pieces_of_one_agent_wait_side_by_side_and_either_is_decided_first(
    database: str, clock: TestClock, first: int
) -> None:
    async with shop(database, [Head(), Clerk()], clock=clock) as opened:
        cast = AgentCast().plays(Head, AgentScript(Says.together(hand_note(opened), hand_note(opened)), BACK))
        cast.plays(Clerk, AgentScript(write(opened, "one"), BACK), piece=1)
        cast.plays(Clerk, AgentScript(write(opened, "two"), BACK), piece=2)
        outcome, heard = await oversee(opened, cast)
        desk = opened.agency.desk(opened.mia)
        waiting = await desk.proposals()
        assert len({proposal.piece for proposal in waiting}) == 2
        chosen, other = waiting[first], waiting[1 - first]
        await desk.approve(chosen.id)
        await opened.agency.settle()
        assert (await opened.the_shelf()).note == chosen.arguments["note"]
        assert (await desk.piece(chosen.piece)).status is Status.DONE
        assert (await desk.piece(other.piece)).status is Status.WAITING
        assert [left.id for left in await desk.proposals()] == [other.id]
        await desk.refuse(other.id)
        await opened.agency.settle()
        assert ((await desk.outcome(outcome.task)).done, (await opened.the_shelf()).count) == (True, 1)
        assert len(heard.of(Head)) == 2


class Nested(Agent):
    """Hands its own kind of work to itself, and proposes its changes."""

    roles = {"helper"}
    skills = [BossOversee()]
    delegates = Delegation(to=[Specialist.helper(BossOversee())])


class Planner(Agent):
    roles = {"helper"}
    skills = [Oversee()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(Nested, BossOversee())])


# P3, P4, P5
async def test_an_approval_deep_in_a_tree_in_which_one_agent_works_twice_outlives_a_restart(
    database: str, clock: TestClock
) -> None:
    agents = (Planner, Nested)
    async with shop(database, [agent() for agent in agents], clock=clock) as opened:
        cast = AgentCast().plays(Planner, AgentScript(Says.hand_to(Nested, BossOversee(), "it")))
        cast.plays(Nested, AgentScript(Says.hand_to_helper(BossOversee(), "deeper")), piece=1)
        cast.plays(Nested, AgentScript(write(opened, "deep")), piece=2)
        outcome, _ = await oversee(opened, cast, Planner)
        [proposal] = await opened.agency.desk(opened.mia).proposals()
        assert proposal.asked_through == "Nested, working for Nested, working for Planner"
        shelf = opened.shelf

    async with shop(database, [agent() for agent in agents], clock=TestClock()) as again:

        def answer(model: str, request: ModelRequest) -> ModelAnswer:
            told = request.messages[-1].results[0].text
            return Says.hand_back(Answer(text=f"{request.agent}: {told}")).answer()

        heard = hears(again.agency, answer)
        desk = again.agency.desk(again.mia)
        await desk.approve(proposal.id)
        await again.agency.settle()
        noted = await again.agency.read(lambda session: session.get(Shelf, shelf))
        assert noted is not None
        assert (noted.note, noted.count) == ("deep", 1)
        assert [asked.agent for asked in heard.all] == ["Nested", "Nested", "Planner"]
        assert (await desk.outcome(outcome.task)).result.text.count("Nested: ") == 2
        nodes = await desk.work_tree(outcome.task)
        assert [(node.depth, node.status) for node in nodes] == [(0, "Done"), (1, "Done"), (2, "Done")]
        assert (await desk.verify_trace(outcome.task)).intact


# P3, A6
async def test_after_a_restart_what_nobody_decided_still_waits(database: str, clock: TestClock) -> None:
    async with shop(database, [Head(), Clerk()], clock=clock) as opened:
        cast = AgentCast().plays(Head, AgentScript(hand_note(opened), BACK))
        outcome, _ = await oversee(opened, cast.plays(Clerk, AgentScript(write(opened, "x"), BACK)))
        before = await opened.agency.desk(opened.mia).work_tree(outcome.task)
    async with shop(database, [Head(), Clerk()], clock=TestClock(clock.now())) as again:
        heard = hears(again.agency, AgentCast())
        await again.agency.settle()
        assert await again.agency.desk(again.mia).work_tree(outcome.task) == before
        assert heard.all == []


# P3, T4
async def test_the_record_says_of_each_piece_above_that_it_waits_no_more_once_what_it_waited_for_goes_on(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Head(), Clerk()], clock=clock) as opened:
        cast = AgentCast().plays(Head, AgentScript(hand_note(opened), BACK))
        outcome, _ = await oversee(opened, cast.plays(Clerk, AgentScript(write(opened, "Dusty."), BACK)))
        desk = opened.agency.desk(opened.mia)
        await desk.approve((await desk.proposals())[0].id)
        assert (await desk.stands(outcome.task)).done
        said = [line.summary for line in await desk.trace_of(outcome.task)]
        assert "Head waits no more: something under it goes on." in said
        assert said.index("Clerk goes on.") < said.index("Head waits no more: something under it goes on.")
