"""What an agent may hand on, and how far (rules D1-D6)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from core.declare.skills import Skill

if TYPE_CHECKING:
    from core.declare.agents import Agent

_PLAIN = re.compile(r"[A-Za-z0-9_]+\Z", re.ASCII)
LONGEST_NAME = 64


def _ascii(name: str) -> str:
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_]", "", folded)


def tool_name(prefix: str, *names: str) -> str:
    """A tool's name that every provider takes: `prefix_A_B`, at most 64 of [a-zA-Z0-9_] (rule D3).

    A name that has to be changed for that carries eight hex digits of a hash over the names as they are: the same
    from run to run, and apart from every other.
    """
    plain = "_".join((prefix, *names))
    if _PLAIN.match(plain) and len(plain) <= LONGEST_NAME:
        return plain
    mark = hashlib.sha256("\n".join(names).encode()).hexdigest()[:8]
    cleaned = "_".join(part for part in (prefix, *map(_ascii, names)) if part)
    return f"{cleaned[: LONGEST_NAME - 9].rstrip('_')}_{mark}"


@dataclass(frozen=True, slots=True)
class Specialist:
    """One entry: a skill of another agent's, or one of the agent's own done apart (`agent` is None: a helper)."""

    agent: type[Agent] | None
    skill: Skill[Any, Any]
    budget: Decimal | None = None

    @staticmethod
    def of(agent: type[Agent], skill: Skill[Any, Any], budget: Decimal | None = None) -> Specialist:
        """Another agent's skill, done by that agent's own account, with at most `budget` of the currency unit."""
        return Specialist(agent, skill, budget)

    @staticmethod
    def helper(skill: Skill[Any, Any], budget: Decimal | None = None) -> Specialist:
        """A skill of the agent's own, done as a piece apart: own conversation, own budget, same account."""
        return Specialist(None, skill, budget)

    @property
    def tool_name(self) -> str:
        if self.agent is None:
            return tool_name("hand_to_helper", self.skill.name)
        return tool_name("hand_to", self.agent.__name__, self.skill.name)


@dataclass(frozen=True, slots=True)
class Delegation:
    """What an agent may hand on: `to` whom, `max_depth` levels under a piece of its work, `max_pieces` that one
    piece may hand on in all."""

    to: Sequence[Specialist] = field(default=())
    max_depth: int = 3
    max_pieces: int = 8
