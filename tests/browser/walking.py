"""What a person does on the pages, in few words. Each step ends when the page shows that it was taken."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.serving import Server

WAITS = "Waits for you"


def sign_in(page: Page, server: Server, name: str) -> None:
    """Open the printed link and press its button."""
    page.goto(server.links[name])
    page.get_by_role("button", name=f"Sign in as {name}").click()
    page.wait_for_url(re.compile(r"/(inbox|work)$"))


def give(page: Page, volume: str, about: str = "") -> str:
    """Give the planner a volume through the form; answers the address of the whole."""
    page.get_by_role("link", name="Give work").first.click()
    page.get_by_label("Agent").select_option("Planner")
    expect(page.get_by_label("Skill")).to_have_value("PlanRebinding")
    page.get_by_label("Volume").select_option(label=volume)
    page.get_by_label("About").fill(about or f"Rebinding {volume}")
    page.get_by_role("button", name="Give work").click()
    page.wait_for_url(re.compile(r"/work/[0-9a-f-]{36}"))
    return page.url


def row(page: Page, agent: str) -> Locator:
    """The row of the tree for this agent's piece."""
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=re.compile(f"^{agent} ")))


def expect_waiting(page: Page, number: int) -> None:
    """The badge says so, and says nothing where nothing waits."""
    badge = page.locator("#badge")
    expect(badge).to_have_text(str(number))
    expect(badge).to_be_visible(visible=bool(number))


def open_card(page: Page, server: Server, sentence: str) -> None:
    """From the inbox, the card with this sentence."""
    page.goto(f"{server.base}/inbox")
    page.get_by_role("link", name=re.compile(re.escape(sentence))).click()
    expect(page.get_by_role("heading", name=re.compile(re.escape(sentence)))).to_be_visible()


def approve(page: Page) -> None:
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator(".receipt")).to_contain_text("You approved")
