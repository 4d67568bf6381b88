"""Testing an agency without a model: casts, what models say, what is read of it, and a clock that is set."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from core.models.messages import Message
from handon import Agent, HandonError, ModelRequest, Status
from handon.testing import AgentCast, AgentScript, Says, ScriptError, TestClock, Trajectory, Unreachable
from tests.builders import Answer, Clerk, Find, Note, look_up, make, model, note_shelf, shop
from tests.staging import CALL, DONE, STAFF, Finder, Gather, Lead, finders, gathers


def request(agent: str, piece: UUID, turn: int = 1, purpose: Any = "work") -> ModelRequest:
    messages = [Message("user", "Do it.")] * (2 * turn - 1)
    return ModelRequest("Everyday", agent, piece, purpose, messages, [], 1000)


# K1
async def test_each_agent_says_what_its_script_says_turn_by_turn(database: str) -> None:
    async with shop(database, STAFF) as at:
        cast = AgentCast().plays(Lead, gathers(*finders(1))).plays(Finder, AgentScript(DONE))
        at.agency.script(cast)
        outcome = await at.agency.desk(at.mia).of(Lead).do(Gather(), "things")
        assert (outcome.done, outcome.result) == (True, Answer(text="Gathered."))


# K1
def test_an_agent_in_several_pieces_is_given_its_script_anew_for_each() -> None:
    one, other = uuid4(), uuid4()
    cast = AgentCast().plays(Finder, AgentScript(Says.text("First."), Says.text("Second.")))
    said = [
        cast.answer("Everyday", request("Finder", *who)).text for who in ((one, 1), (other, 1), (one, 2), (other, 2))
    ]
    assert said == ["First.", "First.", "Second.", "Second."]


# K1
def test_the_nth_piece_of_an_agent_may_be_given_another_script() -> None:
    cast = (
        AgentCast()
        .plays(Finder, AgentScript(Says.text("Any.")))
        .plays("Finder", AgentScript(Says.text("Two.")), piece=2)
    )
    assert [cast.answer("Everyday", request("Finder", uuid4())).text for _ in range(3)] == ["Any.", "Two.", "Any."]


# K1
@pytest.mark.parametrize(
    ("cast", "says"),
    [
        (AgentCast(), "Nobody plays Finder, whose piece 1 was asked"),
        (
            AgentCast().plays(Finder, AgentScript()),
            "Finder's script has 0 turns and was asked for more, after: Do it.",
        ),
    ],
)
def test_a_script_that_is_missing_or_has_run_out_says_where(cast: AgentCast, says: str) -> None:
    with pytest.raises(ScriptError, match=says):
        cast.answer("Everyday", request("Finder", uuid4()))


# K1
def test_a_script_that_is_asked_twice_for_one_turn_says_so() -> None:
    cast, piece = AgentCast().plays(Finder, AgentScript(DONE, DONE)), uuid4()
    cast.answer("Everyday", request("Finder", piece))
    with pytest.raises(ScriptError, match="asked twice for its turn 1"):
        cast.answer("Everyday", request("Finder", piece))


# K1
async def test_a_script_that_runs_out_fails_the_test_that_waits_for_the_work(database: str) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(AgentCast().plays(Finder, AgentScript(Says.tool(look_up, {"word": "x"}))))
        with pytest.raises(ScriptError, match="Finder's script has 1 turns and was asked for more, after: X"):
            await at.agency.desk(at.mia).of(Finder).do(Find(), "it")


# K1
async def test_a_script_that_runs_out_fails_the_test_that_settles(database: str) -> None:
    async with shop(database, STAFF) as at:
        at.agency.script(AgentCast())
        await at.agency.desk(at.mia).of(Finder).start(Find(), "it")
        with pytest.raises(ScriptError, match="Nobody plays Finder"):
            await at.agency.settle()


class Unsure(Agent):
    purpose = "You find things out, and ask when unsure."
    roles = {"helper"}
    skills = [Find()]
    consults = "Senior"


# K1
@pytest.mark.parametrize(
    ("advice", "told"),
    [("The left one.", "The left one."), (Unreachable("down"), "Senior could not be reached. Go on without.")],
    ids=["advice", "exception"],
)
async def test_a_consulted_model_advises_what_is_written_for_it_or_raises_it(
    database: str, advice: Any, told: str
) -> None:
    settings = {"models": [model(), model("Senior", most=100)], "model_tries": 1}
    async with shop(database, [Unsure()], **settings) as at:
        script = AgentScript(Says.consult("Which?", "There are two."), DONE).advises("Senior", advice)
        at.agency.script(AgentCast().plays(Unsure, script))
        outcome = await at.agency.desk(at.mia).of(Unsure).do(Find(), "it")
        assert outcome.done
        assert told in await Trajectory(at.agency, outcome.task).said()


# K1
async def test_an_agency_without_a_scripted_model_says_so() -> None:
    class Real:
        async def ask(self, request: ModelRequest) -> Any:
            raise AssertionError

    agency = make("sqlite:///never-opened.db", models=[model(client=Real())])
    with pytest.raises(HandonError, match="None of the agency's models is scripted"):
        agency.script(AgentCast())


# K2
def test_a_turn_costs_a_hundred_tokens_in_and_twenty_out_unless_it_says_otherwise() -> None:
    assert (DONE.answer().tokens_in, DONE.answer().tokens_out) == (100, 20)
    dear = Says.tool(look_up, {"word": "x"}, tokens=(7, 3)).answer()
    assert (dear.tokens_in, dear.tokens_out) == (7, 3)


# K2
def test_each_thing_a_model_can_say_is_one_turn_with_what_it_said() -> None:
    shelf = uuid4()
    turns = {
        "look_up": Says.tool(look_up, {"word": "x"}, said="I look."),
        "hand_to_Finder_Find": Says.hand_to(Finder, Find(), "it", said="I look."),
        "hand_to_helper_Find": Says.hand_to_helper(Find(), "it", said="I look."),
        "hand_back": Says.hand_back(Answer(text="x"), said="I look."),
        "consult": Says.consult("Which?", said="I look."),
        "ask_person": Says.ask("Which?", ["left", "right"], said="I look."),
        "anything": Says.raw("anything", "{", said="I look."),
    }
    for name, turn in turns.items():
        [call] = turn.answer().calls
        assert (call.name, turn.answer().text) == (name, "I look.")
    assert Says.text("I think.").answer().calls == ()
    row = Says.hand_to(Clerk, Note(), Says.row(shelf)).answer().calls[0]
    assert row.arguments_text == Says.hand_to(Clerk, Note(), shelf).answer().calls[0].arguments_text
    assert str(shelf) in row.arguments_text


# K2
def test_several_calls_together_are_one_turn_in_their_order_of_the_most_tokens_one_of_them_names() -> None:
    turn = Says.together(
        Says.tool(look_up, {"word": "x"}, said="First.", tokens=(10, 1)),
        Says.tool(note_shelf, {"note": "x"}, said="Then.", tokens=(300, 50)),
    ).answer()
    assert [call.name for call in turn.calls] == ["look_up", "note_shelf"]
    assert (turn.text, turn.tokens_in, turn.tokens_out) == ("First. Then.", 300, 50)
    assert Says.together(DONE, DONE, said="Both.", tokens=(1, 2)).answer().tokens_out == 2


# K3
async def test_a_trajectory_reads_the_tree_its_cost_what_was_said_the_models_and_what_goes_on(database: str) -> None:
    async with shop(database, STAFF) as at:
        cast = AgentCast().plays(Lead, gathers(*finders(2)))
        cast.plays(Finder, AgentScript(Says.ask("Which?", said="There are two."), DONE))
        at.agency.script(cast)
        desk = at.agency.desk(at.mia)
        outcome = await desk.of(Lead).do(Gather(), "things")
        whole = Trajectory(at.agency, outcome.task)
        assert await whole.tree() == ["Lead · Gather: Waiting", *["  Finder · Find: Waiting"] * 2]
        assert await whole.still_going() == await whole.tree()
        assert (await whole.helps(), await whole.models()) == (2, ["Everyday"] * 3)
        assert "There are two." in await whole.said()
        question = (await desk.questions())[0]
        await desk.answer(question.id, "The left one.")
        await at.agency.settle()
        leg = Trajectory(at.agency, question.piece)
        assert await leg.still_going() == ["Lead · Gather: Waiting", "  Finder · Find: Waiting"]
        assert await leg.tree_cost() == await whole.tree_cost() == 4 * CALL
        assert "The left one." in await leg.said()
        assert (await desk.piece(question.piece)).status is Status.DONE


NINE = datetime(2031, 3, 3, 9, 0, tzinfo=UTC)


# K4
async def test_a_test_clock_stands_until_it_is_set_or_advanced() -> None:
    clock = TestClock(NINE)
    assert clock.now() == clock.now() == NINE
    await clock.advance(timedelta(minutes=5))
    assert clock.now() == NINE + timedelta(minutes=5)
    await clock.set(NINE + timedelta(days=1))
    assert clock.now() == NINE + timedelta(days=1)


# K4
async def test_a_test_clock_does_not_go_back() -> None:
    clock = TestClock(NINE)
    with pytest.raises(ValueError, match="does not go back"):
        await clock.set(NINE - timedelta(seconds=1))


# K4
async def test_advancing_runs_what_comes_due_in_order_each_at_its_own_time() -> None:
    clock = TestClock(NINE)
    ran: list[tuple[str, int]] = []

    def timer(name: str) -> Any:
        async def run() -> None:
            ran.append((name, (clock.now() - NINE) // timedelta(minutes=1)))

        return run

    clock.every(timedelta(minutes=10), timer("ten"))
    clock.every(timedelta(minutes=4), timer("four"))
    await clock.advance(timedelta(minutes=3))
    assert ran == []
    await clock.advance(timedelta(minutes=9))
    assert ran == [("four", 4), ("four", 8), ("ten", 10), ("four", 12)]
    assert clock.now() == NINE + timedelta(minutes=12)
    await clock.stop()
    await clock.advance(timedelta(hours=1))
    assert len(ran) == 4


# K4
async def test_a_year_at_once_does_not_take_a_year() -> None:
    clock, ran = TestClock(NINE), 0

    async def run() -> None:
        nonlocal ran
        ran += 1

    clock.every(timedelta(seconds=2), run)
    await clock.advance(timedelta(days=365))
    assert 0 < ran <= 101
