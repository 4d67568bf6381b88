"""Makes the pictures of the docs from the real app: `make pictures`.

Starts the demo on a database of its own with a free port, follows Mia's link in Chromium, waits until the collator's
note waits for her, and takes each picture. Run it after a change to what a page looks like.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
LINK = re.compile(r"http://\S+")
PATIENCE = 60.0  # seconds


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def serve(port: int, database: str) -> tuple[subprocess.Popen[str], str]:
    """The demo, and Mia's link as the server prints it."""
    server = subprocess.Popen(
        [
            *(sys.executable, "-c", "from web.cli import main; main()"),
            *("serve", "examples.bindery:bindery", "--demo", "--port", str(port), "--database", database),
        ],
        cwd=ROOT,
        env=os.environ | {"HANDON_DEMO_PACE": "0.2", "PYTHONUNBUFFERED": "1", "NO_COLOR": "1", "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert server.stdout is not None
    seen: list[str] = []
    threading.Thread(target=lambda out=server.stdout: seen.extend(iter(out.readline, "")), daemon=True).start()
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        text = "".join(seen)
        # Mia's link stands on her line or on the one under it.
        if (name := text.find("Mia")) >= 0 and (link := LINK.search(text, name)) and text.find("\n", link.end()) >= 0:
            return server, link[0]
        time.sleep(0.1)
    server.kill()
    raise SystemExit("The demo printed no link for Mia:\n" + "".join(seen))


def take(page: Page, name: str, scheme: Literal["light", "dark"], width: int = 1280, height: int = 800) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.screenshot(path=HERE / f"{name}.png")
    print(f"docs/pictures/{name}.png")


def main() -> None:
    port, folder = free_port(), tempfile.mkdtemp()
    server, link = serve(port, f"sqlite:///{folder}/pictures.db")
    try:
        with sync_playwright() as playwright:
            chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
            # Without one of the system's, the browser that `playwright install chromium` put there.
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(device_scale_factor=2)
            page.goto(link)
            if "sign" in page.url:  # a link that asks for a press before it is used up
                page.get_by_role("button").first.click()
            page.goto(f"http://127.0.0.1:{port}/work")
            page.get_by_role("link", name="Rebinding MS-14").first.click()
            page.get_by_text("Waits for you").first.wait_for(timeout=PATIENCE * 1000)
            page.wait_for_timeout(500)
            take(page, "work-light", "light")
            take(page, "work-dark", "dark")
            take(page, "work-phone", "light", 390, 844)
            page.goto(f"http://127.0.0.1:{port}/inbox")
            page.get_by_role("link", name="Write on MS-14").first.click()
            page.get_by_role("button", name="Approve").first.wait_for()
            take(page, "inbox-light", "light")
            take(page, "inbox-phone", "light", 390, 844)
            browser.close()
    finally:
        server.terminate()
        try:
            server.wait(timeout=15)
        except subprocess.TimeoutExpired:
            server.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
