"""Makes the pictures of the docs: `make pictures`, or `make pictures ARGS="inbox now"` for some.

Serves the apps of `shop.py` and takes each page of `pages.py` in light, in dark and on a phone, as
PNG of at most 256 colours. Run it after a change to what a page looks like.
"""

from __future__ import annotations

import base64
import re
import struct
import sys
import tempfile
import zlib
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from docs.pictures.pages import HOUSES, PAGES
from docs.pictures.shop import CLOCK
from handon.testing import TestClock
from tests.browser.conftest import CHROMIUM
from tests.browser.earlier import open_earlier
from tests.browser.serving import Server
from tests.browser.walking import sign_in

HERE = Path(__file__).parent
APPS = {"docs.pictures.shop:bindery": PAGES, "docs.pictures.shop:houses": HOUSES}
LOOKS: dict[str, tuple[Literal["light", "dark"], int, int]] = {
    "light": ("light", 1280, 800),
    "dark": ("dark", 1280, 800),
    "phone": ("light", 390, 844),
}
MOST = 4_000_000  # bytes of all of them


def places(server: Server) -> dict[str, str]:
    """The addresses of the shop that its pages are asked for by."""

    def one(query: str) -> str:
        [(found,)] = server.rows(query)
        return re.sub(r"(.{8})(.{4})(.{4})(.{4})(.{12})", r"\1-\2-\3-\4-\5", str(found))

    waits = "SELECT id FROM whole WHERE about = 'Rebinding MS-14'"
    return {
        "waits": one(waits),
        "done": one("SELECT id FROM whole WHERE about = 'Rebinding MS-17'"),
        "many": one("SELECT id FROM whole WHERE about = 'Rebinding MS-19'"),
        "part": one(f"SELECT id FROM piece WHERE agent = 'Collator' AND root = ({waits})"),
        "item": one(f"SELECT id FROM proposal WHERE root = ({waits})"),
    }


def opened(browser: Browser, server: Server, cookies: Any) -> Page:
    """A page whose clock stands where the shop's does."""
    context = browser.new_context(
        base_url=server.base,
        storage_state=cookies,
        timezone_id="UTC",
        locale="en-GB",
        reduced_motion="reduce",
    )
    context.clock.set_fixed_time(CLOCK.now())
    return context.new_page()


# The pixels of a picture as numbers of a palette: its most frequent colours that can be told apart, and for every other
# the nearest of them.
COUNT = """
async (picture) => {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer), seen = new Map();
  for (const pixel of pixels) seen.set(pixel, (seen.get(pixel) ?? 0) + 1);
  const colours = [], number = new Map(), APART = 24;
  for (const [pixel] of [...seen].sort((a, b) => b[1] - a[1] || a[0] - b[0])) {
    const [r, g, b] = [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
    let nearest = 0, least = Infinity;
    colours.forEach((one, n) => {
      const far = (one[0] - r) ** 2 + (one[1] - g) ** 2 + (one[2] - b) ** 2;
      if (far < least) { least = far; nearest = n; }
    });
    if (least > APART && colours.length < 256) nearest = colours.push([r, g, b]) - 1;
    number.set(pixel, nearest);
  }
  let text = "";
  for (const pixel of pixels) text += String.fromCharCode(number.get(pixel));
  return [image.width, image.height, colours.flat(), btoa(text)];
}
"""


def png(width: int, height: int, palette: list[int], pixels: bytes) -> bytes:
    """A picture of one byte for each pixel, as a file."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + pixels[at : at + width] for at in range(0, width * height, width))
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", head), (b"PLTE", bytes(palette)), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, body) for kind, body in parts)


def take(page: Page, counter: Page, name: str, address: str) -> None:
    """The three pictures of a page."""
    size = 0
    for look, (scheme, width, height) in LOOKS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.goto(address)
        if page.locator("#live").count():
            page.locator("#live[data-is=live]").wait_for()
        taken = base64.b64encode(page.screenshot()).decode()
        *frame, pixels = counter.evaluate(COUNT, taken)
        file = HERE / f"{name}-{look}.png"
        file.write_bytes(png(*frame, base64.b64decode(pixels)))
        size += file.stat().st_size
    print(f"docs/pictures/{name}-*.png  {size / 1000:.0f} KB")


def take_all(playwright: Playwright, app: str, wanted: list[str]) -> None:
    """Serve one app, and take these of its pages."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), app)
        if APPS[app] is PAGES:
            open_earlier(server.file, clock=TestClock(CLOCK.now() - timedelta(days=12, hours=3)))
        server.start()
        executable = CHROMIUM if CHROMIUM.is_file() else None  # else the one that playwright has put there
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-lcd-text"])
        try:
            pages = {"": opened(browser, server, None)}
            for name in server.links:
                with browser.new_context() as context:
                    sign_in(context.new_page(), server, name)
                    pages[name] = opened(browser, server, context.storage_state())
            found, counter = places(server) if APPS[app] is PAGES else {}, browser.new_page()
            for name in wanted:
                who, address = APPS[app][name]
                take(pages[who], counter, name, address.format(**found))
        finally:
            browser.close()
            server.stop()


def main(wanted: list[str]) -> int:
    there = PAGES | HOUSES
    if unknown := set(wanted) - there.keys():
        print(f"There is no page {', '.join(sorted(unknown))}; there are {', '.join(there)}.")
        return 1
    with sync_playwright() as playwright:
        for app, pages in APPS.items():
            names = [name for name in wanted or there if name in pages]
            if names:
                take_all(playwright, app, names)
    size = sum(file.stat().st_size for file in HERE.glob("*.png"))
    print(f"{size / 1e6:.1f} MB of {MOST / 1e6:.0f}")
    return int(size > MOST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
