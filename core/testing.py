"""Testing a whole agency without a model: casts and scripts, a clock that is set, and reading what happened (rules K).

    agency.script(
        AgentCast()
        .plays(Planner, AgentScript(Says.hand_to(Counter, Count(), Says.row(id)), Says.hand_back(plan)))
        .plays(Counter, AgentScript(Says.tool(look_up, {"what": "leaves"}), Says.hand_back(212)))
    )

A script that runs out, or that is asked twice for one turn, ends the run on the spot and fails the test, saying where.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import bindparam, select

from core.agency import Agency
from core.clock import Timer
from core.declare.actions import Action
from core.declare.agents import Agent
from core.declare.delegation import Specialist
from core.declare.rights import Row
from core.declare.schemas import canonical
from core.declare.skills import Skill
from core.errors import Abort, ProcessDied, Unreachable
from core.models.messages import ModelAnswer, ModelCall, ModelRequest
from core.models.scripted import ScriptedModel
from core.offer import ASK_PERSON, CONSULT, HAND_BACK
from core.sql import Statement
from core.tables import message, metered_call, piece

__all__ = [
    "AgentCast",
    "AgentScript",
    "ProcessDied",
    "Says",
    "ScriptError",
    "ScriptedModel",
    "TestClock",
    "Trajectory",
    "Unreachable",
]

TOKENS = (100, 20)

_TOLD = Statement(
    select(message.c.text, message.c.results)
    .join(piece, piece.c.id == message.c.piece)
    .where(piece.c.root == bindparam("root"))
    .order_by(piece.c.opened_at, piece.c.id, message.c.n)
)
_METERED = Statement(
    select(metered_call.c.model)
    .where(metered_call.c.root == bindparam("root"))
    .order_by(metered_call.c.at, metered_call.c.piece, metered_call.c.n)
)


class ScriptError(Abort):
    """A script was asked for what it does not have."""


def as_json(value: Any) -> str:
    """A value as the JSON a model would write: models and dataclasses as objects, a row by its id, text as it is."""
    if isinstance(value, Row):
        return canonical({"id": str(value.id)})
    if isinstance(value, str):
        return value
    return TypeAdapter(type(value)).dump_json(value).decode()


@dataclass(frozen=True, slots=True)
class Turn:
    """What a model says in one turn."""

    calls: tuple[ModelCall, ...] = ()
    said: str = ""
    tokens: tuple[int, int] = TOKENS

    def answer(self) -> ModelAnswer:
        return ModelAnswer(self.said, self.calls, *self.tokens)


class Says:
    """What a model says: each is one turn, `together` puts several calls in one. `said` are the words that go with
    it, `tokens` what goes in and comes out."""

    @staticmethod
    def raw(
        name: str, arguments_text: str, *, said: str = "", tokens: tuple[int, int] = TOKENS, id: str | None = None
    ) -> Turn:
        """A call of whatever name with whatever text: anything a model might write, broken JSON too."""
        return Turn((ModelCall(id, name, arguments_text),), said, tokens)

    @staticmethod
    def tool(
        action: Action, args: Any, *, said: str = "", tokens: tuple[int, int] = TOKENS, id: str | None = None
    ) -> Turn:
        text = args if isinstance(args, str) else TypeAdapter(Any).dump_json(args).decode()
        return Says.raw(action.name, text, said=said, tokens=tokens, id=id)

    @staticmethod
    def hand_to(
        agent: type[Agent],
        skill: Skill[Any, Any],
        input: Any,
        *,
        said: str = "",
        tokens: tuple[int, int] = TOKENS,
        id: str | None = None,
    ) -> Turn:
        """Hand a piece on: `input` is a value of what the skill takes, `Says.row(id)`, or JSON as text."""
        return Says._hand(Specialist.of(agent, skill), input, said, tokens, id)

    @staticmethod
    def hand_to_helper(
        skill: Skill[Any, Any], input: Any, *, said: str = "", tokens: tuple[int, int] = TOKENS, id: str | None = None
    ) -> Turn:
        return Says._hand(Specialist.helper(skill), input, said, tokens, id)

    @staticmethod
    def _hand(entry: Specialist, input: Any, said: str, tokens: tuple[int, int], id: str | None) -> Turn:
        if isinstance(input, Row | UUID):
            text = canonical({"id": str(input.id if isinstance(input, Row) else input)})
        elif isinstance(input, str) and not (entry.skill.takes.wrapped and entry.skill.takes_row is None):
            text = input
        else:
            text = entry.skill.input_json(input)
        return Says.raw(entry.tool_name, text, said=said, tokens=tokens, id=id)

    @staticmethod
    def hand_back(value: Any, *, said: str = "", tokens: tuple[int, int] = TOKENS, id: str | None = None) -> Turn:
        text = json.dumps(value) if isinstance(value, str) else as_json(value)
        if not text.startswith("{"):
            text = f'{{"result":{text}}}'
        return Says.raw(HAND_BACK, text, said=said, tokens=tokens, id=id)

    @staticmethod
    def consult(question: str, context: str = "", *, said: str = "", tokens: tuple[int, int] = TOKENS) -> Turn:
        return Says.raw(CONSULT, canonical({"question": question, "context": context}), said=said, tokens=tokens)

    @staticmethod
    def ask(
        question: str,
        choices: Sequence[str | tuple[str, str]] = (),
        *,
        context: str = "",
        said: str = "",
        tokens: tuple[int, int] = TOKENS,
    ) -> Turn:
        """A question; a choice is a text, or a text and what follows if it is chosen."""
        given = [one if isinstance(one, str) else {"choice": one[0], "consequence": one[1]} for one in choices]
        asked = {"question": question, "choices": given, "context": context}
        return Says.raw(ASK_PERSON, canonical(asked), said=said, tokens=tokens)

    @staticmethod
    def text(said: str, *, tokens: tuple[int, int] = TOKENS) -> Turn:
        """A turn in which nothing is called."""
        return Turn((), said, tokens)

    @staticmethod
    def decide(value: Any, confidence: Decimal | str, *, said: str = "", tokens: tuple[int, int] = TOKENS) -> Turn:
        """A decision, and how sure of it the model is, from 0 to 1."""
        return Says.raw(HAND_BACK, _decision(value, confidence), said=said, tokens=tokens)

    @staticmethod
    def row(id: UUID) -> str:
        """A row, named by its id, as the input of what is handed on."""
        return canonical({"id": str(id)})

    @staticmethod
    def together(*turns: Turn, said: str = "", tokens: tuple[int, int] | None = None) -> Turn:
        """Several calls in one turn: one answer, of the tokens given or the most that one of them names."""
        most = tokens or max((turn.tokens for turn in turns), default=TOKENS)
        words = said or " ".join(turn.said for turn in turns if turn.said)
        return Turn(tuple(call for turn in turns for call in turn.calls), words, most)


class AgentScript:
    """What an agent's model says, turn by turn, and what a consulted model advises."""

    def __init__(self, *turns: Turn) -> None:
        self.turns = turns
        self.advice: dict[str, str | Exception] = {}
        self.decisions: dict[str, str] = {}

    def advises(self, model: str, text: str | Exception) -> AgentScript:
        """What a model this agent consults answers; an exception is raised."""
        self.advice[model] = text
        return self

    def decides(self, model: str, value: Any, confidence: Decimal | str) -> AgentScript:
        """What a model this agent consults decides, where the agent is not sure enough."""
        self.decisions[model] = _decision(value, confidence)
        return self


def _decision(value: Any, confidence: Decimal | str) -> str:
    return canonical({"value": TypeAdapter(Any).dump_python(value, mode="json"), "confidence": float(confidence)})


@dataclass(slots=True)
class _Playing:
    script: AgentScript
    turn: int = 0
    asked_at: set[tuple[int, int]] = field(default_factory=set)


class AgentCast:
    """Gives each agent its script; hand it to `agency.script`.

    An agent that plays in several pieces is given its script anew for each; `piece=n` gives another one to the n-th
    piece (from 1) of that agent in the cast's life. A piece that is tried again goes on in its script; with another
    cast, one that is under way begins that cast's.
    """

    def __init__(self) -> None:
        self._scripts: dict[tuple[str, int | None], AgentScript] = {}
        self._pieces: dict[UUID, _Playing] = {}
        self._count: dict[str, int] = {}

    def plays(self, agent: type[Agent] | str, script: AgentScript, *, piece: int | None = None) -> AgentCast:
        self._scripts[(agent if isinstance(agent, str) else agent.__name__, piece)] = script
        return self

    @staticmethod
    def asked_agent(request: ModelRequest) -> str:
        """The name of the agent whose model is asked."""
        return request.agent

    def _playing(self, request: ModelRequest) -> _Playing:
        playing = self._pieces.get(request.piece)
        if playing is None:
            nth = self._count[request.agent] = self._count.get(request.agent, 0) + 1
            script = self._scripts.get((request.agent, nth)) or self._scripts.get((request.agent, None))
            if script is None:
                raise ScriptError(
                    f"Nobody plays {request.agent}, whose piece {nth} was asked: .plays({request.agent}, ...)."
                )
            playing = self._pieces[request.piece] = _Playing(script)
        return playing

    def answer(self, model: str, request: ModelRequest) -> ModelAnswer:
        """What the script says. Raises ScriptError where it has run out or is asked twice for one turn."""
        playing = self._playing(request)
        if request.purpose == "consult" and request.tools:
            if model not in playing.script.decisions:
                raise ScriptError(
                    f"{request.agent} asked {model} to decide, and nothing is written: .decides({model!r}, ...)."
                )
            return ModelAnswer("", (ModelCall(None, HAND_BACK, playing.script.decisions[model]),), *TOKENS)
        if request.purpose == "consult":
            if model not in playing.script.advice:
                raise ScriptError(
                    f"{request.agent} consulted {model}, and no advice is written: .advises({model!r}, ...)."
                )
            advice = playing.script.advice[model]
            if isinstance(advice, Exception):
                raise advice
            return ModelAnswer(advice, (), *TOKENS)
        place = (request.turn, len(request.messages))
        if place in playing.asked_at:
            raise ScriptError(f"{request.agent} was asked twice for its turn {playing.turn}.")
        playing.asked_at.add(place)
        if playing.turn >= len(playing.script.turns):
            last = request.messages[-1]
            told = "; ".join([last.text, *(result.text for result in last.results)]).strip("; ")
            raise ScriptError(
                f"{request.agent}'s script has {len(playing.script.turns)} turns and was asked for more, after: {told}"
            )
        playing.turn += 1
        return playing.script.turns[playing.turn - 1].answer()


class Trajectory:
    """What happened in a whole, as short texts and figures to compare."""

    def __init__(self, agency: Agency, id: UUID) -> None:
        self._agency = agency
        self._desk = agency.desk(None)
        self._id = id

    async def tree(self) -> list[str]:
        """ "Planner · Plan rebinding: Waiting", indented by level."""
        nodes = await self._desk.work_tree(self._id)
        return [f"{'  ' * node.depth}{node.agent_label} · {node.skill_label}: {node.status}" for node in nodes]

    async def tree_cost(self) -> int:
        """What the whole has spent, in micros."""
        return (await self._desk.work_tree(self._id))[0].tree_micros

    async def said(self) -> list[str]:
        """Every text of every conversation in the whole: briefs, the models' words, and what they were told."""
        root = (await self._desk.work(self._id)).root.hex
        rows = await self._agency.store.read(lambda tx: tx.all(_TOLD, root=root))
        texts: list[str] = []
        for row in rows:
            texts += [row.text] if row.text else []
            texts += [text for _, _, text in json.loads(row.results)] if row.results else []
        return texts

    async def models(self) -> list[str]:
        """The models that answered, in order."""
        root = (await self._desk.work(self._id)).root.hex
        rows = await self._agency.store.read(lambda tx: tx.all(_METERED, root=root))
        return [row.model for row in rows]

    async def helps(self) -> int:
        """How many questions and consults there were."""
        return len(await self._desk.help_of(self._id))

    async def still_going(self) -> list[str]:
        """The rows of `tree` that have not ended."""
        nodes = await self._desk.work_tree(self._id)
        return [line for line, node in zip(await self.tree(), nodes, strict=True) if not node.status.final]


@dataclass(slots=True)
class _Timer:
    every: timedelta | None  # None: once
    due: datetime
    run: Timer


class TestClock:
    """A clock that stands until it is set or advanced. Advancing runs every timer that comes due, in order."""

    __test__ = False

    def __init__(self, start: datetime = datetime(2031, 3, 3, 9, 0, tzinfo=UTC)) -> None:
        self._now = start
        self._timers: list[_Timer] = []

    def now(self) -> datetime:
        return self._now

    def every(self, interval: timedelta, timer: Timer) -> None:
        self._timers.append(_Timer(interval, self._now + interval, timer))

    def at(self, moment: datetime, timer: Timer) -> None:
        self._timers.append(_Timer(None, moment, timer))

    async def stop(self) -> None:
        self._timers.clear()

    async def advance(self, by: timedelta) -> None:
        """Move on, and run what is due meanwhile. What comes due more than once is run at most a hundred times on the
        way, the last time when it was last due."""
        await self._go(self._now + by)

    async def set(self, at: datetime) -> None:
        """Move on to a time. Raises ValueError for one that has passed."""
        if at < self._now:
            raise ValueError(f"The clock stands at {self._now} and does not go back to {at}.")
        await self._go(at)

    async def _go(self, to: datetime) -> None:
        for timer in self._timers:
            missed = (to - timer.due) // timer.every if timer.every else 0
            if missed > 100:
                timer.due += (missed - 100) * (timer.every or timedelta(0))
        while True:
            due = [timer for timer in self._timers if timer.due <= to]
            if not due:
                break
            first = min(due, key=lambda timer: timer.due)
            self._now = max(self._now, first.due)
            if first.every is None:
                self._timers.remove(first)
            else:
                first.due += first.every
            await first.run()
        self._now = to
