"""Who somebody is, what they may, and how they like their pages."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who signs in. `roles` are the values of the app's role enum."""

    id: UUID
    email: str
    name: str
    roles: frozenset[str] = frozenset()
    active: bool = True


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a provider says that somebody is. `roles` are those of the app that its claim gives; None where no claim is
    asked, and then roles stay as they are."""

    issuer: str
    subject: str
    email: str
    email_verified: bool
    name: str
    roles: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the app's policies answer for one person (rule R9)."""

    uses_agents: bool
    supervises_agents: bool
    audits_agents: bool
    reads_model_usage: bool
    manages_model_spend: bool


# Keys that count alone, as they are where a person has not chosen others, and what each does.
SINGLE_KEYS = {
    "a": "Approve: arms the button, and Enter decides",
    "r": "Refuse, or say that you cannot answer",
    "e": "Edit before you approve",
    "s": "Set it aside until later",
    "h": "Hand it over to somebody else",
    "A": "From now on, alone: opens the second step",
    "w": "Answer in your own words",
    "x": "In the list, choose a request to look at together with others",
    "J": "Choose the next one too",
    "K": "Choose the previous one too",
    "j": "The next request or row",
    "k": "The previous one",
    "o": "Open the row",
    "u": "Back to the list",
    "n": "The next request that waits for you, from any page",
    "z": "Undo the last decision, from any page, while it is held",
    ".": "Show what is new",
    "p": "Pause what comes live, and go on",
    "/": "Find in the tree",
    "g": "Go: with a second key to a page",
    "?": "All keys",
}


@dataclass(frozen=True, slots=True)
class Preferences:
    """How a person likes their pages. Empty: as everybody's are."""

    home: str = ""  # inbox, now, work, map, money, audit, start
    theme: str = ""  # light, dark; empty: as the browser says
    time_zone: str = ""  # of the IANA; empty: the browser's, and UTC without script
    single_keys: bool = True  # whether they count at all
    keys: tuple[tuple[str, str], ...] = ()  # of SINGLE_KEYS, those that are other ones: from, to

    def key(self, usual: str) -> str:
        """The key that does what this one usually does."""
        return dict(self.keys).get(usual, usual)
