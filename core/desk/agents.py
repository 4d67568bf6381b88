"""The map of agents and its versions, what could reach what, one agent opened, and its seat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from uuid import UUID

from core import handing_on, mapping, people, reading, spending
from core.declare.agents import Agent
from core.desk.base import Part
from core.errors import NotAllowed
from core.reading import Reader
from core.store import Tx
from core.values import (
    AgentMap,
    AgentPage,
    HandOn,
    MapAgent,
    MapCompared,
    MapThen,
    MapVersion,
    Person,
    Reach,
    StandingRule,
)

MOST_VERSIONS = 200  # of the map, answered at once


class Agents(Part):
    async def agents_map(self, around: str = "", under: str = "") -> AgentMap:
        """Who may hand what on to whom, with seats, and how each way was used of late in the work this person may see;
        with `around`, of that agent and its neighbours; with `under`, of that agent and those under it, the nearest
        `mapping.MANY`.

        Raises NotAllowed for whoever neither uses nor supervises nor audits agents, NotFound.
        """

        def read(tx: Tx, reader: Reader) -> AgentMap:
            _may_see(reader)
            return _part_of(self._map(tx, reader), around, under)

        return await self._read(read)

    async def map_versions(self, before: int = 0, most: int = 100) -> list[MapVersion]:
        """The map as it was declared, version by version, the newest first; with `before`, those of lower numbers.

        Raises NotAllowed as `agents_map` does.
        """

        def read(tx: Tx, reader: Reader) -> list[MapVersion]:
            _may_see(reader)
            return mapping.versions(self._house, tx, before, max(1, min(most, MOST_VERSIONS)))

        return await self._read(read)

    async def map_then(self, number: int, around: str = "", under: str = "") -> MapThen:
        """The map as one version of it declared it, without use and seats; `around` and `under` as in `agents_map`.

        Raises NotFound for a version that is not there and an agent that it does not have, NotAllowed as `agents_map`
        does.
        """

        def read(tx: Tx, reader: Reader) -> MapThen:
            _may_see(reader)
            then = mapping.then(self._house, tx, number)
            return replace(then, drawn=_part_of(then.drawn, around, under))

        return await self._read(read)

    async def compare_maps(self, before: int, after: int) -> MapCompared:
        """What two versions of the map differ in, a sentence for each thing; what lets agents do more comes first.
        Nothing where both are the same.

        Raises NotFound for a version that is not there, NotAllowed as `agents_map` does.
        """

        def read(tx: Tx, reader: Reader) -> MapCompared:
            _may_see(reader)
            return mapping.compared(self._house, tx, before, after)

        return await self._read(read)

    async def what_could_reach(self, agent: type[Agent] | str, tool: str) -> Reach:
        """Whether a piece of this agent's at the top, through others, may ever come to use a tool: every way with the
        strictest gate on it, by whose word, and the most money that can come so far.

        Raises NotFound for an agent or tool that is not there, NotAllowed as `agents_map` does.
        """

        def read(tx: Tx, reader: Reader) -> Reach:
            _may_see(reader)
            origin = self._agent(agent)
            ruled = {
                rule.agent for rule in reading.rules(self._house, tx, reader) if rule.holds and rule.action == tool
            }
            found = mapping.reach(self._house.agents, origin, tool, self._top_limit(), lambda one: one.name in ruled)
            seats = reading.seats(tx)
            paused = {name for name, held in seats.items() if held["paused"]}
            return replace(
                found,
                paths=tuple(
                    replace(path, paused=next((step.label for step in path.steps if step.agent in paused), ""))
                    for path in found.paths
                ),
                sponsor_name=seats.get(origin.name, {}).get("sponsor_name", ""),
            )

        return await self._read(read)

    async def agent(self, name: str) -> AgentPage:
        """One agent, opened. Raises NotFound, and NotAllowed as `agents_map` does."""

        def read(tx: Tx, reader: Reader) -> AgentPage:
            _may_see(reader)
            agent = self._agent(name)
            drawn = self._map(tx, reader)
            rules = tuple(
                rule
                for rule in reading.rules(self._house, tx, reader)
                if rule.agent == agent.name and rule.revoked_at is None
            )
            money = reader.may.reads_model_usage or reader.may.manages_model_spend
            working, waiting = reading.going_of(tx, reader, agent.name)
            pieces, spent = reading.spent_of(tx, reader, agent.name)
            return AgentPage(
                agent=next(one for one in drawn.agents if one.name == agent.name),
                hands_on=tuple(way for way in drawn.ways if way.origin == agent.name),
                handed_by=tuple(way for way in drawn.ways if way.to == agent.name and not way.helper),
                rules=rules,
                may_revoke=frozenset(rule.id for rule in rules if _may_revoke(reader, rule)),
                limits=tuple(limit for limit in reading.spend_limits(self._house, tx) if limit.agent == agent.name)
                if money
                else None,
                works=tuple(reading.last_of(self._house, tx, reader, agent.name)),
                working=working,
                waiting=waiting,
                pieces=pieces,
                spent_micros=spent,
                days=drawn.days,
                everybodys=drawn.everybodys,
                default_model=self._house.default_model,
                people=tuple(people.everybody(tx)) if reader.may.supervises_agents else (),
                may_supervise=reader.may.supervises_agents,
                may_give=reader.may.uses_agents,
            )

        return await self._read(read)

    async def seat_agent(self, agent: type[Agent] | str, sponsor: Person | UUID | None) -> None:
        """Say who answers for an agent; None for nobody. It holds for work that is given from now on.

        Raises NotAllowed for whoever does not supervise agents, NotFound for an agent or person who is not there or
        was deactivated.
        """
        id = sponsor.id if isinstance(sponsor, Person) else sponsor

        def write(tx: Tx, reader: Reader) -> None:
            name = self._supervised(reader, agent)
            if id is not None and not people.find(tx, id.hex).active:
                raise NotAllowed("Somebody whose account was deactivated answers for no agent.")
            people.set_seat(tx, name, id.hex if id is not None else None)

        await self._write(write)

    async def pause_agent(self, agent: type[Agent] | str) -> None:
        """The agent is given no work and handed none until it is resumed; what it has begun goes on.

        Raises NotAllowed for whoever does not supervise agents, and NotFound.
        """
        await self._write(lambda tx, reader: people.set_paused(tx, self._supervised(reader, agent), True))

    async def resume_agent(self, agent: type[Agent] | str) -> None:
        """It takes work again. Raises as `pause_agent` does."""
        await self._write(lambda tx, reader: people.set_paused(tx, self._supervised(reader, agent), False))

    def _supervised(self, reader: Reader, agent: type[Agent] | str) -> str:
        if not reader.may.supervises_agents:
            raise NotAllowed(
                "Who answers for an agent, and whether it is paused, is said by those who supervise agents."
            )
        return self._agent(agent).name

    def _top_limit(self) -> Callable[..., int]:
        return partial(handing_on.default_limit, self._house)

    def _map(self, tx: Tx, reader: Reader) -> AgentMap:
        drawn = mapping.the_map(self._house.agents, self._top_limit())
        seats, used = reading.seats(tx), reading.used(tx, reader)
        days = _days(tx) if reader.may.reads_model_usage or reader.may.manages_model_spend else {}
        return replace(
            drawn,
            agents=tuple(_seated(agent, seats.get(agent.name, {}), days.get(agent.name)) for agent in drawn.agents),
            ways=tuple(_with_use(way, used) for way in drawn.ways),
            days=reading.USED_DAYS,
            everybodys=reading.sees_all(reader),
            since=mapping.since(self._house, tx),
        )


def _part_of(drawn: AgentMap, around: str, under: str) -> AgentMap:
    """One agent with its neighbours, or with those under it, or the whole with its groups."""
    if around:
        return mapping.around(drawn, around)
    return mapping.under(drawn, under) if under else replace(drawn, groups=mapping.groups(drawn))


def _may_see(reader: Reader) -> None:
    may = reader.may
    if not (may.uses_agents or may.supervises_agents or may.audits_agents):
        raise NotAllowed("The map and its agents are for those who use, supervise or audit agents.")


def _may_revoke(reader: Reader, rule: StandingRule) -> bool:
    given = {rule.person.hex if rule.person else None, rule.given_by.hex}
    return reader.may.supervises_agents or (reader.id is not None and reader.id in given)


def _days(tx: Tx) -> dict[str, int]:
    """What was set for agents for a day, by name."""
    return {
        row.subject.removeprefix("agent:"): int(row.limit_micros)
        for row in spending.all_set(tx)
        if row.period == "day" and row.subject.startswith("agent:")
    }


def _seated(agent: MapAgent, seat: dict[str, object], day: int | None) -> MapAgent:
    named = [micros for micros in (agent.day_micros, day) if micros is not None]
    return replace(agent, day_micros=min(named, default=None), **seat)  # type: ignore[arg-type]


def _with_use(way: HandOn, used: reading.Used) -> HandOn:
    return replace(way, **used.get((way.origin, way.to, way.skill, way.helper), {}))
