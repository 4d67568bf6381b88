"""Versions of skills: each definition that work was done by is kept, so that a receipt can say which it was."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from sqlalchemy import bindparam, or_, select

from core.declare.skills import Skill
from core.house import House
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import skill_version

_KEEP = insert_into(skill_version, or_ignore=True)
_TWO = Statement(
    select(skill_version).where(
        or_(skill_version.c.version == bindparam("one"), skill_version.c.version == bindparam("other"))
    )
)


def of(house: House, tx: Tx, skill: Skill[Any, Any]) -> str:
    """The version of a skill as the app declares it now, kept with its definition where it is new."""
    key = (type(skill), skill.offer_key, skill.description, skill.instructions, tuple(skill.tools))
    known = house.versions.get(key)
    if known is not None:
        return known
    version, definition = skill.version()
    tx.run(_KEEP, version=version, skill=skill.name, definition=definition, first_used_at=tx.now)
    tx.after(partial(house.versions.__setitem__, key, version))
    return version


def changed(tx: Tx, one: str, other: str) -> list[str]:
    """Which parts of the definition two versions differ in: "instructions", "tools"; nothing where one is not kept."""
    kept = {row.version: json.loads(row.definition) for row in tx.all(_TWO, one=one, other=other)}
    if one not in kept or other not in kept:
        return []
    before, after = kept[one], kept[other]
    return [part.replace("_", " ") for part in after if before.get(part) != after[part]]
