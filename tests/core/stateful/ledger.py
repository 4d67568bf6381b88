"""What the test itself reckons: what every call is to cost, which changes are to be made, who decided what, and what
standing rules cover. It is told what was let go and what was decided, and looks at no answer of the engine's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from handon import Gate
from tests.core.stateful.cast import HOLDS, PRICES, Held, Stage, Words
from tests.core.stateful.rows import Snapshot

STRICTER = [Gate.ALONE, Gate.PROPOSE, Gate.PROPOSE_EVERY_TIME, Gate.NEVER]


@dataclass(eq=False)
class GivenRule:
    """A standing rule as it was given."""

    agent: str
    action: str
    person: str | None
    uses: int | None = None
    heaviest: int | None = None
    total: int | None = None
    until: int | None = None
    used: int = 0
    used_total: int = 0
    revoked: bool = False

    def covers(self, weight: int, now: int) -> bool:
        return (
            not self.revoked
            and (self.uses is None or self.used < self.uses)
            and (self.heaviest is None or weight <= self.heaviest)
            and (self.total is None or self.used_total + weight <= self.total)
            and (self.until is None or now < self.until)
        )

    def use(self, weight: int) -> None:
        self.used += 1
        if self.total is not None:
            self.used_total += weight


@dataclass
class Asked:
    """A change that was to be put to a person."""

    piece: str
    action: str
    weight: int


@dataclass
class Ledger:
    charged: Counter[str] = field(default_factory=Counter)  # micros, by piece
    late: Counter[str] = field(default_factory=Counter)  # of these, by answers that came too late
    marks: dict[str, int] = field(default_factory=dict)  # put down, with their weight
    granted: dict[str, int] = field(default_factory=dict)  # may be sent
    alone: set[str] = field(default_factory=set)  # of these, without anybody's yes
    asked: dict[str, Asked] = field(default_factory=dict)
    decided: dict[str, tuple[str, str | None]] = field(default_factory=dict)  # by proposal: what, by whom
    answered: dict[str, str] = field(default_factory=dict)  # by question: by whom
    rules: list[GivenRule] = field(default_factory=list)
    again: Counter[tuple[str, int]] = field(default_factory=Counter)  # turns that are asked for once more, and why not
    died: set[tuple[str, int]] = field(default_factory=set)  # piece and fence

    # Money

    def charge(self, at: Snapshot, held: Held, tokens: tuple[int, int] | None) -> None:
        """An answer of so many tokens, or of nobody knows how many."""
        price_in, price_out, _ = PRICES["Wise" if held.kind == "consult" else "Everyday"]
        cost = held.reserved if tokens is None else tokens[0] * price_in + tokens[1] * price_out
        self.charged[held.piece] += cost
        if self.too_late(at, held):
            self.late[held.piece] += cost

    @staticmethod
    def too_late(at: Snapshot, held: Held) -> bool:
        row = at.pieces[held.piece]
        return bool(row.run != "held" or row.fence != held.fence)

    # Changes

    def gate(self, at: Snapshot, piece: str, action: str, weight: int) -> tuple[Gate, list[GivenRule]]:
        """Rules R4-R6, said anew: the strictest word of the branch, each "propose" lifted by a rule of that agent's."""
        person = at.wholes[at.pieces[piece].root].person
        strictest, used = Gate.ALONE, []
        for agent in dict.fromkeys(at.agents(piece)):
            word = Words.now.gate(agent, action)
            if word is Gate.PROPOSE and action in HOLDS[agent]:
                mine = [rule for rule in self.rules if (rule.agent, rule.action) == (agent, action)]
                ordered = [rule for rule in mine if person and rule.person == person]
                ordered += [rule for rule in mine if rule.person is None]
                rule = next((rule for rule in ordered if rule.covers(weight, at.now)), None)
                if rule is not None:
                    word = Gate.ALONE
                    used.append(rule)
            strictest = max(strictest, word, key=STRICTER.index)
        return strictest, used if strictest is Gate.ALONE else []

    def word(self, at: Snapshot, piece: str, action: str) -> Gate:
        """The strictest word, rules apart."""
        return max((Words.now.gate(agent, action) for agent in at.agents(piece)), key=STRICTER.index)

    def asks_for(self, at: Snapshot, piece: str, action: str, mark: str, weight: int) -> None:
        """A model in its piece's own run asked for a change. For somebody who is gone nothing more is done (R10)."""
        person = at.wholes[at.pieces[piece].root].person
        if action not in HOLDS[at.pieces[piece].agent] or (person is not None and not at.active(person)):
            return
        gate, rules = self.gate(at, piece, action, weight)
        if gate is Gate.NEVER:
            return
        if gate is not Gate.ALONE:
            self.asked[mark] = Asked(piece, action, weight)
            return
        for rule in rules:
            rule.use(weight)
        if action == "put":
            self.marks[mark] = weight
        else:
            self.granted[mark] = weight
            self.alone.add(mark)

    def approved(self, at: Snapshot, proposal: Any, by: str, weight: int | None) -> None:
        arguments = json.loads(proposal.arguments)
        mark, weight = arguments["mark"], weight or arguments["weight"]
        if self.word(at, proposal.piece, proposal.action) is Gate.NEVER:
            self.decided[proposal.id] = ("ruled out", None)
            return
        self.decided[proposal.id] = ("approved", by)
        if proposal.action == "put":
            self.marks[mark] = weight
        else:
            self.granted[mark] = weight

    # What must agree

    def agrees(self, at: Snapshot, stage: Stage) -> None:
        self._changes_agree(at, stage)
        self._decisions_agree(at, stage)
        self._rules_agree(at)
        self._each_turn_is_asked_once(stage)

    def _changes_agree(self, at: Snapshot, stage: Stage) -> None:
        """R4-R6, P5: what was changed is what was approved or might be done alone, each once."""
        found = [(row.mark, row.weight) for row in at.rows["mark"]]
        assert sorted(found) == sorted(self.marks.items()), "what was put down is not what was to be"
        keys, sent = [key for key, _, _ in stage.sent], [(mark, weight) for _, mark, weight in stage.sent]
        assert len(set(keys)) == len(keys) and len(set(sent)) == len(sent), "something was sent twice"
        wrong = [each for each in sent if self.granted.get(each[0]) != each[1]]
        assert not wrong, f"nobody let these be sent: {wrong}"

    def new_sends_are_allowed(self, at: Snapshot, sent: Iterable[tuple[str, str, int]]) -> None:
        """R5, R10, R11: at the moment of sending nobody above says never, and what goes alone goes for somebody."""
        for key, mark, _ in sent:
            piece = key.split("-")[0]
            assert self.word(at, piece, "send") is not Gate.NEVER, f"{mark} was sent, which somebody above never does"
            person = at.wholes[at.pieces[piece].root].person
            if mark in self.alone:
                assert person is None or at.active(person), f"{mark} was sent for somebody who is gone"

    def _decisions_agree(self, at: Snapshot, stage: Stage) -> None:
        """P5, P6, P11, P12: a request is decided by whoever decided it, once, and by nothing else."""
        marks = {json.loads(row.arguments)["mark"]: row for row in at.rows["proposal"]}
        assert set(marks) == set(self.asked), f"proposed: {sorted(marks)}; to be: {sorted(self.asked)}"
        sent = {mark for _, mark, _ in stage.sent}
        for mark, row in marks.items():
            asked = self.asked[mark]
            assert (row.piece, row.action) == (asked.piece, asked.action)
            assert json.loads(row.arguments)["weight"] == asked.weight
            what, by = self.decided.get(row.id, ("", None))
            piece = at.pieces[row.piece]
            may = {
                "": {"Waiting", "Withdrawn", "Expired"},
                "refused": {"Refused"},
                "ruled out": {"Refused"},
                "approved": {"Done"} if row.action == "put" else {"Waiting", "Done", "Failed"},
            }[what]
            if what == "approved" and row.action == "send" and mark not in sent:
                may = {"Waiting", "Failed", "Refused"}  # ended, or ruled out, before it was begun
            assert row.status in may, f"{row.sentence} was {what or 'not decided'}, and is {row.status}"
            assert row.decided_by == by or row.status == "Refused", f"{row.sentence}: decided by somebody else"
            if row.status == "Withdrawn":
                assert piece.run == "ended" or piece.tries, f"{row.sentence} was withdrawn, and its piece goes on"
            if row.status == "Waiting":
                assert piece.run != "ended", f"{row.sentence} waits, and its piece has ended"
        for row in at.questions.values():
            assert row.answered_by == self.answered.get(row.id), "a question was answered by somebody else"

    def _rules_agree(self, at: Snapshot) -> None:
        """R6, R12: a rule is used as often as it covered what went alone."""
        rows = [at.rules[id] for id in sorted(at.rules)]
        assert len(rows) == len(self.rules)
        for row, rule in zip(rows, self.rules, strict=True):
            assert (row.agent, row.action, row.person) == (rule.agent, rule.action, rule.person)
            assert row.uses == rule.used, f"a rule was used {row.uses} times, and covered {rule.used}"
            assert float(row.used_sum) == rule.used_total
            assert (row.revoked_at is not None) == rule.revoked

    def _each_turn_is_asked_once(self, stage: Stage) -> None:
        """P4, H1: whatever wakes a piece, it goes on once."""
        asked = Counter((held.piece, held.turn) for held in stage.begun if held.kind == "work")
        for turn, times in asked.items():
            assert times <= 1 + self.again[turn], f"a piece was woken {times} times for its turn {turn[1]}"
