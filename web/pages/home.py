"""`/`: on to where this person is needed; and every address where nothing is."""

from __future__ import annotations

from litestar import get
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.response import Redirect

from web.deps import Visit, go


@get("/")
async def home(visit: NamedDependency[Visit]) -> Redirect:
    """The inbox for whoever something waits for, or who only decides; else what needs a supervisor."""
    waits = await visit.desk.waiting_count()
    return go("/inbox" if waits or not visit.desk.may.supervises_agents else "/now")


@get("/{anything:path}")
async def nowhere(anything: FromPath[str]) -> None:
    """Every other address: not found for whoever is signed in, and the door for whoever is not."""
    raise NotFoundException


handlers = (home, nowhere)
