"""A short soak: see `tests.soak`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.soak import Soak


# M3, M4, P5, A1-A5, T3, T5, E4
@pytest.mark.slow
async def test_whatever_is_killed_nothing_is_lost_done_twice_or_left(database: str, tmp_path: Path) -> None:
    figures = await Soak(database, tmp_path, wholes=100, seconds=6, draw=random.Random(1)).run()
    assert figures.why == []
    assert figures.kills
    assert figures.wholes
    assert figures.decisions
