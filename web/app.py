"""The composition root of the web: one agency in, one ASGI application out.

The agency opens with the application and closes after the last answer has gone out. Nothing else in `web` keeps state.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from litestar import Litestar, Router
from litestar.config.compression import CompressionConfig
from litestar.config.csrf import CSRFConfig
from litestar.datastructures import State
from litestar.di import Provide
from litestar.middleware import DefineMiddleware

from core.agency import Agency
from web import callback, deps, errors, live, login, security
from web.assets import Assets
from web.oidc import Configured, Provider, Seal
from web.pages import (
    abandoned,
    agents,
    aside,
    audit,
    batch,
    decide,
    drafts,
    give,
    hand_over,
    health,
    help,
    home,
    inbox,
    map,
    money,
    now,
    plain,
    record,
    search,
    settings,
    standing,
    start,
    stop,
    stop_everything,
    timeline,
    work,
)
from web.render import Renderer

Opened = Callable[[Agency], Awaitable[None]]


def create_app(
    agency: Agency,
    *,
    demo: bool = False,
    oidc: Configured | None = None,
    secret: str | None = None,
    opened: Opened | None = None,
    failed: Callable[[Exception], None] | None = None,
) -> Litestar:
    """The application for one agency.

    `demo` lets the door say that links were printed where Handon was started. `oidc` is the provider that people sign
    in at. `secret` signs the forms' tokens; without
    one it is the agency's own, which its database keeps. `opened` is awaited once the agency is open; `failed` is told
    why it could not be opened.
    """
    assets = Assets()
    csrf = security.csrf(secret or "not yet read")

    @asynccontextmanager
    async def lifespan(_: Litestar) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(agency)
                await _keep_secret(agency, csrf, secret)
                app.state.seal = Seal(await agency.secret("attempts"), agency.clock.now)
                if opened is not None:
                    await opened(agency)
            except Exception as error:
                if failed is not None:
                    failed(error)
                raise
            yield

    behind_the_door = Router(
        path="/",
        route_handlers=[
            live.stream,
            *home.handlers,
            *inbox.handlers,
            *now.handlers,
            *abandoned.handlers,
            *stop_everything.handlers,
            *standing.handlers,
            *help.handlers,
            *drafts.handlers,
            *decide.handlers,
            *aside.handlers,
            *hand_over.handlers,
            *batch.handlers,
            *give.handlers,
            *timeline.handlers,
            *plain.handlers,
            *work.handlers,
            *record.handlers,
            *money.handlers,
            *stop.handlers,
            *map.handlers,
            *agents.handlers,
            *audit.handlers,
            *settings.handlers,
            *search.handlers,
            *start.handlers,
        ],
        guards=[login.must_be_signed_in],
        dependencies={"visit": Provide(deps.visit)},
        include_in_schema=False,
    )
    app = Litestar(
        route_handlers=[
            behind_the_door,
            Router("/", route_handlers=[*login.handlers, *callback.handlers, health.health]),
            *assets.routes(),
        ],
        lifespan=[lifespan],
        middleware=[DefineMiddleware(login.SignedIn)],
        csrf_config=csrf,
        compression_config=CompressionConfig(backend="gzip", minimum_size=1024, gzip_compress_level=5),
        before_send=[security.guard_answers],
        exception_handlers=errors.handlers,
        state=State(
            {
                "agency": agency,
                "renderer": Renderer(agency, assets),
                "demo": demo,
                "provider": Provider(oidc, agency.clock.now) if oidc is not None else None,
            }
        ),
        openapi_config=None,
        logging_config=None,
    )
    return app


async def _keep_secret(agency: Agency, csrf: CSRFConfig, secret: str | None) -> None:
    """The agency's own secret can only be read once it is open, which is before the first request is."""
    if secret is None:
        csrf.secret = await agency.secret("forms")
