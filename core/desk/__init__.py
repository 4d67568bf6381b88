"""A desk: what one person sees and does. Every page, route and command goes through one.

Rights are asked anew at each call, in the transaction that uses them. A thing the person may not see is `NotFound`,
never `NotAllowed`.
"""

from __future__ import annotations

from core import people, preferences, reading
from core.declare.agents import Agent
from core.desk.agents import Agents
from core.desk.auditing import Audits
from core.desk.giving import Gives, Outcome
from core.desk.hand import Hand
from core.desk.overseeing import Oversees
from core.desk.requests import Decides
from core.desk.spending import Spending
from core.desk.works import Show
from core.errors import NotAllowed
from core.reading import Reader
from core.store import Tx
from core.values import Abilities, Beginning, Found, Person, Preferences

__all__ = ["Desk", "Hand", "Outcome", "Show"]


class Desk(Gives, Decides, Spending, Oversees, Agents, Audits):
    """`agency.desk(person)`; None for the app itself, which sees all and decides nothing."""

    async def look(self) -> Desk:
        """Read who this is, what they may and like, and whether there is any work for them to see, for `person`, `may`,
        `likes` and `begun`. Raises NotFound."""

        def who(tx: Tx) -> tuple[Person | None, Abilities, Preferences, bool]:
            found = people.find(tx, self._id) if self._id is not None else None
            likes = preferences.of(tx, self._id) if self._id is not None else Preferences()
            may = reading.abilities(self._house, found)
            return found, may, likes, reading.begun(tx, Reader(self._id, may))

        self.person, self.may, self.likes, self.begun = await self._store.read(who)
        return self

    async def choose(self, likes: Preferences, name: str | None = None) -> None:
        """Have pages so from now on, and be called so where a name is given. Raises BadInput, field by field; nothing
        is kept then."""

        def keep(tx: Tx) -> None:
            if self._id is None:
                raise NotAllowed("The app itself has no preferences: a person does.")
            preferences.keep(tx, self._id, likes)
            if name is not None:
                people.rename(tx, self._id, name)

        await self._store.write(keep)

    async def beginning(self) -> Beginning:
        """What there is, what is missing, and how far this person has come."""
        return await self._read(lambda tx, reader: reading.beginning(self._house, tx, reader))

    async def search(self, text: str, limit: int = 8) -> list[Found]:
        """Requests of this person's, then works they may see, in which a text stands; nothing for no text."""
        words = text.strip()[:200]
        if not words:
            return []
        return await self._read(lambda tx, reader: reading.search(self._house, tx, reader, words, limit))

    def of(self, agent: type[Agent] | str) -> Hand:
        """Give this agent work. Raises NotFound for one the app does not have."""
        return Hand(self, self._agent(agent))
