"""The scripted model that every engine of the bench asks, and the errands it is given.

An errand is a piece's whole input; its JSON is the brief. What the model does follows from the brief and from how
many turns it has had, so it needs no state and no time. `calls_of` answers the calls of one turn as a provider would:
a tool's name and its arguments as JSON text.
"""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel

NOTE = "Collect what is known about this, check it against the source, and give a short typed result with a score."
SAID = "Looked at as asked. The source agrees, nothing unusual was found, and the figures add up to what was expected."
TOKENS = (400, 80)  # of every answer: in, out

# pair: hands `quick` and `check` on in one turn; split: hands on `fan` pieces, `levels` deep, with `check` at the end;
# quick: hands back at once; check: looks up once, then hands back; talk: looks up `fan` times, turn by turn.
Kind = Literal["pair", "split", "quick", "check", "talk"]

LOOK_UP = "look_up"
HAND_BACK = "hand_back"
QUICK = "hand_to_Judge_Quick"
CHECK = "hand_to_Reader_Check"
SPLIT = "hand_to_helper_Split"

Call = tuple[str, str]


class Errand(BaseModel):
    """What a piece is asked to do."""

    kind: Kind
    path: str
    levels: int = 0
    fan: int = 0
    note: str = NOTE


class Query(BaseModel):
    """What the one tool takes."""

    query: str


class Finding(BaseModel):
    """What a piece hands back."""

    path: str
    summary: str
    score: float


def found(query: str) -> str:
    """What the one tool answers."""
    return f"{query[:60]}: 42, on two shelves"


def _json(value: dict[str, object]) -> str:
    return json.dumps(value, separators=(",", ":"))


def _errand(kind: Kind, path: str, levels: int = 0, fan: int = 0) -> str:
    return _json({"kind": kind, "path": path, "levels": levels, "fan": fan, "note": NOTE})


def calls_of(brief: str, turn: int) -> list[Call]:
    """What the model calls in its turn (from 0) on the errand that the brief is the JSON of."""
    errand = json.loads(brief)
    kind, path = errand["kind"], errand["path"]
    if kind == "talk" and turn < errand["fan"]:
        return [(LOOK_UP, _json({"query": f"{path}.{turn} {NOTE}"}))]
    if turn == 0:
        if kind == "pair":
            return [(QUICK, _errand("quick", f"{path}.a")), (CHECK, _errand("check", f"{path}.b"))]
        if kind == "split":
            levels, fan = errand["levels"] - 1, errand["fan"]
            if levels == 0:
                return [(CHECK, _errand("check", f"{path}.{n}")) for n in range(fan)]
            return [(SPLIT, _errand("split", f"{path}.{n}", levels, fan)) for n in range(fan)]
        if kind == "check":
            return [(LOOK_UP, _json({"query": f"{path} {NOTE}"}))]
    return [(HAND_BACK, _json({"path": path, "summary": SAID, "score": 0.5}))]
