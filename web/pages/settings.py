"""`/settings`: what a person chooses for their own pages, on every device. Plain forms; nothing here is on a record."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from zoneinfo import available_timezones

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import Redirect

from core.errors import BadInput
from core.values import SINGLE_KEYS, Preferences
from web.deps import Visit, go, may_open

HOMES = (
    ("", "the inbox, or Now for who supervises"),
    ("inbox", "Inbox"),
    ("now", "Now"),
    ("work", "Work"),
    ("map", "Map"),
    ("audit", "Audit"),
    ("money", "Money"),
)


@cache
def zones() -> list[str]:
    """The time zones that are places, and UTC."""
    return ["UTC", *sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))]


@get("/settings")
async def me(visit: NamedDependency[Visit], saved: FromQuery[bool] = False) -> Response[str]:
    """Name, first page, theme, time zone."""
    return await _me(visit, visit.desk.likes, saved=saved)


@post("/settings")
async def keep_me(visit: NamedDependency[Visit]) -> Response[str] | Redirect:
    """Keep them. What does not fit is said at its field, and nothing is kept."""
    form = await visit.form()
    chosen = replace(
        visit.desk.likes,
        home=form.get("home", ""),
        theme=form.get("theme", ""),
        time_zone=form.get("time_zone", ""),
    )
    try:
        await visit.desk.choose(chosen, form.get("name", ""))
    except BadInput as error:
        return await _me(visit, chosen, form.get("name", ""), error.fields)
    return go("/settings?saved=true")


async def _me(
    visit: Visit, chosen: Preferences, name: str | None = None, wrong: dict[str, str] | None = None, saved: bool = False
) -> Response[str]:
    person = visit.desk.person
    return await visit.page(
        "settings/me.html",
        nav="settings",
        status=422 if wrong else 200,
        chosen=chosen,
        name=name if name is not None else person.name if person else "",
        homes=[(value, word) for value, word in HOMES if may_open(value, visit.desk.may)],
        zones=zones(),
        agency_zone=visit.agency.settings.time_zone,
        wrong=wrong or {},
        saved=saved,
    )


@get("/settings/keys")
async def keys(visit: NamedDependency[Visit], saved: FromQuery[bool] = False) -> Response[str]:
    """Whether single keys count, and which."""
    return await _keys(visit, visit.desk.likes, saved=saved)


@post("/settings/keys")
async def keep_keys(visit: NamedDependency[Visit]) -> Response[str] | Redirect:
    """Keep them; two that would be the same are refused, each at its field."""
    form = await visit.form()
    if form.get("act") == "usual":
        chosen = replace(visit.desk.likes, keys=())
    else:
        pairs = tuple((usual, form.get(f"key.{usual}", usual).strip()) for usual in SINGLE_KEYS)
        chosen = replace(
            visit.desk.likes,
            single_keys=form.get("single_keys") == "yes",
            keys=tuple((usual, key) for usual, key in pairs if key != usual),
        )
    try:
        await visit.desk.choose(chosen)
    except BadInput as error:
        return await _keys(visit, chosen, error.fields)
    return go("/settings/keys?saved=true")


async def _keys(
    visit: Visit, chosen: Preferences, wrong: dict[str, str] | None = None, saved: bool = False
) -> Response[str]:
    return await visit.page(
        "settings/keys.html",
        nav="settings",
        status=422 if wrong else 200,
        chosen=chosen,
        keys=list(SINGLE_KEYS.items()),
        wrong=wrong or {},
        saved=saved,
    )


handlers = (me, keep_me, keys, keep_keys)
