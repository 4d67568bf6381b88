"""Figures and states in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.values import Status, WorkNode
from web.words import age, ago, amount, duration, gate_icon, look_of_node, money, past, visible, waits_for

NOW = datetime(2031, 3, 3, 9, tzinfo=UTC)


def node(parent: WorkNode | None = None, status: Status = Status.WORKING, **fields: object) -> WorkNode:
    made = WorkNode(
        piece=uuid4(),
        parent=parent.piece if parent else None,
        depth=parent.depth + 1 if parent else 0,
        agent="Clerk",
        agent_label="Clerk",
        skill="Note",
        skill_label="Note",
        about="",
        status=status,
        waiting_on="",
        outcome="",
        own_micros=0,
        tree_micros=0,
        reserved_micros=0,
        limit_micros=1,
        model_calls=0,
        opened_at=NOW,
        ended_at=None,
    )
    return replace(made, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("micros", "told"),
    [
        (0, "€0.00"),
        (1, "€0.000001"),
        (1_400, "€0.0014"),
        (50_000, "€0.05"),
        (50_750_000, "€50.75"),
        (1_234_567_890, "€1\u202f234.56789"),
        (-5_000, "€−0.005"),
    ],
)
def test_money_is_exact(micros: int, told: str) -> None:
    assert money(micros, "EUR") == told


@given(st.integers(min_value=1, max_value=10**15))
def test_money_is_never_nought_for_something_and_can_be_read_back(micros: int) -> None:
    whole, _, decimals = amount(micros).replace("\u202f", "").partition(".")
    assert int(whole) * 1_000_000 + int(decimals.ljust(6, "0")) == micros


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(4, "4 s"), (252, "4 m 12 s"), (3_120, "52 m"), (23_820, "6 h 37 m"), (273_600, "3 d 4 h"), (-3, "0 s")],
)
def test_a_duration_has_two_units_at_most(seconds: int, told: str) -> None:
    assert duration(timedelta(seconds=seconds)) == told


def test_an_age_is_for_a_glance() -> None:
    assert [ago(timedelta(minutes=m)) for m in (0, 6, 90, 5000)] == ["just now", "6 min", "1 h", "3 d"]
    assert [past(timedelta(minutes=m)) for m in (0, 6)] == ["just now", "6 min ago"]
    assert age(timedelta(seconds=40)) == "40 s"


def test_whom_a_piece_waits_for_is_told_in_a_word() -> None:
    assert waits_for("a decision from Mia") == "Mia"
    assert waits_for("Collator, which waits for a decision from Mia") == "Collator"
    assert waits_for("Collator, which waits for an answer from Mia; a decision from Noor") == "2 others"


def test_what_needs_its_reader_looks_unlike_what_waits_for_somebody_else() -> None:
    yours = node(status=Status.WAITING, waits_for_you=True)
    theirs = node(status=Status.WAITING, waiting_on="a decision from Noor")
    agents = node(status=Status.WAITING, waiting_on="Collator, which waits for a decision from Mia")
    assert [look_of_node(n).word for n in (yours, theirs, agents)] == [
        "Waits for you",
        "Waits for Noor",
        "Waits for Collator",
    ]
    assert look_of_node(agents).tone == "neutral"
    assert look_of_node(node(status=Status.FAILED, abandoned=True)).word == "Abandoned"
    assert look_of_node(node(stopping=True)).word == "Stopping"


def test_a_gate_has_its_shape() -> None:
    told = [
        "Makes changes by itself.",
        "Proposes every change, every time.",
        "Never changes anything.",
        "Proposes every change.",
    ]
    assert [gate_icon(words) for words in told] == ["alone", "everytime", "never", "proposes"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("invoice\u202etxt.exe", "invoice⟨U+202E⟩txt.exe"),
        ("pay\u200bpal\x07", "pay⟨U+200B⟩pal⟨U+0007⟩"),
        ("two lines\n\tand a tab", "two lines\n\tand a tab"),
        ("نمی\u200cخواهم 👩\u200d🔧 Straße", "نمی\u200cخواهم 👩\u200d🔧 Straße"),
    ],
)
def test_what_cannot_be_seen_in_a_text_is_shown_as_a_mark(text: str, shown: str) -> None:
    assert visible(text) == shown
