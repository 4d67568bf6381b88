"""What all verbs of one agency share: who its agents and models are, its settings, and whom to tell.

Made by `agency`, handed to every verb. It holds no state of any work.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from pydantic import TypeAdapter

from core import record
from core.amounts import exact
from core.clock import Clock
from core.declare.agents import Agent
from core.declare.rights import Policies
from core.dispatch.bus import Bus
from core.errors import NotFound
from core.models.llm import LlmModel
from core.settings import Settings
from core.store import Tx

log = logging.getLogger(__name__)


class Dispatcher(Protocol):
    """Is told of due pieces after the commit that made them due. Loss and doubling are harmless."""

    def wake(self, piece: str) -> None: ...


@dataclass(slots=True)
class Events:
    """What happened, told to the app after the commit. A subscriber that raises is logged and harms nothing."""

    _subscribers: dict[str, list[Callable[[Mapping[str, Any]], None]]] = field(default_factory=dict)

    def subscribe(self, name: str, subscriber: Callable[[Mapping[str, Any]], None]) -> None:
        """Names: `proposed`, `decided`, `asked`, `expired`, `agent_asked_for_help`, `work_ended`, `work_abandoned`."""
        self._subscribers.setdefault(name, []).append(subscriber)

    def tell(self, name: str, about: Mapping[str, Any]) -> None:
        for subscriber in self._subscribers.get(name, ()):
            try:
                subscriber(about)
            except Exception:
                log.exception("a subscriber of %s failed", name)


@dataclass(slots=True)
class House:
    agents: Mapping[str, Agent]
    models: Mapping[str, LlmModel]
    default_model: str
    policies: Policies
    settings: Settings
    clock: Clock
    dispatcher: Dispatcher
    bus: Bus
    events: Events
    deciding: dict[str, TypeAdapter[Any]] = field(default_factory=dict)  # what is asked for, by the piece's input
    signer: record.Signer | None = None  # there once the agency is open
    map_version: int = 0  # of what the app declares, once the agency is open
    versions: dict[Any, str] = field(default_factory=dict)  # of skills, known to be in the database
    alarm: Callable[[int], None] = lambda at: None  # set by the agency: it looks for what is due at that time
    stopping: bool = False

    def tree(self, tx: Tx, root: str) -> record.Tree:
        """Lock a tree, and tell whoever follows it once its new lines are committed."""
        if root not in tx.held:
            record.lock(tx, root)
            tx.after(partial(self.bus.told, root))
        return self._signing(tx.held[root])

    def tree_of(self, tx: Tx, piece: str) -> record.Tree:
        """Lock the tree of a piece, likewise."""
        tree = record.lock_of(tx, piece)
        tx.after(partial(self.bus.told, tree.root))
        return self._signing(tree)

    def _signing(self, tree: record.Tree) -> record.Tree:
        tree.signer = self.signer
        return tree

    def look_at(self, tx: Tx, at: int) -> None:
        """Have the agency look for what is due at that time, once this is committed."""
        tx.after(partial(self.alarm, at))

    def wake(self, tx: Tx, piece: str) -> None:
        tx.after(partial(self.dispatcher.wake, piece))

    def event(self, tx: Tx, name: str, **about: Any) -> None:
        tx.after(partial(self.events.tell, name, about))

    def agents_of(self, joined: str) -> list[Agent]:
        """The agents of those names ("Planner/Collator"), as declared now. Raises NotFound for one that is gone."""
        found = []
        for name in joined.split("/"):
            if name not in self.agents:
                raise NotFound(f"{name} is no longer an agent of this app.")
            found.append(self.agents[name])
        return found

    def label(self, agent: str) -> str:
        """An agent's name as a person reads it, also where the app no longer has it."""
        known = self.agents.get(agent)
        return known.shown_as if known else agent

    def labels(self, joined: str) -> list[str]:
        return [self.label(name) for name in joined.split("/")]

    def model_of(self, agent: Agent) -> LlmModel:
        return self.models[agent.model or self.default_model]

    def amount(self, micros: int) -> str:
        return exact(micros, self.settings.currency)
