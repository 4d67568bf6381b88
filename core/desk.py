"""A desk: what one person sees and does. Every page, route and command goes through one.

Rights are asked anew at each call, in the transaction that uses them. A thing the person may not see is `NotFound`,
never `NotAllowed`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import select

from core import abandonment, acting, asking, handing_on, ids, people, reading, receipts, record, standing, work
from core.clock import to_micros
from core.declare.actions import Action
from core.declare.agents import Agent
from core.declare.bounds import Bounds
from core.declare.deciding import Deciding, Decision
from core.declare.schemas import canonical, read_object, to_json
from core.declare.skills import Skill
from core.delegations import delegations_of
from core.errors import BadInput, HandonError, NotAllowed, NotFound
from core.gate import sentence
from core.house import House
from core.reading import Reader
from core.store import Store, Tx
from core.values import (
    Abilities,
    Giving,
    Help,
    Line,
    Pane,
    Person,
    Piece,
    Proposal,
    Question,
    StandingRule,
    Status,
    TraceKind,
    Verdict,
    Work,
    WorkNode,
)
from core.words import clean, label_of

TIn = TypeVar("TIn")
TOut = TypeVar("TOut")
T = TypeVar("T")

Show = Literal["going", "finished", "all"]
LOOKS_EVERY = 1.0  # seconds: changes made by another process are not heard, so they are looked for, ever more seldom
LOOKS_AT_LEAST_EVERY = 5.0
ROWS_OFFERED = 500  # rows to choose from when work is given


@dataclass(frozen=True, slots=True)
class Outcome(Generic[TOut]):
    """How a whole stands: `done` with its `result`, `waiting` for a person, or ended otherwise (`why`)."""

    task: UUID
    status: Status
    result: TOut | None
    why: str
    waiting_on: str
    cost_micros: int

    @property
    def done(self) -> bool:
        return self.status is Status.DONE

    @property
    def waiting(self) -> bool:
        return self.status is Status.WAITING


class Desk:
    def __init__(self, house: House, store: Store, person: str | None) -> None:
        self._house = house
        self._store = store
        self._id = person
        self.person: Person | None = None
        self.may: Abilities = reading.ALL

    async def _read(self, fn: Callable[[Tx, Reader], T]) -> T:
        return await self._store.read(lambda tx: fn(tx, self._reader(tx)))

    async def _write(self, fn: Callable[[Tx, Reader], T]) -> T:
        return await self._store.write(lambda tx: fn(tx, self._reader(tx)))

    def _reader(self, tx: Tx) -> Reader:
        who = people.find(tx, self._id) if self._id is not None else None
        return Reader(self._id, reading.abilities(self._house, who))

    async def look(self) -> Desk:
        """Read who this is and what they may, for `person` and `may`. Raises NotFound."""

        def who(tx: Tx) -> tuple[Person | None, Abilities]:
            found = people.find(tx, self._id) if self._id is not None else None
            return found, reading.abilities(self._house, found)

        self.person, self.may = await self._store.read(who)
        return self

    # Giving work

    def of(self, agent: type[Agent] | str) -> Hand:
        """Give this agent work. Raises NotFound for one the app does not have."""
        name = agent if isinstance(agent, str) else agent.__name__
        found = self._house.agents.get(name)
        if found is None:
            raise NotFound(f"There is no agent {name}.")
        return Hand(self, found)

    async def gives(self) -> list[Giving]:
        """The work this person may give: every skill of every agent that is not paused; nothing where the app says
        they use no agents."""

        def offers(tx: Tx, reader: Reader) -> list[Giving]:
            if not reader.may.uses_agents:
                return []
            return [
                self._giving(tx, reader, agent, skill)
                for agent in self._house.agents.values()
                if not people.is_paused(tx, agent.name)
                for skill in agent.skills
            ]

        return await self._read(offers)

    def _giving(self, tx: Tx, reader: Reader, agent: Agent, skill: Skill[Any, Any]) -> Giving:
        house = self._house
        kind = skill.takes_row
        rows: list[tuple[UUID, str]] = []
        if kind is not None:
            with acting.guarded_context(house, tx, agent.account, reader.id, "0" * 32) as ctx:
                rows = [(row.id, row.label) for row in ctx.session.scalars(select(kind).limit(ROWS_OFFERED))]
            rows.sort(key=lambda choice: choice[1])
        delegation = agent.delegates or handing_on.NO_DELEGATION
        return Giving(
            agent=agent.name,
            agent_label=agent.shown_as,
            purpose=agent.purpose,
            skill=skill.name,
            skill_label=skill.shown_as,
            description=skill.description,
            schema=skill.handed_schema(),
            row=label_of(kind.__name__) if kind is not None else None,
            rows=tuple(rows),
            hands_back=tuple(skill.hands_back.schema.get("properties", {})),
            limit_micros=handing_on.default_limit(house, agent, skill),
            max_depth=handing_on.levels(agent),
            max_pieces=delegation.max_pieces if delegation.to else 0,
            gate=sentence(agent.may),
            hands_on=tuple(delegations_of(house.agents, agent)),
        )

    async def give(
        self,
        agent: str,
        skill: str,
        input_json: str,
        *,
        about: str = "",
        limit: Decimal | None = None,
        for_: UUID | None = None,
        on: str | Sequence[str] | None = None,
        key: str = "",
    ) -> UUID:
        """Give work by names and JSON; answers the whole's id once its receipt is written. Given again with the same
        `key` (at most 100 characters) by the same person, it is the same whole.

        Raises NotFound for an agent or skill that is not there, NotAllowed where the app says this person uses no
        agents or the agent is paused, BadInput field by field. Writes the first line of the whole's record.
        """
        hand = self.of(agent)
        found = hand.agent.skill(skill)
        if found is None:
            raise NotFound(f"{hand.agent.shown_as} has no skill {skill}.")
        checked = canonical(read_object(input_json))
        return await self._open(hand.agent, found, checked, about=about, limit=limit, for_=for_, on=on, key=key[:100])

    async def _open(
        self,
        agent: Agent,
        skill: Skill[Any, Any],
        input_json: str,
        *,
        about: str,
        limit: Decimal | None,
        for_: UUID | None,
        on: str | Sequence[str] | None,
        key: str = "",
    ) -> UUID:
        accounts = [on] if isinstance(on, str) else list(on or ())
        if any("\n" in key or not key or len(key) > 200 for key in accounts):
            raise BadInput({"on": "An account's key is text of 1 to 200 characters on one line."})

        def open_top(tx: Tx, reader: Reader) -> str:
            if not reader.may.uses_agents:
                raise NotAllowed("You do not give agents work here.")
            if people.is_paused(tx, agent.name):
                raise NotAllowed(f"{agent.shown_as} is paused and takes no work now.")
            person = for_.hex if for_ is not None else self._id
            if person is not None and not people.find(tx, person).active:
                raise NotAllowed("Work is not done for somebody whose account was deactivated.")
            self._fits(tx, agent, skill, input_json, person)
            return handing_on.open_top(
                self._house,
                tx,
                agent,
                skill,
                input_json,
                about=clean(about),
                person=person,
                given_by=self._id,
                accounts=accounts,
                limit=limit,
                key=key,
            )

        return ids.to_uuid(await self._write(open_top))

    def _fits(self, tx: Tx, agent: Agent, skill: Skill[Any, Any], input_json: str, person: str | None) -> None:
        with acting.guarded_context(self._house, tx, agent.account, person, "0" * 32) as ctx:
            skill.handed(input_json, ctx)

    async def outcome(self, id: UUID) -> Outcome[Any]:
        """How a whole stands now."""

        def read(tx: Tx, reader: Reader) -> Outcome[Any]:
            of = reading.whole_of(tx, reader, ids.stored(id))
            row = receipts.get(tx, of.id)
            agent = self._house.agents.get(row.agent)
            skill = agent.skill(row.skill) if agent else None
            content = reader.content(of)
            result = skill.hands_back.load(row.result) if skill and content and row.result is not None else None
            why = row.outcome if content else ""
            return Outcome(ids.to_uuid(row.id), Status(row.status), result, why, row.waiting_on, row.tree_micros)

        return await self._read(read)

    async def stands(self, id: UUID, *, fresh: bool = False) -> Outcome[Any]:
        """Wait until a whole is done or waits for a person. Raised to whoever waits: an `Abort` in one of its runs.

        `fresh`: it was opened just now, so it is worth no look before something was heard of it.
        """
        root, pause = ids.stored(id), LOOKS_EVERY
        while True:
            with self._house.bus.standing(root) as standing:
                if not fresh:
                    outcome = await self.outcome(id)
                    if outcome.status is not Status.WORKING:
                        return outcome
                fresh = False
                done, _ = await asyncio.wait([standing], timeout=pause)
                pause = min(pause * 2, LOOKS_AT_LEAST_EVERY)
                for future in done:
                    future.result()

    # Requests

    async def waiting_count(self) -> int:
        """How many requests wait for this person: what `proposals` and `questions` list, by the same condition."""
        return await self._read(lambda tx, reader: len(reading.for_you(tx, reader)))

    async def proposals(self) -> list[Proposal]:
        """What waits for this person's decision, the oldest first."""
        return await self._read(lambda tx, reader: reading.proposals_for(self._house, tx, reader))

    async def questions(self) -> list[Question]:
        return await self._read(lambda tx, reader: reading.questions_for(self._house, tx, reader))

    async def proposal(self, id: UUID) -> Proposal:
        return await self._read(lambda tx, reader: reading.one_proposal(self._house, tx, reader, ids.stored(id)))

    async def question(self, id: UUID) -> Question:
        return await self._read(lambda tx, reader: reading.one_question(self._house, tx, reader, ids.stored(id)))

    async def answered(self, limit: int = 50, before: datetime | None = None) -> list[Proposal | Question]:
        """What this person or whoever decides beside them has decided and answered, the newest first."""
        at = to_micros(before) if before else 2**62
        return await self._read(lambda tx, reader: reading.answered(self._house, tx, reader, limit, at))

    async def approve(
        self,
        id: UUID,
        *,
        args: Mapping[str, Any] | None = None,
        note: str = "",
        fingerprint: str | None = None,
        from_now_on: Literal["for_me", "for_everybody"] | None = None,
        bounds: Bounds | None = None,
    ) -> Proposal:
        """Run the proposed call exactly as shown, or with `args` changed, once (rules P5, P7, P12).

        Raises NotFound, NotAllowed, AlreadyDecided, NotWaiting, Stale, BadInput. Answers the proposal as it is after:
        Done or Failed with what came of it, or Refused by a rule that forbids it since (R11). A call that reaches
        outside runs in the piece's own run: it is Waiting, decided, until it has come back.
        """

        def approve(tx: Tx, reader: Reader) -> Proposal:
            key, who = self._deciding(tx, reader, id)
            rule = None
            if from_now_on is not None:
                shown = reading.one_proposal(self._house, tx, reader, key)
                rule = self._rule(tx, reader, shown.agent, shown.action, from_now_on == "for_everybody", bounds)
            asking.approve(self._house, tx, key, who, args=args, note=clean(note), fingerprint=fingerprint, rule=rule)
            return reading.one_proposal(self._house, tx, reader, key)

        return await self._write(approve)

    async def refuse(self, id: UUID, reason: str = "", *, fingerprint: str | None = None) -> Proposal:
        """Say no; the reason reaches the agent, which goes on (rule P6)."""

        def refuse(tx: Tx, reader: Reader) -> Proposal:
            key, who = self._deciding(tx, reader, id)
            asking.refuse(self._house, tx, key, who, reason=clean(reason), fingerprint=fingerprint)
            return reading.one_proposal(self._house, tx, reader, key)

        return await self._write(refuse)

    def _deciding(self, tx: Tx, reader: Reader, id: UUID) -> tuple[str, str]:
        key = ids.stored(id)
        if reader.id is None:
            raise NotAllowed("The app itself decides nothing: a person does.")
        reading.one_proposal(self._house, tx, reader, key)
        return key, reader.id

    async def answer(self, id: UUID, text: str) -> Question:
        """Answer a question in own words or with one of its choices; it goes to the agent (rule P8)."""
        return await self._answer(id, text, declines=False)

    async def decline(self, id: UUID, reason: str = "") -> Question:
        """Say that it cannot be answered; the agent is told, with the reason."""
        return await self._answer(id, reason, declines=True)

    async def _answer(self, id: UUID, text: str, *, declines: bool) -> Question:
        def answer(tx: Tx, reader: Reader) -> Question:
            key = ids.stored(id)
            if reader.id is None:
                raise NotAllowed("The app itself answers nothing: a person does.")
            reading.one_question(self._house, tx, reader, key)
            asking.answer(self._house, tx, key, reader.id, clean(text), declines=declines)
            return reading.one_question(self._house, tx, reader, key)

        return await self._write(answer)

    # Standing rules

    def _rule(self, tx: Tx, reader: Reader, agent: str, action: str, for_everybody: bool, bounds: Bounds | None) -> str:
        if reader.id is None:
            raise NotAllowed("The app itself gives no rules: a person does.")
        if for_everybody and not reader.may.supervises_agents:
            raise NotAllowed("A rule for everybody's work is given by a supervisor.")
        if not reader.may.uses_agents and not for_everybody:
            raise NotAllowed("You do not give agents work here, so there is none a rule could be for.")
        found = self._house.agents.get(agent)
        if found is None:
            raise NotFound(f"There is no agent {agent}.")
        return standing.give(tx, found, action, None if for_everybody else reader.id, reader.id, bounds)

    async def give_rule(
        self,
        agent: type[Agent] | str,
        action: Action | str,
        *,
        for_everybody: bool = False,
        bounds: Bounds | None = None,
    ) -> StandingRule:
        """From now on, alone: the agent does this by itself in the work it does for this person, within `bounds`; with
        `for_everybody`, which supervisors may, in everybody's (rules R6, R12, P10).

        Raises NotFound, NotAllowed, and BadInput where the agent does not hold the tool or its word on it is not
        "propose", and for bounds that do not fit the arguments.
        """
        name = agent if isinstance(agent, str) else agent.__name__
        tool = action if isinstance(action, str) else action.name

        def give(tx: Tx, reader: Reader) -> StandingRule:
            id = self._rule(tx, reader, name, tool, for_everybody, bounds)
            return next(rule for rule in reading.rules(self._house, tx, reader) if rule.id.hex == id)

        return await self._write(give)

    async def standing_rules(self) -> list[StandingRule]:
        """Rules for this person's work and given by them, a supervisor's all; revoked ones too, the newest first."""
        return await self._read(lambda tx, reader: reading.rules(self._house, tx, reader))

    async def rule_would_have_covered(
        self, agent: type[Agent] | str, action: Action | str, bounds: Bounds | None = None
    ) -> list[tuple[Proposal, bool]]:
        """This person's last decisions (100 at most, the newest first) on that action of that agent, each with whether
        such a rule would have covered it: what a person sees before giving one (rule R12). Uses and sums are counted
        from the oldest on."""
        name = agent if isinstance(agent, str) else agent.__name__
        tool = action if isinstance(action, str) else action.name
        return await self._read(lambda tx, reader: reading.covered(self._house, tx, reader, name, tool, bounds))

    async def revoke_rule(self, id: UUID) -> None:
        """End a standing rule: the agent proposes as before. May be done by the person whose work it is for, whoever
        gave it, and supervisors. Raises NotFound."""

        def revoke(tx: Tx, reader: Reader) -> None:
            row = standing.get(tx, ids.stored(id))
            if not (reader.may.supervises_agents or reader.id in (row.person, row.given_by)):
                raise NotFound("There is no such standing rule.")
            standing.revoke(tx, row.id, reader.id)

        await self._write(revoke)

    # Stopping

    async def stop(self, id: UUID, reason: str = "") -> None:
        """Call a piece off with everything under it (rules E4, E5). What a model is being asked for ends with that
        answer; abandoned work closes at once. Stopping what has ended does nothing.

        May be done by the person it is for, whoever gave it, and supervisors. Raises NotFound, NotAllowed. Writes one
        line, and one for each piece that ends.
        """

        def stop(tx: Tx, reader: Reader) -> None:
            key = ids.stored(id)
            of = reading.whole_of(tx, reader, key)
            allowed = reader.id is None or reader.may.supervises_agents or reader.id in (of.person, of.given_by)
            if not allowed:
                raise NotAllowed("It is stopped by the person it is for, whoever gave it, or a supervisor.")
            tree = self._house.tree(tx, of.id)
            row = receipts.get(tx, key)
            if row.ended_at is not None or row.closing is not None:
                return
            at_once = abandonment.was_abandoned(self._house, tx, of.id)
            name = people.row(tx, reader.id).name if reader.id else "the app"
            words = clean(reason.strip())
            why = f"{name} stopped it{f': {words}' if words else '.'}"
            label = self._house.label(row.agent)
            tree.append(
                tx.now, key, TraceKind.STOP_ASKED, f"{label} was asked to stop: {why}", {"by": reader.id, "why": reason}
            )
            work.call_off(self._house, tx, tree, row, Status.CANCELLED, why, at_once=at_once)

        await self._write(stop)

    # Reading

    async def works(
        self, show: Show = "going", limit: int = 50, before: tuple[datetime, UUID] | None = None
    ) -> list[Work]:
        """Wholes this person may see, the newest first; `before`: (opened_at, root) of the last one shown."""
        place = (to_micros(before[0]), before[1].hex) if before else None
        return await self._read(lambda tx, reader: reading.works(self._house, tx, reader, show, limit, place))

    async def work(self, id: UUID) -> Work:
        """The whole that a piece belongs to."""
        return await self._read(lambda tx, reader: reading.one_work(self._house, tx, reader, ids.stored(id)))

    async def my_work(self) -> list[Piece]:
        return await self._read(lambda tx, reader: reading.my_work(self._house, tx, reader))

    async def piece(self, id: UUID) -> Piece:
        return await self._read(lambda tx, reader: reading.one_piece(self._house, tx, reader, ids.stored(id)))

    async def work_tree(self, id: UUID) -> list[WorkNode]:
        return await self._read(lambda tx, reader: reading.tree(self._house, tx, reader, ids.stored(id)))

    async def nodes(self, id: UUID, pieces: set[UUID]) -> list[WorkNode]:
        """Those pieces of a whole and every piece above them."""
        wanted = {piece.hex for piece in pieces}
        return await self._read(lambda tx, reader: reading.some_nodes(self._house, tx, reader, ids.stored(id), wanted))

    async def cost_of(self, id: UUID) -> int:
        """What a piece and everything under it spent, in micros (rules M5, T2)."""

        def cost(tx: Tx, reader: Reader) -> int:
            reading.whole_of(tx, reader, ids.stored(id))
            return int(receipts.get(tx, ids.stored(id)).tree_micros)

        return await self._read(cost)

    async def handed_on_by(self, id: UUID) -> list[Piece]:
        """The pieces that a piece handed on itself, in the order it did."""
        return await self._read(lambda tx, reader: reading.handed_on_by(self._house, tx, reader, ids.stored(id)))

    async def trace_of(self, id: UUID) -> list[Line]:
        """The record of the whole, from any piece of it (rule T3)."""
        return await self.lines(id, 0, 2**31 - 1)

    async def lines(self, id: UUID, after: int = 0, limit: int = 500) -> list[Line]:
        """Lines of the record numbered above `after`, in order."""
        return await self._read(lambda tx, reader: reading.lines(self._house, tx, reader, ids.stored(id), after, limit))

    async def verify_trace(self, id: UUID) -> Verdict:
        """Check every line of the whole's record; names the first that does not fit."""

        def verify(tx: Tx, reader: Reader) -> Verdict:
            return record.verify_tree(tx, reading.whole_of(tx, reader, ids.stored(id)).id)

        return await self._read(verify)

    async def export_trace(self, id: UUID) -> str:
        """The whole's record as JSON Lines, to be checked anywhere by `handon verify` (rule T6).

        Raises NotFound, and NotAllowed where the person may not read its content (R8).
        """

        def export(tx: Tx, reader: Reader) -> str:
            of = reading.whole_of(tx, reader, ids.stored(id))
            if not reader.content(of):
                raise NotAllowed("The record is exported by the person the work is for, whoever gave it, and auditors.")
            return record.export(tx, of.id)

        return await self._read(export)

    async def help_of(self, id: UUID) -> list[Help]:
        """Questions and consults of a whole, the oldest first."""
        return await self._read(lambda tx, reader: reading.helps(self._house, tx, reader, ids.stored(id)))

    async def pane(self, id: UUID) -> Pane:
        """One piece, opened."""
        return await self._read(lambda tx, reader: reading.pane(self._house, tx, reader, ids.stored(id)))


class Hand:
    """An agent, for whom this desk has work."""

    def __init__(self, desk: Desk, agent: Agent) -> None:
        self._desk = desk
        self.agent = agent

    async def start(
        self,
        skill: Skill[TIn, TOut],
        input: TIn,
        *,
        about: str = "",
        on: str | Sequence[str] | None = None,
        limit: Decimal | None = None,
        for_: Person | UUID | None = None,
    ) -> UUID:
        """Give work; answers its id once the receipt is written.

        `on` are keys of accounts it is charged to as well; `limit` bounds the whole, in the currency unit; `for_` is
        whom it is for where that is not this desk's person. Raises NotFound, NotAllowed, BadInput.
        """
        own = self.agent.skill(skill.name)
        if own is None:
            raise NotFound(f"{self.agent.shown_as} has no skill {skill.name}.")
        whom = for_.id if isinstance(for_, Person) else for_
        return await self._desk._open(
            self.agent, own, skill.input_json(input), about=about, limit=limit, for_=whom, on=on
        )

    async def decide(
        self, kind: Any, question: str, context: str = "", *, limit: Decimal | None = None
    ) -> Decision[Any]:
        """Have the agent decide one question: a value of `kind` (any type; a `Literal` for a choice) and its
        confidence. Under the agent's `confidence_floor` it is asked again of the model it consults (rule C4).

        A piece like any other. Raises HandonError where it ended without deciding, saying why.
        """
        adapter: TypeAdapter[Any] = TypeAdapter(kind)
        given = Deciding.input(question, context, adapter)
        deciding = self._desk._house.deciding
        deciding[given] = adapter
        try:
            id = await self._desk._open(
                self.agent, Deciding(given, adapter), given, about=question, limit=limit, for_=None, on=None
            )
            outcome = await self._desk.stands(id, fresh=True)
        finally:
            deciding.pop(given, None)
        if not outcome.done:
            raise HandonError(f"{self.agent.shown_as} did not decide: {outcome.why or outcome.waiting_on}")
        piece = await self._desk.piece(id)
        chosen = json.loads(piece.result_json or "{}")
        return Decision(id, adapter.validate_json(to_json(chosen["value"])), Decimal(chosen["confidence"]))

    async def do(
        self,
        skill: Skill[TIn, TOut],
        input: TIn,
        *,
        about: str = "",
        on: str | Sequence[str] | None = None,
        limit: Decimal | None = None,
        for_: Person | UUID | None = None,
    ) -> Outcome[TOut]:
        """Give work, and wait until the whole is done or waits for a person. Like `start` else."""
        return await self._desk.stands(
            await self.start(skill, input, about=about, on=on, limit=limit, for_=for_), fresh=True
        )
