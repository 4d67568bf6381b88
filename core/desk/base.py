"""What every part of a desk has: its house, its store, whose desk it is, and a reader made anew in each transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from core import people, reading
from core.declare.agents import Agent
from core.errors import NotFound
from core.house import House
from core.reading import Reader
from core.store import Store, Tx
from core.values import Abilities, Person, Preferences

T = TypeVar("T")


class Part:
    def __init__(self, house: House, store: Store, person: str | None) -> None:
        self._house = house
        self._store = store
        self._id = person
        self.person: Person | None = None
        self.may: Abilities = reading.ALL
        self.likes = Preferences()
        self.begun = True

    async def _read(self, fn: Callable[[Tx, Reader], T]) -> T:
        return await self._store.read(lambda tx: fn(tx, self._reader(tx)))

    async def _write(self, fn: Callable[[Tx, Reader], T]) -> T:
        return await self._store.write(lambda tx: fn(tx, self._reader(tx)))

    def _reader(self, tx: Tx) -> Reader:
        who = people.find(tx, self._id) if self._id is not None else None
        return Reader(self._id, reading.abilities(self._house, who))

    def _agent(self, agent: type[Agent] | str) -> Agent:
        """The app's agent of that class or name. Raises NotFound."""
        name = agent if isinstance(agent, str) else agent.__name__
        found = self._house.agents.get(name)
        if found is None:
            raise NotFound(f"There is no agent {name}.")
        return found
