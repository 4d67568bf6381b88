"""A bookbinder's app, as somebody writes it who knows books and has read the README.

A planner plans the rebinding of a volume. It neither counts leaves nor prices cloth itself: it hands the count to the
collator and the price to the buyer, both in one turn, and gives the pricing a small share of its own money. The
collator finds a leaf missing now and then and wants to write that down; it says nothing about what it may do alone,
so the note waits for a person.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from examples.bindery import model
from handon import (
    Agency,
    Agent,
    Context,
    Delegation,
    LlmModel,
    Permits,
    Policies,
    Price,
    Row,
    Skill,
    Specialist,
    action,
    allow,
    has_role,
    query,
)
from handon.testing import ScriptedModel

# -- who -------------------------------------------------------------------------------------------


class BinderyRole(StrEnum):
    BINDER = "binder"  # gives work and decides on what comes of it
    MASTER = "master"  # runs the shop: sees all work, reads the record, sets limits
    HELPER = "helper"  # what the agents' own accounts hold


binders = has_role(BinderyRole.BINDER)
masters = has_role(BinderyRole.MASTER)
helpers = has_role(BinderyRole.HELPER)


# -- what is in the shop ---------------------------------------------------------------------------


class Volume(Row):
    """One book that is in for rebinding."""

    __tablename__ = "volume"

    shelfmark: Mapped[str] = mapped_column(String(40), unique=True)
    leaves: Mapped[int] = mapped_column(default=0)
    note: Mapped[str] = mapped_column(String(400), default="")

    security = [allow("read", "create", "update", when=binders | masters | helpers)]


# -- what passes between the agents ----------------------------------------------------------------


class LeafCount(BaseModel):
    leaves: int = Field(ge=0)
    finding: str = ""


class ClothAsk(BaseModel):
    colour: str
    metres: Decimal


class ClothPrice(BaseModel):
    euros: Decimal


class Plan(BaseModel):
    """`cloth` is in euros, and 0 where the cloth could not be priced."""

    leaves: int
    cloth: Decimal
    summary: str = ""


# -- what the agents can do in the shop ------------------------------------------------------------

PRICES = {"oxblood": Decimal("14.5"), "forest green": Decimal("12.8"), "natural linen": Decimal("9.6")}


@query("Look up the price of cloth")
def price_per_metre(colour: str) -> Decimal:
    return PRICES.get(colour, Decimal(11))


@action("Write a note on the volume", says="Write on {volume.shelfmark}: {note}", reversible=True)
def note_on_volume(ctx: Context, volume: Volume, note: str) -> str:
    volume.note = f"{volume.note}; {note}" if volume.note else note
    return f"Noted on {volume.shelfmark}."


# -- skills ----------------------------------------------------------------------------------------


class CountLeaves(Skill[Volume, LeafCount]):
    description = "Count the leaves of one volume, and note anything missing."
    tools = [note_on_volume]

    def brief(self, volume: Volume) -> str:
        return f"Volume {volume.shelfmark}. Its id is {volume.id}."


class PriceCloth(Skill[ClothAsk, ClothPrice]):
    description = "Price the cloth for one binding."
    tools = [price_per_metre]


class PlanRebinding(Skill[Volume, Plan]):
    description = "Plan the rebinding of one volume: have its leaves counted and its cloth priced."

    def brief(self, volume: Volume) -> str:
        return f"Volume {volume.shelfmark}. Its id is {volume.id}."


# -- agents ----------------------------------------------------------------------------------------


class Collator(Agent):
    """Nothing said about what it may do alone, so each change it wants is put to a person."""

    purpose = "You count and check the leaves of books."
    roles = {BinderyRole.HELPER}
    skills = [CountLeaves()]


class Buyer(Agent):
    purpose = "You price materials."
    roles = {BinderyRole.HELPER}
    skills = [PriceCloth()]


class Planner(Agent):
    """May change things alone; but what it hands on is held by the strictest of both, so the collator still asks."""

    purpose = "You plan the rebinding of books."
    roles = {BinderyRole.HELPER}
    skills = [PlanRebinding()]
    may = Permits.changes_alone()
    delegates = Delegation(
        to=[
            Specialist.of(Collator, CountLeaves()),
            Specialist.of(Buyer, PriceCloth(), budget=Decimal("0.006")),
        ]
    )


def bindery(**settings: Any) -> Agency:
    """The app. What is passed here (database, clock, abandoned_after, ...) goes before what stands here."""
    # A script answers in place of a provider, so no key is needed. Prices are per million tokens, in euros.
    everyday = LlmModel(
        "Everyday",
        client=ScriptedModel(model.answer),
        model="scripted-everyday",
        price=Price(input=1, output=5),
        max_output_tokens=1000,
    )
    declared: dict[str, Any] = {
        "name": "The Bindery",
        "agents": [Planner(), Collator(), Buyer()],
        "models": [everyday],
        "default_model": "Everyday",
        "policies": Policies(
            uses_agents=binders | masters,
            supervises_agents=masters,
            audits_agents=masters,
            reads_model_usage=masters,
            manages_model_spend=masters,
        ),
        "task_budget": Decimal("0.05"),
    }
    return Agency(**{**declared, **settings})
