"""The page for somebody who is new here: its steps say how they stand, and its program is the README's."""

from __future__ import annotations

import html
import re
from pathlib import Path
from uuid import UUID

from pydantic import BaseModel, Field

from core.values import Giving
from handon.testing import AgentCast, AgentScript, Says
from tests.builders import Answer, Clerk
from tests.web.conftest import Site, text_of
from web.pages.start import sample_of
from web.posted import values_of

README = Path(__file__).resolve().parent.parent.parent / "README.md"


def steps(page: str) -> list[str]:
    return re.findall(r'<li id="s-\w+" data-is="(\w+)"', page)


async def test_each_step_turns_done_when_it_is_and_the_entry_leaves_the_bar(site: Site) -> None:
    mia = await site.signed_in(site.mia)
    page = (await mia.get("/start")).text
    assert steps(page) == ["open"] * 4 and "waiting for the first work…" in page
    assert re.search(r'<nav.*href="/start".*</nav>', page, re.S)
    root = await site.wants_to_write("Torn")
    page = (await mia.get("/start")).text
    assert steps(page) == ["done", "done", "open", "open"] and "1 waits for you" in page
    assert not re.search(r'<nav class="nav".*href="/start".*?</nav>', page, re.S) and 'href="/start"' in page
    [proposal] = await (await site.desk(site.mia)).proposals()
    await (await site.desk(site.mia)).refuse(proposal.id)
    await site.agency.settle()
    page = (await mia.get("/start")).text
    assert steps(page) == ["done"] * 4 and f'href="/work/{root}/record"' in page


async def test_what_is_missing_is_said(site: Site) -> None:
    page = text_of((await (await site.signed_in(site.noor)).get("/start")).text)
    assert "Model Everyday scripted-Everyday: no script was given to it" in page
    assert "Nobody else can sign in yet: no provider is configured" in page
    assert "2 people" in page and "SQLite" in page
    assert "Nobody answers for" not in page
    await site.agency.seat("Clerk", sponsor=None)
    assert "Nobody answers for Clerk" in text_of((await (await site.signed_in(site.noor)).get("/start")).text)


# R8
async def test_the_work_of_others_is_no_step_of_whoever_may_not_see_it(site: Site) -> None:
    await site.wants_to_write("Torn")
    other = await site.agency.add_person("ida@bindery.test", "Ida", roles=["binder"])
    page = (await (await site.signed_in(other)).get("/start")).text
    assert steps(page) == ["open"] * 4 and "Shelf A-1" not in page


async def test_a_step_turns_done_while_the_page_is_open(site: Site) -> None:
    mia = await site.signed_in(site.mia)
    async with site.stream(mia, "/live?start=true") as stream:
        assert steps((await stream.html())["data"])[0] == "open"
        await site.wants_to_write("Torn")
        data = (await stream.html())["data"]
        while steps(data)[0] != "done":
            data = (await stream.html())["data"]


async def test_the_program_on_the_page_is_that_of_the_readme(site: Site) -> None:
    [program] = re.findall(r"^```python\n(.*?)^```", README.read_text("utf-8"), re.S | re.M)
    page = (await (await site.signed_in(site.mia)).get("/start")).text
    [shown] = re.findall(r'<pre class="program"[^>]*>(.*?)</pre>', page, re.S)
    assert html.unescape(shown).strip() == program.strip()


async def test_one_click_gives_a_first_work_that_can_be_stopped(site: Site) -> None:
    mia = await site.signed_in(site.mia)
    site.agency.script(AgentCast().plays(Clerk, AgentScript(Says.ask("Which?"), Says.hand_back(Answer(text="so")))))
    began = await mia.submit("/start", "/work/new")
    assert re.fullmatch(r"/work/[0-9a-f-]{36}", began.url.path) and "Stop" in text_of(began.text)
    [work] = await (await site.desk(site.mia)).works()
    assert (work.agent_label, work.person) == ("Clerk", "Mia")


def test_what_is_tried_is_the_first_row_or_what_the_input_has_as_defaults_and_examples() -> None:
    class Sheet(BaseModel):
        gsm: int = Field(examples=[120])

    class Order(BaseModel):
        title: str = Field(examples=["Atlas", "Psalter"])
        copies: int = 2
        rush: bool = False
        sheet: Sheet
        note: str = ""

    def giving(model: type[BaseModel], row: str | None = None, *rows: UUID) -> Giving:
        listed = tuple((id, "A-1") for id in rows)
        words = ("Clerk",) * 3 + ("Note",) * 3
        return Giving(*words, model.model_json_schema(), row, listed, (), 1, 0, 0, "")

    class Bare(BaseModel):
        title: str

    first = UUID(int=7)
    assert sample_of(giving(Bare, "Shelf", first)) == {"row": str(first)}
    assert sample_of(giving(Bare, "Shelf")) is None and sample_of(giving(Bare)) is None
    sample = sample_of(giving(Order))
    assert sample is not None
    values, wrong = values_of(Order.model_json_schema(), sample)
    assert not wrong and Order.model_validate(values) == Order(title="Atlas", sheet=Sheet(gsm=120))
