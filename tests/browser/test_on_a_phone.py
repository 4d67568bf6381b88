"""At 390 pixels: nothing scrolls sideways, and what can be done is within reach of a thumb."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.walking import give, give_with_note

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
THUMB = 44  # pixels

# What is an act, or a way to one: links inside a sentence are words, and as high as words are.
ACTS = ", ".join(
    (
        *(".btn", ".nav a", ".tabs a", ".brand", ".req", ".tw[href]"),
        *("button:not(.live button)", "summary", "select", "input:not([type=hidden])"),
    )
)
SMALL = """
([acts, thumb]) => [...document.querySelectorAll(acts)]
  .filter((act) => act.checkVisibility({ visibilityProperty: true }) && !act.closest(".vh, .skip"))
  .map((act) => [act.textContent.trim() || act.name, act.getBoundingClientRect()])
  .filter(([, box]) => box.width && (box.height < thumb || box.width < thumb))
  .map(([word, box]) => `${word}: ${Math.round(box.width)} x ${Math.round(box.height)}`)
"""


def expect_fit(page: Page, address: str) -> None:
    page.goto(address)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390, f"{address} is {wide} pixels wide"
    assert page.evaluate(SMALL, [ACTS, THUMB]) == [], address


def test_no_page_scrolls_sideways_and_every_act_fits_a_thumb(mias: Open) -> None:
    page = mias(**PHONE)
    done = give(page, "MS-15", "On a phone")
    give_with_note(page, "On a phone, with a note")
    card = page.url
    for address in (
        *("/inbox", "/inbox/answered", card, f"{card}/refusal", f"{card}/edit", f"{card}/aside", f"{card}/hand-over"),
        *(f"{card}/rule", "/inbox/standing", "/inbox/standing/new", "/help/keys", "/inbox?kind=question"),
        "/inbox/standing/new?of=Collator.note_on_volume",
        *("/work", "/work?show=all", "/work/new", "/work/new?agent=Buyer&skill=PriceCloth"),
        *(
            done,
            f"{done}/record",
            f"{done}/stop",
            f"{done}/timeline",
            f"{done}/list",
            f"{done}?find=zzz",
            f"{done}?show=going",
            *(f"{done}/piece/{done.rsplit('/', 1)[1]}",),
            "/health",
            "/nowhere",
        ),
        *("/map?tools=yes", "/map?chosen=Planner", "/map?chosen=Planner.Buyer.PriceCloth", "/map?view=list"),
        *("/map/ask?agent=Planner&tool=note_on_volume", "/agents/Planner", "/agents/Collator"),
        *("/settings", "/settings/keys", "/start", "/search?q=m"),
    ):
        expect_fit(page, address)


def test_the_door_fits_a_phone(fresh: Open, shop: object) -> None:
    page = fresh(**PHONE, base_url=shop.base)  # type: ignore[attr-defined]
    expect_fit(page, "/sign-in")
    expect_fit(page, "/sign-in/link/of-nobody")


def test_the_acts_of_a_card_stand_above_the_fold_and_work(mias: Open) -> None:
    page = mias(**PHONE)
    give_with_note(page, "Decided on a phone")
    for button in (page.get_by_role("button", name="Approve"), page.get_by_role("link", name="Refuse…")):
        expect(button).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Approve").tap()
    expect(page.locator(".receipt")).to_contain_text("You approved")
