"""Work that is called off while something of it reaches outside, or is about to."""

from __future__ import annotations

from handon import Agent, Delegation, Permits, Skill, Specialist, Status
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import Answer, Find, shop
from tests.staging import DONE, Finder, Office, Staged, rows_of, send_letter, until


class Post(Skill[str, Answer]):
    description = "Send letters, and have things found."
    tools = [send_letter]


class Poster(Agent):
    purpose = "You send letters."
    roles = {"helper"}
    skills = [Post()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(Finder, Find())])


# E4
async def test_a_piece_that_is_stopped_while_it_reaches_outside_ends_after_what_it_handed_on(
    database: str, clock: TestClock
) -> None:
    both = Says.together(Says.hand_to(Finder, Find(), "thing"), Says.tool(send_letter, {"text": "Dear Noor"}))
    cast = AgentCast().plays(Poster, AgentScript(both, DONE)).plays(Finder, AgentScript(DONE))
    staged, office = Staged(cast, Finder), Office.opens()
    async with shop(database, [Poster(), Finder()], clock=clock) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Poster).start(Post(), "letters")
        await staged.holds(1)
        await until(lambda: bool(office.sent))
        await desk.stop(task)
        office.delivered.set()

        async def delivered() -> bool:
            [top, _] = await rows_of(at.agency, task)
            return bool(top.run != "held")

        await until(delivered)
        [top, leg] = await rows_of(at.agency, task)
        assert (leg.run, top.run) == ("held", "parked")
        staged.hold_no_more()
        await at.agency.settle()
        tree = await desk.work_tree(task)
        assert [node.status for node in tree] == [Status.CANCELLED, Status.CANCELLED]


# R10
async def test_what_a_model_asks_for_after_its_person_is_gone_reaches_nothing_outside(
    database: str, clock: TestClock
) -> None:
    sends = Says.tool(send_letter, {"text": "Dear Noor"})
    staged, office = Staged(AgentCast().plays(Poster, AgentScript(sends, DONE)), Poster), Office.opens()
    office.delivered.set()
    async with shop(database, [Poster(), Finder()], clock=clock) as at:
        at.agency.script(staged)
        task = await at.agency.desk(at.mia).of(Poster).start(Post(), "letters")
        await staged.holds(1)
        await at.agency.deactivate(at.mia)
        staged.hold_no_more()
        await at.agency.settle()
        assert office.sent == []
        assert (await at.agency.desk(None).outcome(task)).status is Status.CANCELLED
