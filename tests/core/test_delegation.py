"""Declaring who may hand on what: what a model is offered, and what is bounded."""

from __future__ import annotations

from typing import Any

from handon import Agent, Delegation, Permits, Specialist, Status
from handon.testing import AgentCast, AgentScript, Says, TestClock, Trajectory
from tests.builders import Answer, Clerk, Find, Head, Note, Oversee, Shop, hears, note_shelf, shop

FIND = "hand_to_Clerk_Find"
NOTE = "hand_to_Clerk_Note"
BACK = Says.hand_back(Answer(text="done"))


class Loner(Agent):
    """Declares no delegation."""

    roles = {"helper"}
    skills = [Oversee()]


class Circle(Agent):
    """May hand its own work to itself, two levels at most."""

    roles = {"helper"}
    skills = [Oversee()]
    delegates = Delegation(to=[Specialist.helper(Oversee())], max_depth=2)


class Narrow(Agent):
    """Leaves one level to what it hands on, whatever that would leave by itself."""

    roles = {"helper"}
    skills = [Oversee()]
    delegates = Delegation(to=[Specialist.of(Circle, Oversee())], max_depth=1)


class Wide(Agent):
    """Would leave five levels, but what it hands on to leaves fewer."""

    roles = {"helper"}
    skills = [Oversee()]
    delegates = Delegation(to=[Specialist.of(Circle, Oversee())], max_depth=5)


class Two(Agent):
    """May hand two pieces on."""

    roles = {"helper"}
    skills = [Oversee()]
    delegates = Delegation(to=[Specialist.of(Clerk, Find())], max_pieces=2)


class Changing(Agent):
    """Says what it may hand on when it is asked, and may say otherwise the next time."""

    roles = {"helper"}
    skills = [Oversee()]
    closed = False

    @property
    def delegates(self) -> Delegation:  # type: ignore[override]
        return Delegation() if self.closed else Delegation(to=[Specialist.of(Clerk, Find())])


async def oversee(shop: Shop, agent: type[Agent], cast: AgentCast) -> tuple[Any, Any, list[str]]:
    """Mia gives `agent` work; answers its outcome, what was heard, and the tree."""
    heard = hears(shop.agency, cast)
    outcome = await shop.agency.desk(shop.mia).of(agent).do(Oversee(), "the shelves")
    return outcome, heard, await Trajectory(shop.agency, outcome.task).tree()


# D1
async def test_an_agent_that_declares_nothing_is_offered_no_way_to_hand_on(database: str, clock: TestClock) -> None:
    async with shop(database, [Loner(), Clerk()], clock=clock) as opened:
        _, heard, tree = await oversee(opened, Loner, AgentCast().plays(Loner, AgentScript(BACK)))
        assert not any(name.startswith("hand_to") for name in heard.of(Loner)[0].tools)
        assert tree == ["Loner · Oversee: Done"]


# D1
def test_a_delegation_leaves_three_levels_and_eight_pieces_where_nothing_else_is_said() -> None:
    assert (Delegation().max_depth, Delegation().max_pieces, list(Delegation().to)) == (3, 8, [])


# D1, D4
async def test_what_an_agent_without_delegation_hands_on_all_the_same_is_not_opened(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Loner(), Clerk()], clock=clock) as opened:
        script = AgentScript(Says.hand_to(Clerk, Find(), "ink"), BACK)
        outcome, heard, tree = await oversee(opened, Loner, AgentCast().plays(Loner, script))
        assert outcome.done
        assert tree == ["Loner · Oversee: Done"]
        assert heard.told(Loner) == ["Loner may not hand that on: hand_to_Clerk_Find. It may hand on: nothing."]


class Careful(Agent):
    """Has one of its own skills done apart."""

    roles = {"helper"}
    skills = [Oversee(), Find()]
    delegates = Delegation(to=[Specialist.helper(Find())])


# D2
async def test_a_helper_is_the_same_agent_in_a_conversation_of_its_own(database: str, clock: TestClock) -> None:
    async with shop(database, [Careful()], clock=clock) as opened:
        cast = AgentCast().plays(Careful, AgentScript(Says.hand_to_helper(Find(), "ink", said="A secret plan."), BACK))
        cast.plays(Careful, AgentScript(Says.hand_back(Answer(text="INK"))), piece=2)
        outcome, heard, tree = await oversee(opened, Careful, cast)
        assert tree == ["Careful · Oversee: Done", "  Careful · Find: Done"]
        [helper] = [asked for asked in heard.of(Careful) if asked.piece != outcome.task]
        assert "ink" in helper.brief
        assert [message.role for message in helper.messages] == ["system", "user"]
        assert not any("secret" in message.text for message in helper.messages)


# D3
async def test_the_model_is_offered_one_tool_for_each_entry_with_what_the_skill_takes(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Head(), Clerk()], clock=clock) as opened:
        _, heard, _ = await oversee(opened, Head, AgentCast().plays(Head, AgentScript(BACK)))
        tools = heard.of(Head)[0].tools
        assert [name for name in tools if name.startswith("hand_to")] == [NOTE, FIND]
        assert tools[NOTE].schema == Note().handed_schema()
        assert tools[NOTE].schema["properties"]["id"]["format"] == "uuid"
        assert tools[FIND].schema["required"] == ["result"]
        assert "Write a note on one shelf." in tools[NOTE].description


# D4
async def test_a_name_the_model_made_up_opens_nothing_and_the_model_is_told_what_there_is(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Head(), Clerk()], clock=clock) as opened:
        script = AgentScript(
            Says.raw("hand_to_Clark_Find", '{"result":"ink"}'),
            Says.raw("hand_to_clerk_find", '{"result":"ink"}'),
            Says.raw("ask_the_clerk", '{"result":"ink"}'),
            BACK,
        )
        outcome, heard, tree = await oversee(opened, Head, AgentCast().plays(Head, script))
        assert outcome.done
        assert tree == ["Head · Oversee: Done"]
        told = heard.told(Head)
        assert len(told) == 3
        assert all(FIND in text and NOTE in text for text in told)


# D4
async def test_what_is_no_longer_declared_when_it_is_handed_on_is_not_opened(database: str, clock: TestClock) -> None:
    head = Changing()
    async with shop(database, [head, Clerk()], clock=clock) as opened:
        cast = AgentCast().plays(Changing, AgentScript(Says.hand_to(Clerk, Find(), "ink"), BACK))

        def withdrawn_while_the_model_thinks(model: str, request: Any) -> Any:
            head.closed = True
            return cast.answer(model, request)

        heard = hears(opened.agency, withdrawn_while_the_model_thinks)
        outcome = await opened.agency.desk(opened.mia).of(Changing).do(Oversee(), "the shelves")
        assert FIND in heard.of(Changing)[0].tools
        assert await Trajectory(opened.agency, outcome.task).tree() == ["Changing · Oversee: Done"]
        assert heard.told(Changing) == ["Changing may not hand that on: hand_to_Clerk_Find. It may hand on: nothing."]
        assert FIND not in heard.of(Changing)[1].tools


def ever_deeper(agent: type[Agent]) -> AgentScript:
    return AgentScript(Says.hand_to_helper(Oversee(), "deeper"), BACK)


# D5
async def test_pieces_go_as_deep_as_their_agent_leaves_levels_and_no_deeper(database: str, clock: TestClock) -> None:
    async with shop(database, [Circle()], clock=clock) as opened:
        outcome, heard, tree = await oversee(opened, Circle, AgentCast().plays(Circle, ever_deeper(Circle)))
        assert tree == ["Circle · Oversee: Done", "  Circle · Oversee: Done", "    Circle · Oversee: Done"]
        offers = {asked.piece: "hand_to_helper_Oversee" in asked.tools for asked in heard.of(Circle)}
        nodes = await opened.agency.desk(opened.mia).work_tree(outcome.task)
        assert [offers[node.piece] for node in nodes] == [True, True, False]
        assert any("may not hand that on" in text for text in heard.told(Circle))


# D5
async def test_the_levels_left_are_the_least_that_any_piece_above_leaves(database: str, clock: TestClock) -> None:
    async with shop(database, [Narrow(), Circle()], clock=clock) as opened:
        cast = AgentCast().plays(Narrow, AgentScript(Says.hand_to(Circle, Oversee(), "deeper"), BACK))
        _, heard, tree = await oversee(opened, Narrow, cast.plays(Circle, ever_deeper(Circle)))
        assert tree == ["Narrow · Oversee: Done", "  Circle · Oversee: Done"]
        assert not any(name.startswith("hand_to") for name in heard.of(Circle)[0].tools)


# D5
async def test_a_piece_leaves_its_own_fewer_levels_under_one_that_leaves_more(database: str, clock: TestClock) -> None:
    async with shop(database, [Wide(), Circle()], clock=clock) as opened:
        cast = AgentCast().plays(Wide, AgentScript(Says.hand_to(Circle, Oversee(), "deeper"), BACK))
        _, _, tree = await oversee(opened, Wide, cast.plays(Circle, ever_deeper(Circle)))
        assert [line.count("  ") for line in tree] == [0, 1, 2, 3]


class Ping(Agent):
    roles = {"helper"}
    skills = [Oversee()]

    @property
    def delegates(self) -> Delegation:  # type: ignore[override]
        return Delegation(to=[Specialist.of(Pong, Oversee())])


class Pong(Agent):
    roles = {"helper"}
    skills = [Oversee()]
    delegates = Delegation(to=[Specialist.of(Ping, Oversee())])


# D5
async def test_two_agents_that_hand_to_and_fro_come_to_an_end(database: str, clock: TestClock) -> None:
    async with shop(database, [Ping(), Pong()], clock=clock) as opened:
        cast = AgentCast().plays(Ping, AgentScript(Says.hand_to(Pong, Oversee(), "you"), BACK))
        cast.plays(Pong, AgentScript(Says.hand_to(Ping, Oversee(), "you"), BACK))
        outcome, _, tree = await oversee(opened, Ping, cast)
        assert outcome.done
        assert [line.strip().split(" ")[0] for line in tree] == ["Ping", "Pong", "Ping", "Pong"]


# D6
async def test_a_piece_hands_on_so_many_in_all_over_its_whole_life(database: str, clock: TestClock) -> None:
    async with shop(database, [Two(), Clerk()], clock=clock) as opened:
        one = Says.hand_to(Clerk, Find(), "ink")
        cast = AgentCast().plays(Two, AgentScript(one, one, Says.hand_to(Clerk, Find(), "paper"), BACK))
        outcome, heard, tree = await oversee(opened, Two, cast.plays(Clerk, AgentScript(BACK)))
        assert outcome.done
        assert len(tree) == 3
        assert heard.told(Two)[-1] == (
            "Nothing more is handed on: Two has handed on 2 pieces of this work, which is all it may."
        )


# D6
async def test_of_more_pieces_asked_for_in_one_turn_than_are_left_only_the_first_open(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Two(), Clerk()], clock=clock) as opened:
        three = Says.together(*[Says.hand_to(Clerk, Find(), word) for word in ("ink", "paper", "glue")])
        cast = AgentCast().plays(Two, AgentScript(three, BACK))
        _, heard, tree = await oversee(opened, Two, cast.plays(Clerk, AgentScript(BACK)))
        assert len(tree) == 3
        assert [text.startswith("Nothing more is handed on") for text in heard.told(Two)] == [False, False, True]


# D9
async def test_a_head_without_tools_hands_on_to_one_that_has_them(database: str, clock: TestClock) -> None:
    class Free(Clerk):
        may = Permits.changes_alone()

    class Boss(Head):
        delegates = Delegation(to=[Specialist.of(Free, Note())])

    async with shop(database, [Boss(), Free()], clock=clock) as opened:
        cast = AgentCast().plays(Boss, AgentScript(Says.hand_to(Free, Note(), Says.row(opened.shelf)), BACK))
        cast.plays(Free, AgentScript(Says.tool(note_shelf, {"shelf": str(opened.shelf), "note": "dusty"}), BACK))
        outcome, heard, _ = await oversee(opened, Boss, cast)
        assert outcome.status is Status.DONE
        assert "note_shelf" not in heard.of(Boss)[0].tools
        assert (await opened.the_shelf()).note == "dusty"


# D9, R4
async def test_the_gate_of_a_head_counts_for_a_tool_that_it_does_not_hold(database: str, clock: TestClock) -> None:
    class Free(Clerk):
        may = Permits.changes_alone()

    class Boss(Head):
        may = Permits.changes_alone().proposes(note_shelf)
        delegates = Delegation(to=[Specialist.of(Free, Note())])

    async with shop(database, [Boss(), Free()], clock=clock) as opened:
        cast = AgentCast().plays(Boss, AgentScript(Says.hand_to(Free, Note(), Says.row(opened.shelf)), BACK))
        cast.plays(Free, AgentScript(Says.tool(note_shelf, {"shelf": str(opened.shelf), "note": "dusty"}), BACK))
        outcome, _, _ = await oversee(opened, Boss, cast)
        assert outcome.waiting
        assert (await opened.the_shelf()).note == ""
