"""`/search`: pages, agents, works, requests and ways to an act, by words. The palette is made of this page.

Nothing acts from here: "Stop everything…" leads to its page, which says what it does.
"""

from __future__ import annotations

from dataclasses import dataclass

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromQuery

from core.values import Abilities
from web.deps import Visit, may_open

AGENTS = 8
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Way:
    """Somewhere to go: an address, what it is called, a line beside it, and other words it is found by."""

    address: str
    says: str
    beside: str = ""
    also: str = ""


PAGES = (
    Way("/inbox", "Inbox", "what waits for you", "proposals questions requests"),
    Way("/inbox/answered", "Answered", "what you decided", "decisions"),
    Way("/inbox/standing", "Standing rules", "from now on, alone", "permissions"),
    Way("/now", "Now", "what needs somebody"),
    Way("/waits", "Waits", "who waits for whom"),
    Way("/abandoned", "Abandoned", "work that nobody is doing"),
    Way("/work", "Work", "what is not finished", "works"),
    Way("/work?show=all", "All work", "", "finished works"),
    Way("/map", "Map", "who may hand on what", "agents delegation"),
    Way("/map/ask", "What could reach…", "which agent, through whom, which tool"),
    Way("/map/compare", "What changed on the map", "between two versions of it", "compare declarations rights"),
    Way("/audit", "Audit", "the lines of all records", "record verify chain export"),
    Way("/money", "Money", "what was spent", "cost limits budget"),
    Way("/money/calls", "Every call", "of a model", "meter tokens"),
    Way("/start", "Start", "for whoever is new"),
    Way("/settings", "Settings", "name, first page, theme, time zone", "preferences dark light"),
    Way("/settings/keys", "Keys, settings", "which single keys count", "shortcuts"),
    Way("/help/keys", "Keys", "all of them", "shortcuts help"),
    Way("/health", "Health", "whether the database answers", "status"),
)
NEEDS = {
    "/now": "now",
    "/waits": "now",
    "/abandoned": "now",
    "/map": "map",
    "/map/ask": "map",
    "/map/compare": "map",
    "/audit": "audit",
    "/money": "money",
    "/money/calls": "money",
}


@get("/search")
async def search(visit: NamedDependency[Visit], q: FromQuery[str] = "") -> Response[str]:
    """What fits, in groups; without words the pages and acts there are."""
    words = q.strip()[:LONGEST]
    may = visit.desk.may
    found = await visit.desk.search(words)
    agents = [
        Way(f"/agents/{name}", agent.shown_as, agent.purpose, name)
        for name, agent in visit.agency.agents.items()
        if may_open("map", may)
    ]
    works = [one for one in found if one.kind == "work"]
    requests = [one for one in found if one.kind == "request"]
    return await visit.page(
        "search/index.html",
        nav="search",
        q=q,
        words=words,
        pages=_fitting([way for way in PAGES if may_open(NEEDS.get(way.address, ""), may)], words),
        agents=_fitting(agents, words)[:AGENTS] if words else [],
        works=works,
        requests=requests,
        acts=_fitting(await _acts(visit, may), words),
    )


async def _acts(visit: Visit, may: Abilities) -> list[Way]:
    """Ways to what this person may do."""
    acts = []
    for one in await visit.desk.gives():
        address = f"/work/new?agent={one.agent}&skill={one.skill}"
        acts.append(Way(address, f"Give {one.agent_label} work: {one.skill_label.lower()}…", one.description))
    if may.audits_agents or may.supervises_agents:
        acts.append(Way("/audit", "Verify all records…", "on the page of all records", "audit chain"))
    if may.manages_model_spend:
        acts.append(Way("/money/limit", "Set a limit…", "of a day or a month", "money budget"))
    if may.supervises_agents:
        acts.append(Way("/inbox/standing/new", "Give a standing rule…", "from now on, alone"))
        acts += [
            Way(f"/agents/{name}/pause", f"Pause {agent.shown_as}…", "it is given no work until it goes on")
            for name, agent in visit.agency.agents.items()
        ]
        acts.append(Way("/stop", "Stop everything…", "a page that says first what it does", "halt emergency"))
    return acts


def _fitting(ways: list[Way], words: str) -> list[Way]:
    """Those in which every word stands; what begins with the words comes first."""
    whole = words.lower()
    wanted = whole.split()
    fit = [way for way in ways if all(word in f"{way.says} {way.beside} {way.also}".lower() for word in wanted)]
    return sorted(fit, key=lambda way: (not way.says.lower().startswith(whole), whole not in way.says.lower()))


handlers = (search,)
