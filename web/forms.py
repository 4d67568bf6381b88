"""A form from a JSON Schema: a control for every type. `posted` reads it back.

Knows text, numbers, decimals, yes and no, choices, dates, things inside things and lists of single values. What it
does not know (maps, lists of things) is written as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.words import label_of

Schema = Mapping[str, Any]
SCALARS = ("string", "integer", "number", "boolean")
LONG = 200  # letters from which on a text is given room


@dataclass(frozen=True, slots=True)
class Field:
    """One control. `name` is its path; `was` what stood there first, where it is being edited."""

    name: str
    label: str
    control: str  # text, long, integer, number, decimal, check, choice, date, lines, json, group, fixed
    value: str
    required: bool
    hint: str = ""
    error: str = ""
    was: str | None = None
    choices: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()

    def marked(self, errors: Mapping[str, str]) -> Field:
        """The same field with what is wrong with it."""
        inner = tuple(field.marked(errors) for field in self.fields)
        return replace(self, error=_error(errors, self.name, self.control) or self.error, fields=inner)


@dataclass(frozen=True, slots=True)
class Kind:
    """What a schema comes down to: its control, whether it may be empty, and the schema without its references."""

    control: str
    nullable: bool
    schema: Schema


def kind_of(schema: Schema, root: Schema) -> Kind:
    """The control for a schema; "json" for what no control fits."""
    schema, nullable = _plain(schema, root)
    types = schema.get("type")
    if "enum" in schema or "const" in schema:
        return Kind("choice", nullable, schema)
    if {entry.get("type") for entry in schema.get("anyOf", ())} == {"number", "string"}:
        return Kind("decimal", nullable, schema)
    if types == "boolean":
        return Kind("choice" if nullable else "check", nullable, schema)
    if types in ("integer", "number"):
        return Kind(types, nullable, schema)
    if types == "string":
        control = {"uuid": "fixed", "date": "date"}.get(schema.get("format", ""), "text")
        return Kind("long" if control == "text" and schema.get("maxLength", 0) >= LONG else control, nullable, schema)
    if types == "object" and schema.get("properties"):
        return Kind("group", nullable, schema)
    if types == "array" and _plain(schema.get("items", {}), root)[0].get("type") in SCALARS:
        return Kind("lines", nullable, schema)
    return Kind("json", nullable, schema)


def fields_of(
    schema: Schema,
    values: Mapping[str, Any] | None = None,
    *,
    posted: Mapping[str, Any] | None = None,
    errors: Mapping[str, str] | None = None,
    labels: tuple[tuple[str, str], ...] = (),
) -> list[Field]:
    """The fields of an object. A new form begins with what the schema has as default or as its first example. With
    `values` it is an editing form: each field keeps what it was, an id of a row cannot be changed (`labels` says it in
    words), and an argument that is masked is left out."""
    return _fields(schema, schema, "", values, posted, errors or {}, dict(labels))


def _plain(schema: Schema, root: Schema) -> tuple[Schema, bool]:
    """Without references, and without the null beside a single other type. What stands beside a reference counts."""
    nullable = False
    for _ in range(16):  # a schema that refers to itself ends as JSON
        beside = {key: schema[key] for key in ("title", "description", "default", "examples") if key in schema}
        if "$ref" in schema:
            schema = {**root.get("$defs", {}).get(schema["$ref"].rpartition("/")[2], {}), **beside}
        elif len(schema.get("allOf", ())) == 1:
            schema = {**schema["allOf"][0], **beside}
        elif any(entry.get("type") == "null" for entry in schema.get("anyOf", ())):
            nullable = True
            rest = [entry for entry in schema["anyOf"] if entry.get("type") != "null"]
            schema = {**(rest[0] if len(rest) == 1 else {"anyOf": rest}), **beside}
        else:
            break
    return schema, nullable


def _fields(
    schema: Schema,
    root: Schema,
    path: str,
    values: Mapping[str, Any] | None,
    posted: Mapping[str, Any] | None,
    errors: Mapping[str, str],
    labels: Mapping[str, str],
) -> list[Field]:
    required = schema.get("required", ())
    found = []
    for key, part in schema.get("properties", {}).items():
        if values is not None and key not in values and (not path or key in required):
            continue  # masked: neither shown nor changed
        name, kind = f"{path}{key}", kind_of(part, root)
        first = kind.schema.get("examples") or (None,)
        stood = (values or {}).get(key, kind.schema.get("default", first[0] if values is None else None))
        inner: list[Field] = []
        if kind.control == "group":
            under = stood if isinstance(stood, Mapping) else ({} if values is not None else None)
            inner = _fields(kind.schema, root, f"{name}.", under or None, posted, errors, {})
        was = text_of(kind.control, stood)
        control = kind.control
        if control == "fixed" and values is None:
            control = "text"
        if control == "text" and len(was) > 60:
            control = "long"
        label = label_of(key)
        found.append(
            Field(
                name=name,
                label=label,
                control=control,
                value=str(posted.get(name, "")) if posted is not None and control != "fixed" else was,
                required=key in required and not kind.nullable,
                hint=kind.schema.get("description", "") if control != "fixed" else "",
                error=_error(errors, name, control),
                was=(labels.get(label, was) if control == "fixed" else was) if values is not None else None,
                choices=choices_of(kind),
                fields=tuple(inner),
            )
        )
    return found


def _error(errors: Mapping[str, str], name: str, control: str) -> str:
    """What is wrong with a field; for one without inner fields also what is wrong inside it."""
    if name in errors or control == "group":
        return errors.get(name, "")
    return next((wrong for path, wrong in errors.items() if path.startswith(f"{name}.")), "")


def choices_of(kind: Kind) -> tuple[str, ...]:
    if kind.control != "choice":
        return ()
    if kind.schema.get("type") == "boolean":
        return ("yes", "no")
    return tuple(text_of("choice", entry) for entry in kind.schema.get("enum", [kind.schema.get("const")]))


def text_of(control: str, value: Any) -> str:
    """A value as it stands in its control."""
    if value is None:
        return ""
    if control == "check" or isinstance(value, bool):
        return "yes" if value else ("" if control == "check" else "no")
    if control == "lines" and isinstance(value, list):
        return "\n".join(text_of("text", entry) for entry in value)
    if control in ("json", "group", "lines"):
        return json.dumps(value, ensure_ascii=False, indent=2)
    return str(value)
