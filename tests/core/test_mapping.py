"""The map is what is declared: each agent and each way once, and what could reach what as a plain walk finds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings

from core import amounts, mapping
from core.delegations import depth_of
from core.errors import NotFound
from core.gate import STRICTNESS
from handon import Agent, Delegation, Permits, Skill, Specialist
from tests.charts import TASK, HoldsA, HoldsB, HoldsBoth, Idle, change_a, change_b, declared, look, top_limit

Chain = tuple[tuple[str, str], ...]


@settings(max_examples=150, deadline=None)
@given(declared())
def test_every_agent_and_every_declared_way_is_on_the_map_once(agents: Mapping[str, Agent]) -> None:  # D7
    drawn = mapping.the_map(agents, top_limit)
    assert [agent.name for agent in drawn.agents] == list(agents)
    wanted = [
        (name, name if entry.agent is None else entry.agent.__name__, entry.skill.name, entry.agent is None)
        for name, agent in agents.items()
        for entry in (agent.delegates.to if agent.delegates else ())
    ]
    assert [(way.origin, way.to, way.skill, way.helper) for way in drawn.ways] == wanted
    assert max(Counter(way.key for way in drawn.ways).values(), default=1) == 1


@settings(max_examples=150, deadline=None)
@given(declared())
def test_what_does_not_lead_back_leads_on_to_a_later_layer(agents: Mapping[str, Agent]) -> None:  # D7
    drawn = mapping.the_map(agents, top_limit)
    layers = {agent.name: agent.layer for agent in drawn.agents}
    circles = {agent.name: agent.circle for agent in drawn.agents}
    for way in drawn.ways:
        if way.origin == way.to:
            assert not way.back
        elif way.back:
            assert circles[way.origin] and circles[way.to]
        else:
            assert layers[way.origin] < layers[way.to]


@settings(max_examples=150, deadline=None)
@given(declared())
def test_every_agent_is_in_a_group_and_a_group_counts_those_that_stand_for_none(agents: Mapping[str, Agent]) -> None:
    drawn = mapping.the_map(agents, top_limit)
    groups = mapping.groups(drawn)
    heads = {group.agent.name for group in groups}
    handed = {way.to for way in drawn.ways if way.to != way.origin}
    assert {name for name in agents if name not in handed} <= heads
    reached: set[str] = set()
    for group in groups:
        part = mapping.under(drawn, group.agent.name)
        names = {agent.name for agent in part.agents}
        assert group.under == len(names - heads)
        assert part.beyond == 0
        reached |= names
        short = mapping.under(drawn, group.agent.name, most=2)
        assert (len(short.agents), short.beyond) == (min(2, len(names)), max(0, len(names) - 2))
    assert reached == set(agents)


def _chains(
    agents: Mapping[str, Agent], agent: Agent, skill: Skill[Any, Any], left: int, tool: str
) -> Iterator[list[tuple[Agent, Skill[Any, Any], Decimal | None, bool]]]:
    """Every chain of hand-ons under a piece of the agent's to one that holds the tool, walked plainly."""
    if any(held.name == tool for held in skill.tools):
        yield []
    delegation = agent.delegates
    if delegation is None or delegation.max_pieces == 0:
        return
    left = min(left, delegation.max_depth)
    if left == 0:
        return
    for entry in delegation.to:
        to = agent if entry.agent is None else agents[entry.agent.__name__]
        for rest in _chains(agents, to, entry.skill, left - 1, tool):
            yield [(to, entry.skill, entry.budget, entry.agent is None), *rest]


@settings(max_examples=150, deadline=None)
@given(declared())
def test_what_could_reach_a_tool_is_what_a_plain_walk_finds(agents: Mapping[str, Agent]) -> None:  # D5, R4, R5, M1
    origin = next(iter(agents.values()))
    for action in (change_a, change_b, look):
        wanted: Counter[tuple[Chain, str, int]] = Counter()
        for n, skill in enumerate(origin.skills):
            for chain in _chains(agents, origin, skill, 99, action.name):
                if n and chain:
                    continue  # a piece of any of its skills hands on alike
                line = [origin, *(to for to, *_ in chain)]
                gate = max((agent.may.gate_of(action) for agent in line), key=STRICTNESS.index)
                named = [top_limit(origin, skill)] if not chain else [max(top_limit(origin, s) for s in origin.skills)]
                for to, handed, share, _ in chain:
                    amount = [share, handed.budget, to.limits.per_task]
                    named += [amounts.to_micros(one) for one in amount if one is not None]
                steps = tuple((to.name, handed.shown_as) for to, handed, *_ in chain)
                wanted[((origin.name, "" if chain else skill.shown_as), *steps), gate, min(named)] += 1
        try:
            found = mapping.reach(agents, origin, action.name, top_limit, most=10_000)
        except NotFound:
            assert not wanted
            continue
        told = Counter(
            (tuple((step.agent, step.skill) for step in path.steps), path.gate, path.micros) for path in found.paths
        )
        assert told == wanted
        assert found.total == sum(wanted.values())
        lengths = [len(path.steps) for path in found.paths]
        assert lengths == sorted(lengths)


class Last(Agent):
    purpose, roles, skills = "You hold it.", {"helper"}, [HoldsB()]
    may = Permits.changes_alone()


class Between(Agent):
    purpose, roles, skills = "You hand on.", {"helper"}, [Idle()]
    may = Permits.changes_alone().never(change_b)
    delegates = Delegation(to=[Specialist.of(Last, HoldsB(), budget=Decimal("0.07"))])


class First(Agent):
    purpose, roles, skills = "You begin.", {"helper"}, [Idle()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(Between, Idle()), Specialist.of(Last, HoldsB())])


CHAIN = {"First": First(), "Between": Between(), "Last": Last()}


def test_a_never_on_the_way_is_told_with_whose_it_is() -> None:  # R5
    straight, round_about = mapping.reach(CHAIN, CHAIN["First"], "change_b", top_limit).paths
    assert (straight.gate, straight.word_of, straight.micros) == ("alone", "Last", TASK)
    assert (round_about.gate, round_about.word_of) == ("never", "Between")


def test_the_least_share_on_the_way_bounds_what_money_comes_so_far_and_is_named() -> None:  # M1
    path = mapping.reach(CHAIN, CHAIN["First"], "change_b", top_limit).paths[-1]
    assert path.micros == 70_000
    assert path.held_by == "the share that Between gives Last"


def test_more_ways_than_are_told_are_counted_all_the_same() -> None:  # D5
    found = mapping.reach(CHAIN, CHAIN["First"], "change_b", top_limit, most=1)
    assert (len(found.paths), found.total) == (1, 2)


def test_a_circle_is_as_long_as_the_depth_allows() -> None:  # D5
    class Round(Agent):
        purpose, roles, skills = "You go round.", {"helper"}, [Idle(), HoldsA()]

    Round.delegates = Delegation(to=[Specialist.of(Round, Idle()), Specialist.of(Round, HoldsA())], max_depth=3)
    agents = {"Round": Round()}
    found = mapping.reach(agents, agents["Round"], "change_a", top_limit)
    assert [len(path.steps) for path in found.paths] == [1, 2, 3, 3, 4, 4, 4, 4]


@pytest.mark.parametrize(("depth", "ways"), [(1, 0), (2, 1)])
def test_the_least_depth_that_anybody_above_leaves_ends_a_way(depth: int, ways: int) -> None:  # D5
    class Fourth(Agent):
        purpose, roles, skills = "You hold it.", {"helper"}, [HoldsA()]

    class Third(Agent):
        purpose, roles, skills = "You hand on.", {"helper"}, [Idle()]
        delegates = Delegation(to=[Specialist.of(Fourth, HoldsA())], max_depth=3)

    class Second(Agent):
        purpose, roles, skills = "You hand on, so many levels.", {"helper"}, [Idle()]
        delegates = Delegation(to=[Specialist.of(Third, Idle())], max_depth=depth)

    class Top(Agent):
        purpose, roles, skills = "You begin.", {"helper"}, [Idle()]
        delegates = Delegation(to=[Specialist.of(Second, Idle())], max_depth=3)

    agents = {kind.__name__: kind() for kind in (Top, Second, Third, Fourth)}
    assert mapping.reach(agents, agents["Top"], "change_a", top_limit).total == ways
    assert mapping.reach(agents, agents["Second"], "change_a", top_limit).total == ways


@settings(max_examples=150, deadline=None)
@given(declared())
def test_the_levels_under_an_agent_are_those_of_the_longest_chain(agents: Mapping[str, Agent]) -> None:  # D7, D5
    def longest(agent: Agent, left: int) -> int:
        delegation = agent.delegates
        left = min(left, delegation.max_depth) if delegation else 0
        if delegation is None or left == 0:
            return 0
        to = [agent if entry.agent is None else agents[entry.agent.__name__] for entry in delegation.to]
        return 1 + max(longest(other, left - 1) for other in to)

    for agent in agents.values():
        assert depth_of(agents, agent) == longest(agent, 99)


def test_a_circle_that_may_go_round_a_hundred_thousand_times_is_told_at_once() -> None:  # D5, D7
    class Ping(Agent):
        purpose, roles, skills = "You hand over.", {"helper"}, [Idle(), HoldsA()]

    class Pong(Agent):
        purpose, roles, skills = "You hand back.", {"helper"}, [Idle()]
        delegates = Delegation(to=[Specialist.of(Ping, HoldsA())], max_depth=70_000)

    Ping.delegates = Delegation(to=[Specialist.of(Pong, Idle())], max_depth=100_000)
    agents = {"Ping": Ping(), "Pong": Pong()}
    assert (depth_of(agents, agents["Ping"]), depth_of(agents, agents["Pong"])) == (70_001, 70_000)
    found = mapping.reach(agents, agents["Ping"], "change_a", top_limit)
    assert (found.total, found.longer) == (1 + mapping.LONGEST // 2, True)


def test_a_tool_that_nobody_holds_is_not_found() -> None:
    with pytest.raises(NotFound):
        mapping.reach(CHAIN, CHAIN["First"], "change_a", top_limit)


def test_only_a_rule_for_each_agent_that_proposes_may_lift_the_way() -> None:  # R6
    class Proposes(Agent):
        purpose, roles, skills = "You propose.", {"helper"}, [HoldsA()]

    class Above(Agent):
        purpose, roles, skills = "You propose as well.", {"helper"}, [HoldsA()]
        delegates = Delegation(to=[Specialist.of(Proposes, HoldsA())])

    agents = {"Above": Above(), "Proposes": Proposes()}
    one = mapping.reach(agents, agents["Above"], "change_a", top_limit, lambda agent: agent.name == "Proposes")
    both = mapping.reach(agents, agents["Above"], "change_a", top_limit, lambda _: True)
    assert [path.lifted for path in one.paths] == [False, False]
    assert [path.lifted for path in both.paths] == [True, True]


def test_a_way_tells_the_gates_of_the_changes_that_it_hands_on() -> None:  # R4
    class Careful(Agent):
        purpose, roles, skills = "You take care.", {"helper"}, [HoldsBoth(), Idle()]
        may = Permits.changes_alone().proposes_every_time(change_b)

    class Asks(Agent):
        purpose, roles, skills = "You ask.", {"helper"}, [Idle()]
        delegates = Delegation(to=[Specialist.of(Careful, HoldsBoth()), Specialist.of(Careful, Idle())])

    both, none = mapping.the_map({"Asks": Asks(), "Careful": Careful()}, top_limit).ways
    assert (both.changes, none.changes) == (("alone", "propose every time"), ())
    assert (both.gate, both.otherwise) == ("alone", 1)
