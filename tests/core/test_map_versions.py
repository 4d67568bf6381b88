"""Versions of the map: kept when an agency opens with other declarations, and compared, what widens rights first."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import mapping
from core.declare.schemas import canonical
from core.errors import NotAllowed, NotFound
from core.settings import Settings
from core.values import Gate, HandOn, MapAgent, MapChange, Widens
from handon import Agent, AgentLimits, Delegation, Guards, LlmModel, Permits, Skill, Specialist, action
from handon.testing import TestClock
from tests import charts
from tests.builders import Answer, Clerk, Find, Note, add_shelf, look_up, make, model, note_shelf, shop
from tests.staging import sql


def content_of(agents: Mapping[str, Agent] | list[Agent], **app: Any) -> dict[str, Any]:
    """The content, as it comes back from a database."""
    named = agents if isinstance(agents, Mapping) else {agent.name: agent for agent in agents}
    models = {one.name: one for one in app.pop("models", [model()])}
    found: dict[str, Any] = json.loads(canonical(mapping.declared(named, models, "Everyday", Settings(**app))))
    return found


def told(before: list[Agent], after: list[Agent]) -> list[tuple[str, str, str]]:
    return [
        (change.kind, change.widens.value, change.sentence)
        for change in mapping.compare(content_of(before), content_of(after))
    ]


class Scribe(Agent):
    """As the clerk of the builders, under a name of its own."""

    purpose = "You keep the shelves."
    roles = {"helper"}
    skills = [Note(), Find()]


def scribe(**said: Any) -> Agent:
    found: Agent = type("Scribe", (Scribe,), said)()
    return found


def planner(scribe: Agent, share: str | None = None, **said: Any) -> Agent:
    to = [Specialist.of(type(scribe), Find(), Decimal(share) if share else None)]
    found: Agent = type(
        "Planner",
        (Agent,),
        {"purpose": "You plan.", "roles": {"helper"}, "skills": [Find()], "delegates": Delegation(to=to, **said)},
    )()
    return found


# Keeping


async def numbers(database: str, *agents: Agent, clock: TestClock, **app: Any) -> list[tuple[int, bool]]:
    async with make(database, agents, clock=clock, **app) as agency:
        return [(one.number, one.now) for one in await agency.desk(None).map_versions()]


async def test_opening_again_with_the_same_declarations_keeps_no_other_version_in_whatever_order_they_stand(
    database: str, clock: TestClock
) -> None:
    class Other(Scribe):
        roles = ["helper", "binder"]
        skills = [Find(), Note()]

    class Same(Scribe):
        roles = ["binder", "helper"]
        skills = [Note(), Find()]

    Same.__name__ = "Other"
    assert await numbers(database, Scribe(), Other(), clock=clock) == [(1, True)]
    assert await numbers(database, Same(), Scribe(), clock=clock) == [(1, True)]


async def test_what_was_declared_before_and_comes_back_is_a_version_of_its_own(database: str, clock: TestClock) -> None:
    bold = scribe(may=Permits.changes_alone())
    await numbers(database, scribe(), clock=clock)
    await clock.advance(timedelta(hours=1))
    await numbers(database, bold, clock=clock)
    await clock.advance(timedelta(hours=1))
    assert await numbers(database, scribe(), clock=clock) == [(3, True), (2, False), (1, False)]
    async with make(database, [scribe()], clock=clock) as agency:
        desk = agency.desk(None)
        first, *_ = (await desk.map_versions())[::-1]
        assert clock.now() - first.first_seen == timedelta(hours=2)
        assert (first.agents, first.ways, first.tools) == (1, 0, 3)
        assert [one.number for one in await desk.map_versions(before=3, most=1)] == [2]
        there = await desk.compare_maps(1, 2)
        assert [change.widens for change in there.changes] == [Widens.MORE] * 3
        assert [change.widens for change in (await desk.compare_maps(2, 3)).changes] == [Widens.LESS] * 3
        assert (await desk.compare_maps(1, 3)).changes == ()
        assert (await desk.agents_map()).since == clock.now()


async def test_two_processes_that_open_at_once_write_the_same_declarations_once_and_each_of_different_ones(
    database: str, clock: TestClock
) -> None:
    async with make(database, [scribe()], clock=clock) as one, make(database, [scribe()], clock=clock) as other:
        await sql(one, "delete from map_version")
        contents = [content_of([scribe()])] * 6 + [content_of([scribe(label=f"Scribe {n}")]) for n in range(3)]
        found = await asyncio.gather(
            *(
                (one, other)[n % 2].store.write(lambda tx, content=content: mapping.keep(tx, content))
                for n, content in enumerate(contents)
            )
        )
        versions = await one.desk(None).map_versions()
    assert [version.number for version in versions] == list(range(len(versions), 0, -1))
    assert len({found[n] for n in (6, 7, 8)}) == 3
    assert 4 <= len(versions) <= 7  # the first again where another came between


async def test_no_key_and_no_address_of_a_model_is_kept(sqlite_database: str, clock: TestClock) -> None:
    secret = LlmModel(
        "Everyday", "openai-chat:x", price=model().price, base_url="https://me:pass-word@host", api_key="key-word"
    )
    async with make(sqlite_database, [scribe()], clock=clock, models=[secret]) as agency:
        kept = await agency.store.read(
            lambda tx: tx.connection.exec_driver_sql("select content from map_version").scalar_one()
        )
    assert "openai-chat:x" in kept
    assert "pass-word" not in kept and "key-word" not in kept and "@host" not in kept


async def test_versions_are_for_those_who_may_see_the_map_and_one_that_is_not_there_is_not_found(
    sqlite_database: str,
) -> None:
    async with shop(sqlite_database) as at:
        stranger = await at.agency.add_person("eve@bindery.test", "Eve")
        assert len(await at.agency.desk(at.mia).map_versions()) == 1
        for ask in (
            lambda desk: desk.map_versions(),
            lambda desk: desk.compare_maps(1, 1),
        ):
            with pytest.raises(NotAllowed):
                await ask(at.agency.desk(stranger))
        for number in (0, -1, 2, 2**40):
            with pytest.raises(NotFound, match=f"no version {number} of the map; the last one is 1"):
                await at.agency.desk(at.mia).compare_maps(1, number)


# Reading back

# Where a permit was said twice or of a tool nobody holds, only what holds is kept; and which way of a circle leads
# back depends on the order of declaring, which is not.
NOT_KEPT = {"skills", "gate_words", "otherwise", "description"}
BY_ORDER = {"layer", "back"}


@settings(max_examples=150, deadline=None)
@given(charts.declared())
def test_what_was_kept_is_read_back_as_the_map_it_was(agents: Mapping[str, Agent]) -> None:
    then, now = (
        mapping.earlier(content_of(agents, task_budget=Decimal("0.5"))),
        mapping.the_map(agents, charts.top_limit),
    )
    left_out = NOT_KEPT | BY_ORDER if now.circles else NOT_KEPT
    for fields, one, other in (
        (MapAgent.__slots__, then.agents, now.agents),
        (HandOn.__slots__, then.ways, now.ways),
    ):
        seen = [
            {
                (part.name if isinstance(part, MapAgent) else part.key): {
                    field: getattr(part, field) for field in fields if field not in left_out
                }
                for part in parts
            }
            for parts in (one, other)
        ]
        assert seen[0] == seen[1]
    assert then.depth == now.depth
    assert {frozenset(circle) for circle in then.circles} == {frozenset(circle) for circle in now.circles}
    skills = [{(of.name, skill.name): skill for of in drawn.agents for skill in of.skills} for drawn in (then, now)]
    assert skills[0].keys() == skills[1].keys()
    for key, skill in skills[0].items():
        other = skills[1][key]
        assert (skill.label, skill.limit_micros, skill.takes, skill.hands_back_schema) == (
            *(other.label, other.limit_micros, other.takes, other.hands_back_schema),
        )
        assert sorted(map(str, skill.tools)) == sorted(map(str, other.tools))


# Comparing


@st.composite
def contents(draw: st.DrawFn) -> dict[str, Any]:
    """What may be declared, with the app's own part drawn too."""
    agents = draw(charts.declared())
    for agent in agents.values():
        kind: Any = type(agent)
        kind.label = draw(st.sampled_from(["", "Another"]))
        kind.asks_people = draw(st.booleans())
    most = draw(st.sampled_from([1000, 2000]))
    return content_of(
        agents,
        models=[model(most=most)],
        currency=draw(st.sampled_from(["EUR", "EUR", "USD"])),
        person_per_month=draw(st.sampled_from([None, Decimal(5)])),
    )


OTHER = {"added": "removed", "removed": "added", "changed": "changed"}
TURNED = {Widens.MORE: Widens.LESS, Widens.LESS: Widens.MORE, Widens.NEITHER: Widens.NEITHER}


def _facts(changes: tuple[MapChange, ...], *, turned: bool = False) -> set[tuple[str, ...]]:
    if not turned:
        return {(one.key, one.kind, one.widens, one.before, one.after) for one in changes}
    return {(one.key, OTHER[one.kind], TURNED[one.widens], one.after, one.before) for one in changes}


@settings(max_examples=150, deadline=None)
@given(contents(), contents())
def test_nothing_differs_without_a_sentence_and_the_other_way_round_it_is_the_mirror(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert mapping.compare(one, one) == ()
    there, back = mapping.compare(one, other), mapping.compare(other, one)
    plain = [{part: content[part] for part in content if part != "schemas"} for content in (one, other)]
    assert bool(there) == (plain[0] != plain[1])
    assert _facts(there) == _facts(back, turned=True)
    assert len({change.key for change in there}) == len(there) == len(back)
    assert [change.widens for change in there] == sorted(
        (change.widens for change in there), key=[Widens.MORE, Widens.LESS, Widens.NEITHER].index
    )


def leaves(content: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value that stands in content by itself, with the way to it. What names a thing is none."""
    for key, value in content.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        elif key not in ("form", "origin", "to", "skill", "helper"):
            yield (*path, key), value


def another(key: str, value: Any) -> Any:
    """A value that might have stood there."""
    if key in ("takes", "hands_back"):
        return "another"
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return value[1:] if value else ["another"]
    if value in list(Gate):
        return next(str(gate) for gate in Gate if gate != value)
    if key in ("wall_clock", "timeout", "requests_wait", "decide_within"):
        return "7200" if value != "7200" else "60"
    return {"guards": {"turns": 1, "same_call": 1, "wall_clock": None}}.get(key, 5) if value is None else f"{value}1"


def test_whatever_one_thing_is_declared_otherwise_is_told() -> None:
    busy = scribe(
        may=Permits.proposes_changes().never(send_letter),
        guards=Guards(wall_clock=timedelta(hours=1)),
        limits=AgentLimits(per_task=Decimal(1)),
        delegates=Delegation(to=[Specialist.helper(Post()), Specialist.helper(Find())]),
    )
    agents = [busy, planner(busy, "2"), Clerk(), scribe_of_nothing()]
    before = content_of(agents)
    before["schemas"]["another"] = {"properties": {"other": {}}}
    silent = []
    for path, value in leaves({part: before[part] for part in ("agents", "ways", "models", "app")}):
        after = deepcopy(before)
        held = after
        for key in path[:-1]:
            held = held[key]
        held[path[-1]] = another(path[-1], value)
        there, back = mapping.compare(before, after), mapping.compare(after, before)
        if path[-1] in ("max_depth", "max_pieces", "tools") and value is None:
            continue  # it has none by what else it is, which is told
        if not there or _facts(there) != _facts(back, turned=True):
            silent.append(path)
    assert silent == []


def scribe_of_nothing() -> Agent:
    class Forbids(Agent):
        purpose = "You forbid."
        skills = [Find()]
        may = Permits.changes_alone().never(send_letter)

    return Forbids()


@action("Send a letter", outside=True)
def send_letter(text: str) -> str:
    return text


class Post(Skill[str, Answer]):
    description = "Send a letter."
    tools = [send_letter]


def test_a_looser_gate_a_new_tool_and_a_role_come_before_what_is_less_and_what_is_neither() -> None:  # R4
    before = scribe(may=Permits.proposes_changes().alone(add_shelf), purpose="You keep.")
    after = scribe(
        may=Permits.proposes_changes().alone(note_shelf), roles={"helper", "master"}, skills=[Note(), Find(), Post()]
    )
    assert told([before], [after]) == [
        ("added", "more than before", "Scribe’s account holds the role “master” now"),
        ("added", "more than before", "Scribe can do “Post” now, with “Send a letter” (proposes)"),
        ("changed", "more than before", "Scribe’s “Write a note on the shelf”: proposes → alone"),
        ("changed", "less than before", "Scribe’s “Add a shelf”: alone → proposes"),
        ("changed", "", "Scribe’s purpose: You keep. → You keep the shelves."),
    ]


def test_ways_depth_and_shares_are_told_with_what_they_were() -> None:  # D5, M1
    clerk = scribe()
    before, after = [planner(clerk, "2", max_depth=3), clerk], [planner(clerk, "5", max_depth=5, max_pieces=4), clerk]
    assert told(before, after) == [
        ("changed", "more than before", "Planner hands on, depth: 3 → 5"),
        ("changed", "more than before", "Planner hands “Find” on to Scribe, share: EUR 2.00 → EUR 5.00"),
        ("changed", "less than before", "Planner hands on, pieces for one piece of work: 8 → 4"),
    ]
    alone = planner(clerk)
    alone_class: Any = type(alone)
    alone_class.delegates = None
    assert told([alone, clerk], before) == [
        ("added", "more than before", "Planner may hand “Find” on to Scribe now: depth 3, share EUR 2.00")
    ]
    assert told(before, [alone, clerk]) == [
        ("removed", "less than before", "Planner may no longer hand “Find” on to Scribe")
    ]


def test_what_an_agent_forbids_whoever_works_under_it_is_told_though_it_holds_no_such_tool() -> None:  # R5
    lax, strict = scribe(skills=[Find()]), scribe(skills=[Find()], may=Permits.proposes_changes().never(note_shelf))
    said = "Under Scribe, “Write a note on the shelf”: proposes, as any change → never"
    assert told([lax, Clerk()], [strict, Clerk()]) == [("changed", "less than before", said)]


def test_a_limit_that_is_dropped_is_more_and_one_that_is_set_is_less() -> None:  # M7
    free, bound = scribe(), scribe(limits=AgentLimits(per_day=Decimal("20")))
    assert told([bound], [free]) == [("changed", "more than before", "Scribe may spend in a day: EUR 20.00 → no limit")]
    assert told([free], [bound])[0][1] == "less than before"


def test_the_budget_of_a_skill_that_only_a_helper_has_is_told() -> None:  # M1
    class Dear(Find):
        budget = Decimal("0.5")

    Dear.__name__ = "Find"
    before, after = [
        scribe(skills=[Note()], delegates=Delegation(to=[Specialist.helper(one)])) for one in (Find(), Dear())
    ]
    said = "Scribe hands “Find” on to a helper of its own, which may cost: no limit of its own → EUR 0.50"
    assert told([before], [after]) == [("changed", "less than before", said)]


def test_a_new_agent_says_what_it_holds_and_how() -> None:
    reads = scribe(skills=[Find()])
    assert told([], [reads]) == [("added", "more than before", "Scribe is new. It holds “Look up a word” (reads).")]


def test_a_tool_that_only_read_and_changes_now_is_more_though_it_asks() -> None:  # R4
    @action("Look up a word")
    def look_up_now(word: str) -> str:
        return word

    look_up_now.name = look_up.name

    class Look(Skill[str, Answer]):
        description = "Look."
        tools = [look_up]

    kept = scribe(skills=[Look()])
    before = content_of([kept])
    Look.tools = [look_up_now]
    (change,) = mapping.compare(before, content_of([kept]))
    assert (change.sentence, change.widens) == ("Scribe’s “Look up a word”: reads → proposes", Widens.MORE)
