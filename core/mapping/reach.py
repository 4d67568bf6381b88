"""May an agent, through others, ever reach a tool? Every way, as the declarations stand, with the gate that holds at
its end, by whose word, and how much money can come that far.

A way is a chain of hand-ons under a piece of the first agent's at the top; it ends in a piece whose skill holds the
tool. `max_depth` bounds its length, and so stops circles (rule D5). Rights on rows are asked when the call runs, and
are not foreseen here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from core import amounts
from core.declare.actions import Action
from core.declare.agents import Agent
from core.declare.delegation import Specialist
from core.declare.skills import Skill
from core.delegations import depth_of
from core.errors import NotFound
from core.gate import strictest
from core.handing_on import levels
from core.mapping.graph import TopLimit
from core.values import Gate, Reach, ReachPath, ReachStep

MOST_PATHS = 200  # that are answered in full; all are counted
LONGEST = 100  # hand-ons of a way that is counted: where agents hand on in a circle there is no end to longer ones

Link = tuple[Specialist, Agent]


def reach(
    agents: Mapping[str, Agent],
    origin: Agent,
    tool: str,
    top_limit: TopLimit,
    lifted: Callable[[Agent], bool] = lambda _: False,
    most: int = MOST_PATHS,
) -> Reach:
    """Every way on which a piece at the top of `origin`'s may come to use the tool, the shortest first, at most `most`
    of them. `total` counts all of up to LONGEST hand-ons, and `longer` says that there may be longer ones. `lifted`
    says of an agent whether standing rules may lift its "propose" for the tool.

    Raises NotFound where no agent holds such a tool.
    """
    action = find_tool(agents, tool)
    walk = _Walk(agents, tool)
    paths: list[ReachPath] = []
    total = 0
    if origin.skills:
        top = max(top_limit(origin, skill) for skill in origin.skills)
        for skill in origin.skills:
            if _holds(skill, tool):
                total += 1
                paths.append(_path(origin, skill, top_limit(origin, skill), (), action, lifted))
        deepest = min(levels(origin), LONGEST)
        for length in range(1, deepest + 1):
            total += walk.count(origin, deepest, length)
            for links in walk.paths(origin, deepest, length):
                if len(paths) >= most:
                    break
                paths.append(_path(origin, None, top, links, action, lifted))
    return Reach(
        agent=origin.name,
        agent_label=origin.shown_as,
        tool=tool,
        tool_label=action.label,
        query=action.query,
        paths=tuple(paths[:most]),
        total=total,
        longer=depth_of(agents, origin) > LONGEST,
    )


def find_tool(agents: Mapping[str, Agent], name: str) -> Action:
    """The tool of that name, of whichever agent or helper holds it. Raises NotFound."""
    for agent in agents.values():
        helped = [entry.skill for entry in agent.delegates.to] if agent.delegates else []
        for skill in (*agent.skills, *helped):
            for tool in skill.tools:
                if tool.name == name:
                    return tool
    raise NotFound(f"No agent holds the tool {name}.")


def _holds(skill: Skill[Any, Any], tool: str) -> bool:
    return any(held.name == tool for held in skill.tools)


class _Walk:
    """Chains of hand-ons of an exact length that end where the tool is held. Counted before they are walked, so that
    no dead end is entered."""

    def __init__(self, agents: Mapping[str, Agent], tool: str) -> None:
        self._agents, self._tool = agents, tool
        self._counted: dict[tuple[str, int, int], int] = {}

    def _links(self, agent: Agent, left: int) -> Iterator[tuple[Specialist, Agent, int]]:
        """What a piece with `left` levels left may hand on, and the levels left to what it opens."""
        delegation = agent.delegates
        if delegation is None or min(left, delegation.max_depth) <= 0 or delegation.max_pieces < 1:
            return
        for entry in delegation.to:
            to = agent if entry.agent is None else self._agents[entry.agent.__name__]
            yield entry, to, min(left, delegation.max_depth) - 1

    def count(self, agent: Agent, left: int, length: int) -> int:
        key = (agent.name, left, length)
        if key not in self._counted:
            self._counted[key] = sum(
                int(_holds(entry.skill, self._tool)) if length == 1 else self.count(to, after, length - 1)
                for entry, to, after in self._links(agent, left)
            )
        return self._counted[key]

    def paths(self, agent: Agent, left: int, length: int) -> Iterator[tuple[Link, ...]]:
        for entry, to, after in self._links(agent, left):
            if length == 1:
                if _holds(entry.skill, self._tool):
                    yield ((entry, to),)
            elif self.count(to, after, length - 1):
                for rest in self.paths(to, after, length - 1):
                    yield ((entry, to), *rest)


def _path(
    origin: Agent,
    skill: Skill[Any, Any] | None,
    top: int,
    links: tuple[Link, ...],
    action: Action,
    lifted: Callable[[Agent], bool],
) -> ReachPath:
    """One way. Its money is the least that anything on it names, and `held_by` says what that is."""
    micros, held_by = top, f"what {origin.shown_as} may spend at the top"
    steps = [ReachStep(origin.name, origin.shown_as, skill.shown_as if skill else "", False)]
    above = origin
    for entry, to in links:
        for amount, whose in (
            (
                entry.budget,
                f"the share that {above.shown_as} gives {'a helper' if entry.agent is None else to.shown_as}",
            ),
            (entry.skill.budget, f"what {entry.skill.shown_as} may spend"),
            (to.limits.per_task, f"what a piece of {to.shown_as}’s may spend"),
        ):
            if amount is not None and amounts.to_micros(amount) < micros:
                micros, held_by = amounts.to_micros(amount), whose
        steps.append(ReachStep(to.name, to.shown_as, entry.skill.shown_as, entry.agent is None))
        above = to
    chain = [origin, *(to for _, to in links)]
    ruling = strictest(chain, action)
    proposing = [agent for agent in chain if agent.may.gate_of(action) is Gate.PROPOSE]
    return ReachPath(
        steps=tuple(steps),
        gate=ruling.gate,
        word_of=ruling.agent,
        micros=micros,
        held_by=held_by,
        lifted=ruling.gate is Gate.PROPOSE and all(lifted(agent) for agent in proposing),
    )
