"""One piece in the hands of one transaction: its tree, locked, its receipt, and what the app declares now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core import handing_on, work
from core.declare.agents import Agent
from core.declare.deciding import DECIDE, Deciding
from core.declare.skills import Skill
from core.errors import HandonError
from core.house import House
from core.receipts import Receipt
from core.record import Tree
from core.store import Tx
from core.values import Status, TraceKind


@dataclass(frozen=True, slots=True)
class Scene:
    house: House
    tx: Tx
    tree: Tree
    receipt: Receipt
    agents: list[Agent]  # from the top down to the piece's own
    skill: Skill[Any, Any]

    @property
    def agent(self) -> Agent:
        return self.agents[-1]

    def end(self, status: Status, why: str = "", result: str | None = None) -> None:
        work.end(self.house, self.tx, self.tree, self.receipt, status, why, result)

    def fail(self, why: str) -> None:
        """End the piece as Failed, unless its skill says that it is tried again first (rule E3)."""
        work.fail(self.house, self.tx, self.tree, self.receipt, why, self.skill.retry)

    def end_closing(self) -> bool:
        """End the piece where it has been called off, or with others: this is its next step. Answers whether."""
        if self.receipt.closing is None:
            return False
        if self.receipt.ended_at is None:
            self.end(Status(self.receipt.closing), self.receipt.closing_why)
        return True

    def line(self, kind: TraceKind, summary: str, payload: dict[str, Any]) -> None:
        self.tree.append(self.tx.now, self.receipt.id, kind, summary, payload)


def of(house: House, tx: Tx, tree: Tree, receipt: Receipt) -> Scene | None:
    """The scene as the app declares it now. Where an agent or the skill is gone, the piece fails and there is none."""
    try:
        agents = house.agents_of(receipt.agents)
    except HandonError as error:
        work.end(house, tx, tree, receipt, Status.FAILED, str(error))
        return None
    skill: Skill[Any, Any] | None
    if receipt.skill == DECIDE:
        skill = Deciding(receipt.input, house.deciding.get(receipt.input))
    else:
        skill = handing_on.find_skill(agents[-1], receipt.skill, receipt.helper)
    if skill is None:
        why = f"{agents[-1].shown_as} no longer has the skill {receipt.skill}."
        work.end(house, tx, tree, receipt, Status.FAILED, why)
        return None
    return Scene(house, tx, tree, receipt, agents, skill)
