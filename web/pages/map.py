"""`/map`: who may hand on what, now or in an earlier version, as a picture and as a list; `/map/ask`: what could reach
what; `/map/compare`: what changed between two versions of it.

Everything that can be chosen stands in the address: the lens, the columns, what is opened, and how the list is sorted
and filtered. So a picture can be sent to somebody, who sees it with their own rights.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromQuery, QueryParameter

from core.errors import NotFound
from core.gate import STRICTNESS
from core.mapping import MANY
from core.values import AgentMap, Gate, HandOn, MapThen
from web import lens as words_of
from web.deps import Visit
from web.lens import GATES, LENSES, Lens
from web.picture import draw
from web.schemas import held_in
from web.using import mark_of
from web.words import money as money_in

GROUPS = 300  # that are drawn
FEW = 3  # agents that are named with a tool
ROOM = 180  # for a line in a box
TOLD = 300  # changes of one kind that a page tells; what lets agents do more is among the first
Column = Literal["from", "skill", "to", "depth", "limit", "gate", "pieces", "money", "last"]
COLUMNS: tuple[tuple[Column, str, str], ...] = (
    ("from", "From", ""),
    ("skill", "Hands on", ""),
    ("to", "To", ""),
    ("depth", "Depth", "num"),
    ("limit", "Up to", "num"),
    ("gate", "Its gate", ""),
    ("pieces", "Pieces", "num"),
    ("money", "Money", "num"),
    ("last", "Last used", "num"),
)
LIVE_LENSES = frozenset({"money"})  # which tell of use: there are none for what was declared earlier
LIVE_COLUMNS = frozenset({"pieces", "money", "last"})
KINDS = (("added", "Added"), ("removed", "Removed"), ("changed", "Changed"))
KEPT = ("agent", "view", "sort", "q", "gate", "chosen")
NEVER_USED = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class At:
    """Where on the map a reader is: all that stands in the address."""

    lens: Lens = "limits"
    people: bool = True
    tools: bool = False
    agent: str = ""
    group: str = ""
    chosen: str = ""
    view: str = ""
    sort: str = ""
    q: str = ""
    gate: str = ""
    version: int = 0  # an earlier one; 0: as it is now

    def to(self, **changes: Any) -> str:
        """The address of here with something else."""
        return self._address("/map", replace(self, **changes))

    @property
    def csv(self) -> str:
        return self._address(
            "/map/list.csv", replace(self, lens="limits", people=True, tools=False, chosen="", view="")
        )

    def sorted_by(self, column: Column) -> str:
        """Sort by a column, or the other way round where it is sorted so already."""
        return self.to(view="list", sort=f"-{column}" if self.sort == column else column)

    def _address(self, path: str, at: At) -> str:
        said = {
            **({"at": at.version} if at.version else {}),
            **({"lens": at.lens} if at.lens != "limits" else {}),
            **({"people": "no"} if not at.people else {}),
            **({"tools": "yes"} if at.tools else {}),
            **({"open": at.group} if at.group else {}),
            **{
                name: value for name in ("agent", "view", "sort", "q", "gate", "chosen") if (value := getattr(at, name))
            },
        }
        return f"{path}?{urlencode(said)}" if said else path


@get("/map")
async def the_map(
    visit: NamedDependency[Visit],
    lens: FromQuery[Lens] = "limits",
    people: FromQuery[Literal["yes", "no"]] = "yes",
    tools: FromQuery[Literal["yes", "no"]] = "no",
    agent: FromQuery[str] = "",
    group: Annotated[str, QueryParameter(name="open")] = "",
    chosen: FromQuery[str] = "",
    view: FromQuery[Literal["", "list", "picture"]] = "",
    sort: FromQuery[str] = "",
    q: FromQuery[str] = "",
    gate: FromQuery[str] = "",
    version: Annotated[int, QueryParameter(name="at")] = 0,
) -> Response[str]:
    """The map as it is, or as the version `at` declared it: the picture, or with `view=list` its twin in words, which
    comes first where there are many agents: then the picture is one of groups, of which `open` opens one. `agent`
    leaves that one and its neighbours; `chosen` names an agent or a way whose pane is open."""
    at = At(
        *(lens, people == "yes", tools == "yes", agent, "" if agent else group, chosen, view),
        *(sort, q[:100], gate, version),
    )
    try:
        then = await visit.desk.map_then(version, around=agent, under=at.group) if version else None
        drawn = then.drawn if then else await visit.desk.agents_map(around=agent, under=at.group)
    except NotFound as error:
        return await visit.page("map/missing.html", nav="map", status=404, missing=str(error), at=at)
    if then and lens in LIVE_LENSES:
        at, lens = replace(at, lens="limits"), "limits"
    many = len(drawn.agents) > MANY
    as_list = view == "list" or (many and view != "picture" and not chosen)
    grouped = many and not as_list and bool(drawn.groups)
    into: dict[str, list[HandOn]] = {}
    for one in drawn.ways:
        into.setdefault(one.to, []).append(one)
    money = _money(visit, then)
    opened = next((one for one in drawn.agents if one.name == chosen), None)
    way = next((way for way in drawn.ways if way.key == chosen), None)
    holder = opened.name if opened else way.to if way else ""
    rules = await visit.desk.standing_rules() if holder and not then else []
    return await visit.page(
        "map/list.html" if as_list else "map/index.html",
        nav="map",
        at=at,
        drawn=drawn,
        then=then,
        money_of=money,
        other_currency=then is not None and then.currency != visit.agency.currency,
        there=visit.agency.agents,
        lenses=[one for one in LENSES if not then or one[0] not in LIVE_LENSES],
        grouped=grouped,
        most=GROUPS,
        many=MANY,
        picture=None if as_list or grouped else draw(drawn, people=at.people, tools=at.tools),
        ways=_listed(drawn, at),
        columns=[one for one in COLUMNS if not then or one[0] not in LIVE_COLUMNS],
        gates=GATES,
        says=words_of.SAYS,
        agent=opened,
        middle=next((one for one in drawn.agents if one.name == agent), None),
        top=next((one for one in drawn.agents if one.name == at.group), None),
        way=way,
        stream=_stream(drawn, at, as_list),
        into=into,
        rules=[rule for rule in rules if rule.agent == holder and rule.holds],
        held_in=held_in,
        icons=words_of.ICONS,
        room=ROOM,
        gate_line=lambda one: words_of.gate_line(one, lens),
        purpose_line=words_of.purpose_line,
        about_agent=lambda one: words_of.about_agent(one, lens, into.get(one.name, []), money),
        about_way=lambda one: words_of.about_way(one, lens, money),
        all_about=lambda one: words_of.all_about(one, money),
    )


@get("/map/list.csv")
async def as_csv(
    visit: NamedDependency[Visit],
    agent: FromQuery[str] = "",
    group: Annotated[str, QueryParameter(name="open")] = "",
    sort: FromQuery[str] = "",
    q: FromQuery[str] = "",
    gate: FromQuery[str] = "",
    version: Annotated[int, QueryParameter(name="at")] = 0,
) -> Response[str]:
    """The list as it is sorted and filtered, for a spreadsheet; of an earlier version, without use. Money is in the
    currency, exact."""
    then = await visit.desk.map_then(version, around=agent, under=group) if version else None
    drawn = then.drawn if then else await visit.desk.agents_map(around=agent, under=group)
    currency = then.currency if then else visit.agency.currency
    out = io.StringIO()
    rows = csv.writer(out)
    heads = ("from", "hands on", "to", "takes", "hands back", "depth", "pieces each", f"up to {currency}", "gate")
    use = (f"pieces in {drawn.days} days", f"{currency} in {drawn.days} days", "last used")
    rows.writerow((*heads, "leads back", *(() if then else use)))
    amount = visit.renderer.env.filters["amount"]
    for way in _listed(drawn, At(sort=sort, q=q, gate=gate)):
        row = (
            *(way.origin_label, way.label, f"{way.to_label} (helper)" if way.helper else way.to_label),
            *(", ".join(way.takes), ", ".join(way.hands_back), way.max_depth, way.max_pieces),
            "" if way.limit_micros is None else amount(way.limit_micros).replace("\u202f", ""),
            *(way.gate_words, "yes" if way.back else "no"),
        )
        used = (
            *(way.pieces, amount(way.micros).replace("\u202f", "")),
            way.last_at.isoformat(timespec="seconds") if way.last_at else "",
        )
        rows.writerow([_plain(value) for value in (*row, *(() if then else used))])
    return Response(
        out.getvalue(),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="map.csv"'},
    )


def _stream(drawn: AgentMap, at: At, as_list: bool) -> str:
    """Where the page hears of what changes: nowhere of an earlier version, and of a list that would be sorted anew
    under whoever reads it."""
    if at.version or (as_list and at.sort.removeprefix("-") in LIVE_COLUMNS):
        return "/live"
    parts = {"map": mark_of(drawn), "agent": at.agent, "open": at.group}
    return f"/live?{urlencode({name: value for name, value in parts.items() if value})}"


def _money(visit: Visit, then: MapThen | None) -> Callable[[int], str]:
    """An amount in words, in the currency that the version counted in."""
    now: Callable[[int], str] = visit.renderer.env.filters["money"]
    return partial(money_in, currency=then.currency) if then else now


def _plain(value: object) -> object:
    """Text that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value


def _listed(drawn: AgentMap, at: At) -> list[HandOn]:
    """The ways that the filter leaves, in the order asked for."""
    found = [way for way in drawn.ways if not at.gate or way.gate == at.gate]
    for word in at.q.lower().split():
        found = [way for way in found if word in _text(way)]
    keys: dict[str, Any] = {
        "from": lambda way: way.origin_label.lower(),
        "skill": lambda way: way.label.lower(),
        "to": lambda way: way.to_label.lower(),
        "depth": lambda way: way.max_depth,
        "limit": lambda way: (way.limit_micros is None, way.limit_micros or 0),
        "gate": lambda way: STRICTNESS.index(way.gate),
        "pieces": lambda way: way.pieces,
        "money": lambda way: way.micros,
        "last": lambda way: way.last_at or NEVER_USED,
    }
    key = keys.get(at.sort.removeprefix("-"))
    return sorted(found, key=key, reverse=at.sort.startswith("-")) if key else found


def _text(way: HandOn) -> str:
    return " ".join((way.origin_label, way.label, way.to_label, way.gate_words, *way.takes, *way.hands_back)).lower()


@get("/map/ask")
async def ask(visit: NamedDependency[Visit], agent: FromQuery[str] = "", tool: FromQuery[str] = "") -> Response[str]:
    """May this agent, through others, ever reach that tool? Every way, what holds at its end, and who is asked."""
    drawn = await visit.desk.agents_map()
    tools = _tools(drawn)
    found, missing = None, ""
    try:
        found = await visit.desk.what_could_reach(agent, tool) if agent and tool else None
    except NotFound as error:
        missing = str(error)
    return await visit.page(
        "map/ask.html",
        nav="map",
        status=404 if missing else 200,
        missing=missing,
        drawn=drawn,
        tools=tools,
        agent=agent,
        tool=tool,
        found=found,
        paths=sorted(found.paths, key=lambda path: STRICTNESS.index(path.gate)) if found else [],
        gates=_counted(found.paths if found else ()),
        stops=sorted({path.word_of for path in found.paths if path.gate is Gate.NEVER}) if found else [],
        says=words_of.SAYS,
        icons=words_of.ICONS,
        money_of=visit.renderer.env.filters["money"],
    )


def _tools(drawn: AgentMap) -> list[tuple[str, str, str]]:
    """Every tool by its label: name, label, and who holds it, or some of those."""
    held: dict[str, tuple[str, list[str]]] = {}
    for agent in drawn.agents:
        for name, label in {tool.name: tool.label for skill in agent.skills for tool in skill.tools}.items():
            held.setdefault(name, (label, []))[1].append(agent.label)
    return sorted(((name, label, _some(of)) for name, (label, of) in held.items()), key=lambda tool: tool[1].lower())


def _some(names: list[str]) -> str:
    """All of a few names; of many the first, and how many more there are."""
    return ", ".join(names) if len(names) <= FEW else f"{', '.join(names[:FEW])} and {len(names) - FEW} more"


def _counted(paths: Any) -> Counter[Gate]:
    return Counter(path.gate for path in paths)


@get("/map/compare")
async def compare(
    visit: NamedDependency[Visit],
    before: Annotated[int, QueryParameter(name="from")] = 0,
    after: Annotated[int, QueryParameter(name="to")] = 0,
) -> Response[str]:
    """What two versions of the map differ in; without `from` and `to`, the last one and the one before it. Of one that
    is not there it says so, and others can be chosen."""
    versions = await visit.desk.map_versions()
    last, missing = versions[0].number, ""
    after = after or last
    try:
        found = await visit.desk.compare_maps(before or max(1, after - 1), after)
    except NotFound as error:
        missing, found = str(error), await visit.desk.compare_maps(last, last)
    chosen = {one.number: one for one in (*versions, found.before, found.after)}
    return await visit.page(
        "map/compare.html",
        nav="map",
        status=404 if missing else 200,
        missing=missing,
        found=found,
        versions=sorted(chosen.values(), key=lambda one: -one.number),
        alone=len(chosen) == 1 and not missing,
        kinds=[(kind, word, found.of(kind)) for kind, word in KINDS],
        there=visit.agency.agents,
        most=TOLD,
    )


handlers = (the_map, as_csv, ask, compare)
