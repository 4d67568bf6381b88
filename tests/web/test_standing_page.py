"""From now on, alone: the second step of an approval, and the page of the rules, by plain forms."""

from __future__ import annotations

import re

from tests.web.conftest import Browser, Site, text_of


async def waiting(site: Site) -> str:
    return str((await (await site.desk(site.mia)).proposals())[0].id)


async def decided(site: Site, *notes: str) -> None:
    """Have each note proposed and approved, but for those that begin with "No"."""
    await site.wants_to_write(*notes)
    desk = await site.desk(site.mia)
    for _ in notes:
        [proposal] = await desk.proposals()
        if proposal.arguments["note"].startswith("No"):
            await desk.refuse(proposal.id)
        else:
            await desk.approve(proposal.id)
        await site.agency.settle()


async def give(site: Site, browser: Browser, **fields: str) -> str:
    """Approve what waits with a rule; answers the receipt as text."""
    item = await waiting(site)
    return text_of((await browser.submit(f"/inbox/{item}/rule", f"/inbox/{item}/rule", **fields)).text)


WIDE = {"how.shelf": "any", "how.note": "any"}


# P10, R12
async def test_the_step_begins_as_narrow_as_the_call_with_an_end_and_a_number(site: Site) -> None:
    await site.wants_to_write("Torn")
    browser = await site.signed_in(site.mia)
    item = await waiting(site)
    page = (await browser.get(f"/inbox/{item}/rule")).text
    words = text_of(page)
    assert "Clerk may do this alone in work for you: Write a note on the shelf" in words
    assert re.search(r"where shelf is A-1 and note is Torn, 10 times, through \d{4}-\d\d-\d\d\.", words)
    assert "nothing to try it on" in words
    for control in ('<select name="how.shelf"', '<select name="how.note"', '<textarea name="value.note"'):
        assert control in page
    assert await site.the_note() == ""


# R12
async def test_before_a_rule_is_given_the_person_sees_what_it_would_have_covered(site: Site) -> None:
    await decided(site, "Torn", "Torn", "Stained", "No such leaf")
    await site.wants_to_write("Torn")
    browser = await site.signed_in(site.mia)
    item = await waiting(site)
    step = f"/inbox/{item}/rule"
    assert "Of the last 4 such requests this would have covered 2; 2 would still ask" in text_of(
        (await browser.get(step)).text
    )
    form = {"how.shelf": "any", "how.note": "any", "uses": "", "until": ""}
    token = re.findall(r'name="_csrf_token" value="([^"]+)"', (await browser.get(step)).text)[0]
    tried = text_of((await browser.post(f"{step}/trial", data=form | {"_csrf_token": token})).text)
    assert "Of the last 4 such requests this would have covered 4." in tried
    assert "1 of those it would have done alone was refused: Write on A-1: No such leaf" in tried
    assert "without any bound" in tried
    assert await waiting(site) == item  # trying decides nothing
    assert await (await site.desk(site.mia)).standing_rules() == []


# P10, R6
async def test_an_approval_with_a_rule_runs_once_and_the_agent_asks_no_more_within_it(site: Site) -> None:
    await site.wants_to_write("Torn")
    browser = await site.signed_in(site.mia)
    receipt = await give(site, browser, **WIDE, uses="1")
    assert "You approved" in receipt
    assert "A standing rule was given with it" in receipt
    await site.agency.settle()
    await site.wants_to_write("Stained")  # the one use
    assert await site.the_note() == "Stained"
    await site.wants_to_write("Wet")
    assert await site.the_note() == "Stained"
    assert await waiting(site)
    [rule] = await (await site.desk(site.mia)).standing_rules()
    assert (rule.uses, rule.max_uses, rule.why_not) == (1, 1, "used up")


# P12
async def test_a_rule_is_not_given_along_with_what_was_not_shown(site: Site) -> None:
    await site.wants_to_write("Torn")
    browser = await site.signed_in(site.mia)
    assert "changed this while you read" in await give(site, browser, fingerprint="0" * 64)
    assert await (await site.desk(site.mia)).standing_rules() == []


# R12
async def test_bounds_that_do_not_fit_give_nothing_decide_nothing_and_keep_what_was_written(site: Site) -> None:
    await site.wants_to_write("Torn")
    browser = await site.signed_in(site.mia)
    item = await waiting(site)
    wrong = {"uses": "none", "until": "2001-01-01", "how.note": "starts with", "value.note": ""}
    answer = await browser.submit(f"/inbox/{item}/rule", f"/inbox/{item}/rule", **wrong)
    words = text_of(answer.text)
    assert answer.status_code == 422
    assert "3 fields need you. Nothing was decided yet." in words
    assert "Write a whole number of 1 or more" in words
    assert "That day is over." in words
    assert 'value="none"' in answer.text
    assert await (await site.desk(site.mia)).standing_rules() == []
    assert await waiting(site) == item


# P10, R6
async def test_a_rule_is_offered_only_to_somebody_whose_rule_would_lift_it(site: Site) -> None:
    await site.wants_to_write("Torn")
    item = await waiting(site)
    mia = await site.signed_in(site.mia)
    assert f"/inbox/{item}/rule" in (await mia.get(f"/inbox/{item}")).text
    assert 'name="whose"' in (await mia.get(f"/inbox/{item}/rule")).text
    assert "everybody" not in text_of((await mia.get(f"/inbox/{item}/rule")).text)
    await site.agency.deactivate(site.mia)
    noor = await site.signed_in(site.noor)  # who sponsors the clerk, and supervises
    step = text_of((await noor.get(f"/inbox/{item}/rule")).text)
    assert "in work for everybody" in step
    assert "in work for you" not in step


# P10
async def test_rules_are_listed_counted_and_revoked_with_a_second_word(site: Site) -> None:
    browser = await site.signed_in(site.mia)
    assert "No standing rule holds" in text_of((await browser.get("/inbox/standing")).text)
    await site.wants_to_write("Torn")
    await give(site, browser, **WIDE, uses="10", until="2091-04-02")
    await site.agency.settle()
    page = text_of((await browser.get("/inbox/standing")).text)
    assert "Clerk may write a note on the shelf alone, in work for you, 10 times, through 2091-04-02." in page
    assert "given by you" in page
    assert "0 of 10" in page
    [rule] = await (await site.desk(site.mia)).standing_rules()
    address = f"/inbox/standing/{rule.id}/revocation"
    asked = text_of((await browser.get(address)).text)
    assert "From now on Clerk proposes each such change again" in asked
    assert (await (await site.desk(site.mia)).standing_rules())[0].holds  # a GET revokes nothing
    after = text_of((await browser.submit(address, address)).text)
    assert "Revoked by you" in after
    assert "No standing rule holds" in after


# P10, R8
async def test_somebody_elses_rule_is_neither_shown_nor_revoked(site: Site) -> None:
    other = await site.agency.add_person("ada@bindery.test", "Ada", roles=["binder"])
    await site.wants_to_write("Torn")
    await give(site, await site.signed_in(site.mia), **WIDE)
    [rule] = await (await site.desk(site.mia)).standing_rules()
    browser = await site.signed_in(other)
    page = (await browser.get("/inbox/standing")).text
    assert str(rule.id) not in page
    assert (await browser.get(f"/inbox/standing/{rule.id}/revocation")).status_code == 404
    token = re.findall(r'name="_csrf_token" value="([^"]+)"', page)[0]
    answer = await browser.post(f"/inbox/standing/{rule.id}/revocation", data={"_csrf_token": token})
    assert answer.status_code == 404
    assert (await (await site.desk(site.mia)).standing_rules())[0].holds


# P10, R6
async def test_a_rule_is_given_on_its_own_and_only_for_what_an_agent_proposes(site: Site) -> None:
    browser = await site.signed_in(site.mia)
    choice = (await browser.get("/inbox/standing/new")).text
    assert "Clerk.note_shelf" in choice
    assert "look_up" not in choice
    page = "/inbox/standing/new?of=Clerk.note_shelf"
    wrong = await browser.submit(page, "/inbox/standing/new", uses="0")
    assert wrong.status_code == 422
    assert "No rule was given" in text_of(wrong.text)
    given = await browser.submit(page, "/inbox/standing/new", uses="5", **{"how.note": "any"})
    assert "5 times" in text_of(given.text)
    await site.wants_to_write("Torn")
    assert await site.the_note() == "Torn"
    assert (await browser.get("/inbox/standing/new?of=Clerk.look_up")).status_code == 404
