"""Typed work an agent can do: what it takes, what it hands back, and how its model is briefed."""

from __future__ import annotations

import hashlib
import inspect
import typing
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from core.declare import hand_on
from core.declare.actions import Action, Context
from core.declare.rights import Row
from core.declare.schemas import Shape, canonical
from core.errors import BadDeclaration
from core.words import label_of

TIn = TypeVar("TIn")
TOut = TypeVar("TOut")


@dataclass(frozen=True, slots=True)
class Retry:
    """How often failed work is tried again, and how long after (rule E3). What was Stopped is not: a limit holds."""

    times: int = 1
    wait: timedelta = timedelta(0)


class Skill(Generic[TIn, TOut]):
    """`class CountLeaves(Skill[Volume, LeafCount])`: work that takes a `TIn` and hands back a `TOut`.

    Either may be text, a number, a dataclass or a Pydantic model; what it takes may also be a `Row`, which is handed
    on by its id. `budget` bounds what one piece of it may spend, in the currency unit.
    """

    description: str = ""
    instructions: str = ""
    tools: ClassVar[typing.Sequence[Action]] = ()
    label: str = ""
    retry: Retry | None = None
    budget: Decimal | None = None

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def shown_as(self) -> str:
        return self.label or label_of(self.name)

    def brief(self, input: TIn) -> str:
        """What the working model is told of its input."""
        if isinstance(input, Row):
            return f"{label_of(type(input).__name__)} {input.label}, id {input.id}."
        return self.takes.write(input)

    def check(self, output: TOut) -> str | None:
        """What is wrong with a result that has the right type; None where nothing is (rule E6)."""
        return None

    def handed(self, input_json: str, ctx: Context) -> TIn:
        """The input, from what another agent's model wrote. Runs as the specialist, for the person the work is for
        (rule R7): a row that either may not read is not found. Raises BadInput, field by field (rule H4)."""
        if self.takes_row is not None:
            return typing.cast("TIn", ctx.find(self.takes_row, hand_on.id_in(input_json)))
        return typing.cast("TIn", self.takes.read(input_json))

    def handed_schema(self) -> dict[str, Any]:
        """JSON Schema of what `handed` reads."""
        if self.takes_row is not None:
            return hand_on.by_id(f"The id of the {label_of(self.takes_row.__name__).lower()}.")
        return self.takes.schema

    def brief_handed(self, input_json: str, ctx: Context) -> str:
        """The brief made from it."""
        return self.brief(self.handed(input_json, ctx))

    @property
    def takes(self) -> Shape:
        return _shapes(type(self))[0]

    @property
    def hands_back(self) -> Shape:
        return _shapes(type(self))[1]

    @property
    def takes_row(self) -> type[Row] | None:
        kind = _types(type(self))[0]
        return kind if inspect.isclass(kind) and issubclass(kind, Row) else None

    def input_json(self, input: TIn) -> str:
        """The input as it is stored, and as `handed` reads it again."""
        if isinstance(input, Row):
            return canonical({"id": str(input.id)})
        if self.takes_row is not None and isinstance(input, UUID):
            return canonical({"id": str(input)})
        text = self.takes.write(input)
        return f'{{"result":{text}}}' if self.takes.wrapped else text

    @property
    def offer_key(self) -> Any:
        """What tells this skill's hand-back from others': it is described once for each."""
        return type(self)

    def definition(self) -> dict[str, Any]:
        """What makes this version of the skill: words, shapes and tools."""
        return {
            "skill": self.name,
            "description": self.description,
            "instructions": self.instructions,
            "takes": self.handed_schema(),
            "hands_back": self.hands_back.schema,
            "tools": {tool.name: tool.schema for tool in self.tools},
        }

    def version(self) -> tuple[str, str]:
        """Its version (16 hex digits over the definition) and the definition as canonical JSON."""
        text = canonical(self.definition())
        return hashlib.sha256(text.encode()).hexdigest()[:16], text

    def __repr__(self) -> str:
        return f"{self.name}()"


_kept: dict[type[Any], tuple[Shape, Shape]] = {}


def _types(skill: type[Any]) -> tuple[Any, Any]:
    for kind in skill.__mro__:
        for base in getattr(kind, "__orig_bases__", ()):
            if typing.get_origin(base) is Skill:
                takes, hands_back = typing.get_args(base)
                if not isinstance(takes, TypeVar) and not isinstance(hands_back, TypeVar):
                    return takes, hands_back
    raise BadDeclaration(f"{skill.__name__} does not say what it takes and hands back: class X(Skill[TIn, TOut]).")


def _shapes(skill: type[Any]) -> tuple[Shape, Shape]:
    """Its two shapes, made once: building one is slow."""
    if skill not in _kept:
        takes, hands_back = _types(skill)
        if inspect.isclass(takes) and issubclass(takes, Row):
            takes = UUID
        _kept[skill] = Shape(takes), Shape(hands_back)
    return _kept[skill]
