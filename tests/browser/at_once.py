"""The bindery with decisions that are carried out at once, for stories that are about something else; and one where
they can be taken back for as long as somebody looks at them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from examples.bindery import bindery as held
from examples.bindery import open_demo
from handon import Agency

__all__ = ["bindery", "open_demo", "patient"]


def bindery(**settings: Any) -> Agency:
    return held(**{"undo_for": timedelta(0)} | settings)


def patient(**settings: Any) -> Agency:
    return held(**{"undo_for": timedelta(hours=1)} | settings)
