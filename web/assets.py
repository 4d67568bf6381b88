"""The files a page loads, under an address that changes whenever one of them does: they can be kept for ever.

Style sheets and scripts are small files. They are served as one of each for every page, and one for the pages of a
kind: a page names its kinds in `page_kinds` (`templates/base.html`). Within one, the order is the order here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from litestar import MediaType, Response, get
from litestar.datastructures import CacheControlHeader
from litestar.handlers import HTTPRouteHandler
from litestar.router import Router
from litestar.static_files import create_static_files_router

from web.joining import join, ordered

STATIC = Path(__file__).resolve().parent.parent / "static"
EVERY = "handon"  # the one that every page has
SHEETS = {
    EVERY: (
        *("tokens", "base", "layout", "parts", "card", "held", "tables", "forms", "phone", "state"),
        *("states", "keys", "search"),
    ),
    "inbox": ("inbox", "rules"),
    "work": ("tree", "work", "timeline", "plain"),
    "give": ("give",),
    "now": ("now", "money"),
    "map": ("map", "agents"),
    "audit": ("audit",),
    "start": ("start",),
    "settings": ("settings",),
    "door": ("sign-in",),
}
SCRIPTS = {
    EVERY: ("page",),
    "inbox": ("drafts", "edits", "batch"),
    "work": ("tree",),
    "map": ("map",),
    "audit": ("proof",),
}
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
        self.sheets = {
            name: "\n".join(_bare((folder / "css" / f"{part}.css").read_text("utf-8")) for part in parts)
            for name, parts in SHEETS.items()
        }
        self.scripts = scripts(folder / "js")

    def url(self, path: str) -> str:
        return f"{self.base}/{path}"

    def routes(self) -> list[Router | HTTPRouteHandler]:
        files = create_static_files_router(
            path=self.base, directories=[self.folder], opt=OPEN, cache_control=FOREVER, include_in_schema=False
        )
        sheets = [_text(self.url(f"{name}.css"), text, "text/css") for name, text in self.sheets.items()]
        joined = [_text(self.url(f"{name}.js"), text, "text/javascript") for name, text in self.scripts.items()]
        return [*sheets, *joined, files]


def scripts(folder: Path, files: Mapping[str, tuple[str, ...]] = SCRIPTS) -> dict[str, str]:
    """The text of each file. What every page has is in the first of them alone."""
    every = ordered(folder, files[EVERY])
    elsewhere = {module.name: EVERY for module in every}
    others = {name: join(ordered(folder, parts), elsewhere) for name, parts in files.items() if name != EVERY}
    return {EVERY: join(every, {}), **others}


def _bare(css: str) -> str:
    """Without comments, and without what lines are set in with."""
    lines = (line.strip() for line in re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL).splitlines())
    return "\n".join(line for line in lines if line)


def _text(path: str, text: str, kind: str) -> HTTPRouteHandler:
    @get(path, media_type=MediaType.TEXT, opt=OPEN, cache_control=FOREVER, sync_to_thread=False)
    def file() -> Response[str]:
        return Response(text, media_type=f"{kind}; charset=utf-8")

    return file
