"""What tests of this room share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

import pytest

from handon.testing import TestClock
from tests.builders import make
from tests.core.drawers import Try, attempt_in, furnish


@pytest.fixture
async def attempt(database: str, clock: TestClock) -> AsyncIterator[Try]:
    """`await attempt(fn, *principals)`: fn(session) in one guarded transaction, over three drawers and a sheet."""
    async with make(database, clock=clock) as agency:
        await agency.write(furnish)
        yield partial(attempt_in, agency)
