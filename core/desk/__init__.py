"""A desk: what one person sees and does. Every page, route and command goes through one.

Rights are asked anew at each call, in the transaction that uses them. A thing the person may not see is `NotFound`,
never `NotAllowed`.
"""

from __future__ import annotations

from core import people, reading
from core.declare.agents import Agent
from core.desk.agents import Agents
from core.desk.auditing import Audits
from core.desk.giving import Gives, Outcome
from core.desk.hand import Hand
from core.desk.overseeing import Oversees
from core.desk.requests import Decides
from core.desk.spending import Spending
from core.desk.works import Show
from core.store import Tx
from core.values import Abilities, Person

__all__ = ["Desk", "Hand", "Outcome", "Show"]


class Desk(Gives, Decides, Spending, Oversees, Agents, Audits):
    """`agency.desk(person)`; None for the app itself, which sees all and decides nothing."""

    async def look(self) -> Desk:
        """Read who this is and what they may, for `person` and `may`. Raises NotFound."""

        def who(tx: Tx) -> tuple[Person | None, Abilities]:
            found = people.find(tx, self._id) if self._id is not None else None
            return found, reading.abilities(self._house, found)

        self.person, self.may = await self._store.read(who)
        return self

    def of(self, agent: type[Agent] | str) -> Hand:
        """Give this agent work. Raises NotFound for one the app does not have."""
        return Hand(self, self._agent(agent))
