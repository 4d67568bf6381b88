"""JSON back from a form, with every type kept.

Checks only what a control can get wrong: the schema's own rules are the agency's to check, and come back as `BadInput`
with the same paths ("size.height").
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from web.forms import Kind, Schema, kind_of, text_of

ABSENT = object()


def values_of(
    schema: Schema, posted: Mapping[str, Any], values: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """The posted values by their types, and what is wrong, by path."""
    wrong: dict[str, str] = {}
    return _values(schema, schema, "", posted, values, wrong), wrong


def changed(args: Mapping[str, Any], was: Mapping[str, Any]) -> bool:
    return any(args[name] != was.get(name, ABSENT) for name in args)


def _values(
    schema: Schema,
    root: Schema,
    path: str,
    posted: Mapping[str, Any],
    values: Mapping[str, Any] | None,
    wrong: dict[str, str],
) -> dict[str, Any]:
    required = schema.get("required", ())
    found: dict[str, Any] = {}
    for key, part in schema.get("properties", {}).items():
        stood = (values or {}).get(key, ABSENT)
        if values is not None and stood is ABSENT and (not path or key in required):
            continue
        name, kind = f"{path}{key}", kind_of(part, root)
        if kind.control == "group":
            if key not in required and stood is ABSENT and not _anything(posted, f"{name}."):
                continue
            inner = _values(kind.schema, root, f"{name}.", posted, stood if isinstance(stood, Mapping) else None, wrong)
            found[key] = inner
            continue
        text = re.sub(r"\r\n?", "\n", str(posted.get(name, "")))
        if stood is not ABSENT and (kind.control == "fixed" or text.strip() == text_of(kind.control, stood).strip()):
            found[key] = stood  # left alone: to the letter what it was
        elif kind.control == "check":
            found[key] = text == "yes"
        elif not text.strip():
            if key in required and not kind.nullable and kind.control not in ("text", "long", "lines"):
                wrong[name] = "This is needed."
            elif key in required and not kind.nullable:
                found[key] = [] if kind.control == "lines" else ""
                if kind.control != "lines" and values is None:
                    wrong[name] = "This is needed."
            elif stood is not ABSENT:
                found[key] = None if kind.nullable else ([] if kind.control == "lines" else "")
        else:
            try:
                found[key] = _read(kind, root, text)
            except ValueError as error:
                wrong[name] = str(error)
    return found


def _anything(posted: Mapping[str, Any], under: str) -> bool:
    return any(str(value).strip() for name, value in posted.items() if name.startswith(under))


def _read(kind: Kind, root: Schema, text: str) -> Any:
    """One value of its type. Raises ValueError with what to write instead."""
    if kind.control == "lines":
        items = kind_of(kind.schema.get("items", {}), root)
        return [_read(items, root, line.strip()) for line in text.splitlines() if line.strip()]
    if kind.control == "json":
        try:
            return json.loads(text)
        except ValueError:
            raise ValueError("Write valid JSON.") from None
    if kind.control == "choice":
        if kind.schema.get("type") == "boolean":
            return text == "yes"
        entries = kind.schema.get("enum", [kind.schema.get("const")])
        for entry in entries:
            if text_of("choice", entry) == text:
                return entry
        raise ValueError("Choose one of the list.")
    if kind.control == "check":
        return text in ("yes", "true")
    if kind.control in ("integer", "number", "decimal"):
        return number(text, whole=kind.control == "integer", as_text=kind.control == "decimal")
    return text if kind.control == "long" else text.strip()


def number(text: str, *, whole: bool = False, as_text: bool = False) -> Any:
    """A number in a person's notation: a comma is a point. Decimals stay text, so that nothing is rounded."""
    plain = re.sub(r"[\s\u202f\u00a0]", "", text)
    if "," in plain and "." not in plain:
        plain = plain.replace(",", ".")
    try:
        value = Decimal(plain)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite():
        raise ValueError("Write a whole number, such as 3." if whole else "Write a number, such as 3.5.")
    if whole:
        if value != value.to_integral_value():
            raise ValueError("Write a whole number, such as 3.")
        return int(value)
    if as_text:
        return f"{value:f}"
    return float(value)
