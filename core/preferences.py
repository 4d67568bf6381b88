"""How a person likes their pages: where they begin, in which theme and time zone, and by which keys.

Theirs alone, and on no record. A value that makes no sense is refused; one that has lost its sense since, such as the
home of somebody who no longer supervises, is the reader's to ignore.
"""

from __future__ import annotations

import json
from typing import Any
from zoneinfo import available_timezones

from sqlalchemy import bindparam, delete, select

from core.errors import BadInput
from core.sql import Statement, insert_into
from core.store import Tx
from core.tables import preference
from core.values import SINGLE_KEYS, Preferences

THEMES = ("", "light", "dark")
HOMES = ("", "inbox", "now", "work", "map", "money", "audit")

_OF = Statement(select(preference).where(preference.c.person == bindparam("who")))
_DROP = Statement(delete(preference).where(preference.c.person == bindparam("who")))
_INSERT = insert_into(preference)


def of(tx: Tx, person: str) -> Preferences:
    """What a person has chosen, or how pages are where they have not."""
    row = tx.one(_OF, who=person)
    if row is None:
        return Preferences()
    keys = tuple((old, new) for old, new in json.loads(row.keys))
    return Preferences(row.home, row.theme, row.time_zone, bool(row.single_keys), keys)


def keep(tx: Tx, person: str, chosen: Preferences) -> None:
    """Keep them in the place of what was chosen before. Raises BadInput, field by field."""
    wrong: dict[str, str] = {}
    if chosen.home not in HOMES:
        wrong["home"] = "There is no such page to begin with."
    if chosen.theme not in THEMES:
        wrong["theme"] = "There is no such theme."
    if chosen.time_zone and chosen.time_zone not in available_timezones():
        wrong["time_zone"] = "There is no such time zone."
    wrong |= _wrong_keys(chosen)
    if wrong:
        raise BadInput(wrong)
    tx.run(_DROP, who=person)
    row: dict[str, Any] = {
        "person": person,
        "home": chosen.home,
        "theme": chosen.theme,
        "time_zone": chosen.time_zone,
        "single_keys": chosen.single_keys,
        "keys": json.dumps([[old, new] for old, new in chosen.keys if old != new]),
        "chosen_at": tx.now,
    }
    tx.run(_INSERT, **row)


def _wrong_keys(chosen: Preferences) -> dict[str, str]:
    """Each key is one that can be pressed alone, and does one thing."""
    wrong: dict[str, str] = {}
    taken: dict[str, str] = {}
    for old in SINGLE_KEYS:
        new = chosen.key(old)
        if len(new) != 1 or not new.isprintable() or new.isspace() or new.isdigit():
            wrong[old] = "One letter or sign; no digit, which chooses an answer."
        elif new in taken:
            wrong[old] = f"{new} does something else already."
        taken.setdefault(new, old)
    for old, _ in chosen.keys:
        if old not in SINGLE_KEYS:
            wrong[old] = "There is no such key."
    return wrong
