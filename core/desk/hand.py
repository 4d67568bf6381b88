"""An agent with work from one desk: `agency.desk(mia).of(Planner)`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from pydantic import TypeAdapter

from core.declare.agents import Agent
from core.declare.deciding import Deciding, Decision
from core.declare.schemas import to_json
from core.declare.skills import Skill
from core.desk.giving import Outcome
from core.errors import HandonError, NotFound
from core.values import (
    Person,
)

if TYPE_CHECKING:
    from core.desk import Desk

TIn = TypeVar("TIn")
TOut = TypeVar("TOut")


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
