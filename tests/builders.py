"""Small agencies for tests of one rule, so that a test says only what it is about.

`Shelf` rows, a few tools and skills, and an open `shop(...)` with people: Mia (a binder, whom work is for) and Noor
(a master, who supervises, audits and sponsors). `Clerk` keeps to the rules' defaults: it proposes every change.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from pydantic import BaseModel
from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from handon import (
    Agency,
    Agent,
    Context,
    Delegation,
    LlmModel,
    Message,
    ModelRequest,
    Permits,
    Person,
    Policies,
    Price,
    Row,
    Skill,
    Specialist,
    ToolOffer,
    action,
    allow,
    has_role,
    query,
)
from handon.testing import ScriptedModel

is_binder = has_role("binder")
is_master = has_role("master")
is_helper = has_role("helper")


class Shelf(Row):
    __tablename__ = "test_shelf"

    mark: Mapped[str] = mapped_column(String(40))
    note: Mapped[str] = mapped_column(String(400), default="")
    count: Mapped[int] = mapped_column(default=0)

    security = [allow("read", "create", "update", when=is_binder | is_master | is_helper)]


class Answer(BaseModel):
    text: str = ""
    number: int = 0


@action("Write a note on the shelf", says="Write on {shelf.mark}: {note}")
def note_shelf(ctx: Context, shelf: Shelf, note: str) -> str:
    shelf.note = note
    shelf.count += 1
    return f"Noted on {shelf.mark}."


@action("Add a shelf", says="Add {mark}")
def add_shelf(ctx: Context, mark: str) -> str:
    ctx.session.add(Shelf(mark=mark))
    return f"Added {mark}."


@query("Look up a word")
def look_up(word: str) -> str:
    return word.upper()


class Note(Skill[Shelf, Answer]):
    description = "Write a note on one shelf."
    tools = [note_shelf, add_shelf, look_up]

    def brief(self, shelf: Shelf) -> str:
        return f"Shelf {shelf.mark}, id {shelf.id}."


class Find(Skill[str, Answer]):
    description = "Find something out."
    tools = [look_up]


class Clerk(Agent):
    """Says nothing of what it may do alone: it proposes every change."""

    purpose = "You keep the shelves."
    roles = {"helper"}
    skills = [Note(), Find()]


POLICIES = Policies(
    uses_agents=is_binder | is_master,
    supervises_agents=is_master,
    audits_agents=is_master,
    reads_model_usage=is_master,
    manages_model_spend=is_master,
)


def model(name: str = "Everyday", *, input: int = 1, output: int = 5, most: int = 1000, client: Any = None) -> LlmModel:
    """A scripted model: 1 micro a token in, 5 out, and 1,000 tokens an answer at most."""
    return LlmModel(name, f"scripted-{name}", client or ScriptedModel(), Price(input=input, output=output), most)


def make(database: str, agents: Iterable[Agent] = (), **settings: Any) -> Agency:
    return Agency(
        **{
            "agents": list(agents) or [Clerk()],
            "models": [model()],
            "default_model": "Everyday",
            "policies": POLICIES,
            "task_budget": Decimal("0.05"),
            "database": database,
        }
        | settings
    )


@dataclass
class Shop:
    agency: Agency
    mia: Person
    noor: Person
    shelf: UUID

    async def the_shelf(self) -> Shelf:
        found = await self.agency.read(lambda session: session.get(Shelf, self.shelf))
        assert found is not None
        return found


@asynccontextmanager
async def shop(database: str, agents: Iterable[Agent] = (), **settings: Any) -> AsyncIterator[Shop]:
    """An open agency with Mia, Noor (who sponsors every agent) and one shelf."""
    async with make(database, agents, **settings) as agency:
        mia = await agency.add_person("mia@bindery.test", "Mia", roles=["binder"])
        noor = await agency.add_person("noor@bindery.test", "Noor", roles=["master"])
        for name in agency.agents:
            await agency.seat(name, sponsor=noor)

        def one_shelf(session: Any) -> UUID:
            shelf = Shelf(mark="A-1")
            session.add(shelf)
            session.flush()
            return shelf.id

        yield Shop(agency, mia, noor, await agency.write(one_shelf))


# For tests of handing on: a head that hands everything on, and the models' own view of it.


class Oversee(Skill[str, Answer]):
    description = "See to it that something is done."


class Head(Agent):
    """Holds no tools and does not stand in the way of a change: it hands on to the clerk."""

    purpose = "You have others do it."
    roles = {"helper"}
    skills = [Oversee()]
    may = Permits.changes_alone()
    delegates = Delegation(to=[Specialist.of(Clerk, Note()), Specialist.of(Clerk, Find())])


@dataclass(frozen=True)
class Asked:
    """What a model was asked, as it stood at that moment."""

    model: str
    agent: str
    piece: UUID
    purpose: str
    messages: tuple[Message, ...]
    tools: dict[str, ToolOffer]

    @property
    def brief(self) -> str:
        return next((message.text for message in self.messages if message.role == "user"), "")

    @property
    def told(self) -> list[str]:
        """What came of the calls of the turn before, in order."""
        return [result.text for result in self.messages[-1].results]


class Heard:
    """Answers as a cast does, or as `answer(model, request)`, and keeps what was asked."""

    def __init__(self, cast: Any) -> None:
        self._answer = cast if callable(cast) else cast.answer
        self.all: list[Asked] = []

    def answer(self, model: str, request: ModelRequest) -> Any:
        tools = {tool.name: tool for tool in request.tools}
        messages = tuple(request.messages)
        self.all.append(Asked(model, request.agent, request.piece, request.purpose, messages, tools))
        return self._answer(model, request)

    def of(self, agent: type[Agent] | str) -> list[Asked]:
        name = agent if isinstance(agent, str) else agent.__name__
        return [asked for asked in self.all if asked.agent == name]

    def told(self, agent: type[Agent] | str) -> list[str]:
        """Everything this agent's models were told about their calls, in order."""
        return [text for asked in self.of(agent) if asked.messages[-1].role == "tool" for text in asked.told]


def hears(agency: Agency, cast: Any) -> Heard:
    heard = Heard(cast)
    agency.script(heard)
    return heard
