"""`/agents/{name}`: what one agent may do, who answers for it, what it did last; and the acts of supervisors on it."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from core.errors import BadInput
from web import lens as words_of
from web.deps import Visit, go
from web.schemas import held_in
from web.using import mark_of_agent

EFFECTS = {
    (True, True): "outside, can be taken back",
    (True, False): "outside, cannot be taken back",
    (False, True): "inside, can be taken back",
    (False, False): "inside only",
}


@get("/agents/{name:str}")
async def agent(visit: NamedDependency[Visit], name: FromPath[str]) -> Response[str]:
    """One agent, opened."""
    page = await visit.desk.agent(name)
    return await visit.page(
        "agents/agent.html",
        nav="map",
        page=page,
        agent=page.agent,
        says=words_of.SAYS,
        icons=words_of.ICONS,
        effects=EFFECTS,
        held_in=held_in,
        stream=f"/live?{urlencode({'used': mark_of_agent(page), 'agent': name})}",
    )


@post("/agents/{name:str}/seat")
async def seat(visit: NamedDependency[Visit], name: FromPath[str]) -> Redirect:
    """Say who answers for it."""
    said = (await visit.form()).get("sponsor", "")
    await visit.desk.seat_agent(name, _person(said) if said else None)
    return go(f"/agents/{name}")


@get("/agents/{name:str}/pause")
async def consequences(visit: NamedDependency[Visit], name: FromPath[str]) -> Response[str]:
    """What pausing does. Changes nothing."""
    page = await visit.desk.agent(name)
    return await visit.page("agents/pause.html", nav="map", page=page, agent=page.agent)


@post("/agents/{name:str}/pause")
async def pause(visit: NamedDependency[Visit], name: FromPath[str]) -> Redirect:
    """It takes no more work."""
    await visit.desk.pause_agent(name)
    return go(f"/agents/{name}")


@post("/agents/{name:str}/resumption")
async def resumption(visit: NamedDependency[Visit], name: FromPath[str]) -> Redirect:
    """It takes work again."""
    await visit.desk.resume_agent(name)
    return go(f"/agents/{name}")


@post("/agents/{name:str}/rules/{rule:uuid}/revocation")
async def revocation(visit: NamedDependency[Visit], name: FromPath[str], rule: FromPath[UUID]) -> Redirect:
    """End a standing rule: the agent proposes as before."""
    await visit.desk.revoke_rule(rule)
    return go(f"/agents/{name}#rules")


def _person(said: str) -> UUID:
    try:
        return UUID(said)
    except ValueError:
        raise BadInput({"sponsor": "Choose somebody of the list."}) from None


handlers = (agent, seat, consequences, pause, resumption, revocation)
