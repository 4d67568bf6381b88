"""What an agency says of its declarations, and what it refuses to be made of: before any work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pytest

from handon import Agency, Agent, AgentLimits, BadDeclaration, Delegation, NotFound, Skill, Specialist, query
from handon.testing import AgentCast, AgentScript, Says, TestClock, Trajectory
from tests.builders import Answer, Clerk, Find, Head, Note, Oversee, hears, look_up, make, model, shop

LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


def agent(name: str, **said: Any) -> Agent:
    """An agent whose class is called `name`."""
    return type(name, (Agent,), {"roles": {"helper"}, "skills": [Oversee()]} | said)()


def made(*agents: Agent, **settings: Any) -> Agency:
    return make("sqlite:///never-opened.db", agents, **settings)


# D7
def test_what_an_agent_may_hand_on_is_listed_with_all_a_picker_needs() -> None:
    head = agent(
        "Boss",
        skills=[Oversee(), Find()],
        delegates=Delegation(
            to=[Specialist.of(Clerk, Note(), budget=Decimal("0.004")), Specialist.helper(Find())],
        ),
    )
    note, find = made(head, Clerk()).delegations_of("Boss")
    assert (note.origin, note.to, note.skill, note.label) == ("Boss", "Clerk", "Note", "Note")
    assert (note.description, note.helper, note.budget_micros) == ("Write a note on one shelf.", False, 4_000)
    assert note.takes_schema == Note().handed_schema()
    assert set(note.hands_back_schema["properties"]) == {"text", "number"}
    assert (find.to, find.helper, find.budget_micros) == ("Boss", True, None)


# D7, D1
def test_an_agent_that_declares_nothing_hands_nothing_on() -> None:
    assert made(Clerk()).delegations_of(Clerk) == []
    assert made(Clerk()).depth_of(Clerk) == 0


# D7
def test_who_may_hand_on_what_is_asked_only_of_agents_there_are() -> None:
    with pytest.raises(NotFound, match="There is no agent Head; there are Clerk"):
        made(Clerk()).delegations_of(Head)


def _agents(depth: int, to: Callable[[], Sequence[Specialist]]) -> Agent:
    return agent("Top", delegates=Delegation(to=to(), max_depth=depth))


# D7
@pytest.mark.parametrize(
    ("levels", "chain"),
    [
        (0, []),
        (1, [3]),
        (2, [3, 3]),
        (1, [1, 3]),  # what the top leaves bounds what is under it
        (2, [5, 1, 5]),  # and so does what anything between leaves
        (3, [3, 3, 3, 3, 3]),
        (0, [0, 3]),
    ],
)
def test_the_depth_of_an_agents_work_is_what_the_declarations_leave(levels: int, chain: list[int]) -> None:
    agents: list[Agent] = [agent("Last")]
    for n, depth in reversed(list(enumerate(chain))):
        agents.insert(
            0, agent(f"N{n}", delegates=Delegation(to=[Specialist.of(type(agents[0]), Oversee())], max_depth=depth))
        )
    assert made(*agents).depth_of(agents[0].name) == levels


# D7
def test_helpers_and_circles_are_as_deep_as_they_may_go() -> None:
    circle = agent("Circle", delegates=Delegation(to=[Specialist.helper(Oversee())], max_depth=2))
    assert made(circle).depth_of("Circle") == 2


class Other(Agent):
    skills = [Find()]


class Costly(Skill[str, Answer]):
    budget = Decimal("-0.01")


def boss(*to: Specialist, **said: Any) -> Agent:
    return agent("Boss", delegates=Delegation(to=to, **said))


# D8
@pytest.mark.parametrize(
    ("agents", "says"),
    [
        ([boss(Specialist.of(Other, Find()))], "Boss may hand on Find to Other, which is none of the agency's agents"),
        ([boss(Specialist.of(Other, Note())), Other()], "Boss may hand on Note to Other, which does not have that"),
        (
            [boss(Specialist.of(Clerk, Note(), budget=Decimal("-1"))), Clerk()],
            "Boss may hand on Note to Clerk: budget",
        ),
        (
            [boss(Specialist.of(Clerk, Note()), Specialist.of(Clerk, Note(), budget=Decimal("1"))), Clerk()],
            "Boss may hand on Note to Clerk twice: both would be the tool hand_to_Clerk_Note",
        ),
        ([boss(max_depth=-1)], "Boss: max_depth and max_pieces are not negative"),
        ([boss(max_pieces=-1)], "Boss: max_depth and max_pieces are not negative"),
        ([Clerk(), Clerk()], "There are two agents named Clerk"),
        ([agent("Boss", consults="Senior")], "Boss consults the model 'Senior', which is none of the agency's"),
        ([agent("Boss", model="Senior")], "Boss uses the model 'Senior', which is none of the agency's"),
        ([agent("Boss", skills=[Costly()])], "Boss's skill Costly: budget"),
        ([agent("Boss", skills=[Find(), Find()])], "Boss has one skill twice"),
        ([agent("Boss", stuck_after=0)], "Boss: stuck_after is 0"),
        ([agent("Boss", limits=AgentLimits(per_task=Decimal("-1")))], "Boss: limits.per_task"),
    ],
)
def test_a_declaration_that_does_not_hold_is_one_error_naming_class_and_entry(agents: list[Agent], says: str) -> None:
    with pytest.raises(BadDeclaration, match=re.escape(says)):
        made(*agents)


# D8
def test_an_agent_of_the_same_name_but_another_class_is_not_the_one_that_is_registered() -> None:
    impostor = agent("Clerk", skills=[Note(), Find()])
    with pytest.raises(BadDeclaration, match="Head may hand on Note to Clerk, which is none of the agency's"):
        made(Head(), impostor)


# D8
def test_a_helper_is_a_skill_that_the_agent_itself_has_or_names_for_helpers() -> None:
    made(agent("Boss", delegates=Delegation(to=[Specialist.helper(Find())])))


# D8
def test_a_class_in_place_of_an_agent_is_told_apart() -> None:
    with pytest.raises(BadDeclaration, match="give the agency instances"):
        made(Clerk)  # type: ignore[arg-type]


# D8
def test_a_skill_whose_input_cannot_be_described_is_refused_before_any_work() -> None:
    class Lathe:
        """Neither text, number, dataclass, model nor row."""

    class Odd(Skill[Lathe, Answer]):
        pass

    with pytest.raises(BadDeclaration, match="Boss's skill Odd"):
        made(agent("Boss", skills=[Odd()]))


LONG = "Collator" * 10
NAMES = ["Планировщик", "計画", "助手", "Élodie", "Àlodie", "Elodie", LONG, f"{LONG}s", "Émile", "Emile"]


# D3
def test_names_in_any_script_and_of_any_length_become_legal_tool_names_apart_from_each_other() -> None:
    agents = [agent(name) for name in NAMES]
    names = [Specialist.of(type(one), Oversee()).tool_name for one in agents]
    names += [Specialist.helper(type(name, (Find,), {})()).tool_name for name in NAMES]
    assert all(LEGAL.match(name) for name in names), names
    assert len(set(names)) == len(names), names
    assert all(name.startswith("hand_to") for name in names)
    made(boss(*[Specialist.of(type(one), Oversee()) for one in agents]), *agents)


# D3
def test_a_plain_name_is_kept_as_it_is() -> None:
    assert Specialist.of(Clerk, Find()).tool_name == "hand_to_Clerk_Find"
    assert Specialist.helper(Find()).tool_name == "hand_to_helper_Find"


# D3
def test_tool_names_are_the_same_in_every_process() -> None:
    asked = (
        "from core.declare.delegation import tool_name\n"
        f"print([tool_name('hand_to', name, 'Oversee') for name in {NAMES!r}])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", asked],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert said == {f"{[Specialist.of(type(agent(name)), Oversee()).tool_name for name in NAMES]}\n"}


# D3
@pytest.mark.parametrize("name", ["Планировщик", "計画", LONG])
async def test_work_is_handed_to_an_agent_of_any_name_and_people_read_that_name(
    database: str, clock: TestClock, name: str
) -> None:
    other = agent(name)
    async with shop(database, [boss(Specialist.of(type(other), Oversee())), other], clock=clock) as opened:
        cast = AgentCast().plays("Boss", AgentScript(Says.hand_to(type(other), Oversee(), "it"), BACK))
        hears(opened.agency, cast.plays(name, AgentScript(BACK)))
        outcome = await opened.agency.desk(opened.mia).of("Boss").do(Oversee(), "the shelves")
        assert await Trajectory(opened.agency, outcome.task).tree() == [
            "Boss · Oversee: Done",
            f"  {other.shown_as} · Oversee: Done",
        ]
        assert other.shown_as.replace(" ", "").casefold() == name.casefold()


BACK = Says.hand_back(Answer(text="done"))


# D8
def test_a_model_is_known_by_one_name() -> None:
    with pytest.raises(BadDeclaration, match="There are two models named Everyday"):
        made(Clerk(), models=[model(), model()])


# D3, D8
@pytest.mark.parametrize(
    "name", ["hand_back", "ask_person", "consult", "hand_to_Clerk_Find", "записать", "計画", "x" * 65]
)
def test_a_tool_whose_name_is_no_name_or_one_of_handons_own_is_refused(name: str) -> None:
    def tool(word: str) -> str:
        return word

    tool.__name__ = name
    kept = query("Do it")(tool)
    with pytest.raises(BadDeclaration, match=f"Boss's skill Odd: .*{name}"):
        made(agent("Boss", skills=[type("Odd", (Find,), {"tools": [kept]})()]))


# D3, D8
def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(BadDeclaration, match="the tool look_up is there twice"):
        made(agent("Boss", skills=[type("Odd", (Find,), {"tools": [look_up, look_up]})()]))
