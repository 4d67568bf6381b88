"""What the docs say is tested is: each test that `docs/what-breaks.md` names is there, and names a rule."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "what-breaks.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| what happens |")]


YET = "**not held yet"


def functions_of(file: str) -> dict[str, bool]:
    """The functions of a file, each with whether it is marked as one that cannot hold yet."""
    return {
        node.name: any("xfail" in ast.unparse(mark) for mark in node.decorator_list)
        for node in ast.walk(ast.parse((ROOT / file).read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize("file", sorted({file for file, _ in NAMED}))
def test_every_test_that_is_named_for_a_failure_is_there(file: str) -> None:
    assert {test for of, test in NAMED if of == file} <= set(functions_of(file))


def test_a_failure_is_said_to_be_held_where_its_tests_hold_and_only_there() -> None:
    wrong = []
    for row in ROWS:
        fails = any(functions_of(file)[test] for file, test in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row))
        if fails != (YET in row.lower()):
            wrong.append(row)
    assert wrong == []


def test_every_failure_names_a_test() -> None:
    assert len(ROWS) > 40
    assert [row for row in ROWS if not re.search(r"`tests/[\w/]+\.py::\w+`", row)] == []


def test_every_rule_that_the_page_names_is_one() -> None:
    rules = set(re.findall(r"^- \*\*([A-Z]\d+)\*\*", (ROOT / "docs" / "rules.md").read_text("utf-8"), re.M))
    assert set(re.findall(r"\b([DHRMPEATCK]\d{1,2})\b", PAGE)) <= rules
