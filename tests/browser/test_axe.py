"""axe-core finds nothing to say about any page: in light and in dark, wide and on a phone, read from either side.

Its one file comes from npm, once, into a folder of this user's cache; `AXE` names one that is there already.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Open, Serve
from tests.browser.many import PAGES
from tests.browser.serving import Server
from tests.browser.walking import approve, give, give_with_note, sign_in

pytestmark = pytest.mark.browser

PACKAGE = "axe-core@4.14.1"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "handon-tests"
SCHEMES: tuple[tuple[Literal["light", "dark"], list[str]], ...] = (
    ("light", []),
    ("dark", ["color-contrast"]),  # a scheme changes nothing but colours
)
RUN = """
async (rules) => (await axe.run(document, {
    resultTypes: ["violations"], ...(rules.length ? { runOnly: rules } : {})
  })).violations
  .map((found) => `${found.id}: ${found.nodes.map((node) => node.target.join(" ")).join(", ")}`)
"""


@pytest.fixture(scope="package")
def axe() -> str:
    """The text of axe.min.js."""
    kept = Path(os.environ.get("AXE", CACHE / f"{PACKAGE}.js"))
    if not kept.is_file():
        _fetch(kept)
    return kept.read_text("utf-8")


def _fetch(kept: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip(f"{kept} is not there, and neither is npm to get {PACKAGE} with")
    kept.parent.mkdir(parents=True, exist_ok=True)
    packed = subprocess.run(
        ["npm", "pack", "--silent", PACKAGE], cwd=kept.parent, capture_output=True, text=True, timeout=60, check=False
    )
    if packed.returncode:
        pytest.skip(f"npm could not get {PACKAGE}: {packed.stderr.strip()[-200:]}")
    archive = kept.parent / packed.stdout.split()[-1]
    with tarfile.open(archive) as files:
        found = files.extractfile("package/axe.min.js")
        assert found is not None
        part = kept.with_suffix(f".{os.getpid()}")
        part.write_bytes(found.read())
    part.replace(kept)
    archive.unlink(missing_ok=True)


@pytest.fixture
def pages(mias: Open) -> dict[str, str]:
    """The address of each page, in a shop where there is something to see on it."""
    page = mias()
    done = give(page, "MS-16", "Looked at by axe")
    give_with_note(page, "Looked at by axe, decided")
    decided = page.url
    approve(page)
    waiting = give_with_note(page, "Looked at by axe, waiting")
    return {
        **{"give": "/work/new?agent=Planner&skill=PlanRebinding", "typed": "/work/new?agent=Buyer&skill=PriceCloth"},
        **{"list": "/work?show=all", "work": waiting, "ended": done, "record": f"{done}/record"},
        **{
            "timeline": f"{waiting}/timeline",
            "found": f"{waiting}?find=collator",
            "not found": f"{waiting}?find=zzz",
        },
        **{"plain": f"{waiting}/list", "plain found": f"{waiting}/list?find=collator"},
        **{"filtered": f"{done}?show=going", "shut": f"{waiting}?shut={waiting[-8:]}", "piece": _top(waiting)},
        **{"stop": f"{waiting}/stop", "inbox": "/inbox", "card": page.url, "refuse": f"{page.url}/refusal"},
        **{"rule": f"{page.url}/rule", "standing": "/inbox/standing", "keys": "/help/keys"},
        **{"rule alone": "/inbox/standing/new?of=Collator.note_on_volume", "rules": "/inbox/standing/new"},
        **{"edit": f"{page.url}/edit", "receipt": decided, "answered": "/inbox/answered", "error": "/nowhere"},
        **{
            "settings": "/settings",
            "aside": f"{page.url}/aside",
            "hand over": f"{page.url}/hand-over",
            "together": f"/inbox/batch?ids={page.url[-36:]}",
            "my keys": "/settings/keys?saved=true",
            "start": "/start",
            "find": "/search?q=plan",
        },
        **{"map": "/map?tools=yes", "way": "/map?chosen=Planner.Buyer.PriceCloth", "agent": "/map?chosen=Planner"},
        **{"money": "/map?lens=money", "words": "/map?view=list&sort=-limit", "page": "/agents/Collator"},
        **{"ask": "/map/ask?agent=Planner&tool=note_on_volume", "nothing": "/map?view=list&q=nothing"},
        **{"compare": "/map/compare", "same": "/map/compare?from=1&to=1", "then": "/map?at=1"},
    }


def _top(whole: str) -> str:
    """The page of its top piece alone."""
    return f"{whole}/piece/{whole.rsplit('/', 1)[1]}"


SUPERVISORS = {
    **{"now": "/now", "waits": "/waits", "abandoned": "/abandoned", "everything": "/stop"},
    **{"stopped": "/stop/result?since=2026-01-01T00:00:00Z", "money": "/money", "calls": "/money/calls"},
    **{"days": "/money?show=days&first=2026-13-01", "limit": "/money/limit?of=agent:Buyer"},
    **{"audit": "/audit?kind=decided", "audit empty": "/audit?q=nothing", "audit wrong": "/audit?since=soon"},
}


def test_axe_finds_nothing_on_any_page_in_light_and_dark_wide_and_on_a_phone(
    axe: str, mias: Open, noors: Open, fresh: Open, shop: Server, pages: dict[str, str]
) -> None:
    settings: Any = {"bypass_csp": True, "reduced_motion": "reduce"}  # axe is put into the page
    mia, noor, stranger = mias(**settings), noors(**settings), fresh(**settings, base_url=shop.base)
    found: list[str] = []
    for name, address in pages.items():
        found += _faults(mia, axe, name, address)
    noor.goto("/audit?kind=decided")
    line = noor.locator(".lines .n").first.get_attribute("href") or ""
    found += _faults(noor, axe, "line", line)
    seats = {"seat": "/agents/Buyer", "pause": "/agents/Buyer/pause"}
    for name, address in {**SUPERVISORS, **seats}.items():
        found += _faults(noor, axe, name, address)
    for name, address in {"door": "/sign-in", "link": shop.links["Noor"], "used": "/sign-in/link/x"}.items():
        found += _faults(stranger, axe, name, address)
    assert found == []


def test_axe_finds_nothing_while_a_decision_can_be_taken_back(axe: str, fresh: Open, serve: Serve) -> None:
    server, page = serve("tests.browser.at_once:patient"), fresh(bypass_csp=True, reduced_motion="reduce")
    sign_in(page, server, "Mia")
    give_with_note(page, "Looked at by axe, held")
    card = page.url
    page.get_by_role("button", name="Approve", exact=True).click()
    page.locator("#held").get_by_role("button", name="Undo").wait_for()
    addresses = {"line": f"{server.base}/inbox", "receipt": card, "elsewhere": f"{server.base}/work"}
    assert [fault for name, address in addresses.items() for fault in _faults(page, axe, name, address)] == []


@pytest.mark.parametrize("app", PAGES)
def test_axe_finds_nothing_on_a_map_of_many_agents_of_tangled_ones_and_of_one(
    axe: str, fresh: Open, serve: Serve, app: str
) -> None:
    server, page = serve(f"tests.browser.many:{app}"), fresh(bypass_csp=True, reduced_motion="reduce")
    sign_in(page, server, "Noor")
    found = [fault for name, address in PAGES[app].items() for fault in _faults(page, axe, name, server.base + address)]
    assert found == []


def _faults(page: Page, axe: str, name: str, address: str) -> list[str]:
    page.goto(address)
    page.evaluate(axe)
    found = []
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for scheme, rules in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            found += [f"{name}, {scheme}, {width}: {fault}" for fault in page.evaluate(RUN, rules)]
        page.emulate_media(color_scheme="light")
        page.evaluate("document.documentElement.dir = 'rtl'")
        found += [f"{name}, from the right, {width}: {fault}" for fault in page.evaluate(RUN, [])]
        page.evaluate("document.documentElement.removeAttribute('dir')")
    return found
