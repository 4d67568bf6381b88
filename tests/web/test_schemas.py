"""A JSON Schema in words, as the map shows what passes between agents."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, Field

from handon import Skill
from web.schemas import held_in


class Leaf(BaseModel):
    number: int
    torn: bool = False


class Report(BaseModel):
    title: str = Field(description="What it is about.")
    price: Decimal
    day: date | None = None
    state: Literal["good", "bad"]
    tags: list[str]
    first: Leaf
    leaves: list[Leaf] = []


class Tell(Skill[Report, str]):
    description = "Tell."


def test_everything_a_schema_holds_is_said_with_what_is_inside_it() -> None:
    held = held_in(Tell().takes.schema)
    assert [(one.name, one.kind, one.needed, one.depth) for one in held] == [
        ("Title", "text", True, 0),
        ("Price", "a number, exact", True, 0),
        ("Day", "a day, or nothing", False, 0),
        ("State", "one of good, bad", True, 0),
        ("Tags", "a list of texts", True, 0),
        ("First", "a thing with", True, 0),
        ("Number", "a whole number", True, 1),
        ("Torn", "yes or no", False, 1),
        ("Leaves", "a list of", False, 0),
        ("Number", "a whole number", True, 1),
        ("Torn", "yes or no", False, 1),
    ]
    assert held[0].hint == "What it is about."


def test_a_single_value_is_said_as_one() -> None:
    [held] = held_in(Tell().hands_back.schema)
    assert (held.name, held.kind, held.needed) == ("The value", "text", True)


class Nested(BaseModel):
    inner: list[Nested] = []


class Nest(Skill[Nested, str]):
    description = "Nest."


def test_what_holds_itself_comes_to_an_end() -> None:
    assert len(held_in(Nest().takes.schema)) < 10


def test_what_no_words_fit_is_a_value() -> None:
    schema = {"properties": {"any": {}, "map": {"type": "object", "additionalProperties": {"type": "string"}}}}
    assert [one.kind for one in held_in(schema)] == ["any value", "a thing"]
