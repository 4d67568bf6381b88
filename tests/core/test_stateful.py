"""What holds of all work at every moment, whatever its models say and whatever people, clocks and processes do to it.

Three agents hand on to each other. Every call of a model's is held back until the test lets it be answered, with a turn
that is drawn; between two steps nothing moves. After each step everything in the tables is held against what `holding`
says of every moment and against what the test's own `ledger` reckons.

`HYPOTHESIS_PROFILE=long` plays many more examples, `HANDON_SEED` plays one run again (see CONTRIBUTING.md).
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from core.clock import to_micros
from handon import (
    Agency,
    AlreadyDecided,
    AnswerLost,
    AnswerUnusable,
    Bounds,
    Gate,
    HandonError,
    ModelAnswer,
    NotFound,
    NotWaiting,
    Person,
    Rejected,
    Where,
)
from handon.testing import ProcessDied, Says, TestClock, Unreachable
from tests.builders import Answer, make, model
from tests.core.stateful import holding
from tests.core.stateful.cast import HOLDS, LEGS, PRICES, TOPS, Hand, Head, Held, Middle, Stage, Words, look, put, send
from tests.core.stateful.ledger import GivenRule, Ledger
from tests.core.stateful.loop import StillLoop, quiet
from tests.core.stateful.rows import Snapshot, conversations, look_at
from tests.databases import Databases, server_answers

LONG = timedelta(minutes=31)  # past abandonment
ERRORS: dict[str, Callable[[], BaseException]] = {
    "unreachable": lambda: Unreachable("down"),
    "rejected": lambda: Rejected("no such key"),
    "lost": lambda: AnswerLost("cut off"),
    "unusable": lambda: AnswerUnusable("no JSON"),
    "dies": ProcessDied,
}
INSTEAD = {
    ("leg", "Hand"): "send",
    ("helper", "Hand"): "put",
    ("consult", "Hand"): "ask",
    ("consult", "Head"): "put",
    ("send", "Head"): "leg",
}
CHARGED = {"lost", "unusable"}  # the request had got there: the whole reservation


@dataclass(frozen=True)
class Turn:
    """What a model says: calls, each with a number that says which or how heavy; or how asking it fails."""

    calls: tuple[tuple[str, int], ...] = ()
    tokens: tuple[int, int] | None = (100, 20)
    fails: str = ""

    def __repr__(self) -> str:
        return f"Turn({self.calls!r}, {self.tokens!r}, {self.fails!r})"


def _turns(*kinds: str, most: int = 3) -> st.SearchStrategy[Turn]:
    calls = st.lists(st.tuples(st.sampled_from(kinds), st.integers(1, 3)), min_size=1, max_size=most)
    return st.builds(lambda said, tokens: Turn(tuple(said), tokens), calls, TOKENS)


TOKENS = st.sampled_from([(100, 20), (100, 20), (50, 500), (200, 1_000), None])
LEAVING = _turns("leg", "leg", "leg", "helper", "helper", "look", "ask", "ask", "consult", "back")
CHANGING = _turns("put", "send", "put", "send", "look", "ask", "leg", "misput")
ENDING = _turns("back", "back", "back", "misfit", "broken", "silent", most=1)
TURNS = st.one_of(LEAVING, LEAVING, CHANGING, CHANGING, ENDING)
BEGINNING = st.one_of(LEAVING, CHANGING, CHANGING)
WHICH = st.integers(0, 7)
WEIGHTS = st.lists(st.integers(1, 3), min_size=1, max_size=4)
ASKING = st.lists(st.tuples(WHICH, CHANGING), min_size=1, max_size=3)
FAILING = st.builds(lambda how: Turn(fails=how), st.sampled_from(sorted(ERRORS)))
MOMENT = timedelta(microseconds=1)
QUIET_TURN = st.one_of(LEAVING, ENDING)  # changes nothing by itself
WHO = st.sampled_from(["mia", "noor"])
GATES = st.sampled_from([Gate.PROPOSE] * 3 + [Gate.ALONE] * 2 + [Gate.PROPOSE_EVERY_TIME, Gate.NEVER])
CHANGES = st.sampled_from(["put", "send"])
AGENTS = st.sampled_from(["Head", "Middle", "Hand"])
BOUNDS = st.sampled_from(["", "", "once", "twice", "sum", "light", "hour"])
RULE = st.tuples(WHO, AGENTS, CHANGES, st.booleans(), BOUNDS)
LIMITS = st.sampled_from(["0.2", "0.2", "0.2", "0.05", "0.02", "0.012", "0.006"])
TOP = st.sampled_from(["Head", "Head", "Middle", "Middle", "Hand", "persisting Hand"])


def one_of(choices: Sequence[Any], which: int) -> Any:
    return choices[which % len(choices)]


class Play(RuleBasedStateMachine):
    """One agency on one database, and everything that may happen to it."""

    def __init__(self, database: str) -> None:
        super().__init__()
        self.database = database
        self.runner = asyncio.Runner(loop_factory=StillLoop)
        self.clock = TestClock()
        self.ledger = Ledger()
        Stage.now = self.stage = Stage()
        Words.now = Words()
        self.people: dict[str, Person] = {}
        self.tasks: list[UUID] = []
        self.names = 0  # given to pieces
        self.marks = 0
        self.seen_sent = self.seen_cut = 0
        self.verified: dict[str, int] = {}
        self.at: Snapshot | None = None
        self.resumes = False
        self.broken = False
        self.agency: Agency | None = None

    # Running

    def go(self, step: Coroutine[Any, Any, None]) -> None:
        """Do one thing, wait until nothing moves, and hold everything against what must be."""

        async def run() -> None:
            await step
            await self.settle()

        try:
            self.runner.run(run())
        except BaseException:
            self.broken = True
            raise

    async def settle(self) -> None:
        await quiet()
        await self.check()

    async def open(self) -> None:
        self.agency = make(
            self.database,
            [Head(), Middle(), Hand()],
            models=[model(name, input=into, output=out, most=most) for name, (into, out, most) in PRICES.items()],
            clock=self.clock,
            model_tries=1,
            model_pause=timedelta(0),
            when_abandoned="resume" if self.resumes else "close",
            takeovers=1,
            sweep_every=timedelta(0),  # the test looks by itself: `passes`
            abandoned_check_every=timedelta(0),
        )
        self.agency.script(self.stage)
        loop = asyncio.get_running_loop()
        assert isinstance(loop, StillLoop)
        store = self.agency.store
        loop.at_work = lambda: bool(store._writing)
        await self.agency.__aenter__()

    @property
    def now(self) -> Snapshot:
        assert self.at is not None
        return self.at

    def desk(self, who: str | None) -> Any:
        assert self.agency is not None
        return self.agency.desk(self.people[who] if who else None)

    def id(self, who: str) -> str:
        return self.people[who].id.hex

    # What must hold

    async def check(self) -> None:
        assert self.agency is not None
        before, self.at = self.at, await look_at(self.agency)
        at, stage, ledger = self.at, self.stage, self.ledger
        self.note(before)
        late = sum(ledger.late.values())
        holding.money_adds_up(at, ledger.late)
        holding.meter_agrees(at, ledger.charged)
        holding.accounts_agree(at, before, late)
        holding.ended_is_ended(at, before)
        holding.what_is_called_off_ends(at)
        holding.each_waits_for_something(at)
        holding.somebody_is_at_it(at, stage, ledger.died)
        holding.requests_are_in_time(at)
        holding.delegations_are_kept(at)
        holding.lines_tell_it_once(at)
        holding.only_the_quiet_is_abandoned(at, before)
        holding.nobody_is_woken_in_vain(at, before)
        ledger.new_sends_are_allowed(at, stage.sent[self.seen_sent :])
        self.seen_sent = len(stage.sent)
        ledger.agrees(at, stage)
        for whole in at.wholes.values():
            if self.verified.get(whole.id) != whole.lines:
                verdict = await self.desk(None).verify_trace(UUID(whole.id))
                assert verdict.intact and verdict.lines == whole.lines, verdict.why
                self.verified[whole.id] = whole.lines

    def note(self, before: Snapshot | None) -> None:
        """Tell the ledger what the tables say of calls that have begun, were cut off, or are asked for anew."""
        at = self.now
        for held in self.stage.cut[self.seen_cut :]:
            assert before is not None
            if held.kind != "send":
                self.ledger.charge(before, held, None)
            if held.kind == "work":
                self.ledger.again[held.piece, held.turn] += 1
        self.seen_cut = len(self.stage.cut)
        for held in self.stage.held:
            if held.fence is None:
                row = at.pieces[held.piece]
                held.fence = row.fence
                if held.kind == "work":
                    held.reserved = row.call_micros
        for row in at.pieces.values():
            was = before.pieces.get(row.id) if before else None
            if was is not None:  # taken up again, or tried again: its next answer may have been asked for before
                self.ledger.again[row.id, row.turn + 1] += row.takeovers - was.takeovers + row.tries - was.tries

    async def attempt(self, verb: Awaitable[Any], allowed: bool | None = None) -> bool:
        """Do it. Where it is refused, it has changed nothing; `allowed` says whether it is to be."""
        assert self.agency is not None
        rows = self.now.rows
        refused = ""
        try:
            await verb
        except HandonError as error:
            refused = repr(error)
        assert allowed is None or allowed is (not refused), (
            f"it was to be {'done' if allowed else 'refused'}. {refused}"
        )
        if refused:
            assert (await look_at(self.agency)).rows == rows, f"it was refused, and changed something: {refused}"
        return not refused

    # The beginning

    @initialize(
        gates=st.lists(GATES, min_size=6, max_size=6),
        share=st.sampled_from([None, "0.012", "0.03"]),
        resumes=st.booleans(),
        together=st.sampled_from([None, None, "0.03"]),
        top=TOP,
        limit=st.sampled_from(["0.2", "0.2", "0.2", "0.02", "0.015"]),
        first=_turns("leg", "leg", "helper"),
        turns=st.lists(st.tuples(WHICH, BEGINNING), min_size=3, max_size=8),
        rules=st.lists(RULE, max_size=4),
    )
    def begin(
        self,
        gates: list[Gate],
        share: str | None,
        resumes: bool,
        together: str | None,
        top: str,
        limit: str,
        first: Turn,
        turns: list[tuple[int, Turn]],
        rules: list[tuple[str, str, str, bool, str]],
    ) -> None:
        async def begin() -> None:
            pairs = [(agent, tool) for agent in ("Head", "Middle", "Hand") for tool in ("put", "send")]
            Words.now.gates = dict(zip(pairs, gates, strict=True))
            Words.now.share = Decimal(share) if share else None
            self.resumes = resumes
            await self.open()
            assert self.agency is not None
            self.people["mia"] = await self.agency.add_person("mia@bindery.test", "Mia", roles=["binder"])
            self.people["noor"] = await self.agency.add_person("noor@bindery.test", "Noor", roles=["master"])
            for name in self.agency.agents:
                await self.agency.seat(name, sponsor=self.people["noor"])
            if together:
                await self.agency.set_limit("together", Decimal(together))
            await self.settle()
            await self.giving(top, "mia", limit, "together")
            await self.settle()
            for given in rules:
                await self.giving_rule(*given)
                await self.settle()
            await self.answering_models([(0, first), *turns])

        self.go(begin())

    # Giving work

    @precondition(lambda self: len(self.live()) < 12)
    @rule(
        top=TOP,
        for_=st.sampled_from(["mia", "mia", "noor", None]),
        limit=LIMITS,
        on=st.sampled_from([None, "together"]),
    )
    def give(self, top: str, for_: str | None, limit: str, on: str | None) -> None:
        self.go(self.giving(top, for_, limit, on))

    async def giving(self, top: str, for_: str | None, limit: str, on: str | None) -> None:
        agent, skill = TOPS[top]
        allowed = for_ is None or self.now.active(self.id(for_))
        start = self.desk(for_).of(agent).start(skill, self.name(), limit=Decimal(limit), on=on)
        await self.attempt(start, allowed)

    def name(self) -> str:
        self.names += 1
        return str(self.names)

    # Letting calls go

    def working(self) -> list[Held]:
        return [held for held in self.stage.under_way() if held.kind == "work"]

    @precondition(lambda self: self.working())
    @rule(turns=st.lists(st.tuples(WHICH, LEAVING), min_size=1, max_size=3))
    def hand_on(self, turns: list[tuple[int, Turn]]) -> None:
        self.let_go(turns)

    @precondition(lambda self: self.working())
    @rule(turns=ASKING)
    def change(self, turns: list[tuple[int, Turn]]) -> None:
        self.let_go(turns)

    @precondition(lambda self: self.working())
    @rule(turns=st.lists(st.tuples(WHICH, TURNS), min_size=2, max_size=6))
    def go_on(self, turns: list[tuple[int, Turn]]) -> None:
        self.let_go(turns)

    @precondition(lambda self: self.working())
    @rule(which=WHICH, turn=ENDING)
    def hand_back(self, which: int, turn: Turn) -> None:
        self.let_go([(which, turn)])

    @precondition(lambda self: self.working())
    @rule(which=WHICH, turn=FAILING)
    def give_no_answer(self, which: int, turn: Turn) -> None:
        self.let_go([(which, turn)])

    @precondition(lambda self: len(self.working()) > 1)
    @rule(order=st.permutations(range(4)), turns=st.lists(QUIET_TURN, min_size=2, max_size=4))
    def answer_several_at_once(self, order: list[int], turns: list[Turn]) -> None:
        async def answer() -> None:
            held = self.working()
            chosen = dict.fromkeys(one_of(held, which) for which in order[: len(turns)])
            for one, turn in zip(chosen, turns, strict=False):
                self.answered(one, turn, changes=False)

        self.go(answer())

    def let_go(self, turns: list[tuple[int, Turn]]) -> None:
        self.go(self.answering_models(turns))

    async def answering_models(self, turns: list[tuple[int, Turn]]) -> None:
        """Let calls come back one after another, as far as there are any."""
        for which, turn in turns:
            if self.working():
                self.answered(one_of(self.working(), which), turn)
                await self.settle()

    def answered(self, held: Held, turn: Turn, *, changes: bool = True) -> None:
        """Let a call come back, and reckon what comes of it. Without `changes`, nothing is asked for instead."""
        at, ledger = self.now, self.ledger
        row = at.pieces[held.piece]
        if turn.fails:
            if turn.fails in CHARGED:
                ledger.charge(at, held, None)
            if turn.fails == "lost":
                ledger.again[held.piece, held.turn] += 1
            if turn.fails == "dies":
                assert held.fence is not None
                ledger.died.add((held.piece, held.fence))
            held.answer.set_exception(ERRORS[turn.fails]())
            return
        ledger.charge(at, held, turn.tokens)
        heard = not ledger.too_late(at, held) and row.closing is None
        calls = []
        for kind, number in turn.calls:
            if changes and number != 3 and (kind, row.agent) in INSTEAD:  # so that most turns ask for what there is
                kind = INSTEAD[kind, row.agent]
            said = self.says(row.agent, kind, number)
            calls += said.calls
            if heard and kind in ("put", "send"):
                ledger.asks_for(at, row.id, kind, f"m{self.marks}", number)
        tokens_in, tokens_out = turn.tokens or (None, None)
        held.answer.set_result(ModelAnswer("", tuple(calls), tokens_in, tokens_out))

    def says(self, agent: str, kind: str, number: int) -> Any:
        if kind == "leg" or kind == "helper":
            legs = LEGS[agent]
            entry = one_of(legs[:-1] or legs, number) if kind == "leg" else legs[-1]
            if entry.agent is None:
                return Says.hand_to_helper(entry.skill, self.name())
            return Says.hand_to(entry.agent, entry.skill, self.name())
        if kind in ("put", "send"):
            self.marks += 1
            return Says.tool({"put": put, "send": send}[kind], {"mark": f"m{self.marks}", "weight": number})
        return {
            "look": Says.tool(look, {"word": "thing"}),
            "ask": Says.ask(f"Which of {number}?"),
            "consult": Says.consult(f"What of {number}?"),
            "misput": Says.tool(put, {"mark": "none", "weight": "heavy"}),
            "back": Says.hand_back(Answer(text="Done.")),
            "misfit": Says.hand_back({"number": "many"}),
            "broken": Says.raw("hand_back", '{"text": '),
            "silent": Says.text("Well."),
        }[kind]

    def awaited(self) -> list[Held]:
        return [held for held in self.stage.under_way() if held.kind != "work"]

    @precondition(lambda self: self.awaited())
    @rule(which=WHICH, how=st.sampled_from(["well", "well", "fails", "dies", "unreachable"]))
    def come_back(self, which: int, how: str) -> None:
        """What was sent arrives, or a consulted model answers, or not."""

        async def come_back() -> None:
            held = one_of(self.awaited(), which)
            self.came_back(held, how)

        self.go(come_back())

    def came_back(self, held: Held, how: str) -> None:
        if how == "dies":
            assert held.fence is not None
            self.ledger.died.add((held.piece, held.fence))
            held.answer.set_exception(ProcessDied())
        elif how == "well" and held.kind == "consult":
            self.ledger.charge(self.now, held, (40, 30))
            held.answer.set_result(ModelAnswer("Try again.", (), 40, 30))
        elif how == "well":
            held.answer.set_result("Delivered.")
        elif held.kind == "consult" and how == "fails":
            self.ledger.charge(self.now, held, None)
            held.answer.set_exception(AnswerLost("cut off"))
        else:
            held.answer.set_exception(Unreachable("down"))

    # Deciding

    def undecided(self) -> list[Any]:
        return sorted(self.now.undecided(), key=lambda row: int(re.findall(r"m(\d+)", row.arguments)[0]))

    def unanswered(self) -> list[Any]:
        return sorted(self.now.unanswered(), key=lambda row: (self.stage.names[row.piece], row.id))

    def in_time(self, request: Any) -> bool:
        return request.deadline is None or self.now.now < request.deadline

    def may_decide(self, request: Any, by: str) -> bool:
        return self.in_time(request) and self.now.may_decide(request, self.id(by))

    @precondition(lambda self: self.undecided())
    @rule(which=WHICH, by=WHO, weight=st.sampled_from([None, None, 1, 3]))
    def approve(self, which: int, by: str, weight: int | None) -> None:
        self.go(self.approving(one_of(self.undecided(), which), by, weight))

    @precondition(lambda self: self.undecided())
    @rule(which=WHICH, by=WHO, everybody=st.booleans(), bounds=BOUNDS)
    def approve_from_now_on(self, which: int, by: str, everybody: bool, bounds: str) -> None:
        self.go(self.approving(one_of(self.undecided(), which), by, None, "everybody" if everybody else "me", bounds))

    async def approving(
        self, proposal: Any, by: str, weight: int | None, from_now_on: str = "", bounds: str = ""
    ) -> None:
        at = self.now
        allowed = self.may_decide(proposal, by)
        agent = at.pieces[proposal.piece].agent
        more: dict[str, Any] = {}
        if from_now_on:
            allowed = allowed and self.may_give(by, agent, proposal.action, from_now_on == "everybody")
            more = {"from_now_on": f"for_{from_now_on}", "bounds": self.bounds(bounds)}
        if weight is not None:
            more["args"] = {"weight": weight}
        verb = self.desk(by).approve(UUID(proposal.id), fingerprint=proposal.fingerprint, **more)
        if await self.attempt(verb, allowed):
            self.ledger.approved(at, proposal, self.id(by), weight)
            if from_now_on:
                self.rule_given(by, agent, proposal.action, from_now_on == "everybody", bounds)

    @precondition(lambda self: self.undecided())
    @rule(which=WHICH, above=WHICH)
    def approve_what_is_forbidden_since(self, which: int, above: int) -> None:
        """R5, R11: what somebody on the branch has come to never do is not approvable."""

        async def approve() -> None:
            proposal = one_of(self.undecided(), which)
            by = next((by for by in ("mia", "noor") if self.may_decide(proposal, by)), None)
            Words.now.gates[one_of(self.now.agents(proposal.piece), above), proposal.action] = Gate.NEVER
            if by is not None:
                await self.approving(proposal, by, None)

        self.go(approve())

    @precondition(lambda self: self.undecided())
    @rule(which=WHICH, by=WHO)
    def refuse(self, which: int, by: str) -> None:
        async def refuse() -> None:
            proposal = one_of(self.undecided(), which)
            verb = self.desk(by).refuse(UUID(proposal.id), "Not now.", fingerprint=proposal.fingerprint)
            if await self.attempt(verb, self.may_decide(proposal, by)):
                self.ledger.decided[proposal.id] = ("refused", self.id(by))

        self.go(refuse())

    @precondition(lambda self: self.unanswered())
    @rule(which=WHICH, by=WHO, declines=st.booleans())
    def answer(self, which: int, by: str, declines: bool) -> None:
        self.go(self.answering(one_of(self.unanswered(), which), by, declines))

    async def answering(self, question: Any, by: str, declines: bool) -> None:
        desk = self.desk(by)
        verb = desk.decline(UUID(question.id)) if declines else desk.answer(UUID(question.id), "The left one.")
        if await self.attempt(verb, self.may_decide(question, by)):
            self.ledger.answered[question.id] = self.id(by)

    def over(self) -> list[Any]:
        at = self.now
        rows = [row for row in at.rows["proposal"] if row.status != "Waiting" or row.decided_at is not None]
        return rows + [row for row in at.questions.values() if row.status != "Waiting"]

    @precondition(lambda self: self.over())
    @rule(which=WHICH, by=WHO, yes=st.booleans())
    def decide_again(self, which: int, by: str, yes: bool) -> None:
        """P5: what is decided, withdrawn or expired is decided no more."""

        async def decide() -> None:
            row, desk = one_of(self.over(), which), self.desk(by)
            id = UUID(row.id)
            if row.id in self.now.questions:
                verb = desk.answer(id, "The right one.") if yes else desk.decline(id)
            else:
                verb = desk.approve(id) if yes else desk.refuse(id)
            rows = self.now.rows
            known = row.id in self.ledger.decided or row.id in self.ledger.answered
            theirs = self.now.may_decide(row, self.id(by))
            with pytest.raises((AlreadyDecided if known else NotWaiting) if theirs else HandonError):
                await verb
            assert self.agency is not None
            assert (await look_at(self.agency)).rows == rows, "what was decided was decided again"

        self.go(decide())

    @precondition(lambda self: self.undecided())
    @rule(which=WHICH, first=st.booleans())
    def approve_twice_at_once(self, which: int, first: bool) -> None:
        """P5: two people say yes in the same moment; it runs once."""

        async def approve() -> None:
            at, proposal = self.now, one_of(self.undecided(), which)
            who = [by for by in ("mia", "noor") if self.may_decide(proposal, by)]
            if not who:
                return
            one, other = (who[0], who[-1]) if first else (who[-1], who[0])
            verbs = [self.desk(by).approve(UUID(proposal.id)) for by in (one, other)]
            came = await asyncio.gather(*verbs, return_exceptions=True)
            done = [by for by, what in zip((one, other), came, strict=True) if not isinstance(what, BaseException)]
            assert len(done) == 1, f"{len(done)} of two yeses were taken: {came}"
            self.ledger.approved(at, proposal, self.id(done[0]), None)

        self.go(approve())

    @precondition(lambda self: self.undecided())
    @rule(which=WHICH, by=WHO, back=st.booleans())
    def approve_after_a_hold(self, which: int, by: str, back: bool) -> None:
        """P5: a held yes is carried out once, or is taken back and leaves nothing behind."""

        async def approve() -> None:
            at, proposal = self.now, one_of(self.undecided(), which)
            forbidden = self.ledger.word(at, proposal.piece, proposal.action) is Gate.NEVER  # then nothing is held
            if forbidden or not self.may_decide(proposal, by) or not at.active(proposal.asked_of):
                return
            desk, id = self.desk(by), UUID(proposal.id)
            await desk.approve(id, hold=MOMENT)
            assert id not in {waiting.id for waiting in await desk.proposals()}
            with pytest.raises(AlreadyDecided):
                await desk.refuse(id)
            assert self.agency is not None
            assert (await look_at(self.agency)).rows == at.rows, "a hold changed something"
            if back:
                await desk.take_back(id)
                return
            await self.clock.advance(MOMENT)
            self.ledger.approved(at, proposal, self.id(by), None)

        self.go(approve())

    @precondition(lambda self: self.undecided() or self.unanswered())
    @rule(which=WHICH, by=WHO, to=WHO, back=st.booleans())
    def hand_over(self, which: int, by: str, to: str, back: bool) -> None:
        """P9: whoever may decide it has somebody else asked, and may have it put back as long as that one is asked."""

        async def hand() -> None:
            request = one_of([*self.undecided(), *self.unanswered()], which)
            id, asked, receiver = UUID(request.id), request.asked_of, self.id(to)
            before = asked if self.now.is_theirs(request, self.id(by)) else self.id(by)  # a sponsor takes it over first
            allowed = self.may_decide(request, by) and self.now.active(receiver) and before != receiver
            if not await self.attempt(self.desk(by).hand_over(id, UUID(receiver)), allowed) or not back:
                return
            await self.desk(by).put_back(id)
            with pytest.raises(NotFound):
                await self.desk(by).put_back(id)
            assert self.agency is not None
            now = await look_at(self.agency)
            rows = [row for row in [*now.rows["proposal"], *now.questions.values()] if row.id == request.id]
            assert [row.asked_of for row in rows] == [before], "it was put back to somebody else"

        self.go(hand())

    # Standing rules

    def may_give(self, by: str, agent: str, action: str, everybody: bool) -> bool:
        active = self.now.active(self.id(by))
        right = Words.now.gate(agent, action) is Gate.PROPOSE and action in HOLDS[agent]
        return active and right and (by == "noor" or not everybody)

    def bounds(self, which: str) -> Bounds | None:
        return {
            "": None,
            "once": Bounds(uses=1),
            "twice": Bounds(uses=2),
            "sum": Bounds(sum_of=("weight", "4")),
            "light": Bounds(where=(Where("weight", "at most", "2"),)),
            "hour": Bounds(until=self.clock.now() + timedelta(hours=1)),
        }[which]

    def rule_given(self, by: str, agent: str, action: str, everybody: bool, bounds: str) -> None:
        given = GivenRule(agent, action, None if everybody else self.id(by))
        given.uses = {"once": 1, "twice": 2}.get(bounds)
        given.total = 4 if bounds == "sum" else None
        given.heaviest = 2 if bounds == "light" else None
        given.until = to_micros(self.clock.now() + timedelta(hours=1)) if bounds == "hour" else None
        self.ledger.rules.append(given)

    @precondition(lambda self: len(self.ledger.rules) < 6)
    @rule(rule=RULE)
    def give_rule(self, rule: tuple[str, str, str, bool, str]) -> None:
        self.go(self.giving_rule(*rule))

    async def giving_rule(self, by: str, agent: str, action: str, everybody: bool, bounds: str) -> None:
        allowed = self.may_give(by, agent, action, everybody)
        verb = self.desk(by).give_rule(agent, action, for_everybody=everybody, bounds=self.bounds(bounds))
        if await self.attempt(verb, allowed):
            self.rule_given(by, agent, action, everybody, bounds)

    @precondition(lambda self: self.ledger.rules)
    @rule(which=WHICH, by=WHO)
    def revoke_rule(self, which: int, by: str) -> None:
        async def revoke() -> None:
            ids = sorted(self.now.rules)
            number = which % len(ids)
            row = self.now.rules[ids[number]]
            allowed = self.id(by) in (row.person, row.given_by) or (by == "noor" and self.now.active(self.id(by)))
            if await self.attempt(self.desk(by).revoke_rule(UUID(row.id)), allowed):
                self.ledger.rules[number].revoked = True

        self.go(revoke())

    @rule(agent=AGENTS, action=CHANGES, gate=GATES)
    def declare_anew(self, agent: str, action: str, gate: Gate) -> None:
        """R11: the app's word changes; what holds is what it says when the call runs."""

        async def declare() -> None:
            Words.now.gates[agent, action] = gate

        self.go(declare())

    @precondition(lambda self: self.ledger.rules)
    @rule(which=WHICH, weights=WEIGHTS, gate=st.sampled_from([None, None, Gate.PROPOSE_EVERY_TIME, Gate.NEVER]))
    def ask_for_what_a_rule_lifts(self, which: int, weights: list[int], gate: Gate | None) -> None:
        """R6, R12: a rule lifts its agent's "propose" within its bounds, and nothing that has become stricter."""

        async def ask() -> None:
            lifted = one_of(self.ledger.rules, which)
            if gate is not None:
                Words.now.gates[lifted.agent, lifted.action] = gate
            if not self.working_for(lifted.agent):
                await self.giving(lifted.agent, "noor" if lifted.person == self.id("noor") else "mia", "0.2", None)
                await self.settle()
            for held in self.working_for(lifted.agent)[-1:]:
                self.answered(held, Turn(tuple((lifted.action, weight) for weight in weights)))

        self.go(ask())

    def working_for(self, agent: str) -> list[Held]:
        return [held for held in self.working() if self.now.pieces[held.piece].agent == agent]

    def legs(self) -> list[Held]:
        return [held for held in self.working() if self.now.pieces[held.piece].depth > 0]

    @precondition(lambda self: self.legs())
    @rule(which=WHICH, action=CHANGES, weights=WEIGHTS)
    def change_under_others(self, which: int, action: str, weights: list[int]) -> None:
        """R4, R5: the strictest word of the branch counts."""

        async def ask() -> None:
            self.answered(one_of(self.legs(), which), Turn(tuple((action, weight) for weight in weights)))

        self.go(ask())

    # Stopping, and people who come and go

    def live(self) -> list[Any]:
        rows = [row for row in self.now.pieces.values() if row.run != "ended"]
        return sorted(rows, key=lambda row: int(re.findall(r"\d+", row.input)[0]))

    def may_stop(self, by: str | None, piece: Any) -> bool:
        whole = self.now.wholes[piece.root]
        if by is None or self.id(by) in (whole.person, whole.given_by):
            return True
        return by == "noor" and self.now.active(self.id(by))

    @precondition(lambda self: self.live())
    @rule(which=WHICH, by=st.sampled_from(["mia", "noor", None]))
    def stop(self, which: int, by: str | None) -> None:
        async def stop() -> None:
            piece = one_of(self.live()[::-1], which)
            await self.attempt(self.desk(by).stop(UUID(piece.id)), self.may_stop(by, piece))

        self.go(stop())

    @precondition(lambda self: self.undecided() or self.unanswered())
    @rule(which=WHICH, top=st.booleans(), first=st.booleans())
    def decide_and_stop_at_once(self, which: int, top: bool, first: bool) -> None:
        """Whichever comes first holds, and nothing is left half done."""

        async def decide() -> None:
            at, request = self.now, one_of([*self.undecided(), *self.unanswered()], which)
            by = next((by for by in ("mia", "noor") if self.may_decide(request, by)), None)
            if by is None:
                return
            desk, id = self.desk(by), UUID(request.id)
            question = request.id in at.questions
            verb = desk.answer(id, "The left one.") if question else desk.approve(id)
            stop = self.desk(None).stop(UUID(request.root if top else request.piece))
            verbs = [verb, stop] if first else [stop, verb]
            came = await asyncio.gather(*verbs, return_exceptions=True)
            if any(isinstance(what, BaseException) and not isinstance(what, HandonError) for what in came):
                raise AssertionError(came)
            if not isinstance(came[0 if first else 1], HandonError):
                if question:
                    self.ledger.answered[request.id] = self.id(by)
                else:
                    self.ledger.approved(at, request, self.id(by), None)

        self.go(decide())

    @precondition(lambda self: self.working() and self.live())
    @rule(which=WHICH, piece=WHICH, turn=QUIET_TURN)
    def answer_and_stop_at_once(self, which: int, piece: int, turn: Turn) -> None:
        async def answer() -> None:
            stopped = one_of(self.live(), piece)
            self.answered(one_of(self.working(), which), turn, changes=False)
            await self.desk(None).stop(UUID(stopped.id))

        self.go(answer())

    @rule(what=st.sampled_from(["stands in", "stands in", "stands in no more", "mia goes", "noor goes"]))
    def people_change(self, what: str) -> None:
        async def change() -> None:
            assert self.agency is not None
            if what.startswith("stands in"):
                noor, mia = self.people["noor"], self.people["mia"]
                await self.agency.stand_in(noor, for_=mia, ends=what.endswith("no more"))
            elif len(self.now.pieces) > 4:  # not before there was something for them to leave behind
                await self.agency.deactivate(self.people[what.split()[0]])

        self.go(change())

    @rule(
        what=st.sampled_from(["Head", "Middle", "Hand", "mia", "noor"]),
        period=st.sampled_from(["day", "month"]),
        amount=st.sampled_from([None, None, "0.05", "0.02", "0"]),
    )
    def limit_spending(self, what: str, period: Literal["day", "month"], amount: str | None) -> None:
        async def limit() -> None:
            of = {"person": self.people[what]} if what in self.people else {"agent": what}
            allowed = self.now.active(self.id("noor"))
            verb = self.desk("noor").set_spend_limit(Decimal(amount) if amount else None, period=period, **of)
            await self.attempt(verb, allowed)

        self.go(limit())

    # Time, and processes that come and go

    @rule(by=st.sampled_from([timedelta(seconds=3), timedelta(minutes=11), LONG, timedelta(minutes=70)]))
    def wait(self, by: timedelta) -> None:
        self.go(self.passes(by))

    async def passes(self, by: timedelta) -> None:
        """Time goes by. Every ten minutes the agency looks for what is due and for what is late, and, once nothing
        moves, for what was abandoned: as its own clock would, and in an order that is the same from run to run."""
        assert self.agency is not None
        while by > timedelta(0):
            step = min(by, timedelta(minutes=10))
            await self.clock.advance(step)
            await self.agency.sweep()
            await self.settle()
            await self.agency.close_abandoned_work()
            await self.settle()
            by -= step

    @rule(how=st.sampled_from(["leaves", "dies", "looks for abandoned work", "is away"]))
    def process(self, how: str) -> None:
        """The process leaves, or dies with everything that it had under way, and another one opens; or it looks."""

        async def process() -> None:
            assert self.agency is not None
            if how.startswith("looks"):
                await self.agency.close_abandoned_work()
                await self.settle()
                assert await self.agency.close_abandoned_work() == 0
                return
            if how == "dies":
                for held in self.stage.under_way():
                    assert held.fence is not None
                    self.ledger.died.add((held.piece, held.fence))
                    held.answer.set_exception(ProcessDied())
                await self.settle()
            await self.agency.__aexit__(None, None, None)
            assert not self.stage.held
            if how == "is away":
                await self.clock.advance(timedelta(hours=1))
            await self.open()

        self.go(process())

    # The end

    def teardown(self) -> None:
        try:
            if not self.broken and self.at is not None:
                self.go(self.finish())
        finally:
            self.runner.run(self.close())
            self.runner.close()

    async def close(self) -> None:
        if self.agency is not None:
            for held in self.stage.under_way():
                held.answer.cancel()
            await self.agency.__aexit__(None, None, None)

    async def finish(self) -> None:
        """Everything is let go, answered and waited for: all work ends, and nothing is left of it."""
        for _ in range(40):
            for held in self.stage.under_way():
                if held.kind == "work":
                    self.answered(held, Turn((("back", 1),)))
                else:
                    self.came_back(held, "well")
            await self.settle()
            await self.decide_everything()
            if all(row.run == "ended" for row in self.now.pieces.values()):
                break
            if not self.stage.held:
                await self.passes(LONG)
        await self.at_rest()

    async def decide_everything(self) -> None:
        while True:
            requests = [*self.undecided(), *self.unanswered()]
            if not requests:
                return
            request, at = requests[0], self.now
            by = next((by for by in ("mia", "noor") if self.may_decide(request, by)), None)
            if by is None:  # nobody is left to answer
                await self.desk(None).stop(UUID(request.root))
            elif request.id in at.questions:
                await self.answering(request, by, False)
            else:
                await self.approving(request, by, None)
            await self.settle()

    async def at_rest(self) -> None:
        """P3, H1, M3: every whole has ended, no money is held, and each call of each turn was answered once."""
        assert self.agency is not None
        at = self.now
        left = [f"{row.agent}: {row.status}, {row.run}" for row in at.pieces.values() if row.run != "ended"]
        assert not left, f"something never ends: {left}"
        assert not [row for row in at.rows["proposal"] if row.status == "Waiting"]
        assert not [key for key, row in at.accounts.items() if row.reserved_micros]
        for messages in (await conversations(self.agency)).values():
            for one, following in pairwise(messages):
                if one.role == "assistant" and one.calls and following.role == "tool":
                    asked = [call[0] for call in json.loads(one.calls)]
                    assert [result[0] for result in json.loads(following.results)] == asked, "answers are not as asked"
                assert following.role != one.role or one.role == "user", "two messages of one side follow each other"


# How many examples, and of how many steps. PostgreSQL takes its time to make a database, and to commit.
PROFILES = {"short": {"sqlite": (25, 30), "postgresql": (5, 20)}, "long": {"sqlite": (600, 40), "postgresql": (60, 30)}}
PROFILE = PROFILES[os.environ.get("HYPOTHESIS_PROFILE", "short")]
# The short profile plays the same examples each time, the long one others; HANDON_SEED names which.
NAMED = os.environ.get("HANDON_SEED") or ("2031" if PROFILE is PROFILES["short"] else "")
SEED = int(NAMED or random.SystemRandom().randrange(2**32))


def play(kind: str, fresh: Callable[[], str]) -> None:
    """Play so many examples, each on a fresh database. What fails prints its steps, and how to play the run again."""

    def machine() -> Play:
        return Play(fresh())

    examples, steps = PROFILE[kind]
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.reuse, Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
    )
    try:
        run_state_machine_as_test(seed(SEED)(machine), settings=chosen)
    except BaseException as error:
        profile = os.environ.get("HYPOTHESIS_PROFILE", "short")
        error.add_note(f"Play it again: HYPOTHESIS_PROFILE={profile} HANDON_SEED={SEED} pytest {__file__} -k {kind}")
        raise


# D5, D6, H1, R4, R5, R6, R10, R11, R12, M2, M3, M4, M5, M7, M8, P3, P4, P5, P10, P11
# E1, E3, E4, E9, A3, A6, A7, A8, T3, T5
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_whatever_happens_everything_holds_at_every_moment(kind: str, databases: Databases, tmp_path: Path) -> None:
    if kind == "postgresql" and not server_answers():
        pytest.skip("no PostgreSQL answers here")
    play(kind, databases.postgresql if kind == "postgresql" else lambda: databases.sqlite(tmp_path))
