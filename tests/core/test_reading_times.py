"""What a piece did with its time, as the timeline tells it."""

from __future__ import annotations

from datetime import timedelta

from core.values import Doing
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import shop
from tests.core.test_tries import NOTHING, LaterWeigh, LaterWeigher
from tests.staging import DONE, STAFF, Finder, Gather, Lead, Staged, finders, gathers

MINUTE = timedelta(minutes=1)


# T1
async def test_models_agents_and_people_are_told_apart(database: str, clock: TestClock) -> None:
    async with shop(database, STAFF, clock=clock) as at:
        cast = AgentCast().plays(Lead, gathers(*finders(1))).plays(Finder, AgentScript(Says.ask("Which?"), DONE))
        staged = Staged(cast, Finder)
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        began = clock.now()
        task = await desk.of(Lead).start(Gather(), "things")
        await staged.holds(1)
        await clock.advance(5 * MINUTE)
        lead, finder = [node.piece for node in await desk.work_tree(task)]

        async def told() -> list[list[tuple[Doing, timedelta, timedelta]]]:
            spans = await desk.spans(task, [lead, finder])
            return [
                [(span.what, span.start - began, span.end - began) for span in spans[piece]] for piece in (lead, finder)
            ]

        assert await told() == [[(Doing.AGENT, 0 * MINUTE, 5 * MINUTE)], [(Doing.MODEL, 0 * MINUTE, 5 * MINUTE)]]
        staged.hold_no_more()
        await at.agency.settle()
        await clock.advance(10 * MINUTE)
        asked = [(Doing.MODEL, 0 * MINUTE, 5 * MINUTE), (Doing.PERSON, 5 * MINUTE, 15 * MINUTE)]
        assert await told() == [[(Doing.AGENT, 0 * MINUTE, 15 * MINUTE)], asked]
        [question] = await desk.questions()
        await desk.answer(question.id, "This one.")
        await at.agency.settle()
        await clock.advance(MINUTE)
        assert await told() == [
            [(Doing.AGENT, 0 * MINUTE, 15 * MINUTE)],
            asked,
        ]  # it has ended: time goes on without it


# T1
async def test_only_the_pieces_of_that_whole_are_told(database: str) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(AgentCast().plays(Lead, AgentScript(DONE)))
        desk = at.agency.desk(at.mia)
        one, two = [(await desk.of(Lead).do(Gather(), word)).task for word in ("one", "two")]
        assert set(await desk.spans(one, [one, two])) == {one}


# T1
async def test_what_waits_to_be_taken_up_is_told_apart_from_its_model(database: str, clock: TestClock) -> None:
    async with shop(database, [LaterWeigher(), Finder()], clock=clock) as at:
        staged = Staged(AgentCast().plays(LaterWeigher, AgentScript(NOTHING, DONE)), LaterWeigher)
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(LaterWeigher).start(LaterWeigh(), "a stone")
        await staged.holds(1)
        await clock.advance(2 * MINUTE)
        staged.let_go(task)
        await at.agency.settle()
        await clock.advance(10 * MINUTE)  # it is tried again by now
        await staged.holds(1)
        await clock.advance(3 * MINUTE)
        [spans] = (await desk.spans(task, [task])).values()
        assert [(span.what, span.end - span.start) for span in spans] == [
            *((Doing.MODEL, 2 * MINUTE), (Doing.QUEUED, 10 * MINUTE), (Doing.MODEL, 3 * MINUTE)),
        ]
        staged.hold_no_more()
        await at.agency.settle()
