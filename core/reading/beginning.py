"""What somebody who is new here finds: what is declared, what is missing, and how far they have come."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, or_, select

from core import people
from core.house import House
from core.models.scripted import ScriptedModel
from core.reading.agents import seats
from core.reading.answered import answered
from core.reading.reader import Reader
from core.reading.requests import for_you
from core.reading.works import works
from core.sql import Statement
from core.store import Tx
from core.tables import whole
from core.values import Beginning, ModelStands

_ANY = Statement(select(whole.c.id).limit(1))
_ANY_OF = Statement(
    select(whole.c.id).where(or_(whole.c.person == bindparam("who"), whole.c.given_by == bindparam("who"))).limit(1)
)


def begun(tx: Tx, reader: Reader) -> bool:
    """Whether there is any work that the reader may see."""
    if reader.id is None or reader.may.supervises_agents or reader.may.audits_agents:
        return tx.one(_ANY) is not None
    return tx.one(_ANY_OF, who=reader.id) is not None


def beginning(house: House, tx: Tx, reader: Reader) -> Beginning:
    latest = works(house, tx, reader, "all", 1, None)
    seated = seats(tx)
    agents = house.agents.values()
    return Beginning(
        agents=len(agents),
        skills=sum(len(agent.skills) for agent in agents),
        unsponsored=tuple(agent.shown_as for agent in agents if not seated.get(agent.name, {}).get("sponsor_name")),
        models=tuple(_model(house, model) for model in house.models.values()),
        people=len(people.everybody(tx)),
        database="SQLite" if tx.sqlite else "PostgreSQL",
        latest=latest[0] if latest else None,
        waiting=len(for_you(tx, reader)),
        decided=bool(answered(house, tx, reader, 1, None, "")),
    )


def _model(house: House, model: Any) -> ModelStands:
    scripted = isinstance(model.client, ScriptedModel)
    return ModelStands(
        name=model.name,
        model=model.model,
        scripted=scripted,
        missing="no script was given to it" if scripted and model.client.answer is None else "",
        agents=tuple(agent.shown_as for agent in house.agents.values() if house.model_of(agent) is model),
    )
