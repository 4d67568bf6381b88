"""Approving what reaches outside, while the piece that proposed it has something else under way."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any, ClassVar

from handon import Agent, Permits, Skill, TraceKind, action
from handon.testing import AgentCast, AgentScript, Says, TestClock, Trajectory
from tests.builders import Answer, Shop, shop
from tests.staging import DONE, reopened, until


class Counter:
    """Where labels and parcels go: a label takes until it is let go."""

    now: ClassVar[Counter]

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.let_go = asyncio.Event()

    @classmethod
    def opens(cls) -> Counter:
        cls.now = Counter()
        return cls.now


@action("Order a label")
async def order_label() -> str:
    Counter.now.reached.append("label")
    await Counter.now.let_go.wait()
    return "The label is ordered."


@action("Post the parcel")
async def post_parcel() -> str:
    Counter.now.reached.append("parcel")
    return "The parcel is posted."


class Send(Skill[str, Answer]):
    description = "Send a parcel off."
    tools = [order_label, post_parcel]


class Courier(Agent):
    """Orders labels by itself; what it posts is put to a person."""

    purpose = "You send parcels."
    roles = {"helper"}
    skills = [Send()]
    may = Permits.proposes_changes().alone(order_label)


class Postman(Agent):
    """Says nothing of what it may do alone: it proposes every change."""

    purpose = "You order labels."
    roles = {"helper"}
    skills = [Send()]


SENDS = AgentScript(Says.together(Says.tool(order_label, {}), Says.tool(post_parcel, {})), DONE)


async def begun(at: Shop) -> Any:
    """A label is being ordered, and the posting waits for Mia; answers the whole's id."""
    at.agency.script(AgentCast().plays(Courier, SENDS))
    task = await at.agency.desk(at.mia).of(Courier).start(Send(), "the parcel")
    await until(lambda: Counter.now.reached == ["label"])
    return task


# P5, A5, A7
async def test_a_yes_while_another_call_of_the_turn_is_under_way_takes_nothing_away_from_it(database: str) -> None:
    counter = Counter.opens()
    async with shop(database, [Courier()]) as at:
        task = await begun(at)
        desk = at.agency.desk(at.mia)
        [proposal] = await desk.proposals()
        await desk.approve(proposal.id)
        counter.let_go.set()
        await at.agency.settle()
        assert counter.reached == ["label", "parcel"]
        told = await Trajectory(at.agency, task).said()
        assert "The label is ordered." in told
        assert "The parcel is posted." in told
        assert not any("outcome is unknown" in text for text in told)
        ran = [line for line in await desk.trace_of(task) if line.kind is TraceKind.TOOL_RAN]
        assert len(ran) == 2
        assert (await desk.proposal(proposal.id)).status == "Done"


# P5, A2, T3
async def test_what_was_approved_and_had_begun_is_not_withdrawn_as_undecided_when_its_piece_ends(
    database: str, clock: TestClock
) -> None:
    counter = Counter.opens()
    async with shop(database, [Postman()], clock=clock) as at:
        at.agency.script(AgentCast().plays(Postman, AgentScript(Says.tool(order_label, {}), DONE)))
        desk = at.agency.desk(at.mia)
        task = (await desk.of(Postman).do(Send(), "the parcel")).task
        [proposal] = await desk.proposals()
        await desk.approve(proposal.id)
        await until(lambda: counter.reached == ["label"])
        await clock.advance(timedelta(minutes=40))  # its process is gone, as far as anybody can tell
        after = await desk.proposal(proposal.id)
        assert (after.status, after.decided_by) == ("Failed", at.mia.id)
        assert "outcome is unknown" in after.result
        decided = [line.summary for line in await desk.trace_of(task) if line.kind is TraceKind.DECIDED]
        assert decided == ["Mia approved: Order a label"]
        counter.let_go.set()
        await at.agency.settle()


# P5, A7, A8
async def test_what_was_approved_and_never_reported_back_is_not_left_waiting(database: str) -> None:
    counter = Counter.opens()
    cast = AgentCast().plays(Postman, AgentScript(Says.tool(order_label, {}), DONE))
    async with shop(database, [Postman()], stop_grace=timedelta(milliseconds=50)) as at:
        at.agency.script(cast)
        desk = at.agency.desk(at.mia)
        task = (await desk.of(Postman).do(Send(), "the parcel")).task
        [proposal] = await desk.proposals()
        await desk.approve(proposal.id)
        await until(lambda: counter.reached == ["label"])
    async with reopened(database, cast, [Postman()]) as agency:
        await agency.settle()
        desk = agency.desk(at.mia)
        assert (await desk.outcome(task)).done
        after = await desk.proposal(proposal.id)
        assert (after.status, after.decided_by) == ("Failed", at.mia.id)
        assert "outcome is unknown" in after.result
