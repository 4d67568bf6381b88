"""Two apps for the map: one of more agents than a picture holds, and one whose few agents hand on in every awkward way.

No work is given in either.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

from handon import (
    Agency,
    Agent,
    AgentLimits,
    Delegation,
    LlmModel,
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

staff = has_role("staff")
PAGES = {  # of each app, those of the map that look otherwise than in the others
    "many": {
        "list of many": "/map",
        "groups": "/map?view=picture",
        "a group": "/map?open=LeidenHouse",
        "a group in words": "/map?open=LeidenHouse&view=list",
        "an agent of none": "/map?view=picture&chosen=Auditor",
    },
    "tangled": {
        "tangle": "/map?tools=yes&chosen=Registrar",
        "way to itself": "/map?chosen=Typeset.Typeset.SeeTo",
        "tangle in words": "/map?view=list&sort=-to",
        "ways round": "/map/ask?agent=Typeset&tool=send_parcel",
        "wrong name": "/map/ask?agent=Nobody&tool=send_parcel",
        "no version": "/map?at=9",
        "long name": "/agents/Registrar",
    },
    "lone": {"alone": "/map?chosen=Hermit", "alone in words": "/map?view=list", "one version": "/map/compare"},
}
TOWNS = ("Antwerp", "Bruges", "Delft", "Ghent", "Gouda", "Haarlem", "Leiden", "Leuven", "Lille", "Namur", "Tournai")
DESKS = {
    "Bindery": "You see to it that what is printed is bound.",
    "Press": "You see to it that what is set is printed.",
    "Store": "You keep paper, cloth and leather, and say when to buy.",
    "Post": "You send what is done to whoever ordered it.",
    "Books": "You write down what was taken and spent.",
}
HANDS = 4  # under each desk


@action("Send a parcel", says="Send {what}", outside=True)
def send_parcel(what: str) -> str:
    return what


@query("Look up an order")
def look_up(order: str) -> str:
    return order


class RunHouse(Skill[str, str]):
    description = "Have one order done."


class SeeTo(Skill[str, str]):
    description = "See to one part of an order."
    tools = [look_up]


class DoPart(Skill[str, str]):
    description = "Do one part of an order."
    tools = [look_up, send_parcel]


def _agent(name: str, label: str, purpose: str, skill: Skill[str, str], **body: Any) -> Any:
    return type(name, (Agent,), {"label": label, "purpose": purpose, "roles": {"staff"}, "skills": [skill], **body})


def houses() -> list[Agent]:
    """In every town a house with its desks and their hands; and one agent that belongs to none."""
    found: list[Any] = []
    for town in TOWNS:
        desks = []
        for desk, purpose in DESKS.items():
            hands = [
                _agent(f"{town}{desk}{n}", f"{desk} hand {n}, {town}", "You do what the desk asks.", DoPart())
                for n in range(1, HANDS + 1)
            ]
            to = [Specialist.of(hand, DoPart(), Decimal("0.01")) for hand in hands]
            said = {"delegates": Delegation(to=to), "may": Permits.changes_alone()}
            desks.append(_agent(f"{town}{desk}", f"{town} {desk.lower()}", purpose, SeeTo(), **said))
            found += hands
        house = _agent(f"{town}House", f"House of {town}", f"You run the house of {town}.", RunHouse())
        house.delegates = Delegation(to=[Specialist.of(desk, SeeTo()) for desk in desks])
        found += [*desks, house]
    return [kind() for kind in (*found, _agent("Auditor", "Auditor", "You look at all of it.", SeeTo()))]


LONG = "Keeper of the registers of everything that was ever lent out and not brought back"


class Typeset(Agent):
    """Hands on to itself, to a helper, twice to one agent, and in a circle."""

    purpose, roles, skills = "You set type.", {"staff"}, [RunHouse(), SeeTo()]
    may = Permits.changes_alone().proposes_every_time(send_parcel)
    limits = AgentLimits(per_task=Decimal("0.02"), per_day=Decimal("2.50"))


class Registrar(Agent):
    label, purpose, roles = LONG, f"You keep them. {LONG}.", {"staff"}
    skills = [SeeTo(), DoPart()]
    may = Permits.proposes_changes().never(send_parcel)


class Scribe(Agent):
    label, purpose, roles, skills = "ناسخ الكتب", "You copy. أنت تنسخ الكتب القديمة.", {"staff"}, [DoPart()]


class Hermit(Agent):
    label, purpose, roles, skills = "W" * 60, "W" * 120, {"staff"}, [SeeTo()]


Typeset.delegates = Delegation(
    to=[
        Specialist.of(Registrar, SeeTo(), Decimal("0.015")),
        Specialist.of(Registrar, DoPart(), Decimal("0.015")),
        Specialist.of(Typeset, SeeTo()),
        Specialist.helper(SeeTo()),
    ]
)
Registrar.delegates = Delegation(to=[Specialist.of(Scribe, DoPart()), Specialist.of(Typeset, RunHouse())])
Scribe.delegates = Delegation(to=[Specialist.of(Registrar, SeeTo())])


def _shop(name: str, agents: Sequence[Agent], settings: dict[str, Any]) -> Agency:
    return Agency(
        **{
            "name": name,
            "agents": agents,
            "models": [LlmModel("Everyday", client=ScriptedModel(), price=Price(input=1, output=5))],
            "default_model": "Everyday",
            "policies": Policies(staff, staff, staff, staff, staff),
            "task_budget": Decimal("0.05"),
            "undo_for": timedelta(0),
        }
        | settings
    )


def many(**settings: Any) -> Agency:
    return _shop("The Houses", houses(), settings)


def tangled(**settings: Any) -> Agency:
    return _shop("The Tangle", [Typeset(), Registrar(), Scribe(), Hermit()], settings)


def lone(**settings: Any) -> Agency:
    """One agent, which hands nothing on."""
    return _shop("The Cell", [Hermit()], settings)


async def open_demo(agency: Agency) -> None:
    noor = await agency.add_person("noor@houses.test", "Noor", roles=["staff"])
    for name in agency.agents:
        await agency.seat(name, sponsor=noor)
