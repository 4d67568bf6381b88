"""The supervisor's first page while it is read: rows are told as they stand, and none moves under its reader."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open, Serve
from tests.browser.walking import expect_live, give_with_note, sign_in

pytestmark = pytest.mark.browser


def test_what_comes_in_while_a_supervisor_reads_moves_no_row(serve: Serve, fresh: Open) -> None:
    server = serve()
    mia, noor = fresh(base_url=server.base), fresh(base_url=server.base)
    sign_in(mia, server, "Mia")
    give_with_note(mia, "The first")
    sign_in(noor, server, "Noor")
    noor.goto("/now")
    rows = noor.locator(".active tbody tr")
    first = rows.filter(has_text="The first")
    expect(first).to_contain_text("Waits for Mia")
    expect_live(noor)
    count, stood = rows.count(), first.bounding_box()
    give_with_note(mia, "The second")
    expect(noor.get_by_role("link", name="1 more to see")).to_be_visible()
    assert (rows.count(), first.bounding_box()) == (count, stood)
    mia.goto("/inbox")
    mia.get_by_role("link", name="Write on MS-13").first.click()
    mia.get_by_role("button", name="Approve", exact=True).click()
    expect(first).not_to_contain_text("Waits for Mia")
    assert rows.count() == count
    noor.get_by_role("link", name="1 more to see").click()
    expect(rows.filter(has_text="The second")).to_contain_text("Waits for Mia")
