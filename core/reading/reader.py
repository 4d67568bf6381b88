"""Who reads, and what that narrows (rule R8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select

from core import work
from core.clock import from_micros
from core.declare.rights import Principal
from core.errors import NotFound
from core.house import House
from core.sql import Statement
from core.store import Tx
from core.tables import whole
from core.values import (
    Abilities,
    Person,
)
from core.words import label_of

ALL = Abilities(True, True, True, True, True)


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads: `id` is the person's stored id, None for the app itself."""

    id: str | None
    may: Abilities

    def sees(self, of_whole: Any) -> bool:
        """Whether it may know that the work happened."""
        return self.id is None or self.may.supervises_agents or self.content(of_whole)

    def content(self, of_whole: Any) -> bool:
        """Whether it may read what was said and changed."""
        return self.id is None or self.may.audits_agents or self.id in (of_whole.person, of_whole.given_by)


def may_stop(reader: Reader, of_whole: Any) -> bool:
    """Whether it may call off what goes on in it (rule E5)."""
    return reader.id is None or reader.may.supervises_agents or reader.id in (of_whole.person, of_whole.given_by)


def abilities(house: House, who: Person | None) -> Abilities:
    """The app's answers about a person (rule R9); the app itself may everything, a deactivated person nothing."""
    if who is None:
        return ALL
    asked = Principal(who.name, who.roles if who.active else frozenset(), who.id)
    policies = house.policies
    if not who.active:
        return Abilities(False, False, False, False, False)
    return Abilities(
        policies.uses_agents(asked),
        policies.supervises_agents(asked),
        policies.audits_agents(asked),
        policies.reads_model_usage(asked),
        policies.manages_model_spend(asked),
    )


_WHOLE = Statement(select(whole).where(whole.c.id == bindparam("root")))


def whole_of(tx: Tx, reader: Reader, id: str) -> Any:
    """The row of the whole a piece belongs to. Raises NotFound, also where the reader may not see it."""
    found = tx.one(_WHOLE, root=work.root_of(tx, id))
    if found is None or not reader.sees(found):
        raise NotFound("There is no such work.")
    return found


def skill_label(house: House, agent: str, skill: str) -> str:
    known = house.agents.get(agent)
    found = known.skill(skill) if known else None
    return found.shown_as if found else label_of(skill)


def at(micros: int | None) -> Any:
    return from_micros(micros) if micros is not None else None
