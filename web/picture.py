"""Where everything on the map stands: agents in layers from left to right, a lane for each way that passes a layer by.

Pure: the same map is drawn the same way each time. The text is real text, whose width is only guessed here, so every
line is cut to what surely fits; the list says it all in full. Boxes and labels never overlap, and no way runs through
a box: it has a lane of its own in every layer between its two ends, and what leads back goes round below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from core.values import AgentMap, HandOn, MapAgent
from core.words import listed

BOX = 208  # width of an agent
TALL = 92  # height of an agent with one way in
PORT = 40  # between two ways into one box: two lines of text
GAP = 26  # between two things in one layer
LANE = 6  # height of a lane
SCREEN = 900  # a picture that is taller is not seen at once
BETWEEN = 190, 300  # between two layers: the least, and where there is room
WIDE = 1232  # the width there is on a wide screen
PERSON = 172, 56
TOOL = 208, 30
LOOP = 38  # below a box, for each way to a helper
EDGE = 4
BEYOND = 32  # beside the last layer, for what leads back from it
ROUND = 8


@dataclass(slots=True)
class Item:
    """Something that stands in a layer: an agent, a tool, a person, or a lane."""

    key: str
    kind: str
    w: int
    h: int
    below: int = 0  # room it needs under itself
    x: float = 0
    y: float = 0
    agent: MapAgent | None = None
    words: tuple[str, ...] = ()

    @property
    def middle(self) -> float:
        return self.y + self.h / 2


@dataclass(frozen=True, slots=True)
class Wire:
    """One way as it is drawn: its path, its tip, and where its two lines of text end."""

    way: HandOn
    path: str
    tip: str
    text_x: float
    text_y: float
    start: bool = False  # the text begins at `text_x` rather than ends there
    room: int = 0  # for its text


@dataclass(frozen=True, slots=True)
class Tie:
    """A thin line: from a person to an agent, or from an agent to a tool."""

    path: str
    words: str


@dataclass(slots=True)
class Picture:
    width: int
    height: int
    boxes: list[Item] = field(default_factory=list)
    people: list[Item] = field(default_factory=list)
    tools: list[Item] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    ties: list[Tie] = field(default_factory=list)


def draw(drawn: AgentMap, *, people: bool = True, tools: bool = False) -> Picture:
    """The whole picture. `people` and `tools` are columns at its two ends."""
    layers = _layers(drawn, tools)
    chains = _chains(drawn, layers, tools)
    _order(layers, chains)
    back = [way for way in drawn.ways if way.back and not _loops(way)]
    sponsors = _sponsors(drawn) if people else []
    left = _place_x(layers, bool(sponsors), any(_box(layers, way.to)[0] == 0 for way in back))
    _place_y(layers, chains)
    found = Picture(0, 0)
    found.boxes = [item for layer in layers for item in layer if item.kind == "agent"]
    found.tools = [item for layer in layers for item in layer if item.kind == "tool"]
    _people(found, layers, sponsors)
    bottom = max((item.y + item.h + item.below for layer in layers for item in layer), default=0.0)
    bottom = max([bottom, *(item.y + item.h for item in found.people)])
    bottom = _wires(found, drawn, layers, chains, bottom, left)
    right = max((item.x + item.w for layer in layers for item in layer), default=0.0)
    if back:
        right += BEYOND
    found.width, found.height = int(right) + 1, int(bottom) + 1
    return found


def _loops(way: HandOn) -> bool:
    return way.to == way.origin


def _layers(drawn: AgentMap, tools: bool) -> list[list[Item]]:
    into: dict[str, int] = {}
    loops: dict[str, int] = {}
    for way in drawn.ways:
        if _loops(way):
            loops[way.origin] = loops.get(way.origin, 0) + 1
        else:
            into[way.to] = into.get(way.to, 0) + 1
    deepest = max((agent.layer for agent in drawn.agents), default=-1)
    layers: list[list[Item]] = [[] for _ in range(deepest + 1)]
    for agent in drawn.agents:
        tall = max(TALL, into.get(agent.name, 0) * PORT)
        below = loops.get(agent.name, 0) * LOOP
        layers[agent.layer].append(Item(agent.name, "agent", BOX, tall, below, agent=agent))
    if tools:
        held = {tool.name: tool for agent in drawn.agents for skill in agent.skills for tool in skill.tools}
        if held:
            icons = {
                name: "find" if tool.query else "outside" if tool.outside else "inside" for name, tool in held.items()
            }
            layers.append([Item(name, "tool", *TOOL, words=(tool.label, icons[name])) for name, tool in held.items()])
    return layers


@dataclass(slots=True)
class Chain:
    """A way or tie as the things it goes through, from its first box over lanes to its last."""

    items: list[Item]
    way: HandOn | None
    words: str = ""


def _box(layers: list[list[Item]], name: str) -> tuple[int, Item]:
    return next(
        (number, item)
        for number, layer in enumerate(layers)
        for item in layer
        if item.kind == "agent" and item.key == name
    )


def _chains(drawn: AgentMap, layers: list[list[Item]], tools: bool) -> list[Chain]:
    """Every forward way and, with tools, every tie to one; lanes are put into the layers they pass by."""
    at = {item.key: (number, item) for number, layer in enumerate(layers) for item in layer if item.kind == "agent"}
    chains = []
    for way in drawn.ways:
        if way.back or _loops(way):
            continue
        (first, origin), (last, to) = at[way.origin], at[way.to]
        lanes = [Item(f"{way.key}@{number}", "lane", BOX, LANE) for number in range(first + 1, last)]
        for number, lane in enumerate(lanes, first + 1):
            layers[number].append(lane)
        chains.append(Chain([origin, *lanes, to], way))
    if tools and layers and layers[-1] and layers[-1][0].kind == "tool":
        of = {item.key: item for item in layers[-1]}
        for agent in drawn.agents:
            first, origin = at[agent.name]
            held = {tool.name: tool for skill in agent.skills for tool in skill.tools}
            lanes = [Item(f"{agent.name}@{number}", "lane", BOX, LANE) for number in range(first + 1, len(layers) - 1)]
            if held:
                for number, lane in enumerate(lanes, first + 1):
                    layers[number].append(lane)
            for tool in held.values():
                words = f"{agent.label} holds {tool.label}: {'reads' if tool.query else tool.gate}"
                chains.append(Chain([origin, *lanes, of[tool.name]], None, words))
    return chains


def _order(layers: list[list[Item]], chains: Sequence[Chain]) -> None:
    """Put each layer's things where their neighbours are, so that few lines cross: to and fro a few times."""
    before: dict[int, list[Item]] = {}
    after: dict[int, list[Item]] = {}
    for chain in chains:
        for one, other in pairwise(chain.items):
            after.setdefault(id(one), []).append(other)
            before.setdefault(id(other), []).append(one)
    for sweep in range(6):
        place = {id(item): n / max(1, len(layer)) for layer in layers for n, item in enumerate(layer)}
        near, run = (before, layers) if sweep % 2 == 0 else (after, layers[::-1])
        for layer in run:

            def wanted(item: Item, near: dict[int, list[Item]] = near, place: dict[int, float] = place) -> float:
                found = near.get(id(item), [])
                return sum(place[id(other)] for other in found) / len(found) if found else place[id(item)]

            layer.sort(key=wanted)
            for n, item in enumerate(layer):
                place[id(item)] = n / max(1, len(layer))


def _place_x(layers: list[list[Item]], people: bool, back_to_first: bool) -> float:
    """Columns of one width each. Answers where the first begins."""
    left = float(EDGE)
    if people:
        left += PERSON[0] + 52
    if back_to_first:
        left += BETWEEN[0] - (44 if people else 0)
    columns = sum(max((item.w for item in layer), default=0) for layer in layers)
    between = (WIDE - left - columns) / max(1, len(layers) - 1)
    between = min(max(between, BETWEEN[0]), BETWEEN[1])
    x = left
    for layer in layers:
        for item in layer:
            item.x = x
        x += max((item.w for item in layer), default=0) + between
    return left


def _place_y(layers: list[list[Item]], chains: Sequence[Chain]) -> None:
    """Heights: each thing as near to the middle of its neighbours as the order and the gaps allow."""
    near: dict[int, list[Item]] = {}
    for chain in chains:
        for one, other in pairwise(chain.items):
            near.setdefault(id(one), []).append(other)
            near.setdefault(id(other), []).append(one)
    for layer in layers:
        _spread(layer, lambda item: item.y)
    for sweep in range(8):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:

            def wanted(item: Item) -> float:
                found = near.get(id(item), [])
                if not found:
                    return item.y
                return sum(other.middle for other in found) / len(found) - item.h / 2

            _spread(layer, wanted)
    everything = [item for layer in layers for item in layer]
    top = min((item.y for item in everything), default=0.0)
    if max((item.y + item.h for item in everything), default=0.0) - top > SCREEN:
        _hang(layers, chains)
        top = min(item.y for item in everything)
    for layer in layers:
        for item in layer:
            item.y = round(item.y - top + EDGE)


def _hang(layers: list[list[Item]], chains: Sequence[Chain]) -> None:
    """Each beside the first that it leads to, as in a tree of folders: what is begun with is seen before anything is
    scrolled."""
    after: dict[int, list[Item]] = {}
    for chain in chains:
        for one, other in pairwise(chain.items):
            after.setdefault(id(one), []).append(other)

    def wanted(item: Item) -> float:
        found = after.get(id(item), [])
        return min(other.middle for other in found) - item.h / 2 if found else item.y

    for layer in layers[::-1]:
        _spread(layer, wanted)


def _spread(layer: list[Item], wanted: Callable[[Item], float]) -> None:
    """As near to what each wants as can be, in order and apart: blocks that touch stand where they want on average."""
    blocks: list[tuple[list[Item], float, float]] = []  # things, what the first wants on average, height with gaps
    for item in layer:
        things, first, height = [item], wanted(item), item.h + item.below + GAP * 1.0
        while blocks and blocks[-1][1] + blocks[-1][2] > first:
            above, its_first, its_height = blocks.pop()
            count = len(above) + len(things)
            first = (its_first * len(above) + (first - its_height) * len(things)) / count
            things, height = above + things, its_height + height
        blocks.append((things, first, height))
    for things, first, _ in blocks:
        y = first
        for item in things:
            item.y = y
            y += item.h + item.below + GAP


def _sponsors(drawn: AgentMap) -> list[tuple[str, list[MapAgent]]]:
    by_name: dict[str, list[MapAgent]] = {}
    for agent in drawn.agents:
        if agent.sponsor is not None:
            by_name.setdefault(str(agent.sponsor), []).append(agent)
    return list(by_name.items())


def _people(found: Picture, layers: list[list[Item]], sponsors: list[tuple[str, list[MapAgent]]]) -> None:
    """The people at the start, each tied to the agents of the first layer that they answer for."""
    column = []
    ends: list[list[Item]] = []
    for key, agents in sponsors:
        names = {agent.name for agent in agents}
        firsts = [item for item in layers[0] if item.kind == "agent" and item.key in names]
        told = (
            agents[0].sponsor_name,
            f"answers for {agents[0].label if len(agents) == 1 else f'{len(agents)} agents'}",
            f"{agents[0].sponsor_name} answers for {listed([agent.label for agent in agents])}",
        )
        person = Item(key, "person", *PERSON, x=EDGE, words=told)
        person.y = sum(item.middle for item in firsts) / len(firsts) - PERSON[1] / 2 if firsts else 0
        column.append(person)
        ends.append(firsts)
    order = sorted(range(len(column)), key=lambda n: column[n].y)
    _spread([column[n] for n in order], lambda item: item.y)
    lift = min((person.y for person in column), default=0.0)
    for person in column:
        person.y = round(person.y - min(0.0, lift - EDGE))
    for person, firsts in zip(column, ends, strict=True):
        for n, item in enumerate(firsts):
            y = person.y + PERSON[1] * (n + 1) / (len(firsts) + 1)
            words = f"{person.words[0]} answers for {item.agent.label if item.agent else ''}"
            found.ties.append(Tie(_curve(person.x + person.w, y, item.x, item.middle), words))
    found.people = column


def _curve(x1: float, y1: float, x2: float, y2: float) -> str:
    if abs(y1 - y2) < 0.5:
        return f"M{x1:g} {y1:g}H{x2:g}"
    middle = (x1 + x2) / 2
    return f"M{x1:g} {y1:g}C{middle:g} {y1:g} {middle:g} {y2:g} {x2:g} {y2:g}"


def _wires(
    found: Picture, drawn: AgentMap, layers: list[list[Item]], chains: list[Chain], bottom: float, left: float
) -> float:
    """Every way and tie. Answers how far down they go."""
    ways = {way.key: way for way in drawn.ways}
    boxes = {item.key: item for item in found.boxes}
    goes_back = [way for way in ways.values() if way.back and not _loops(way)]
    forward = [chain for chain in chains if chain.way is not None]
    ins: dict[str, list[tuple[float, str]]] = {}
    outs: dict[str, list[tuple[float, str]]] = {}
    for chain in forward:
        assert chain.way is not None
        ins.setdefault(chain.way.to, []).append((chain.items[-2].middle, chain.way.key))
        outs.setdefault(chain.way.origin, []).append((chain.items[1].middle, chain.way.key))
    for n, way in enumerate(goes_back):
        ins.setdefault(way.to, []).append((1e6 + n, way.key))
        outs.setdefault(way.origin, []).append((1e6 + n, way.key))
    enters = {
        key: boxes[name].middle + (n - (len(of) - 1) / 2) * PORT
        for name, of in ins.items()
        for n, (_, key) in enumerate(sorted(of))
    }
    leaves = {}
    for name, of in outs.items():
        step = min(22.0, (boxes[name].h - 16) / len(of))
        for n, (_, key) in enumerate(sorted(of)):
            leaves[key] = boxes[name].middle + (n - (len(of) - 1) / 2) * step
    for chain in forward:
        assert chain.way is not None
        found.wires.append(_forward(chain, leaves[chain.way.key], enters[chain.way.key]))
    ends = {item.x + item.w for item in found.boxes}
    for n, way in enumerate(goes_back):
        bottom += 18 if n else 26
        origin, to = boxes[way.origin], boxes[way.to]
        x1, y1 = origin.x + origin.w, leaves[way.key]
        x2, y2 = to.x, enters[way.key]
        before = max((end for end in ends if end < x2), default=left - BETWEEN[0] if found.people else EDGE)
        down, up = x1 + 12 + 6 * (n % 4), max(before, 0) + 22 + 6 * (n % 4)
        path = (
            f"M{x1:g} {y1:g}H{down - ROUND:g}q{ROUND} 0 {ROUND} {ROUND}V{bottom - ROUND:g}q0 {ROUND} -{ROUND} {ROUND}"
            f"H{up + ROUND:g}q-{ROUND} 0 -{ROUND} -{ROUND}V{y2 + ROUND:g}q0 -{ROUND} {ROUND} -{ROUND}H{x2 - 7:g}"
        )
        found.wires.append(Wire(way, path, _tip(x2, y2), x2 - 14, y2, room=int(x2 - up - 18)))
    loops: dict[str, int] = {}
    for way in drawn.ways:
        if _loops(way):
            n = loops[way.origin] = loops.get(way.origin, 0) + 1
            found.wires.append(_loop(boxes[way.origin], way, n))
    for chain in chains:
        if chain.way is None:
            steps = [_curve(one.x + one.w, one.middle, other.x, other.middle) for one, other in _pairs(chain.items)]
            lanes = [f"M{lane.x:g} {lane.middle:g}H{lane.x + lane.w:g}" for lane in chain.items[1:-1]]
            found.ties.append(Tie("".join(steps + lanes), chain.words))
    return bottom + EDGE


def _pairs(items: Sequence[Item]) -> list[tuple[Item, Item]]:
    return list(pairwise(items))


def _forward(chain: Chain, leaves: float, enters: float) -> Wire:
    assert chain.way is not None
    path, y = "", leaves
    for one, other in _pairs(chain.items):
        x1, x2 = one.x + one.w, other.x
        last = other is chain.items[-1]
        to = enters if last else other.middle
        bend = x1 + 30
        path += f"M{x1:g} {y:g}" if not path else ""
        if abs(to - y) > 0.5:
            path += f"C{x1 + 22:g} {y:g} {x1 + 12:g} {to:g} {bend:g} {to:g}"
        path += f"H{x2 - 7:g}" if last else f"H{x2 + other.w:g}"
        y = to
    to_item, before = chain.items[-1], chain.items[-2]
    room = int(to_item.x - before.x - before.w - 30 - 14)
    return Wire(chain.way, path, _tip(to_item.x, enters), to_item.x - 14, enters, room=room)


def _loop(box: Item, way: HandOn, n: int) -> Wire:
    """Out of the bottom and back into it, below the loops before."""
    foot, deep = box.y + box.h, n * LOOP - 18
    x = box.x + 14
    path = f"M{x + 18:g} {foot:g}v{deep - 6:g}q0 6 -6 6h-6q-6 0 -6 -6V{foot + 7:g}"
    tip = f"M{x - 4:g} {foot + 7:g}l4 -7 4 7z"
    return Wire(way, path, tip, x + 28, foot + deep, start=True, room=BOX - 46)


def _tip(x: float, y: float) -> str:
    return f"M{x - 7:g} {y - 4:g}l7 4-7 4z"
