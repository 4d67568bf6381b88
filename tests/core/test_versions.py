"""A skill defined anew while a piece of it waited: the receipt and the record say so."""

from __future__ import annotations

from typing import Any

from handon import Agent, Skill, TraceKind
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import Answer, add_shelf, hears, look_up, shop
from tests.staging import DONE, reopened


def keeper(instructions: str, *tools: Any) -> Agent:
    """The app as it is at one time: one agent with one skill, `Keep`."""

    class Keep(Skill[str, Answer]):
        description = "Keep the shelves."

    Keep.instructions, Keep.tools = instructions, list(tools)  # type: ignore[misc]

    class Keeper(Agent):
        purpose = "You keep."
        roles = {"helper"}
        skills = [Keep()]

    return Keeper()


ADD = Says.tool(add_shelf, {"mark": "B-2"})


async def wait_in(database: str, clock: TestClock, agent: Agent) -> Any:
    async with shop(database, [agent], clock=clock) as at:
        at.agency.script(AgentCast().plays("Keeper", AgentScript(ADD, DONE)))
        outcome = await at.agency.desk(at.mia).of("Keeper").do(agent.skills[0], "x")
        return outcome.task, at.mia


# H2, T4
async def test_a_definition_that_changed_while_its_piece_waited_is_on_the_receipt_and_on_the_record(
    database: str, clock: TestClock
) -> None:
    task, mia = await wait_in(database, clock, keeper("Write small.", add_shelf))
    newer = keeper("Write large.", add_shelf, look_up)
    async with reopened(database, AgentCast(), [newer], clock=clock) as agency:
        heard = hears(agency, AgentCast().plays("Keeper", AgentScript(DONE)))
        desk = agency.desk(mia)
        opened_with = (await desk.piece(task)).skill_version
        [proposal] = await desk.proposals()
        await desk.approve(proposal.id)
        assert (await desk.stands(task)).done
        piece = await desk.piece(task)
        assert piece.skill_version == opened_with
        assert piece.skill_version_now == newer.skills[0].version()[0] != opened_with
        [line] = [line for line in await desk.trace_of(task) if line.kind is TraceKind.REDEFINED]
        assert line.summary == (
            "Keep was defined anew since Keeper last worked on it: what changed is instructions and tools."
        )
        assert opened_with in line.payload and piece.skill_version_now in line.payload
        assert "Write large." in heard.all[-1].messages[0].text and "look_up" in heard.all[-1].tools
        assert (await desk.verify_trace(task)).intact


# H2
async def test_a_definition_that_is_the_same_says_nothing(database: str, clock: TestClock) -> None:
    task, mia = await wait_in(database, clock, keeper("Write small.", add_shelf))
    async with reopened(database, AgentCast(), [keeper("Write small.", add_shelf)], clock=clock) as agency:
        agency.script(AgentCast().plays("Keeper", AgentScript(DONE)))
        desk = agency.desk(mia)
        await desk.approve((await desk.proposals())[0].id)
        assert (await desk.stands(task)).done
        piece = await desk.piece(task)
        assert piece.skill_version == piece.skill_version_now
        assert TraceKind.REDEFINED not in [line.kind for line in await desk.trace_of(task)]
