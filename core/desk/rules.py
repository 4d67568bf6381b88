"""Standing rules: giving, listing, trying out and ending them."""

from __future__ import annotations

from uuid import UUID

from core import (
    ids,
    reading,
    standing,
)
from core.declare.actions import Action
from core.declare.agents import Agent
from core.declare.bounds import Bounds
from core.desk.base import Part
from core.errors import NotAllowed, NotFound
from core.reading import Reader
from core.store import Tx
from core.values import (
    Proposal,
    RuleOffer,
    StandingRule,
)


class Rules(Part):
    def _rule(self, tx: Tx, reader: Reader, agent: str, action: str, for_everybody: bool, bounds: Bounds | None) -> str:
        if reader.id is None:
            raise NotAllowed("The app itself gives no rules: a person does.")
        if for_everybody and not reader.may.supervises_agents:
            raise NotAllowed("A rule for everybody's work is given by a supervisor.")
        if not reader.may.uses_agents and not for_everybody:
            raise NotAllowed("You do not give agents work here, so there is none a rule could be for.")
        return standing.give(tx, self._agent(agent), action, None if for_everybody else reader.id, reader.id, bounds)

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

    async def rule_offers(self) -> list[RuleOffer]:
        """Every action of every agent that this person may give a rule for."""
        return await self._read(lambda tx, reader: reading.offers(self._house, reader))

    async def rule_offer(self, agent: str, action: str) -> RuleOffer:
        """One of them. Raises NotFound."""
        return await self._read(lambda tx, reader: reading.offer(self._house, reader, agent, action, reader.id))

    async def rule_offer_with(self, proposal: UUID) -> RuleOffer:
        """What this person may let be done alone from now on along with a decision on that proposal. Raises NotFound,
        also where no rule of theirs would lift anything."""
        return await self._read(lambda tx, reader: reading.rule_offer(self._house, tx, reader, ids.stored(proposal)))

    async def bounds_in_words(self, agent: str, action: str, bounds: Bounds) -> str:
        """Bounds as this person reads them, rows by their labels; empty without bounds."""
        return await self._read(lambda tx, reader: reading.in_words(self._house, tx, reader, agent, action, bounds))

    async def revoke_rule(self, id: UUID) -> None:
        """End a standing rule: the agent proposes as before. May be done by the person whose work it is for, whoever
        gave it, and supervisors. Raises NotFound."""

        def revoke(tx: Tx, reader: Reader) -> None:
            row = standing.get(tx, ids.stored(id))
            if not (reader.may.supervises_agents or reader.id in (row.person, row.given_by)):
                raise NotFound("There is no such standing rule.")
            standing.revoke(tx, row.id, reader.id)

        await self._write(revoke)
