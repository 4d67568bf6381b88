"""`/work/new`: choose an agent's skill, fill in what it takes, see what may come of it, and give the work.

The form carries a key made for it alone, so that what is sent twice (a button pressed twice, a page loaded again) is
given once.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from decimal import Decimal
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import Redirect

from core.errors import BadInput, NotAllowed, NotFound, OutOfMoney
from core.values import Giving
from web.deps import Visit, go
from web.forms import fields_of
from web.posted import number, values_of


@get("/work/new")
async def giving(
    visit: NamedDependency[Visit], agent: FromQuery[str] = "", skill: FromQuery[str] = ""
) -> Response[str]:
    """The form for one skill; where none is named, or the agent has no such skill, for the first there is."""
    return await _show(visit, agent, skill)


@post("/work/new")
async def give(visit: NamedDependency[Visit]) -> Response[str] | Redirect:
    """Give it, and go to where it can be watched. What does not fit is said field by field; nothing is given then."""
    posted = {name: str(value) for name, value in (await visit.request.form()).multi_items()}
    chosen = _chosen(await visit.desk.gives(), posted.get("agent", ""), posted.get("skill", ""))
    if chosen is None or (chosen.agent, chosen.skill) != (posted.get("agent"), posted.get("skill")):
        raise NotFound("There is no such skill to give work to.")
    inner = {name.removeprefix("in."): value for name, value in posted.items() if name.startswith("in.")}
    wrong: dict[str, str] = {}
    if chosen.row is not None:
        value: dict[str, Any] = {"id": inner.get("row", "")}
        if not value["id"]:
            wrong["row"] = f"Choose a {chosen.row.lower()}."
    else:
        value, wrong = values_of(chosen.schema, inner)
    limit = _limit(posted.get("limit", ""), wrong)
    if not wrong:
        try:
            root = await visit.desk.give(
                chosen.agent,
                chosen.skill,
                json.dumps(value),
                about=posted.get("about", "").strip(),
                limit=limit,
                key=_key(posted),
            )
        except BadInput as error:
            wrong = dict(error.fields)
            if chosen.row is not None:
                wrong = {"row" if name == "id" else name: text for name, text in wrong.items()}
        except (OutOfMoney, NotAllowed) as error:
            wrong = {"": str(error)}
        else:
            return go(f"/work/{root}")
    return await _show(visit, chosen.agent, chosen.skill, posted, inner, wrong, status=422)


async def _show(
    visit: Visit,
    agent: str,
    skill: str,
    posted: dict[str, str] | None = None,
    inner: dict[str, str] | None = None,
    wrong: dict[str, str] | None = None,
    status: int = 200,
) -> Response[str]:
    gives = await visit.desk.gives()
    chosen = _chosen(gives, agent, skill)
    return await visit.page(
        "work/new.html",
        nav="give",
        status=status,
        gives=gives,
        chosen=chosen,
        fields=fields_of(chosen.schema, posted=inner, errors=wrong) if chosen and chosen.row is None else [],
        posted=posted or {},
        wrong=wrong or {},
        key=(posted or {}).get("key") or secrets.token_urlsafe(16),
    )


def _key(posted: dict[str, str]) -> str:
    """The form's own key with what stands in it: a form that somebody went back to and changed is other work."""
    key = posted.get("key", "")
    if not key:
        return ""
    said = json.dumps(sorted((name, value) for name, value in posted.items() if not name.startswith("_")))
    return f"{key[:40]} {hashlib.sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def _chosen(gives: list[Giving], agent: str, skill: str) -> Giving | None:
    of_agent = [giving for giving in gives if giving.agent == agent] or gives
    return next((giving for giving in of_agent if giving.skill == skill), of_agent[0] if of_agent else None)


def _limit(text: str, wrong: dict[str, str]) -> Decimal | None:
    if not text.strip():
        return None
    try:
        limit = Decimal(number(text, as_text=True))
    except ValueError as error:
        wrong["limit"] = str(error)
        return None
    if limit <= 0:
        wrong["limit"] = "Write more than nothing."
    return limit


handlers = (giving, give)
