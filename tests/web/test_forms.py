"""Forms from a schema and back: every type is kept, and what was left alone stays to the letter."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest
from pydantic import BaseModel, Field, TypeAdapter

from web.forms import fields_of
from web.posted import changed, number, values_of


class Grade(StrEnum):
    FINE = "fine"
    PLAIN = "plain"


class Size(BaseModel):
    height: int = Field(description="In millimetres.")
    deep: bool = False


class Order(BaseModel):
    cloth: str
    metres: Decimal
    sheets: int
    ratio: float
    urgent: bool
    grade: Grade
    size: Size
    colours: list[str] = []
    by: date | None = None
    note: str | None = None
    extra: dict[str, int] = {}


SCHEMA = TypeAdapter(Order).json_schema()
POSTED = {
    "cloth": "buckram",
    "metres": "3,50",
    "sheets": "4",
    "ratio": "1.25",
    "urgent": "yes",
    "grade": "fine",
    "size.height": "210",
    "colours": "red\nblue\n",
    "by": "2026-12-21",
    "note": "",
    "extra": '{"a": 1}',
}
VALUES: dict[str, Any] = {
    "cloth": "buckram",
    "metres": "3.50",
    "sheets": 4,
    "ratio": 1.25,
    "urgent": True,
    "grade": "fine",
    "size": {"height": 210, "deep": False},
    "colours": ["red", "blue"],
    "by": "2026-12-21",
    "extra": {"a": 1},
}


def test_a_posted_form_becomes_the_types_of_its_schema() -> None:
    value, wrong = values_of(SCHEMA, POSTED)
    assert wrong == {}
    assert value == VALUES
    order = Order.model_validate(value)
    assert order.metres == Decimal("3.50")
    assert order.size.height == 210


def test_each_type_has_its_control() -> None:
    controls = {field.name: field.control for field in fields_of(SCHEMA)}
    assert controls == {
        "cloth": "text",
        "metres": "decimal",
        "sheets": "integer",
        "ratio": "number",
        "urgent": "check",
        "grade": "choice",
        "size": "group",
        "colours": "lines",
        "by": "date",
        "note": "text",
        "extra": "json",
    }


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("metres", "three", "Write a number, such as 3.5."),
        ("metres", "NaN", "Write a number, such as 3.5."),
        ("sheets", "4.5", "Write a whole number, such as 3."),
        ("sheets", "", "This is needed."),
        ("grade", "coarse", "Choose one of the list."),
        ("size.height", "tall", "Write a whole number, such as 3."),
        ("extra", "{", "Write valid JSON."),
        ("cloth", "", "This is needed."),
    ],
)
def test_what_a_control_cannot_hold_is_said_at_its_field(name: str, text: str, says: str) -> None:
    _, wrong = values_of(SCHEMA, POSTED | {name: text})
    assert wrong == {name: says}
    fields = {field.name: field for field in fields_of(SCHEMA, posted=POSTED | {name: text}, errors=wrong)}
    field = fields[name] if name in fields else fields["size"].fields[0]
    assert field.error == says
    assert field.value == text


def test_what_was_left_alone_keeps_its_value_and_type() -> None:  # P7
    stood = VALUES | {"metres": 3.5, "note": None}
    posted = {field.name: field.value for field in fields_of(SCHEMA, stood)} | {"size.height": "210"}
    args, wrong = values_of(SCHEMA, posted, stood)
    assert wrong == {}
    assert args == stood
    assert type(args["metres"]) is float
    assert not changed(args, stood)


def test_one_changed_field_changes_nothing_else() -> None:  # P7
    stood = VALUES | {"note": None}
    posted = {field.name: field.value for field in fields_of(SCHEMA, stood)} | {"size.height": "210", "sheets": "5"}
    args, _ = values_of(SCHEMA, posted, stood)
    assert {name for name in stood if args[name] != stood[name]} == {"sheets"}
    assert args["sheets"] == 5


def test_an_optional_part_that_was_left_empty_is_left_out() -> None:
    schema = TypeAdapter(dict).json_schema() | {
        "type": "object",
        "properties": {"size": SCHEMA["$defs"]["Size"]},
        "$defs": SCHEMA["$defs"],
    }
    assert values_of(schema, {"size.height": ""}) == ({}, {})
    assert values_of(schema, {"size.height": "7"}) == ({"size": {"height": 7, "deep": False}}, {})


def test_a_row_cannot_be_changed_and_is_shown_by_its_label() -> None:
    schema = {"type": "object", "required": ["shelf"], "properties": {"shelf": {"type": "string", "format": "uuid"}}}
    stood = {"shelf": "0190a3b2-0000-7000-8000-000000000000"}
    field = fields_of(schema, stood, labels=(("Shelf", "A-1"),))[0]
    assert (field.control, field.was) == ("fixed", "A-1")
    assert values_of(schema, {"shelf": "another"}, stood) == (stood, {})


def test_an_argument_that_is_masked_is_neither_shown_nor_changed() -> None:
    schema = {
        "type": "object",
        "required": ["to", "password"],
        "properties": {"to": {"type": "string"}, "password": {"type": "string"}},
    }
    assert [field.name for field in fields_of(schema, {"to": "Mia"})] == ["to"]
    assert values_of(schema, {"to": "Noor", "password": "x"}, {"to": "Mia"}) == ({"to": "Noor"}, {})


def test_a_schema_that_refers_to_itself_ends_as_json() -> None:
    schema = {
        "type": "object",
        "$defs": {"Node": {"$ref": "#/$defs/Node"}},
        "properties": {"node": {"$ref": "#/$defs/Node"}},
    }
    assert fields_of(schema)[0].control == "json"


@pytest.mark.parametrize(("text", "value"), [("3,5", 3.5), ("1 200", 1200.0), ("1\u202f200.25", 1200.25), ("-2", -2.0)])
def test_numbers_are_read_as_people_write_them(text: str, value: float) -> None:
    assert number(text) == value
