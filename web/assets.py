"""The files a page loads, under an address that changes whenever one of them does: they can be kept for ever.

The style sheets are separate files, read as one: their order is the order of `STYLES`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from litestar import MediaType, Response, get
from litestar.datastructures import CacheControlHeader
from litestar.handlers import HTTPRouteHandler
from litestar.router import Router
from litestar.static_files import create_static_files_router

STATIC = Path(__file__).resolve().parent.parent / "static"
STYLES = (
    *("tokens", "base", "layout"),
    *("parts", "inbox", "card", "held", "tables", "forms", "tree", "phone", "state"),
    *("states", "work", "give", "rules", "keys", "map", "agents", "sign-in"),
    *("money", "timeline", "now", "audit", "settings", "start", "search"),
)
FOREVER = CacheControlHeader(max_age=31_536_000, immutable=True, public=True)
OPEN = {"exclude_from_csrf": True, "exclude_from_auth": True}


class Assets:
    """What is served under `base`. The hash is taken once, when the app is made."""

    def __init__(self, folder: Path = STATIC) -> None:
        self.folder = folder
        digest = hashlib.sha256()
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            digest.update(file.relative_to(folder).as_posix().encode())
            digest.update(file.read_bytes())
        self.base = f"/static/{digest.hexdigest()[:12]}"
        self.css = "\n".join((folder / "css" / f"{name}.css").read_text("utf-8") for name in STYLES)

    def url(self, path: str) -> str:
        return f"{self.base}/{path}"

    def routes(self) -> list[Router | HTTPRouteHandler]:
        css = self.css

        @get(f"{self.base}/handon.css", media_type=MediaType.CSS, opt=OPEN, cache_control=FOREVER, sync_to_thread=False)
        def styles() -> Response[str]:
            return Response(css, media_type="text/css; charset=utf-8")

        files = create_static_files_router(
            path=self.base, directories=[self.folder], opt=OPEN, cache_control=FOREVER, include_in_schema=False
        )
        return [styles, files]
