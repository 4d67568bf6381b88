"""`/`: on to where this person begins; and every address where nothing is."""

from __future__ import annotations

from litestar import get
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.response import Redirect

from web.deps import Visit, go, may_open


@get("/")
async def home(visit: NamedDependency[Visit]) -> Redirect:
    """To the page that they chose to begin with, while they may open it. Else to the inbox for whoever something waits
    for, or who only decides; else to what needs a supervisor."""
    may, chosen = visit.desk.may, visit.desk.likes.home
    if chosen and may_open(chosen, may):
        return go(f"/{chosen}")
    waits = await visit.desk.waiting_count()
    return go("/inbox" if waits or not may.supervises_agents else "/now")


@get("/{anything:path}")
async def nowhere(anything: FromPath[str]) -> None:
    """Every other address: not found for whoever is signed in, and the door for whoever is not."""
    raise NotFoundException


handlers = (home, nowhere)
