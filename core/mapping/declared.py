"""What an app declares, as one value that can be kept and compared: the content of a version of the map.

Equal declarations have equal content, in whatever order agents, skills, tools, roles and fields are declared. Amounts
are micros, times seconds; a schema stands under `schemas` once, and elsewhere by its mark.

A declaration is what the code says. What people or agents set while it runs (seats, pauses, standing rules, limits
that were set, what a model was given) is left out, and so is what is no right and no limit: what models are told
(`instructions`, which versions of skills keep), what forms and sentences look like, and whatever could hold a secret
(a model's client, key and address).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from core import amounts
from core.declare.actions import Action
from core.declare.agents import Agent, Guards
from core.declare.delegation import Specialist
from core.declare.schemas import canonical
from core.declare.skills import Skill
from core.mapping.graph import key_of
from core.models.llm import LlmModel, Price
from core.settings import Settings
from core.values import Gate

FORM = 1  # of the content; a later form reads what was kept in this one
Content = dict[str, Any]


def declared(
    agents: Mapping[str, Agent], models: Mapping[str, LlmModel], default_model: str, settings: Settings
) -> Content:
    """The content of the map as the app declares it now."""
    schemas = _Schemas()
    return {
        "form": FORM,
        "agents": {name: _agent(schemas, agent) for name, agent in agents.items()},
        "ways": dict(way for agent in agents.values() for way in _ways(schemas, agents, agent)),
        "models": {model.name: _model(model) for model in models.values()},
        "app": {
            "currency": settings.currency,
            "default_model": default_model,
            "task_budget": amounts.to_micros(settings.task_budget),
            "person_per_month": _micros(settings.person_per_month),
            "guards": _guards(settings.guards),
        },
        "schemas": schemas.kept,
    }


def fingerprint(text: str) -> str:
    """SHA-256 over content as canonical JSON, hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def tools_in(content: Content) -> int:
    """How many tools there are in it, each name once."""
    return len({name for agent in content["agents"].values() for name in agent["tools"]})


class _Schemas:
    """Schemas by their mark, each once."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}
        self._marks: dict[int, tuple[Any, str]] = {}  # with what was marked, so that no other takes its place

    def mark(self, schema: Mapping[str, Any]) -> str:
        known = self._marks.get(id(schema))
        if known is not None:
            return known[1]
        plain = _in_order(schema)
        mark = hashlib.sha256(canonical(plain).encode()).hexdigest()[:16]
        self.kept[mark] = plain
        self._marks[id(schema)] = (schema, mark)
        return mark


def _in_order(schema: Any) -> Any:
    """A schema with what is needed in it listed by name: the order of fields means nothing."""
    if isinstance(schema, Mapping):
        return {
            key: sorted(part)
            if key == "required" and isinstance(part, list) and all(isinstance(name, str) for name in part)
            else _in_order(part)
            for key, part in schema.items()
        }
    return [_in_order(part) for part in schema] if isinstance(schema, list | tuple) else schema


def _agent(schemas: _Schemas, agent: Agent) -> Content:
    delegation = agent.delegates
    tools = {tool.name: tool for skill in _skills_of(agent) for tool in skill.tools}
    hands_on = delegation is not None and bool(delegation.to)
    return {
        "label": agent.shown_as,
        "purpose": agent.purpose,
        "roles": sorted({str(role) for role in agent.roles}),
        "model": agent.model or "",
        "consults": agent.consults or "",
        "stuck_after": agent.stuck_after,
        "confidence_floor": None if agent.confidence_floor is None else str(agent.confidence_floor),
        "asks_people": agent.asks_people,
        "requests_wait": _seconds(agent.requests_wait),
        "gate": str(agent.may.default),
        "under": _said_of_others(agent, set(tools)),
        "per_task": _micros(agent.limits.per_task),
        "per_day": _micros(agent.limits.per_day),
        "guards": _guards(agent.guards) if agent.guards is not None else None,
        "max_depth": delegation.max_depth if delegation is not None and hands_on else None,
        "max_pieces": delegation.max_pieces if delegation is not None and hands_on else None,
        "skills": {skill.name: _skill(schemas, skill) for skill in agent.skills},
        "tools": {name: _tool(schemas, agent, tool) for name, tool in tools.items()},
    }


def _skills_of(agent: Agent) -> list[Skill[Any, Any]]:
    """Its skills, and those it has only as a helper, by name."""
    helped = {
        entry.skill.name: entry.skill for entry in (agent.delegates.to if agent.delegates else ()) if not entry.agent
    }
    return [skill for _, skill in sorted((helped | {skill.name: skill for skill in agent.skills}).items())]


def _said_of_others(agent: Agent, held: set[str]) -> dict[str, str]:
    """Its gates for tools that it does not hold itself: they hold for whatever is handed on under it (rule R5). What
    says no more than its gate for every other change is left out."""
    return {
        name: str(gate)
        for name, gate in dict(agent.may.said).items()
        if name not in held and (gate is not agent.may.default or gate is Gate.NEVER)
    }


def _skill(schemas: _Schemas, skill: Skill[Any, Any]) -> Content:
    return {
        "label": skill.shown_as,
        "description": skill.description,
        "budget": _micros(skill.budget),
        "takes": schemas.mark(skill.handed_schema()),
        "hands_back": schemas.mark(skill.hands_back.schema),
        "tools": sorted(tool.name for tool in skill.tools),
    }


def _tool(schemas: _Schemas, agent: Agent, tool: Action) -> Content:
    return {
        "label": tool.label,
        "reads": tool.query,
        "outside": tool.outside,
        "reversible": tool.reversible,
        "gate": str(agent.may.gate_of(tool)),
        "takes": schemas.mark(tool.schema),
        "decide_within": _seconds(tool.decide_within),
    }


def _ways(schemas: _Schemas, agents: Mapping[str, Agent], agent: Agent) -> list[tuple[str, Content]]:
    return [_way(schemas, agents, agent, entry) for entry in (agent.delegates.to if agent.delegates else ())]


def _way(schemas: _Schemas, agents: Mapping[str, Agent], agent: Agent, entry: Specialist) -> tuple[str, Content]:
    to = agent if entry.agent is None else agents[entry.agent.__name__]
    own = to.skill(entry.skill.name)
    budgets = _micros(entry.skill.budget), _micros(own.budget if own else None)
    return key_of(agent.name, to.name, entry.skill.name, entry.agent is None), {
        "origin": agent.name,
        "to": to.name,
        "skill": entry.skill.name,
        "label": entry.skill.shown_as,
        "helper": entry.agent is None,
        "share": _micros(entry.budget),
        **({"budget": budgets[0]} if budgets[0] != budgets[1] else {}),
        "takes": schemas.mark(entry.skill.handed_schema()),
        "hands_back": schemas.mark(entry.skill.hands_back.schema),
        "tools": sorted(tool.name for tool in (own or entry.skill).tools) if entry.agent is None else None,
    }


def _model(model: LlmModel) -> Content:
    return {
        "called": model.model,
        "price": _price(model.price) if model.price is not None else None,
        "max_output_tokens": model.max_output_tokens,
        "timeout": _seconds(model.timeout),
    }


def _price(price: Price) -> Content:
    """A price, with numbers that are equal written alike."""
    return {
        **{name: _plain(getattr(price, name)) for name in ("input", "output", "cached")},
        "over": {str(more_than): _price(other) for more_than, other in price.over.items()},
    }


def _guards(guards: Guards) -> Content:
    return {"turns": guards.turns, "same_call": guards.same_call, "wall_clock": _seconds(guards.wall_clock)}


def _micros(amount: Decimal | None) -> int | None:
    return None if amount is None else amounts.to_micros(amount)


def _seconds(time: timedelta | None) -> str | None:
    return None if time is None else _plain(Decimal(str(time.total_seconds())))


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
