"""What waits for a person, as the address of the inbox asks for it, and one request of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlencode
from uuid import UUID

from core.desk import Desk
from core.errors import NotFound
from core.values import Proposal, Question, Waiting
from core.words import label_of
from web.naming import uuid_in

Request = Proposal | Question


@dataclass(frozen=True, slots=True)
class Sieve:
    """What of the inbox is shown, as its address has it: a kind, an agent, a whole, and where a page begins. With a "-"
    before it, an agent or a whole is left out, and all the others are shown."""

    kind: Literal["", "proposal", "question"] = ""
    agent: str = ""
    work: UUID | None = None
    but_agent: str = ""
    but_work: UUID | None = None
    after: str = ""

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Sieve:
        """From an address. What no filter can be is none."""
        kind = params.get("kind", "")
        agent, work = str(params.get("agent", ""))[:200], str(params.get("in", ""))
        out, away = agent.startswith("-"), work.startswith("-")
        known: Literal["", "proposal", "question"] = kind if kind in ("proposal", "question") else ""
        return cls(
            kind=known,
            agent="" if out else agent,
            work=None if away else uuid_in(work),
            but_agent=agent[1:] if out else "",
            but_work=uuid_in(work[1:]) if away else None,
            after=str(params.get("after", ""))[:200],
        )

    @property
    def narrows(self) -> bool:
        return bool(self.kind or self.agent or self.work or self.but_agent or self.but_work)

    @property
    def keep(self) -> str:
        """The query that keeps the filter: empty, or "?agent=Collator"."""
        return self._query("")

    def on(self, after: str) -> str:
        """The query of the page after a mark."""
        return self._query(after)

    def _query(self, after: str) -> str:
        agent = f"-{self.but_agent}" if self.but_agent else self.agent
        work = f"-{self.but_work}" if self.but_work else str(self.work or "")
        parts = {"kind": self.kind, "agent": agent, "in": work, "after": after}
        query = urlencode({name: value for name, value in parts.items() if value})
        return f"?{query}" if query else ""


OURS = {"_csrf_token", "fingerprint", "act", "_then"}  # fields of a form that nobody writes


def written_in(form: Mapping[str, str]) -> dict[str, str]:
    """What a person wrote in a form."""
    return {name: text for name, text in form.items() if name not in OURS}


def stands(request: Request) -> str:
    """How a request stands, in one word for the address of a stream: whatever changes it is shown to its reader."""
    hold = request.hold
    if hold is not None and (hold.lasts or hold.why_not):
        return f"{request.status}-{'held' if hold.lasts else 'dropped'}"
    return f"{request.status}-decided" if not request.waits and request.status == "Waiting" else str(request.status)


MASKED = "hidden"  # how the agency writes an argument that no page may show


def masked_of(proposal: Proposal) -> set[str]:
    """The names of the arguments that are shown as hidden."""
    shown = dict(proposal.shown)
    return {
        name for name, value in proposal.arguments.items() if value != MASKED and shown.get(label_of(name)) == MASKED
    }


def changes_of(proposal: Proposal) -> list[tuple[str, str, str]]:
    """What a person changed before they approved: label, what stood there, what ran. Masked ones stay hidden."""
    masked = masked_of(proposal)
    return [
        (label_of(name), *((MASKED, MASKED) if name in masked else (_text(proposal.arguments.get(name)), _text(value))))
        for name, value in (proposal.edited or {}).items()
        if value != proposal.arguments.get(name)
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


async def what_waits(desk: Desk, sieve: Sieve, item: UUID | None = None) -> Waiting:
    """The page of the list that an address asks for; with an opened request the one that holds it."""
    return await desk.waiting(
        kind=sieve.kind,
        agent=sieve.agent,
        work=sieve.work,
        but_agent=sieve.but_agent,
        but_work=sieve.but_work,
        after=sieve.after,
        item=item,
    )


async def begun_of(desk: Desk, item: UUID) -> dict[str, dict[str, str]]:
    """What the person has begun to write to it and not sent: by act, then by field."""
    return {draft.act: draft.fields for draft in await desk.drafts(item)}


async def request_of(desk: Desk, item: UUID) -> Request:
    """The proposal or question of that id; one this person may not see is not found."""
    try:
        return await desk.proposal(item)
    except NotFound:
        return await desk.question(item)
