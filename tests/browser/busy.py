"""A small app that is as busy as it is told: the errand says how much is handed on, looked up, proposed, and how fast.

It keeps nothing in memory: what a model says follows from the errand and from how many turns it has had. Work is given
on the page like any other, or at the start by `HANDON_BUSY`: a JSON list of errands, each Mia's.
"""

from __future__ import annotations

import asyncio
import json
import os
from datetime import timedelta
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, Field

from handon import (
    Agency,
    Agent,
    Delegation,
    Guards,
    LlmModel,
    ModelAnswer,
    ModelCall,
    ModelRequest,
    Permits,
    Policies,
    Price,
    Skill,
    Specialist,
    action,
    has_role,
    query,
)
from handon.testing import ScriptedModel

MANY = 500
SOON = timedelta(seconds=4)  # how long a note in haste waits for a person

hand, master, helper = has_role("hand"), has_role("master"), has_role("helper")


class Errand(BaseModel):
    """What a piece does, in this order: hands on, looks things up one by one, proposes and asks, hands back."""

    wide: int = Field(0, description="Pieces handed to a helper, which get the rest of this.")
    deep: int = Field(0, description="Levels of helpers under each other, of which the lowest gets the rest.")
    legs: int = Field(0, description="Pieces handed to a hand.")
    looks: int = 0
    notes: int = 0
    hasty: int = Field(0, description="Notes that nobody need wait for.")
    asks: int = Field(0, description="Questions.")
    letters: int = Field(0, description="How long what it hands back is.")
    pause: int = Field(0, description="Milliseconds before each look.")


@query("Look something up")
def look_up(word: str) -> str:
    return word.upper()


@action("Write a note", says="Write {text}", reversible=True)
def write_note(text: str) -> str:
    return "Written."


@action("Write a note in haste", says="Quickly write {text}", reversible=True, decide_within=SOON)
def hurry_note(text: str) -> str:
    return "Written."


class Do(Skill[Errand, str]):
    description = "Do as the errand says."
    tools = [look_up, write_note, hurry_note]


class Hand(Agent):
    purpose, roles, skills = "You do as the errand says.", {"helper"}, [Do()]
    guards = Guards(turns=MANY * 2)


class Foreman(Agent):
    purpose, roles, skills = "You have it done.", {"helper"}, [Do()]
    may = Permits.changes_alone()
    guards = Guards(turns=MANY * 2)
    delegates = Delegation(to=[Specialist.of(Hand, Do()), Specialist.helper(Do())], max_depth=MANY, max_pieces=MANY)


def _call(n: int, name: str, **arguments: object) -> ModelCall:
    return ModelCall(str(n), name, json.dumps(arguments))


def calls_of(agent: str, errand: Errand, turn: int) -> list[ModelCall]:
    """What the model calls in its turn, from 0 on."""
    rest = errand.model_dump(exclude_defaults=True)
    steps: list[list[ModelCall]] = []
    if agent == "Foreman" and (errand.wide or errand.deep):
        under = rest | {"wide": 0, "deep": max(0, errand.deep - 1)}
        steps.append([_call(n, "hand_to_helper_Do", **under) for n in range(errand.wide or 1)])
    elif agent == "Foreman" and errand.legs:
        steps.append([_call(n, "hand_to_Hand_Do", **(rest | {"legs": 0})) for n in range(errand.legs)])
    else:
        steps += [[_call(0, "look_up", word=f"word {n}")] for n in range(errand.looks)]
        asked = [("write_note", f"note {n + 1}") for n in range(errand.notes)]
        asked += [("hurry_note", f"hasty note {n + 1}") for n in range(errand.hasty)]
        calls = [_call(n, name, text=text) for n, (name, text) in enumerate(asked)]
        for n in range(errand.asks):
            question = f"Which side, for the {n + 1}. time?"
            calls.append(_call(len(asked) + n, "ask_person", question=question, choices=["left", "right"], context=""))
        steps += [calls] if calls else []
    return steps[turn] if turn < len(steps) else [_call(0, "hand_back", result="done " + "x" * errand.letters)]


async def answer(model: str, request: ModelRequest) -> ModelAnswer:
    brief = next(message.text for message in request.messages if message.role == "user")
    errand = Errand.model_validate_json(brief[brief.index("{") : brief.rindex("}") + 1])
    calls = calls_of(request.agent, errand, request.turn - 1)
    await asyncio.sleep(errand.pause / 1000 if calls[0].name == "look_up" else 0)
    return ModelAnswer(text="", calls=tuple(calls), tokens_in=100, tokens_out=20)


def busy(**settings: Any) -> Agency:
    people = hand | master
    return Agency(
        **{
            "name": "The Works",
            "agents": [Foreman(), Hand()],
            "models": [LlmModel("Everyday", client=ScriptedModel(answer), price=Price(input=1, output=5))],
            "default_model": "Everyday",
            "policies": Policies(people, master, master, master, master),
            "task_budget": Decimal(1000),
            "concurrency": 200,
            "undo_for": timedelta(0),  # taking back has stories of its own
        }
        | settings
    )


def held(**settings: Any) -> Agency:
    """The same, where a decision can be taken back for five seconds."""
    return busy(**{"undo_for": timedelta(seconds=5)} | settings)


async def open_demo(agency: Agency) -> None:
    if await agency.people():
        return
    noor = await agency.add_person("noor@works.test", "Noor", roles=["master"])
    mia = await agency.add_person("mia@works.test", "Mia", roles=["hand"])
    for name in agency.agents:
        await agency.seat(name, sponsor=noor)
    desk = await agency.desk_of(mia.id)
    for n, errand in enumerate(json.loads(os.environ.get("HANDON_BUSY", "[]"))):
        await desk.of(Foreman).start(Do(), Errand(**errand), about=errand.get("about", f"Errand {n + 1}"))
