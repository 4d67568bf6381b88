"""Rows as CSV that a spreadsheet opens as text: what an agent wrote never becomes a formula there."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def rows(values: Iterable[Iterable[object]]) -> str:
    """A text of rows, each with its line end. A cell that a spreadsheet would compute has an apostrophe before it."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    for row in values:
        writer.writerow([_cell(value) for value in row])
    return out.getvalue()


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.lstrip(" ").startswith(FORMULA) else value
