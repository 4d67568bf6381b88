"""What a person does on the pages, in few words. Each step ends when the page shows that it was taken."""

from __future__ import annotations

import re
import time

from playwright.sync_api import Locator, Page, expect

from tests.browser.serving import Server

WAITS = "Waits for you"
WHOLE = re.compile(r"/work/[0-9a-f-]{36}$")


def sign_in(page: Page, server: Server, name: str) -> None:
    """Open the printed link and press its button."""
    page.goto(server.links[name])
    page.get_by_role("button", name=f"Sign in as {name}").click()
    page.wait_for_url(re.compile(r"/(inbox|now|work)$"))


def give(page: Page, volume: str, about: str = "") -> str:
    """Give the planner a volume through the form, with script or without; answers the address of the whole."""
    if page.url == "about:blank":
        page.goto("/work")
    page.get_by_role("link", name="Give work").first.click()
    page.get_by_label("Agent").select_option("Planner")
    without_script = page.get_by_role("button", name="Show what it takes")
    if without_script.count():
        without_script.click()
    page.get_by_label("Volume").select_option(label=volume)
    page.get_by_label("About").fill(about or f"Rebinding {volume}")
    page.get_by_role("button", name="Give work").click()
    page.wait_for_url(WHOLE)
    return page.url


def give_errand(page: Page, base: str, about: str = "", **errand: int) -> str:
    """Give the foreman of the busy app an errand; answers the address of the whole, which the page then shows."""
    page.goto(f"{base}/work/new?agent=Foreman&skill=Do")
    for name, number in errand.items():
        page.locator(f'[name="in.{name}"]').fill(str(number))
    page.get_by_label("About").fill(about)
    page.get_by_role("button", name="Give work").click()
    page.wait_for_url(WHOLE)
    return page.url


def row(page: Page, agent: str) -> Locator:
    """The row of the tree for this agent's piece."""
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=re.compile(f"^{agent} ")))


def reload_until(page: Page, agent: str, word: str) -> None:
    """As a person does who has no script: load the page again until the row says so."""
    deadline = time.monotonic() + 20
    while not row(page, agent).filter(has_text=word).count():
        assert time.monotonic() < deadline, page.locator("main").inner_text()
        page.wait_for_timeout(100)
        page.reload()


def give_with_note(page: Page, about: str) -> str:
    """Give MS-13, whose note waits for Mia, and open the card of that note. Answers the address of the whole."""
    whole = give(page, "MS-13", about)
    reload_until(page, "Collator", WAITS)
    row(page, "Collator").get_by_role("link", name=re.compile("^Collator ")).click()
    page.locator("#pane").get_by_role("link", name=re.compile("^Write on MS-13")).click()
    page.wait_for_url(re.compile(r"/inbox/[0-9a-f-]{36}$"))
    return whole


def expect_waiting(page: Page, number: int) -> None:
    """The badge says so, and says nothing where nothing waits."""
    badge = page.locator("#badge")
    expect(badge).to_have_text(str(number))
    expect(badge).to_be_visible(visible=bool(number))


def expect_live(page: Page) -> None:
    """The bar says that the page is live: its word stands in every page, but is shown only then."""
    expect(page.locator("#live")).to_have_attribute("data-is", "live")


def unfold(page: Page) -> None:
    """Open what stands together in the list, so that each request can be pressed."""
    shut = page.locator(".singles:not([open]) > summary")
    while shut.count():
        shut.first.click()


def approve(page: Page) -> None:
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator(".receipt")).to_contain_text("You approved")


def times_written(page: Page, whole: str) -> int:
    """How often the record of this whole says that the note was written."""
    page.goto(f"{whole}/record")
    return page.locator(".lines > li").filter(has_text="used “Write a note on the volume”").count()
