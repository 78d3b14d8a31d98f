"""A Space and who governs it."""

from __future__ import annotations

import pytest

from brain.kip.governance.control import Governor
from tests.kip.conftest import Space


@pytest.fixture
def governor(space: Space) -> Governor:
    return Governor(space.engine)
