"""A yard where much goes on at once: trees of porters that hand on to each other, change things here and outside, ask
and propose; and people who decide at random.

What a porter's model says is drawn by the path of its piece and its turn, and by nothing else, so that whichever
process asks is told the same. Every change leaves its own mark with the key of its call: `Entry` rows for those in the
database, lines of the ledger for those outside. Two marks with one key are a change made twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import zlib
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

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
    Row,
    Skill,
    Specialist,
    action,
    allow,
)
from handon.testing import Says
from tests.builders import Answer, is_binder, is_helper, is_master, make, model
from tests.crash.stories import Ledger, order_label, post


class Entry(Row):
    """A mark that a change in the database leaves."""

    __tablename__ = "test_entry"

    key: Mapped[str] = mapped_column(String(120))
    what: Mapped[str] = mapped_column(String(200))

    security = [allow("read", "create", when=is_binder | is_master | is_helper)]


@action("Enter it in the book", says="Enter {what}")
def enter(ctx: Context, what: str) -> str:
    ctx.session.add(Entry(key=ctx.call_key, what=what))
    return f"Entered {what}."


@action("Propose an entry", says="Propose to enter {what}")
def propose_entry(ctx: Context, what: str) -> str:
    ctx.session.add(Entry(key=ctx.call_key, what=what))
    return f"Entered {what}."


class Carry(Skill[str, Answer]):
    description = "Carry something, or have parts of it carried."
    tools = [enter, propose_entry, order_label, post]


class Porter(Agent):
    """Enters and orders labels by itself; what else it changes is put to a person."""

    purpose = "You carry things, and have things carried."
    roles = {"helper"}
    skills = [Carry()]
    may = Permits.proposes_changes().alone(enter, order_label)
    consults = "Senior"

    @property
    def delegates(self) -> Delegation:  # type: ignore[override]
        return Delegation(to=[Specialist.of(Porter, Carry()), Specialist.helper(Carry())], max_depth=2, max_pieces=3)


def _says(what: str, path: str, turn: int) -> Any:
    here = f"{path} {turn}"

    def under(n: int) -> Any:
        return Says.hand_to(Porter, Carry(), f"{path}.{turn}{n}")

    return Says.together(
        *{
            "back": [Says.hand_back(Answer(text=path))],
            "enter": [Says.tool(enter, {"what": here})],
            "propose": [Says.tool(propose_entry, {"what": here})],
            "label": [Says.tool(order_label, {"parcel": here})],
            "post": [Says.tool(post, {"parcel": here})],
            "ask": [Says.ask("Which?", ["Left", "Right"])],
            "consult": [Says.consult("Which?")],
            "two": [under(0), under(1)],
            "helper": [Says.hand_to_helper(Carry(), f"{path}.{turn}h")],
            "mixed": [under(0), Says.tool(propose_entry, {"what": here}), Says.tool(enter, {"what": here})],
        }[what]
    )


ANYTHING = ["back", "enter", "propose", "label", "post", "ask", "consult", "two", "helper", "mixed"]


def drawn(path: str, turn: int) -> str:
    """Anything at all, a little at a time: three turns at most, and less and less is handed on."""
    if turn >= 3:
        return "back"
    said = ANYTHING[zlib.crc32(f"{path}:{turn}".encode()) % len(ANYTHING)]
    return "enter" if "." in path and said in ("two", "mixed") else said


def in_pairs(path: str, turn: int) -> str:
    """Two legs, and each proposes one change."""
    if turn:
        return "back"
    return "propose" if "." in path else "two"


PLANS: Mapping[str, Callable[[str, int], str]] = {"drawn": drawn, "in pairs": in_pairs}


def answers(plan: Callable[[str, int], str]) -> Callable[[str, ModelRequest], Any]:
    async def answer(_: str, request: ModelRequest) -> ModelAnswer:
        if request.purpose == "consult":
            return ModelAnswer("The left one.", (), 100, 20)
        path = request.messages[1].text.strip('"')
        turn = sum(message.role == "assistant" for message in request.messages)
        await asyncio.sleep(0.001 * (zlib.crc32(path.encode()) % 20))  # models take their time, and none the same
        said: ModelAnswer = _says(plan(path, turn), path, turn).answer()
        return said

    return answer


def yard(database: str, plan: str, **settings: Any) -> Agency:
    agency = make(
        database,
        [Porter()],
        models=[model(), model("Senior", most=100)],
        task_budget=Decimal("1"),
        **settings,
    )
    agency.script(answers(PLANS[plan]))
    return agency


async def prepare(agency: Agency) -> None:
    """Mia, for whom the work is; Noor, who answers for the porter and stands in for Mia."""
    mia = await agency.add_person("mia@bindery.test", "Mia", roles=["binder"])
    noor = await agency.add_person("noor@bindery.test", "Noor", roles=["master"])
    await agency.seat(Porter, sponsor=noor)
    await agency.stand_in(noor, mia)


async def desks(agency: Agency) -> list[Desk]:
    """Mia's and Noor's."""
    return [agency.desk(person) for person in await agency.people()]


async def give(agency: Agency, key: str, on: str | None = None) -> UUID:
    """Given again with the same key it is the same work. What was given is on the ledger."""
    mia = (await desks(agency))[0]
    root = await mia.give("Porter", "Carry", f'{{"result": "{key}"}}', about=key, key=key, on=on)
    Ledger.now.add("given", key, root.hex)
    return root


async def decide_all(desk: Desk) -> int:
    """Say yes to everything and answer everything; answers how much of it was this desk's to decide."""
    decided = 0
    for proposal in await desk.proposals():
        decided += await _said("approved", proposal.id, desk.approve(proposal.id, fingerprint=proposal.fingerprint))
    for question in await desk.questions():
        decided += await _said("answered", question.id, desk.answer(question.id, "Left"))
    return decided


async def decide_at_random(desk: Desk, draw: random.Random) -> None:
    """Approve, change, refuse, answer or decline what waits, or leave it for later; stop something now and then."""
    for proposal in await desk.proposals():
        key = "parcel" if "parcel" in proposal.arguments else "what"
        what = draw.choices(["approve", "change", "refuse", "leave"], [60, 15, 15, 10])[0]
        if what == "approve":
            await _said("approved", proposal.id, desk.approve(proposal.id, fingerprint=proposal.fingerprint))
        elif what == "change":
            await _said("approved", proposal.id, desk.approve(proposal.id, args={key: "something else"}))
        elif what == "refuse":
            await _said("refused", proposal.id, desk.refuse(proposal.id, "No."))
    for question in await desk.questions():
        what = draw.choices(["answer", "decline", "leave"], [70, 20, 10])[0]
        if what == "answer":
            await _said("answered", question.id, desk.answer(question.id, "Right"))
        elif what == "decline":
            await _said("answered", question.id, desk.decline(question.id, "Nobody knows."))
    if draw.random() < 0.1:
        going = await desk.works("going", limit=20)
        if going:
            root = draw.choice(going).root
            with contextlib.suppress(HandonError):
                nodes = await desk.work_tree(root)
                await _said("stopped", root, desk.stop(draw.choice(nodes).piece, "Enough"))


async def _said(what: str, id: UUID, act: Any) -> int:
    """Do it; what was confirmed is on the ledger."""
    try:
        await act
    except HandonError:  # somebody was first, or it has ended meanwhile
        Ledger.now.add("too late", id.hex)
        return 0
    Ledger.now.add(what, id.hex)
    return 1
