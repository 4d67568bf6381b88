"""From a Python type to what a model writes: JSON Schema, and back with every error named.

A provider wants an object at the top. A type whose JSON is no object travels under the one key `result`.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_jsonable_python
from pydantic_core import to_json as dump

from core.errors import BadInput
from core.words import clean

NO_JSON = "Something in it has no form in JSON."
NO_NUMBER = "A number in it is too large, or is none."


def errors_of(error: ValidationError, within: str = "") -> dict[str, str]:
    """A validation's errors, field by field, in words without the validator's links."""
    fields: dict[str, str] = {}
    for entry in error.errors(include_url=False, include_context=False):
        path = ".".join(str(part) for part in entry["loc"] if part != within)
        fields.setdefault(path, f"{entry['msg']}.")
    return fields


def _cleaned(value: dict[str, Any]) -> dict[str, Any]:
    return {clean(key): _clean_value(entry) for key, entry in value.items()}


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    return [_clean_value(entry) for entry in value] if isinstance(value, list) else value


def fit(text: str) -> str:
    """The JSON a model wrote, without escapes that stand for no character: NUL, and half of a surrogate pair."""
    if "\\u0000" in text or "\\ud" in text or "\\uD" in text:
        return to_json(json.loads(text, object_hook=_cleaned))
    return text or "{}"


def read_object(text: str) -> dict[str, Any]:
    """The JSON object a model wrote. Raises BadInput for anything else: broken JSON, null, a list, NaN, or what is
    nested too deep to be read."""
    try:
        value = from_json(fit(text), allow_inf_nan=False)
    except (ValueError, RecursionError) as error:
        raise BadInput({"": f"That is not valid JSON ({error})."}) from None
    if not isinstance(value, dict):
        raise BadInput({"": "The arguments must be a JSON object."})
    return value


_sorted = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode
to_json = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
# Raises ValueError for what is no number, and PydanticSerializationError for what has no form in JSON: an id has one.
to_strict_json = json.JSONEncoder(allow_nan=False, default=to_jsonable_python).encode
# How a number is written that may be none.
_MAY_BE_NONE = re.compile(r"[nN][aA][nN]|[iI][nN][fF]|[0-9][eE]\+?[0-9]{3}|[0-9]{300}")
_EXACT = frozenset((str, int, bool, type(None)))


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces. Numbers that are no integers are written as text: floats are not hashed."""
    return _sorted(_exact(value))


def _exact(value: Any) -> Any:
    if type(value) in _EXACT:
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return {str(key): entry if type(entry) in _EXACT else _exact(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(entry) for entry in value]
    return value


def text_of(value: Any) -> str:
    """An answer as a model is told it: text as it is, numbers plain, everything else as JSON."""
    if isinstance(value, str):
        return clean(value)
    plain = json.loads(dump(value, fallback=str))
    return clean(plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False))


class Shape:
    """One type, as JSON Schema and as a reader of JSON."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.kind)

    @cached_property
    def own_schema(self) -> dict[str, Any]:
        return self.adapter.json_schema()

    @cached_property
    def wrapped(self) -> bool:
        return self.own_schema.get("type") != "object"

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON Schema with an object at the top."""
        if not self.wrapped:
            return self.own_schema
        inner = dict(self.own_schema)
        outer: dict[str, Any] = {"type": "object", "properties": {"result": inner}, "required": ["result"]}
        if "$defs" in inner:
            outer["$defs"] = inner.pop("$defs")
        return outer

    def read(self, text: str) -> Any:
        """The value in a model's JSON. Raises BadInput, field by field."""
        value = read_object(text)
        if self.wrapped and set(value) == {"result"}:
            return self._checked(to_json(value["result"]))
        return self._checked(fit(text))

    def _checked(self, text: str) -> Any:
        try:
            value = self.adapter.validate_json(text)
        except ValidationError as error:
            raise BadInput(errors_of(error)) from None
        if _MAY_BE_NONE.search(text):
            try:
                to_strict_json(self.adapter.dump_python(value, mode="json"))
            except ValueError:
                raise BadInput({"": NO_NUMBER}) from None
        return value

    def write(self, value: Any) -> str:
        """The value's own JSON, as stored and as the agent above is told it."""
        return self.adapter.dump_json(value).decode()

    def load(self, stored: str) -> Any:
        return self.adapter.validate_json(stored)
