"""Alone, propose, propose every time, never: by whose word, and read when the call runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import String, select
from sqlalchemy.orm import Mapped, mapped_column

from handon import Agent, Delegation, Gate, Permits, Policy, Row, Skill, Specialist, TraceKind, action, allow, deny
from handon.testing import AgentCast, AgentScript, Says, TestClock
from tests.builders import (
    Answer,
    Clerk,
    Note,
    Oversee,
    Shop,
    add_shelf,
    hears,
    is_binder,
    is_helper,
    is_master,
    look_up,
    note_shelf,
    shop,
)

BACK = Says.hand_back(Answer(text="done"))
GATES = [Gate.ALONE, Gate.PROPOSE, Gate.PROPOSE_EVERY_TIME, Gate.NEVER]


def saying(gate: Gate) -> Permits:
    """An agent's word on `note_shelf`."""
    permits = Permits.proposes_changes()
    return {
        Gate.ALONE: permits.alone,
        Gate.PROPOSE: permits.proposes,
        Gate.PROPOSE_EVERY_TIME: permits.proposes_every_time,
        Gate.NEVER: permits.never,
    }[gate](note_shelf)


class Last(Agent):
    roles = {"helper"}
    skills = [Note()]


class Middle(Agent):
    roles = {"helper"}
    skills = [Oversee()]
    delegates = Delegation(to=[Specialist.of(Last, Note())])


class Top(Agent):
    roles = {"helper"}
    skills = [Oversee()]
    delegates = Delegation(to=[Specialist.of(Middle, Oversee())])


def three(top: Permits, middle: Permits, last: Permits) -> list[Agent]:
    agents = [Top(), Middle(), Last()]
    for agent, permits in zip(agents, (top, middle, last), strict=True):
        agent.may = permits
    return agents


def cast_of(opened: Shop) -> AgentCast:
    note = Says.tool(note_shelf, {"shelf": str(opened.shelf), "note": "dusty"}, said="It is dusty.")
    return (
        AgentCast()
        .plays(Top, AgentScript(Says.hand_to(Middle, Oversee(), "it"), BACK))
        .plays(Middle, AgentScript(Says.hand_to(Last, Note(), Says.row(opened.shelf)), BACK))
        .plays(Last, AgentScript(note, BACK))
    )


async def do(opened: Shop) -> tuple[Any, Any]:
    heard = hears(opened.agency, cast_of(opened))
    return await opened.agency.desk(opened.mia).of(Top).do(Oversee(), "the shelves"), heard


# R4, R5
@pytest.mark.parametrize(("above", "own"), list(itertools.product(GATES, GATES)))
@pytest.mark.parametrize("where", ["at the top", "between"])
async def test_the_gate_of_a_change_is_the_strictest_of_the_agents_own_and_of_every_agents_above(
    database: str, clock: TestClock, above: Gate, own: Gate, where: str
) -> None:
    free = saying(Gate.ALONE)
    top, middle = (saying(above), free) if where == "at the top" else (free, saying(above))
    strictest = GATES[max(GATES.index(above), GATES.index(own))]
    async with shop(database, three(top, middle, saying(own)), clock=clock) as opened:
        outcome, heard = await do(opened)
        noted = (await opened.the_shelf()).note
        proposals = await opened.agency.desk(opened.mia).proposals()
        assert ("note_shelf" in heard.of(Last)[0].tools) is (strictest is not Gate.NEVER)
        if strictest is Gate.ALONE:
            assert (outcome.done, noted, proposals) == (True, "dusty", [])
        elif strictest is Gate.NEVER:
            assert (outcome.done, noted, proposals) == (True, "", [])
            assert "never does that" in heard.told(Last)[0]
        else:
            assert (outcome.waiting, noted, len(proposals)) == (True, "", 1)


# R4
async def test_an_agent_that_says_nothing_proposes_every_change_and_asks_nobody_for_a_query(
    database: str, clock: TestClock
) -> None:
    async with shop(database, [Clerk()], clock=clock) as opened:
        each = Says.together(
            Says.tool(note_shelf, {"shelf": str(opened.shelf), "note": "dusty"}),
            Says.tool(add_shelf, {"mark": "A-2"}),
            Says.tool(look_up, {"word": "dust"}),
        )
        hears(opened.agency, AgentCast().plays(Clerk, AgentScript(each, BACK)))
        desk = opened.agency.desk(opened.mia)
        await desk.of(Clerk).do(Note(), await opened.the_shelf())
        assert [proposal.sentence for proposal in await desk.proposals()] == ["Write on A-1: dusty", "Add A-2"]


# R4
def test_where_two_words_speak_of_one_action_the_last_wins() -> None:
    assert Permits.changes_alone().never(note_shelf).proposes(note_shelf).gate_of(note_shelf) is Gate.PROPOSE
    assert Permits.proposes_changes().alone(note_shelf).gate_of(add_shelf) is Gate.PROPOSE


# R5
def test_a_query_passes_unless_it_is_never_done() -> None:
    assert Permits.proposes_changes().proposes(look_up).gate_of(look_up) is Gate.ALONE
    assert Permits.changes_alone().never(look_up).gate_of(look_up) is Gate.NEVER


# R4, R11
@pytest.mark.parametrize("tightened", [Gate.ALONE, Gate.PROPOSE, Gate.NEVER])
async def test_a_gate_that_is_tightened_while_the_model_thinks_counts_when_the_call_runs(
    database: str, clock: TestClock, tightened: Gate
) -> None:
    agents = three(saying(Gate.ALONE), saying(Gate.ALONE), saying(Gate.ALONE))
    async with shop(database, agents, clock=clock) as opened:
        cast = cast_of(opened)

        def tightens(model: str, request: Any) -> Any:
            if request.agent == "Last" and len(request.messages) == 2:
                agents[0].may = saying(tightened)
            return cast.answer(model, request)

        heard = hears(opened.agency, tightens)
        outcome = await opened.agency.desk(opened.mia).of(Top).do(Oversee(), "the shelves")
        assert "note_shelf" in heard.of(Last)[0].tools
        assert (await opened.the_shelf()).note == ("dusty" if tightened is Gate.ALONE else "")
        assert outcome.waiting is (tightened is Gate.PROPOSE)
        if tightened is Gate.NEVER:
            assert heard.told(Last) == [
                "Top never does that, nor does anybody working for it: write a note on the shelf."
            ]


# R5, R11
@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("edited", [None, {"note": "very dusty"}])
async def test_what_was_proposed_and_is_never_done_since_is_refused_by_rule_and_all_are_told(
    database: str, clock: TestClock, which: int, edited: dict[str, Any] | None
) -> None:
    agents = three(saying(Gate.PROPOSE), saying(Gate.PROPOSE), saying(Gate.PROPOSE))
    async with shop(database, agents, clock=clock) as opened:
        outcome, heard = await do(opened)
        desk = opened.agency.desk(opened.mia)
        [proposal] = await desk.proposals()
        agents[which].may = saying(Gate.NEVER)
        decided = await desk.approve(proposal.id, args=edited)
        await opened.agency.settle()

        assert (decided.status, decided.decided_by) == ("Refused", None)
        assert decided.note.startswith(f"Refused by rule. {agents[which].name} never does that")
        assert (await opened.the_shelf()).count == 0
        assert heard.told(Last)[0].startswith("A rule refused this. It was not done: Write on A-1: dusty")
        assert await desk.proposals() == []
        assert (await desk.outcome(outcome.task)).done
        decisions = [line for line in await desk.trace_of(outcome.task) if line.kind is TraceKind.DECIDED]
        assert "A rule refused: Write on A-1: dusty" in [line.summary for line in decisions]


# R11, P6
async def test_a_refusal_is_a_refusal_also_where_the_gate_was_opened_since(database: str, clock: TestClock) -> None:
    agents = three(saying(Gate.PROPOSE), saying(Gate.PROPOSE), saying(Gate.PROPOSE))
    async with shop(database, agents, clock=clock) as opened:
        outcome, heard = await do(opened)
        desk = opened.agency.desk(opened.mia)
        [proposal] = await desk.proposals()
        for agent in agents:
            agent.may = Permits.changes_alone()
        await desk.refuse(proposal.id, "No.")
        await opened.agency.settle()
        assert (await opened.the_shelf()).count == 0
        assert "Mia refused this." in heard.told(Last)[0]
        assert (await desk.outcome(outcome.task)).done


# R11
async def test_a_tool_that_the_skill_has_no_more_is_not_approvable(database: str, clock: TestClock) -> None:
    class Fickle(Skill[str, Answer]):
        tools = [add_shelf]

    class Keeper(Agent):
        roles = {"helper"}
        skills = [Fickle()]

    async with shop(database, [Keeper()], clock=clock) as opened:
        script = AgentScript(Says.tool(add_shelf, {"mark": "A-2"}), BACK)
        hears(opened.agency, AgentCast().plays(Keeper, script))
        desk = opened.agency.desk(opened.mia)
        outcome = await desk.of(Keeper).do(Fickle(), "it")
        [proposal] = await desk.proposals()
        Fickle.tools = []
        decided = await desk.approve(proposal.id)
        await opened.agency.settle()
        assert (decided.status, decided.decided_by) == ("Refused", None)
        assert (await desk.outcome(outcome.task)).done


barred: set[str] = set()


class Ledger(Row):
    """Whoever is barred at the moment may not write in it."""

    __tablename__ = "test_ledger"

    text: Mapped[str] = mapped_column(String(40), default="")
    security = [
        allow("read", "update", when=is_binder | is_helper | is_master),
        deny("update", when=Policy(lambda who: who.name in barred)),
    ]


@action("Write in the ledger", says="Write: {text}")
def write_in(ledger: Ledger, text: str) -> str:
    ledger.text = text
    return "Written."


class Book(Skill[str, Answer]):
    tools = [write_in]


class Bookkeeper(Agent):
    roles = {"helper"}
    skills = [Book()]


@pytest.fixture
def nobody_barred() -> Iterator[None]:
    barred.clear()
    yield
    barred.clear()


# R11, P5
@pytest.mark.usefixtures("nobody_barred")
@pytest.mark.parametrize("who", ["Mia", "Bookkeeper", None])
async def test_what_rows_no_longer_allow_since_it_was_proposed_is_refused_by_rule(
    database: str, clock: TestClock, who: str | None
) -> None:
    async with shop(database, [Bookkeeper()], clock=clock) as opened:

        def add(session: Any) -> UUID:
            row = Ledger()
            session.add(row)
            session.flush()
            return row.id

        id = await opened.agency.write(add)
        script = AgentScript(Says.tool(write_in, {"ledger": str(id), "text": "12"}), BACK)
        heard = hears(opened.agency, AgentCast().plays(Bookkeeper, script))
        desk = opened.agency.desk(opened.mia)
        await desk.of(Bookkeeper).do(Book(), "it")
        [proposal] = await desk.proposals()
        barred.update({who} if who else ())
        decided = await desk.approve(proposal.id)
        await opened.agency.settle()
        text = await opened.agency.read(lambda session: session.scalar(select(Ledger.text)))
        if who is None:
            assert (decided.status, text) == ("Done", "12")
        else:
            assert text == ""
            assert any(f"{who} may not change a ledger." in told for told in heard.told(Bookkeeper))
            assert f"{who} may not change a ledger." in f"{decided.note} {decided.result}"
            assert decided.status == "Refused"


# R5
async def test_a_query_that_the_head_never_makes_is_neither_offered_nor_run_two_levels_down(
    database: str, clock: TestClock
) -> None:
    agents = three(Permits.changes_alone().never(look_up), Permits.changes_alone(), Permits.changes_alone())
    async with shop(database, agents, clock=clock) as opened:
        cast = cast_of(opened).plays(Last, AgentScript(Says.tool(look_up, {"word": "dust"}), BACK))
        heard = hears(opened.agency, cast)
        assert (await opened.agency.desk(opened.mia).of(Top).do(Oversee(), "the shelves")).done
        assert "look_up" not in heard.of(Last)[0].tools
        assert heard.told(Last) == ["Top never does that, nor does anybody working for it: look up a word."]
