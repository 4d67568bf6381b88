"""What the tests of killed and stopped processes share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crash.processes import Processes


@pytest.fixture(scope="session")
def processes() -> Iterator[Processes]:
    started = Processes()
    yield started
    started.close()
