"""Failed work that its skill has tried again: a fresh conversation on the same receipt."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from handon import (
    Agent,
    BadDeclaration,
    Delegation,
    Guards,
    ModelAnswer,
    ModelRequest,
    Permits,
    Retry,
    Skill,
    Specialist,
    Status,
    TraceKind,
    action,
)
from handon.testing import AgentCast, AgentScript, Says, TestClock, Trajectory, Unreachable
from tests.builders import Answer, Find, add_shelf, hears, look_up, make, shop
from tests.staging import (
    CALL,
    DONE,
    Finder,
    Staged,
    calls_of,
    check_money,
    reopened,
    rows_of,
    until,
)


class Weigh(Skill[str, Answer]):
    description = "Weigh something."
    tools = [look_up, add_shelf]
    retry = Retry(times=1)

    def check(self, output: Answer) -> str | None:
        return None if output.number > 0 else "Nothing weighs nothing."


class Weigher(Agent):
    purpose = "You weigh."
    roles = {"helper"}
    skills = [Weigh()]
    stuck_after = 1
    delegates = Delegation(to=[Specialist.of(Finder, Find())])


class LaterWeigh(Weigh):
    retry = Retry(times=2, wait=timedelta(minutes=10))


class LaterWeigher(Weigher):
    skills = [LaterWeigh()]


class Head(Agent):
    purpose = "You have things weighed."
    roles = {"helper"}
    skills = [Find()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(Weigher, Weigh())])


NOTHING = Says.hand_back(Answer(number=0))
FIVE = Says.hand_back(Answer(number=5))
LOOKS = Says.tool(look_up, {"word": "scales"})


def kinds(lines: Any) -> list[TraceKind]:
    return [line.kind for line in lines]


# E3, M5
async def test_failed_work_is_tried_again_in_a_fresh_conversation_and_what_it_spent_stays_spent(database: str) -> None:
    async with shop(database, [Weigher(), Finder()]) as at:
        heard = hears(at.agency, AgentCast().plays(Weigher, AgentScript(LOOKS, NOTHING, LOOKS, FIVE)))
        outcome = await at.agency.desk(at.mia).of(Weigher).do(Weigh(), "a stone")
        assert outcome.done and outcome.result == Answer(number=5)
        lengths = [len(asked.messages) for asked in heard.of(Weigher)]
        assert lengths == [2, 4, 2, 4]  # system and brief, and then a turn more; the second time from the start
        desk = at.agency.desk(at.mia)
        piece = await desk.piece(outcome.task)
        assert (piece.spent_micros, piece.model_calls) == (4 * CALL, 4)
        [retried] = [line for line in await desk.trace_of(outcome.task) if line.kind is TraceKind.RETRIED]
        assert "Weigher tries again (1 of 1)" in retried.summary and "Nothing weighs nothing." in retried.summary
        check_money(await rows_of(at.agency, outcome.task))


# E3, E2
async def test_work_that_fails_more_often_than_it_is_tried_again_fails_and_the_piece_above_is_told_once(
    database: str,
) -> None:
    async with shop(database, [Head(), Weigher(), Finder()]) as at:
        cast = AgentCast().plays(Head, AgentScript(Says.hand_to(Weigher, Weigh(), "a stone"), DONE))
        heard = hears(at.agency, cast.plays(Weigher, AgentScript(NOTHING, NOTHING)))
        outcome = await at.agency.desk(at.mia).of(Head).do(Find(), "x")
        assert outcome.done
        told = heard.told(Head)
        assert len(told) == 1 and told[0].startswith("Weigher failed: It failed 1 times in a row.")
        lines = await at.agency.desk(at.mia).trace_of(outcome.task)
        assert kinds(lines).count(TraceKind.RETRIED) == 1 and kinds(lines).count(TraceKind.CAME_BACK) == 1


# E3
async def test_with_a_wait_it_is_tried_again_when_the_time_has_come_and_not_before(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [LaterWeigher(), Finder()], clock=clock) as at:
        heard = hears(at.agency, AgentCast().plays(LaterWeigher, AgentScript(NOTHING, NOTHING, FIVE)))
        desk = at.agency.desk(at.mia)
        task = await desk.of(LaterWeigher).start(LaterWeigh(), "a stone")
        await at.agency.settle()
        for tries in (1, 2):
            assert len(heard.all) == tries
            assert (await desk.piece(task)).status is Status.WORKING
            await clock.advance(timedelta(minutes=9, seconds=59))
            await at.agency.settle()
            assert len(heard.all) == tries
            await clock.advance(timedelta(seconds=1))
            await at.agency.settle()
        assert (await desk.outcome(task)).result == Answer(number=5)


# E3, A1, A6
async def test_what_is_tried_again_later_is_not_abandoned_and_a_new_process_tries_it(
    database: str, clock: TestClock
) -> None:
    class Far(Weigh):
        retry = Retry(times=1, wait=timedelta(days=3))

    class FarWeigher(Weigher):
        skills = [Far()]

    class FarHead(Head):
        delegates = Delegation(to=[Specialist.of(FarWeigher, Far())])

    agents = [FarHead(), FarWeigher(), Finder()]
    cast = AgentCast().plays(FarHead, AgentScript(Says.hand_to(FarWeigher, Far(), "a stone"), DONE))
    cast.plays(FarWeigher, AgentScript(NOTHING, FIVE))
    async with shop(database, agents, clock=clock) as at:
        at.agency.script(cast)
        task = await at.agency.desk(at.mia).of(FarHead).start(Find(), "x")
        await at.agency.settle()
        await clock.advance(timedelta(days=2))
        assert not await at.agency.was_abandoned(task)
    async with reopened(database, cast, agents, clock=clock) as agency:
        await clock.advance(timedelta(days=1))
        await agency.settle()
        assert await Trajectory(agency, task).still_going() == []
        assert (await agency.desk(None).outcome(task)).done


# E3, E8
async def test_work_whose_model_cannot_be_reached_is_tried_again_too(database: str) -> None:
    class Away:
        def __init__(self) -> None:
            self.times = 0

        def __call__(self, model: str, request: ModelRequest) -> ModelAnswer:
            self.times += 1
            if self.times == 1:
                raise Unreachable("down")
            return FIVE.answer()

    async with shop(database, [Weigher(), Finder()], model_tries=1) as at:
        at.agency.script(Away())
        outcome = await at.agency.desk(at.mia).of(Weigher).do(Weigh(), "a stone")
        assert outcome.done and outcome.cost_micros == CALL


# E3
async def test_what_broke_in_a_way_nobody_foresaw_is_tried_again_too(database: str) -> None:
    class Fragile(Weigh):
        briefed = 0

        def brief(self, input: str) -> str:
            type(self).briefed += 1
            if type(self).briefed == 1:
                raise RuntimeError("the scales are locked")
            return input

    class FragileWeigher(Weigher):
        skills = [Fragile()]

    async with shop(database, [FragileWeigher(), Finder()]) as at:
        at.agency.script(AgentCast().plays(FragileWeigher, AgentScript(FIVE)))
        # Opening reads the input and does not brief; the first run does.
        outcome = await at.agency.desk(at.mia).of(FragileWeigher).do(Fragile(), "a stone")
        assert outcome.done and Fragile.briefed == 2


# E3, M6, E7
@pytest.mark.parametrize("limit", ["money", "turns"])
async def test_what_a_limit_stopped_is_not_tried_again(database: str, limit: str) -> None:
    class Bounded(Weigher):
        guards = Guards(turns=2)

    async with shop(database, [Bounded(), Finder()]) as at:
        dear = Says.tool(look_up, {"word": "scales"}, tokens=(100, 900))
        at.agency.script(AgentCast().plays(Bounded, AgentScript(*[dear if limit == "money" else LOOKS] * 4)))
        bound = Decimal("0.006") if limit == "money" else Decimal("0.05")
        outcome = await at.agency.desk(at.mia).of(Bounded).do(Weigh(), "a stone", limit=bound)
        assert outcome.status is Status.STOPPED
        assert TraceKind.RETRIED not in kinds(await at.agency.desk(at.mia).trace_of(outcome.task))


# E3, E5
async def test_work_that_was_called_off_is_not_tried_again(database: str) -> None:
    staged = Staged(AgentCast().plays(Weigher, AgentScript(NOTHING, FIVE)), Weigher)
    async with shop(database, [Weigher(), Finder()]) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Weigher).start(Weigh(), "a stone")
        await staged.holds(1)
        await desk.stop(task)
        staged.hold_no_more()
        await at.agency.settle()
        assert (await desk.piece(task)).status is Status.CANCELLED
        assert len(staged.asked) == 1


# E3, E5
async def test_work_that_waits_to_be_tried_again_is_stopped_at_once(database: str, clock: TestClock) -> None:
    async with shop(database, [LaterWeigher(), Finder()], clock=clock) as at:
        at.agency.script(AgentCast().plays(LaterWeigher, AgentScript(NOTHING, FIVE)))
        desk = at.agency.desk(at.mia)
        task = await desk.of(LaterWeigher).start(LaterWeigh(), "a stone")
        await at.agency.settle()
        await desk.stop(task)
        assert (await desk.piece(task)).status is Status.CANCELLED
        await clock.advance(timedelta(hours=1))
        await at.agency.settle()
        assert (await desk.piece(task)).model_calls == 1


class Fickle:
    """An argument's type that is read well a first time and breaks the second time, in the run that awaits the call."""

    read = 0

    @classmethod
    def check(cls, text: str) -> str:
        cls.read += 1
        if cls.read == 2:
            raise RuntimeError("not foreseen")
        return text


@action("Send a parcel", says="Send {text}")
async def send_parcel(text: Annotated[str, AfterValidator(Fickle.check)]) -> str:
    return "Sent."


class Ship(Weigh):
    tools = [add_shelf, send_parcel]


class Shipper(Weigher):
    skills = [Ship()]
    may = Permits.proposes_changes().alone(send_parcel)


# E3, E4
async def test_a_turn_that_breaks_takes_what_it_had_asked_and_handed_on_with_it(database: str) -> None:
    Fickle.read = 0
    together = Says.together(
        Says.tool(send_parcel, {"text": "scales"}),
        Says.tool(add_shelf, {"mark": "B-2"}),
        Says.ask("How heavy?"),
        Says.hand_to(Finder, Find(), "the scales"),
    )
    staged = Staged(AgentCast().plays(Shipper, AgentScript(together, FIVE)).plays(Finder, AgentScript(DONE)), Finder)
    async with shop(database, [Shipper(), Finder()]) as at:
        at.agency.script(staged)
        desk = at.agency.desk(at.mia)
        task = await desk.of(Shipper).start(Ship(), "a stone")

        async def handed_back() -> bool:
            [shipper, *_] = await rows_of(at.agency, task)
            return shipper.closing == "Done"

        await until(handed_back)  # and it ends once the finder that was called off has come back (E4)
        staged.hold_no_more()
        outcome = await desk.stands(task)
        assert outcome.done and outcome.result == Answer(number=5)
        assert await Trajectory(at.agency, outcome.task).still_going() == []
        assert (await desk.proposals(), await desk.questions()) == ([], [])
        lines = await desk.trace_of(outcome.task)
        withdrawn = [line.summary for line in lines if line.kind is TraceKind.DECIDED]
        assert withdrawn == ["Withdrawn, undecided: Add B-2"]
        assert len(await calls_of(at.agency, outcome.task)) in (2, 3)  # the finder's own call is charged if it left
        check_money(await rows_of(at.agency, outcome.task))
        assert (await desk.verify_trace(outcome.task)).intact


# E3, T3
async def test_the_record_and_what_was_said_keep_every_try(database: str) -> None:
    async with shop(database, [Weigher(), Finder()]) as at:
        at.agency.script(AgentCast().plays(Weigher, AgentScript(LOOKS, NOTHING, FIVE)))
        outcome = await at.agency.desk(at.mia).of(Weigher).do(Weigh(), "a stone")
        said = await Trajectory(at.agency, outcome.task).said()
        assert sum("a stone" in text for text in said) == 2  # briefed twice
        assert "SCALES" in said
        assert (await at.agency.desk(at.mia).verify_trace(outcome.task)).intact


# E3, D8
@pytest.mark.parametrize("retry", [Retry(times=-1), Retry(wait=timedelta(seconds=-1))])
def test_a_retry_that_says_nothing_sensible_is_refused_when_declared(sqlite_database: str, retry: Retry) -> None:
    class Odd(Weigh):
        pass

    Odd.retry = retry

    class Odder(Weigher):
        skills = [Odd()]

    with pytest.raises(BadDeclaration, match="Odder's skill Odd"):
        make(sqlite_database, [Odder(), Finder()])
