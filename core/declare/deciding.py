"""A decision: a typed choice with how sure the model is of it (rule C4). Every agent has this skill."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Generic, TypeVar
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from core.declare.actions import Context
from core.declare.schemas import Shape, canonical, errors_of, read_object, to_json
from core.declare.skills import Skill
from core.errors import BadInput

DECIDE = "Decide"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Decision(Generic[T]):
    """What was decided, how sure of it whoever decided was (0 to 1), and the piece that decided it."""

    task: UUID
    value: T
    confidence: Decimal


class _Decided(Shape):
    """`value` of the asked type, and `confidence`."""

    def __init__(self, value_schema: dict[str, Any], adapter: TypeAdapter[Any] | None) -> None:
        super().__init__(dict)
        self._adapter = adapter
        inner = dict(value_schema)
        defs = inner.pop("$defs", None)
        confidence = {"type": "number", "minimum": 0, "maximum": 1, "description": "How sure you are of it."}
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {"value": inner, "confidence": confidence},
            "required": ["value", "confidence"],
        }
        self.__dict__["schema"] = schema | ({"$defs": defs} if defs else {})
        self.__dict__["wrapped"] = False

    def read(self, text: str) -> dict[str, Any]:
        given = read_object(text)
        wrong = {name: "It is missing." for name in ("value", "confidence") if name not in given}
        try:
            confidence = Decimal(str(given.get("confidence", 0)))
        except InvalidOperation:
            confidence = Decimal(-1)
        if "confidence" not in wrong and not 0 <= confidence <= 1:
            wrong["confidence"] = "It is a number from 0 to 1."
        value = given.get("value")
        if self._adapter is not None and "value" not in wrong:
            try:
                value = json.loads(self._adapter.dump_json(self._adapter.validate_json(to_json(value))))
            except ValidationError as error:
                wrong |= {f"value.{field}".rstrip("."): said for field, said in errors_of(error).items()}
        if wrong:
            raise BadInput(wrong)
        return {"value": value, "confidence": str(confidence)}

    def write(self, value: Any) -> str:
        return canonical(value)

    def load(self, stored: str) -> Any:
        return json.loads(stored)


class Deciding(Skill[str, dict[str, Any]]):
    """Made from the piece's input: the question, the context, and the JSON Schema of what is asked for."""

    description = "Decide one question."
    instructions = "Hand back your choice as `value`, and as `confidence` how sure you are of it, from 0 to 1."

    def __init__(self, input_json: str, adapter: TypeAdapter[Any] | None) -> None:
        self.asked: dict[str, Any] = json.loads(input_json)
        self._shape = _Decided(self.asked["schema"], adapter)

    @property
    def name(self) -> str:
        return DECIDE

    @property
    def hands_back(self) -> Shape:
        return self._shape

    @property
    def offer_key(self) -> Any:
        return DECIDE, canonical(self.asked["schema"])

    def brief_handed(self, input_json: str, ctx: Context) -> str:
        return f"{self.asked['question']}\n\n{self.asked['context']}".strip()

    def handed(self, input_json: str, ctx: Context) -> str:
        return input_json

    @staticmethod
    def input(question: str, context: str, adapter: TypeAdapter[Any]) -> str:
        return canonical({"question": question, "context": context, "schema": adapter.json_schema()})
