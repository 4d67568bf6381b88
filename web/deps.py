"""What a page is given: a `Visit`, which is one request of somebody who is signed in, with that person's desk."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from litestar import Request, Response
from litestar.response import Redirect

from core.agency import Agency
from core.desk import Desk
from core.values import Abilities
from web.render import Renderer

AnyRequest = Request[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Visit:
    """One request, who makes it, and their desk. A page asks `desk` and shows what it was given."""

    request: AnyRequest
    agency: Agency
    desk: Desk
    renderer: Renderer

    async def page(self, template: str, *, nav: str, status: int = 200, **context: Any) -> Response[str]:
        """A whole page. Its badge is counted by the same desk in the same request, which also says what this person
        may take back still."""
        shell = {"waiting": await self.desk.waiting_count(), "held": await self.desk.last_held()}
        html = self.renderer.html(
            template,
            self.request,
            me=self.desk.person,
            may=self.desk.may,
            likes=self.desk.likes,
            has_work=self.desk.begun,
            nav=nav,
            **shell,
            **context,
        )
        return Response(html, media_type="text/html", status_code=status)

    def fragment(self, template: str, *, status: int = 200, **context: Any) -> Response[str]:
        """A part of a page, for htmx."""
        html = self.renderer.html(template, self.request, me=self.desk.person, likes=self.desk.likes, **context)
        return Response(html, media_type="text/html", status_code=status)

    async def form(self) -> dict[str, str]:
        """The fields that were posted, the last of each name."""
        return {name: str(value) for name, value in (await self.request.form()).multi_items()}

    @property
    def wants_part(self) -> bool:
        """Whether htmx asks for a part of the page rather than for the whole of it."""
        return self.request.headers.get("hx-request-type") == "partial"


async def visit(request: AnyRequest) -> Visit:
    """The visit of this request. Roles and rights are read now, not when the person signed in."""
    agency: Agency = request.app.state.agency
    desk = await agency.desk_of(request.user.id)
    request.state.likes = desk.likes  # for a page that says what went wrong
    return Visit(request, agency, desk, request.app.state.renderer)


def today(visit: Visit) -> date:
    """The day by the agency's clock, in UTC, which is what days of rules and limits are in."""
    return visit.agency.clock.now().astimezone(UTC).date()


def go(address: str) -> Redirect:
    """After something was done: on to where its outcome is shown (303, so a reload does not do it again)."""
    return Redirect(address, status_code=303)


def aware(moment: datetime) -> datetime:
    """A time from an address: one that names no zone is in UTC."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def may_open(page: str, may: Abilities) -> bool:
    """Whether somebody may open one of the pages of the bar, by its address."""
    return {
        "now": may.supervises_agents,
        "map": may.uses_agents or may.supervises_agents or may.audits_agents,
        "audit": may.supervises_agents or may.audits_agents,
        "money": may.reads_model_usage or may.manages_model_spend,
    }.get(page, True)
