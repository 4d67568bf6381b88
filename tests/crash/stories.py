"""Stories that are cut off at every point: each goes on from wherever it stands, in whichever process has it.

`Story.play` gives the work and decides what is asked, and may be played again by another process: what was given or
decided already stays as it is. Models answer by what they are shown and by nothing else. `Ledger` is the world
outside: a file to which each call that reaches it adds a line that is on the disk before the call comes back.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import select

from examples.bindery import BinderyRole, Volume, bindery
from examples.bindery import model as bindery_model
from handon import (
    Agency,
    Agent,
    Context,
    Delegation,
    Desk,
    HandonError,
    ModelAnswer,
    ModelRequest,
    Permits,
    Skill,
    Specialist,
    action,
)
from handon.testing import Says, TestClock
from tests.builders import Answer, Note, Shelf, look_up, make, model, note_shelf

LONG = timedelta(hours=1)  # longer than any process may be quiet
ROUNDS = 20  # of going on, deciding and waiting; a story takes far fewer
MISSING = "Leaves 40-41 missing"


Watch = Callable[[str, int], None]


class Ledger:
    """A file to which lines are added, each on the disk before `add` comes back.

    `watch` is told of each right after: of its first field, and of how many there were of it in this process.
    """

    now: ClassVar[Ledger]

    def __init__(self, path: Path) -> None:
        self.path = path
        self.watch: Watch | None = None
        self._added: Counter[str] = Counter()

    @classmethod
    def opens(cls, path: Path) -> Ledger:
        cls.now = Ledger(path)
        return cls.now

    def add(self, *fields: str) -> None:
        file = os.open(self.path, os.O_APPEND | os.O_CREAT | os.O_WRONLY)
        try:
            os.write(file, ("\t".join(fields) + "\n").encode())
            os.fsync(file)
        finally:
            os.close(file)
        self._added[fields[0]] += 1
        if self.watch is not None:
            self.watch(fields[0], self._added[fields[0]])

    def lines(self) -> list[tuple[str, ...]]:
        if not self.path.exists():
            return []
        return [tuple(line.split("\t")) for line in self.path.read_text().splitlines()]

    def of(self, what: str) -> list[tuple[str, ...]]:
        """The rest of every line that begins so."""
        return [line[1:] for line in self.lines() if line[0] == what]


@action("Post a parcel", says="Post {parcel}")
async def post(ctx: Context, parcel: str) -> str:
    Ledger.now.add("post", ctx.call_key, parcel)
    return f"Posted {parcel}."


@action("Order a label", says="Order a label for {parcel}")
async def order_label(ctx: Context, parcel: str) -> str:
    Ledger.now.add("label", ctx.call_key, parcel)
    return f"Ordered a label for {parcel}."


class Send(Skill[str, Answer]):
    description = "Send a parcel off."
    tools = [post, order_label]


class Tally(Skill[str, Answer]):
    description = "Tally what was done."


class Dispatch(Skill[Shelf, Answer]):
    description = "Note what leaves a shelf, and have it sent off."

    def brief(self, shelf: Shelf) -> str:
        return f"Shelf {shelf.mark}, id {shelf.id}."


class Keeper(Agent):
    """Notes by itself, and asks where the parcel goes."""

    purpose = "You keep the shelves."
    roles = {"helper"}
    skills = [Note()]
    may = Permits.changes_alone()


class Courier(Agent):
    """Orders labels by itself; what it posts is put to a person."""

    purpose = "You send parcels."
    roles = {"helper"}
    skills = [Send()]
    may = Permits.proposes_changes().alone(order_label)


class Run(Skill[Shelf, Answer]):
    description = "Run an errand for a shelf."
    tools = [look_up, order_label, note_shelf]

    def brief(self, shelf: Shelf) -> str:
        return f"Shelf {shelf.mark}, id {shelf.id}."


class Runner(Agent):
    """Does one thing after the other, by itself."""

    purpose = "You run errands."
    roles = {"helper"}
    skills = [Run()]
    may = Permits.changes_alone()


class Foreman(Agent):
    purpose = "You have parcels sent off."
    roles = {"helper"}
    skills = [Dispatch(), Tally()]
    may = Permits.changes_alone()
    consults = "Senior"
    delegates = Delegation(
        to=[Specialist.of(Keeper, Note()), Specialist.of(Courier, Send()), Specialist.helper(Tally())]
    )


def _workshop_turns(request: ModelRequest) -> Sequence[Any]:
    brief = request.messages[1].text
    if request.agent == "Keeper":
        shelf = brief.rpartition(" ")[2].rstrip(".")
        note = Says.tool(note_shelf, {"shelf": shelf, "note": "A parcel leaves."})
        return note, Says.ask("Where does it go?", ["Left", "Right"]), Says.hand_back(Answer(text="Noted."))
    if request.agent == "Courier":
        together = Says.together(
            Says.tool(order_label, {"parcel": "the parcel"}), Says.tool(post, {"parcel": "the parcel"})
        )
        return together, Says.hand_back(Answer(text="Sent."))
    if "Shelf" not in brief:
        return (Says.hand_back(Answer(text="All tallied.")),)
    shelf = brief.rpartition(" ")[2].rstrip(".")
    legs = Says.together(Says.hand_to(Keeper, Note(), Says.row(UUID(shelf))), Says.hand_to(Courier, Send(), "send it"))
    helper = Says.hand_to_helper(Tally(), "what was done")
    return legs, Says.consult("Is that all?"), helper, Says.hand_back(Answer(text="All is done."))


def _errand_turns(request: ModelRequest) -> Sequence[Any]:
    shelf = request.messages[1].text.rpartition(" ")[2].rstrip(".")
    return (
        Says.tool(look_up, {"word": "left"}),
        Says.tool(order_label, {"parcel": "the parcel"}),
        Says.tool(note_shelf, {"shelf": shelf, "note": "A parcel leaves."}),
        Says.hand_back(Answer(text="All is done.")),
    )


def _turn_of(turns: Sequence[Any], request: ModelRequest) -> ModelAnswer:
    answer: ModelAnswer = turns[sum(message.role == "assistant" for message in request.messages)].answer()
    return answer


def errand_answers(_: str, request: ModelRequest) -> ModelAnswer:
    return _turn_of(_errand_turns(request), request)


def workshop_answers(_: str, request: ModelRequest) -> ModelAnswer:
    if request.purpose == "consult":
        return ModelAnswer("That is all.", (), 100, 20)
    return _turn_of(_workshop_turns(request), request)


def bindery_answers(_: str, request: ModelRequest) -> ModelAnswer:
    parts = {
        "Planner": bindery_model.planner,
        "Collator": bindery_model.collator,
        "Buyer": bindery_model.buyer,
    }
    return parts[request.agent](bindery_model.Conversation(request))


Answers = Callable[[str, ModelRequest], Any]


def logged(answers: Answers) -> Answers:
    """The same answers, each asking of a model on the ledger: which agent, piece and turn."""

    def answer(name: str, request: ModelRequest) -> Any:
        turn = sum(message.role == "assistant" for message in request.messages)
        Ledger.now.add("asked", request.agent, request.piece.hex, f"{request.purpose} {turn}")
        return answers(name, request)

    return answer


@dataclass(frozen=True)
class Story:
    """`row` is what the work is about, by its mark; `agent` and `skill` whom it is given to."""

    agent: str
    skill: str
    answers: Answers
    row: type[Any]
    mark: Mapping[str, str]
    declared: Callable[..., Agency]

    def agency(self, database: str, **settings: Any) -> Agency:
        agency = self.declared(database=database, **settings)
        agency.script(logged(self.answers))
        return agency

    async def prepare(self, database: str) -> None:
        """People, seats and the row that the work is about."""
        async with self.agency(database, clock=TestClock()) as agency:
            noor = await agency.add_person("noor@bindery.test", "Noor", roles=[BinderyRole.MASTER])
            await agency.add_person("mia@bindery.test", "Mia", roles=[BinderyRole.BINDER])
            for agent in agency.agents:
                await agency.seat(agent, sponsor=noor)
            await agency.write(lambda session: session.add(self.row(**self.mark)))

    async def its_row(self, agency: Agency) -> Any:
        return await agency.read(lambda session: session.scalar(select(self.row).filter_by(**self.mark)))

    async def desk(self, agency: Agency) -> Desk:
        [mia] = [person for person in await agency.people() if person.name == "Mia"]
        return agency.desk(mia)

    async def give(self, agency: Agency, desk: Desk, key: str) -> UUID:
        """Given again with the same key it is the same work."""
        row = await self.its_row(agency)
        given = f'{{"id": "{row.id}"}}'
        return await desk.give(self.agent, self.skill, given, about=key, on=f"account of {key}", key=key)

    async def play(self, agency: Agency, key: str) -> UUID:
        """Give the work and decide what it asks, until it has ended."""
        desk = await self.desk(agency)
        task = await self.give(agency, desk, key)
        while not (await desk.stands(task)).status.final:
            await decide(desk)
        return task

    async def go_on(self, agency: Agency, clock: TestClock, key: str) -> UUID:
        """Go on with what another process left, as the next one does: what is due at once, what is held once it has
        been quiet for long."""
        desk = await self.desk(agency)
        task = await self.give(agency, desk, key)
        for _ in range(ROUNDS):
            await agency.settle()
            if (await desk.outcome(task)).status.final:
                return task
            if not await decide(desk):
                await clock.advance(LONG)
        raise AssertionError(f"The work does not come to an end: {await desk.work_tree(task)}")


async def decide(desk: Desk) -> int:
    """Say yes to all that waits for the desk's person, and answer what is asked; answers how much there was."""
    proposals, questions = await desk.proposals(), await desk.questions()
    for proposal in proposals:
        with contextlib.suppress(HandonError):  # somebody was first
            await desk.approve(proposal.id, fingerprint=proposal.fingerprint)
    for question in questions:
        with contextlib.suppress(HandonError):
            await desk.answer(question.id, "Left")
    return len(proposals) + len(questions)


def _workshop(**settings: Any) -> Agency:
    database = settings.pop("database")
    agents = [Foreman(), Keeper(), Courier()]
    return make(database, agents, models=[model(), model("Senior", most=100)], task_budget=Decimal("0.1"), **settings)


def _errand(**settings: Any) -> Agency:
    return make(settings.pop("database"), [Runner()], **settings)


STORIES = {
    "bindery": Story("Planner", "PlanRebinding", bindery_answers, Volume, {"shelfmark": "MS-14"}, bindery),
    "workshop": Story("Foreman", "Dispatch", workshop_answers, Shelf, {"mark": "A-1"}, _workshop),
    "errand": Story("Runner", "Run", errand_answers, Shelf, {"mark": "A-1"}, _errand),
}
