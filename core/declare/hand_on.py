"""For skills that say themselves how a row is handed on: the schema of "one row, by its id", and the id named."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from core.declare.schemas import read_object
from core.errors import BadInput


def by_id(what: str) -> dict[str, Any]:
    """JSON Schema of one row, named by its id. `what` tells the model which: "The volume to count."."""
    return {
        "type": "object",
        "properties": {"id": {"type": "string", "format": "uuid", "description": what}},
        "required": ["id"],
        "additionalProperties": False,
    }


def id_in(input_json: str) -> UUID:
    """The id such an input names. Raises BadInput where it names none."""
    value = read_object(input_json)
    unknown = sorted(set(value) - {"id"})
    if "id" not in value:
        raise BadInput({"id": "Name the row by its id."})
    if unknown:
        raise BadInput(dict.fromkeys(unknown, "There is no such field; only the id is taken."))
    try:
        return UUID(str(value["id"]))
    except ValueError:
        raise BadInput({"id": f"{value['id']!r} is not an id."}) from None
