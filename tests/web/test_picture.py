"""The picture of the map: whatever is declared, everything is on it once and nothing lies on anything else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from uuid import UUID

from hypothesis import given, settings

from core import mapping
from core.values import AgentMap
from handon import Agent
from tests.browser.many import houses
from tests.charts import declared, top_limit
from web.fitting import fits, width
from web.picture import Item, Picture, draw

NOOR = UUID(int=1)


def _drawn(agents: Mapping[str, Agent]) -> AgentMap:
    drawn = mapping.the_map(agents, top_limit)
    seated = [replace(agent, sponsor=NOOR, sponsor_name="Noor") for agent in drawn.agents]
    return replace(drawn, agents=tuple(seated))


def _all(picture: Picture) -> list[Item]:
    return [*picture.people, *picture.boxes, *picture.tools]


def _apart(one: Item, other: Item) -> bool:
    beside = one.x + one.w < other.x or other.x + other.w < one.x
    return beside or one.y + one.h + one.below < other.y or other.y + other.h + other.below < one.y


@settings(max_examples=150, deadline=None)
@given(declared())
def test_no_two_boxes_overlap_and_all_are_in_the_picture(agents: Mapping[str, Agent]) -> None:
    for tools in (False, True):
        picture = draw(_drawn(agents), tools=tools)
        assert [one for one in combinations(_all(picture), 2) if not _apart(*one)] == []
        for item in _all(picture):
            assert item.x >= 0 and item.x + item.w <= picture.width
            assert item.y >= 0 and item.y + item.h + item.below <= picture.height


@settings(max_examples=150, deadline=None)
@given(declared())
def test_every_box_and_every_way_is_drawn_once(agents: Mapping[str, Agent]) -> None:  # D7
    drawn = _drawn(agents)
    picture = draw(drawn)
    assert sorted(box.key for box in picture.boxes) == sorted(agents)
    assert sorted(wire.way.key for wire in picture.wires) == sorted(way.key for way in drawn.ways)


@settings(max_examples=150, deadline=None)
@given(declared())
def test_a_level_stretch_of_a_way_runs_through_no_box_but_its_own(agents: Mapping[str, Agent]) -> None:
    picture = draw(_drawn(agents))
    for wire in picture.wires:
        if wire.way.back or wire.way.origin == wire.way.to:
            continue
        x, y = 0.0, 0.0
        for letter, numbers in re.findall(r"([MCH])([-\d. e]+)", wire.path):
            values = [float(value) for value in numbers.split()]
            if letter == "H":
                through = [
                    box.key
                    for box in picture.boxes
                    if box.y < y < box.y + box.h and min(x, values[0]) < box.x + box.w and box.x < max(x, values[0])
                ]
                assert through == []
                x = values[0]
            else:
                x, y = values[-2:]


@settings(max_examples=50, deadline=None)
@given(declared())
def test_labels_of_ways_into_one_box_are_a_line_apart(agents: Mapping[str, Agent]) -> None:
    picture = draw(_drawn(agents))
    places = [(wire.text_x, wire.text_y) for wire in picture.wires]
    for (x, y), (other_x, other_y) in combinations(places, 2):
        assert x != other_x or abs(y - other_y) >= 38


def test_a_tall_picture_begins_at_the_top_with_what_is_begun_with() -> None:
    agents = {agent.name: agent for agent in houses()}
    whole = mapping.the_map(agents, top_limit)
    picture = draw(mapping.under(whole, "LeidenHouse"))
    places = {box.key: box.y for box in picture.boxes}
    assert picture.height > 2000 and places["LeidenHouse"] < 300
    desks = [box.y for box in picture.boxes if box.agent and box.agent.layer == 1]
    assert places["LeidenHouse"] <= min(desks) and min(desks) == min(places.values())


def test_a_line_is_cut_to_what_fits() -> None:
    whole = width("Count leaves", 12)
    assert fits("Count leaves", whole) == "Count leaves"
    assert fits("Count leaves", whole - 1) == "Count leav…"
    assert fits("Count leaves", width("Count …", 12)) == "Count…"
    assert len(fits("W" * 40, 120)) < len(fits("i" * 40, 120)) and fits("書" * 40, 120, 15) == "書" * 6 + "…"
