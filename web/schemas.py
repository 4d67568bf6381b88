"""A JSON Schema in words: a row for each thing it holds, for people who read what passes between agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.words import label_of
from web.forms import SCALARS, kind_of

_WORDS = {
    "text": "text",
    "long": "text",
    "integer": "a whole number",
    "number": "a number",
    "decimal": "a number, exact",
    "check": "yes or no",
    "date": "a day",
    "fixed": "an id",
}
_SCALAR = {"string": "texts", "integer": "whole numbers", "number": "numbers", "boolean": "yes or no"}
DEEPEST = 4


@dataclass(frozen=True, slots=True)
class Held:
    """One thing a schema holds. `depth` is how far inside other things it stands."""

    name: str
    kind: str
    needed: bool
    hint: str
    depth: int


def held_in(schema: Mapping[str, Any]) -> list[Held]:
    """What it holds, each followed by what is inside it."""
    return _held(schema, schema, 0)


def _held(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> list[Held]:
    found: list[Held] = []
    required = schema.get("required", ())
    for name, part in schema.get("properties", {}).items():
        kind = kind_of(part, root)
        words = _WORDS.get(kind.control, "")
        if kind.control == "choice":
            entries = kind.schema.get("enum", [kind.schema.get("const")])
            words = "yes or no" if kind.schema.get("type") == "boolean" else f"one of {', '.join(map(str, entries))}"
        elif kind.control == "lines":
            inner = kind_of(kind.schema.get("items", {}), root).schema.get("type")
            words = f"a list of {_SCALAR[inner]}" if inner in SCALARS else "a list"
        items = kind_of(kind.schema.get("items", {}), root).schema
        inside = items if kind.schema.get("type") == "array" else kind.schema
        if not words:
            words = _bare(kind.schema.get("type"), bool(inside.get("properties")))
        found.append(
            Held(
                label_of(name) if name != "result" else "The value",
                words + (", or nothing" if kind.nullable else ""),
                name in required,
                str(kind.schema.get("description", "")),
                depth,
            )
        )
        if depth < DEEPEST and inside.get("properties"):
            found += _held(inside, root, depth + 1)
    return found


def _bare(kind: object, more: bool) -> str:
    """A list or a thing, which what is inside it follows; anything else is any value."""
    if kind == "array":
        return "a list of" if more else "a list"
    if kind == "object":
        return "a thing with" if more else "a thing"
    return "any value"
