"""Giving work, and waiting until it stands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, TypeVar
from uuid import UUID

from sqlalchemy import select

from core import (
    acting,
    handing_on,
    ids,
    people,
    reading,
    receipts,
)
from core.declare.agents import Agent
from core.declare.schemas import read_object, to_json
from core.declare.skills import Skill
from core.delegations import delegations_of
from core.desk.base import Part
from core.errors import BadInput, NotAllowed, NotFound
from core.gate import sentence
from core.reading import Reader
from core.store import Tx
from core.values import (
    Giving,
    Status,
)
from core.words import clean, label_of

TOut = TypeVar("TOut")

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


class Gives(Part):
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
        given_to = self._agent(agent)
        found = given_to.skill(skill)
        if found is None:
            raise NotFound(f"{given_to.shown_as} has no skill {skill}.")
        checked = to_json(read_object(input_json))
        return await self._open(given_to, found, checked, about=about, limit=limit, for_=for_, on=on, key=key[:100])

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
