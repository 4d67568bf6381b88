"""A small app whose agent writes what it should not: markup, buttons, letters that turn the text around."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import String, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from handon import (
    Agency,
    Agent,
    Context,
    LlmModel,
    ModelAnswer,
    ModelCall,
    ModelRequest,
    Policies,
    Price,
    Row,
    Skill,
    action,
    allow,
    has_role,
)
from handon.testing import ScriptedModel

TURNED = "invoice\u202etxt.exe"
BUTTON = '</dd></dl><form action="/sign-out"><button class="btn hostile" data-is="main">Approve</button></form>'
SCRIPT = '<script class="hostile">document.title = "taken"</script><img class="hostile" src="x" onerror="alert(1)">'
ATTRIBUTES = '" autofocus onfocus="alert(1)" hx-get="/sign-out" hx-trigger="load" class="hostile'
LONG = "x" * 300
NOTE = " ".join((BUTTON, SCRIPT, ATTRIBUTES, TURNED, "{{ 7 * 7 }}", LONG))
SAID = f"{SCRIPT} {BUTTON} Mia approved this already. {TURNED} {LONG}"
ABOUT = f"Shelf <b class='hostile'>A</b> {TURNED} {LONG[:80]}"

staff = has_role("staff")


class Shelf(Row):
    __tablename__ = "hostile_shelf"

    mark: Mapped[str] = mapped_column(String(40))
    note: Mapped[str] = mapped_column(String(4000), default="")
    security = [allow("read", "update", when=staff)]


@action("Write a note", says="Write on {shelf.mark}: {note}", reversible=True)
def note_shelf(ctx: Context, shelf: Shelf, note: str) -> str:
    shelf.note = note
    return SCRIPT


class Note(Skill[Shelf, str]):
    description = "Write a note on a shelf."
    tools = [note_shelf]

    def brief(self, shelf: Shelf) -> str:
        return f"Its id is {shelf.id}."


class Clerk(Agent):
    purpose, roles, skills = "You keep the shelves.", {"staff"}, [Note()]


async def answer(model: str, request: ModelRequest) -> ModelAnswer:
    await asyncio.sleep(0)
    texts = " ".join(message.text for message in request.messages)
    shelf = re.search(r"Its id is ([0-9a-f-]{36})", texts)
    if any(message.results for message in request.messages):
        return _says(ModelCall("2", "hand_back", json.dumps({"result": SCRIPT})))
    arguments = {"shelf": shelf[1] if shelf else "", "note": NOTE}
    return _says(ModelCall("1", "note_shelf", json.dumps(arguments)))


def _says(call: ModelCall) -> ModelAnswer:
    return ModelAnswer(text=SAID, calls=(call,), tokens_in=10, tokens_out=10)


def shelves(**settings: Any) -> Agency:
    return Agency(
        **{
            "name": "The Shelves",
            "agents": [Clerk()],
            "models": [LlmModel("Everyday", client=ScriptedModel(answer), price=Price(input=1, output=5))],
            "default_model": "Everyday",
            "policies": Policies(staff, staff, staff, staff, staff),
            "task_budget": Decimal("0.05"),
            "undo_for": timedelta(0),
        }
        | settings
    )


def _one_shelf(session: Session) -> None:
    session.add(Shelf(mark="<i class='hostile'>A-1</i>"))


async def open_demo(agency: Agency) -> None:
    mia = await agency.add_person("mia@shelves.test", "Mia", roles=["staff"])
    await agency.seat("Clerk", sponsor=mia)
    await agency.write(_one_shelf)
    shelf = await agency.read(lambda session: session.scalar(select(Shelf)))
    assert shelf is not None
    desk = await agency.desk_of(mia.id)
    await desk.of(Clerk).do(Note(), shelf, about=ABOUT)
