"""Everything the tables say, read in one snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Table, select

from core import tables
from core.sql import Statement
from core.store import Tx
from handon import Agency
from tests.core.stateful.cast import Mark

_mark: Any = Mark.__table__
_ORDERS: dict[str, tuple[Table, tuple[Any, ...]]] = {
    "whole": (tables.whole, (tables.whole.c.id,)),
    "piece": (tables.piece, (tables.piece.c.id,)),
    "turn_call": (tables.turn_call, (tables.turn_call.c.piece, tables.turn_call.c.position)),
    "proposal": (tables.proposal, (tables.proposal.c.id,)),
    "help": (tables.help, (tables.help.c.id,)),
    "standing_rule": (tables.standing_rule, (tables.standing_rule.c.id,)),
    "account": (tables.account, (tables.account.c.key,)),
    "spend_limit": (tables.spend_limit, (tables.spend_limit.c.subject, tables.spend_limit.c.period)),
    "metered_call": (tables.metered_call, (tables.metered_call.c.piece, tables.metered_call.c.n)),
    "line": (tables.line, (tables.line.c.root, tables.line.c.n)),
    "person": (tables.person, (tables.person.c.id,)),
    "stand_in": (tables.stand_in, (tables.stand_in.c.person, tables.stand_in.c.for_person)),
    "seat": (tables.seat, (tables.seat.c.agent,)),
    "mark": (_mark, (_mark.c.mark, _mark.c.id)),
}
_ALL = {name: Statement(select(table).order_by(*order)) for name, (table, order) in _ORDERS.items()}
_MESSAGES = Statement(select(tables.message).order_by(tables.message.c.piece, tables.message.c.n))


class Snapshot:
    """The rows of every table, and ways to what is asked of them often."""

    def __init__(self, now: int, rows: Mapping[str, list[Any]]) -> None:
        self.now = now
        self.rows = rows
        self.pieces: dict[str, Any] = {row.id: row for row in rows["piece"]}
        self.wholes: dict[str, Any] = {row.id: row for row in rows["whole"]}
        self.proposals: dict[str, Any] = {row.id: row for row in rows["proposal"]}
        self.questions: dict[str, Any] = {row.id: row for row in rows["help"] if row.help_from == "Person"}
        self.rules: dict[str, Any] = {row.id: row for row in rows["standing_rule"]}
        self.accounts: dict[str, Any] = {row.key: row for row in rows["account"]}
        self.people: dict[str, Any] = {row.id: row for row in rows["person"]}
        self.sponsors: dict[str, str | None] = {row.agent: row.sponsor for row in rows["seat"]}
        self.under: dict[str | None, list[Any]] = defaultdict(list)
        for row in rows["piece"]:
            self.under[row.parent].append(row)
        self.calls: dict[str, list[Any]] = defaultdict(list)
        for row in rows["turn_call"]:
            self.calls[row.piece].append(row)
        self.lines: dict[str, list[Any]] = defaultdict(list)
        for row in rows["line"]:
            self.lines[row.root].append(row)

    def below(self, piece: Any) -> list[Any]:
        """Every piece under one, itself left out."""
        found = list(self.under[piece.id])
        for leg in self.under[piece.id]:
            found += self.below(leg)
        return found

    def above(self, piece: Any) -> list[Any]:
        """The pieces from the top down to this one, both included."""
        return [self.pieces[id] for id in piece.branch.split("/")]

    def agents(self, piece: str) -> list[str]:
        return str(self.pieces[piece].agents).split("/")

    def undecided(self) -> list[Any]:
        return [row for row in self.rows["proposal"] if row.status == "Waiting" and row.decided_at is None]

    def unanswered(self) -> list[Any]:
        return [row for row in self.questions.values() if row.status == "Waiting"]

    def active(self, person: str | None) -> bool:
        return person is not None and self.people[person].deactivated_at is None

    def may_decide(self, request: Any, person: str) -> bool:
        """Rules P1, P9, R10, said anew: whoever was asked, a stand-in, or the sponsor where nobody else is left."""
        if not self.active(person):
            return False
        if self.is_theirs(request, person):
            return True
        top = self.pieces[request.root]
        return self.sponsors.get(top.agent) == person and not self.active(request.asked_of)

    def is_theirs(self, request: Any, person: str) -> bool:
        """Rule P9: they were asked, or whoever was has named them to stand in."""
        stands = ((row.person, row.for_person) for row in self.rows["stand_in"])
        return request.asked_of == person or (person, request.asked_of) in stands

    def whoever_may(self, request: Any) -> str | None:
        return next((id for id in self.people if self.may_decide(request, id)), None)


async def look_at(agency: Agency) -> Snapshot:
    def read(tx: Tx) -> Snapshot:
        return Snapshot(tx.now, {name: tx.all(statement) for name, statement in _ALL.items()})

    return await agency.store.read(read)


async def conversations(agency: Agency) -> dict[str, list[Any]]:
    """Every message, by piece."""
    found: dict[str, list[Any]] = defaultdict(list)
    for row in await agency.store.read(lambda tx: tx.all(_MESSAGES)):
        found[row.piece].append(row)
    return found
