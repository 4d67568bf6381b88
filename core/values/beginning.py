"""What somebody who is new here finds, and what a search does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from core.values.work import Work


@dataclass(frozen=True, slots=True)
class ModelStands:
    """One of the agency's models, as a newcomer asks of it."""

    name: str
    model: str
    scripted: bool  # a script plays it: nothing leaves, and nothing is charged by anybody
    missing: str  # without which it cannot be asked; empty: nothing
    agents: tuple[str, ...]  # that work with it


@dataclass(frozen=True, slots=True)
class Beginning:
    """What there is, what is missing, and how far somebody who is new here has come."""

    agents: int
    skills: int
    unsponsored: tuple[str, ...]  # agents nobody answers for
    models: tuple[ModelStands, ...]
    people: int
    database: str
    latest: Work | None  # the newest work that they may see
    waiting: int  # for their decision
    decided: bool  # they, or whoever decides beside them, have decided something


@dataclass(frozen=True, slots=True)
class Found:
    """A work or a request that was found by words."""

    kind: Literal["work", "request"]
    id: UUID
    says: str
    beside: str  # of a work who does what; of a request the work it is asked in
    open: bool  # it is under way, or waits
    at: datetime  # given or asked
