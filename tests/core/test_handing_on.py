"""Handing on: pieces open together, run side by side, and come back together in the order they were asked for."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from handon import Agent, Delegation, ModelAnswer, ModelRequest, Permits, Skill, Specialist, Status, TraceKind
from handon.testing import AgentCast, AgentScript, Says, TestClock, Trajectory, Unreachable
from tests.builders import (
    Answer,
    Clerk,
    Find,
    Head,
    Note,
    Oversee,
    Shelf,
    Shop,
    add_shelf,
    hears,
    look_up,
    note_shelf,
    shop,
)

BACK = Says.hand_back(Answer(text="done"))


class Porter(Agent):
    """A second specialist, so that a turn may hand on to two."""

    roles = {"helper"}
    skills = [Find()]


class Boss(Agent):
    """Hands on to both, and holds tools of its own."""

    class See(Oversee):
        tools = [look_up, note_shelf, add_shelf]

    roles = {"helper"}
    skills = [See()]
    may = Permits.changes_alone()
    delegates = Delegation(
        to=[Specialist.of(Clerk, Note()), Specialist.of(Clerk, Find()), Specialist.of(Porter, Find())]
    )


class Amount(BaseModel):
    metres: Decimal


class Order(BaseModel, extra="forbid"):
    what: str
    amount: Amount


class Sell(Skill[Order, Answer]):
    pass


class Seller(Agent):
    roles = {"helper"}
    skills = [Sell()]


class Buyer(Agent):
    roles = {"helper"}
    skills = [Oversee()]
    delegates = Delegation(to=[Specialist.of(Seller, Sell())])


def find(word: str, agent: type[Agent] = Clerk) -> Any:
    return Says.hand_to(agent, Find(), word)


async def do(opened: Shop, answer: Any, agent: type[Agent] = Boss) -> tuple[Any, Any, list[str]]:
    """Mia gives `agent` work: the outcome, what was heard, and the tree."""
    heard = hears(opened.agency, answer)
    skill = opened.agency.agents[agent.__name__].skills[0]
    outcome = await opened.agency.desk(opened.mia).of(agent).do(skill, "the shelves", about="Shelf A-1")
    return outcome, heard, await Trajectory(opened.agency, outcome.task).tree()


def agents(*more: Agent) -> list[Agent]:
    return [Boss(), Clerk(), Porter(), *more]


# H1
async def test_the_pieces_of_one_turn_run_side_by_side_and_are_told_in_the_order_they_were_asked_for(
    database: str, clock: TestClock
) -> None:
    all_asked, porter_done = asyncio.Event(), asyncio.Event()
    boss = AgentCast().plays(Boss, AgentScript(Says.together(find("ink"), find("glue", Porter)), BACK))
    asked: set[str] = set()

    async def answer(model: str, request: ModelRequest) -> ModelAnswer:
        if request.agent == "Boss":
            return boss.answer(model, request)
        asked.add(request.agent)
        if asked == {"Clerk", "Porter"}:
            all_asked.set()
        await asyncio.wait_for(all_asked.wait(), 10)  # neither answers before both have been asked
        if request.agent == "Clerk":
            await asyncio.wait_for(porter_done.wait(), 10)  # and the first asked for answers last
        porter_done.set()
        return Says.hand_back(Answer(text=request.agent)).answer()

    async with shop(database, agents(), clock=clock) as opened:
        outcome, heard, tree = await do(opened, answer)
        assert outcome.done
        assert tree == ["Boss · See: Done", "  Clerk · Find: Done", "  Porter · Find: Done"]
        assert [json.loads(told)["text"] for told in heard.told(Boss)] == ["Clerk", "Porter"]
        assert len(heard.of(Boss)) == 2  # asked again once, when both had come back


# H1
async def test_the_model_above_is_asked_nothing_until_the_last_piece_has_come_back(
    database: str, clock: TestClock
) -> None:
    async with shop(database, agents(), clock=clock) as opened:
        cast = AgentCast().plays(Boss, AgentScript(Says.together(find("ink", Porter), find("glue")), BACK))
        cast.plays(Porter, AgentScript(BACK)).plays(Clerk, AgentScript(Says.ask("Which glue?"), BACK))
        outcome, heard, tree = await do(opened, cast)
        assert outcome.waiting
        assert tree == ["Boss · See: Waiting", "  Porter · Find: Done", "  Clerk · Find: Waiting"]
        assert len(heard.of(Boss)) == 1


# H2
async def test_a_handed_on_piece_has_a_receipt_like_any_other(database: str, clock: TestClock) -> None:
    async with shop(database, agents(), clock=clock) as opened:
        cast = AgentCast().plays(Boss, AgentScript(find("ink"), BACK)).plays(Clerk, AgentScript(BACK))
        outcome, heard, _ = await do(opened, cast)
        desk = opened.agency.desk(opened.mia)
        top = await desk.piece(outcome.task)
        [piece] = await desk.handed_on_by(outcome.task)
        assert (piece.parent, piece.root, piece.depth) == (top.id, top.id, 1)
        assert piece.lineage == (top.id, piece.id)
        assert (piece.agent, piece.skill, piece.skill_version) == ("Clerk", "Find", Find().version()[0])
        assert (piece.about, piece.requester, piece.given_by) == ("Shelf A-1", opened.mia.id, opened.mia.id)
        assert 0 < piece.limit_micros <= top.limit_micros
        [asked] = heard.of(Clerk)
        assert [message.role for message in asked.messages] == ["system", "user"]
        assert "look_up" in asked.tools
        assert "note_shelf" not in asked.tools


# H3
async def test_what_comes_back_is_the_typed_result_as_json(database: str, clock: TestClock) -> None:
    async with shop(database, agents(), clock=clock) as opened:
        cast = AgentCast().plays(Boss, AgentScript(find("ink"), BACK))
        _, heard, _ = await do(opened, cast.plays(Clerk, AgentScript(Says.hand_back(Answer(text="Füße", number=7)))))
        assert [json.loads(told) for told in heard.told(Boss)] == [{"text": "Füße", "number": 7}]


# H3, E2
async def test_of_a_piece_that_fails_the_model_above_is_told_why_and_what_its_tools_had_found(
    database: str, clock: TestClock
) -> None:
    async with shop(database, agents(), clock=clock) as opened:
        cast = AgentCast().plays(Boss, AgentScript(find("ink"), BACK))
        failing = AgentScript(Says.tool(look_up, {"word": "ink"}), Says.text("Hm."), Says.text("Hm."))
        outcome, heard, tree = await do(opened, cast.plays(Clerk, failing))
        assert outcome.done
        assert tree[1] == "  Clerk · Find: Failed"
        [told] = heard.told(Boss)
        assert told.startswith("Clerk failed: It failed 2 times in a row.")
        assert told.endswith("\nWhat it had found: look_up answered INK")


# H3, E5
async def test_of_a_piece_that_was_called_off_the_model_above_is_told_by_whom(database: str, clock: TestClock) -> None:
    async with shop(database, agents(), clock=clock) as opened:
        cast = AgentCast().plays(Boss, AgentScript(find("ink"), BACK))
        outcome, heard, _ = await do(opened, cast.plays(Clerk, AgentScript(Says.ask("Which ink?"))))
        desk = opened.agency.desk(opened.mia)
        [piece] = await desk.handed_on_by(outcome.task)
        await desk.stop(piece.id, "We have ink.")
        await opened.agency.settle()
        assert heard.told(Boss) == ["Clerk was called off: Mia stopped it: We have ink."]
        assert (await desk.piece(outcome.task)).status is Status.DONE


# H4
async def test_input_that_does_not_fit_opens_nothing_and_the_model_may_try_again(
    database: str, clock: TestClock
) -> None:
    async with shop(database, agents(), clock=clock) as opened:
        cast = AgentCast().plays(
            Boss,
            AgentScript(
                Says.raw("hand_to_Clerk_Find", '{"result":7}'),
                Says.raw("hand_to_Clerk_Note", '{"id":"the first one","colour":"red"}'),
                find("ink"),
                BACK,
            ),
        )
        outcome, heard, tree = await do(opened, cast.plays(Clerk, AgentScript(BACK)))
        assert outcome.done
        assert tree == ["Boss · See: Done", "  Clerk · Find: Done"]
        wrong_text, wrong_row, _ = heard.told(Boss)
        assert "string" in wrong_text
        assert "colour:" in wrong_row


# H4
async def test_each_field_that_does_not_fit_is_named(database: str, clock: TestClock) -> None:
    async with shop(database, [Buyer(), Seller()], clock=clock) as opened:
        wrong = {"what": 5, "amount": {"metres": "many"}, "more": 1}
        cast = AgentCast().plays(Buyer, AgentScript(Says.hand_to(Seller, Sell(), json.dumps(wrong)), BACK))
        _, heard, tree = await do(opened, cast, Buyer)
        assert tree == ["Buyer · Oversee: Done"]
        [told] = heard.told(Buyer)
        assert all(f"{field}: " in told for field in ("what", "amount.metres", "more"))


# H5
async def test_ordinary_tools_of_a_turn_do_not_wait_for_what_it_hands_on(database: str, clock: TestClock) -> None:
    async with shop(database, agents(), clock=clock) as opened:
        noted = Says.tool(note_shelf, {"shelf": str(opened.shelf), "note": "dusty"})
        cast = AgentCast().plays(
            Boss, AgentScript(Says.together(find("ink"), noted, Says.tool(look_up, {"word": "a"})), BACK)
        )
        cast.plays(Clerk, AgentScript(Says.ask("Which ink?"), Says.hand_back(Answer(text="ink"))))
        outcome, heard, _ = await do(opened, cast)
        assert outcome.waiting
        assert (await opened.the_shelf()).note == "dusty"
        [question] = await opened.agency.desk(opened.mia).questions()
        await opened.agency.desk(opened.mia).answer(question.id, "The black one.")
        await opened.agency.settle()
        assert heard.told(Boss)[1:] == ["Noted on A-1.", "A"]
        assert json.loads(heard.told(Boss)[0])["text"] == "ink"
        assert (await opened.the_shelf()).count == 1


# H5
async def test_a_hand_back_among_other_calls_is_not_taken(database: str, clock: TestClock) -> None:
    async with shop(database, agents(), clock=clock) as opened:
        hasty = Says.together(find("ink"), Says.hand_back(Answer(text="hasty")))
        cast = (
            AgentCast()
            .plays(Boss, AgentScript(hasty, Says.hand_back(Answer(text="read"))))
            .plays(Clerk, AgentScript(BACK))
        )
        outcome, heard, tree = await do(opened, cast)
        assert outcome.result == Answer(text="read")
        assert tree[1] == "  Clerk · Find: Done"
        assert heard.told(Boss)[1] == "Not taken: hand back alone, once you have read the answers of this turn."


# H6
async def test_the_same_handed_on_twice_in_one_turn_is_two_pieces(database: str, clock: TestClock) -> None:
    async with shop(database, agents(), clock=clock) as opened:
        cast = AgentCast().plays(Boss, AgentScript(Says.together(find("ink"), find("ink")), BACK))
        cast.plays(Clerk, AgentScript(BACK))
        outcome, heard, tree = await do(opened, cast)
        assert outcome.done
        assert tree == ["Boss · See: Done", "  Clerk · Find: Done", "  Clerk · Find: Done"]
        assert len(heard.told(Boss)) == 2


# H6
@pytest.mark.parametrize("id", [None, "", "call-a", "x" * 500])
async def test_calls_that_come_without_an_id_or_with_the_same_one_are_told_apart(
    database: str, clock: TestClock, id: str | None
) -> None:
    async with shop(database, agents(), clock=clock) as opened:
        words = ("ink", "glue", "thread")
        asks = [Says.tool(look_up, {"word": word}, id=id) for word in words]
        legs = [Says.hand_to(agent, Find(), "x", id=id) for agent in (Clerk, Porter)]
        cast = AgentCast().plays(Boss, AgentScript(Says.together(*asks, *legs), Says.together(*asks), BACK))
        cast.plays(Clerk, AgentScript(Says.hand_back(Answer(text="Clerk"))))
        _, heard, tree = await do(opened, cast.plays(Porter, AgentScript(Says.hand_back(Answer(text="Porter")))))
        assert len(tree) == 3
        for asked in heard.of(Boss)[1:]:
            calls, results = asked.messages[-2].calls, asked.messages[-1].results
            assert len({call.id for call in calls}) == len(calls)
            assert all(call.id and len(call.id) <= 200 for call in calls)
            assert [result.call_id for result in results] == [call.id for call in calls]
        assert [json.loads(text)["text"] for text in heard.of(Boss)[1].told[3:]] == ["Clerk", "Porter"]
        assert heard.of(Boss)[2].told == ["INK", "GLUE", "THREAD"]
        ids = [call.id for message in heard.of(Boss)[-1].messages for call in message.calls]
        assert len(set(ids)) == len(ids)  # over all turns: some providers refuse a conversation otherwise


# H6
async def test_a_fresh_id_is_none_that_another_call_of_the_turn_came_with(database: str, clock: TestClock) -> None:
    async with shop(database, agents(), clock=clock) as opened:
        ids = [*[f"call-{turn}-{n}" for turn in (0, 1, 2) for n in (10, 11, 12)], None, None, None]
        asks = [Says.tool(look_up, {"word": str(n)}, id=id) for n, id in enumerate(ids)]
        _, heard, _ = await do(opened, AgentCast().plays(Boss, AgentScript(Says.together(*asks), BACK)))
        calls = heard.of(Boss)[1].messages[-2].calls
        assert len({call.id for call in calls}) == len(calls) == 12


# H1, H3, E2
async def test_of_five_pieces_one_fails_and_one_cannot_be_reached_and_all_are_told_in_order(
    database: str, clock: TestClock
) -> None:
    words = ["one", "two", "three", "four", "five"]
    boss = AgentCast().plays(Boss, AgentScript(Says.together(*map(find, words)), BACK))

    def answer(model: str, request: ModelRequest) -> ModelAnswer:
        if request.agent == "Boss":
            return boss.answer(model, request)
        word = next(word for word in words if f'"{word}"' in request.messages[1].text)
        if word == "two":
            return Says.text("I would rather not.").answer()
        if word == "four":
            raise Unreachable("The line is dead.")
        return Says.hand_back(Answer(text=word)).answer()

    async with shop(database, agents(), clock=clock, model_tries=1) as opened:
        outcome, heard, tree = await do(opened, answer)
        assert outcome.done
        assert [line.rsplit(" ", 1)[1] for line in tree] == ["Done", "Done", "Failed", "Done", "Failed", "Done"]
        told = heard.told(Boss)
        assert [json.loads(told[n])["text"] for n in (0, 2, 4)] == ["one", "three", "five"]
        assert told[1].startswith("Clerk failed: It failed 2 times in a row.")
        assert told[3] == "Clerk failed: Its model could not be reached: Everyday."


# H1, T4
async def test_each_way_there_and_back_is_a_line_on_the_record(database: str, clock: TestClock) -> None:
    async with shop(database, agents(), clock=clock) as opened:
        cast = AgentCast().plays(Boss, AgentScript(find("ink"), BACK)).plays(Clerk, AgentScript(BACK))
        outcome, _, _ = await do(opened, cast)
        lines = await opened.agency.desk(opened.mia).trace_of(outcome.task)
        said = [line.summary for line in lines if line.kind in (TraceKind.HANDED_ON, TraceKind.CAME_BACK)]
        assert said[0].startswith("Boss handed Find on to Clerk, with up to ")
        assert said[1] == "Clerk's work came back to Boss."


# R7, H4
@pytest.mark.parametrize("gone", ["00000000-0000-0000-0000-000000000000"])
async def test_a_row_that_is_not_there_is_not_handed_on(database: str, clock: TestClock, gone: str) -> None:
    async with shop(database, [Head(), Clerk()], clock=clock) as opened:
        cast = AgentCast().plays(Head, AgentScript(Says.hand_to(Clerk, Note(), f'{{"id":"{gone}"}}'), BACK))
        _, heard, tree = await do(opened, cast, Head)
        assert tree == ["Head · Oversee: Done"]
        assert heard.told(Head) == [f"There is no shelf with the id {gone}."]


class Parcel(BaseModel):
    weight: float
    label: float | str
    more: dict[str, Any]


class Send(Skill[Parcel, Answer]):
    description = "Send a parcel."

    def brief(self, parcel: Parcel) -> str:
        return repr(parcel)


class Sender(Agent):
    roles = {"helper"}
    skills = [Send()]


class Packer(Agent):
    roles = {"helper"}
    skills = [Oversee()]
    delegates = Delegation(to=[Specialist.of(Sender, Send())])


# H2, H4
async def test_what_is_handed_on_arrives_with_the_very_values_that_were_written(
    database: str, clock: TestClock
) -> None:
    parcel = Parcel(weight=1.5, label=0.25, more={"a": 2, "b": [1e-3, "1.5", None]})
    async with shop(database, [Packer(), Sender()], clock=clock) as opened:
        cast = AgentCast().plays(Packer, AgentScript(Says.hand_to(Sender, Send(), parcel), BACK))
        _, heard, _ = await do(opened, cast.plays(Sender, AgentScript(BACK)), Packer)
        assert heard.of(Sender)[0].brief == repr(parcel)


class Look(Skill[Shelf, Answer]):
    """Says nothing of how its shelf is told to a model."""


class Looker(Agent):
    roles = {"helper"}
    skills = [Look()]


# H2, D8
async def test_a_skill_that_takes_a_row_and_writes_no_brief_tells_its_model_which_row_it_is(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Looker()], clock=clock) as opened:
        heard = hears(opened.agency, AgentCast().plays(Looker, AgentScript(BACK)))
        outcome = await opened.agency.desk(opened.mia).of(Looker).do(Look(), await opened.the_shelf())
        assert outcome.done, outcome.why
        assert str(opened.shelf) in heard.of(Looker)[0].brief


# H3, E2
@pytest.mark.parametrize(
    ("then", "told"),
    [
        (Says.raw("no_such_tool", "{}"), "Clerk was stopped: It asked for the same 4 times in a row: no_such_tool."),
        (Says.ask("Which ink?"), "Clerk was called off: Mia stopped it: Enough"),
    ],
    ids=["stopped", "called off"],
)
async def test_of_a_piece_that_was_stopped_or_called_off_the_model_above_is_told_what_it_had_found(
    database: str, clock: TestClock, then: Any, told: str
) -> None:
    async with shop(database, agents(), clock=clock) as opened:
        cast = AgentCast().plays(Boss, AgentScript(find("ink"), BACK))
        cast.plays(Clerk, AgentScript(Says.tool(look_up, {"word": "ink"}), *[then] * 4))
        outcome, heard, _ = await do(opened, cast)
        desk = opened.agency.desk(opened.mia)
        for question in await desk.questions():
            await desk.stop(question.piece, "Enough")
        await opened.agency.settle()
        assert heard.told(Boss) == [f"{told}\nWhat it had found: look_up answered INK"]
        assert (await desk.outcome(outcome.task)).done
