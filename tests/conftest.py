"""Fixtures every test may use."""

from __future__ import annotations

import pytest

from brain.times import FixedClock
from tests import laws  # noqa: F401 - the profiles of laws, before a command line asks for one
from tests.services.fixtures import neo4j_service, pytest_configure, pytest_unconfigure, redis_url  # noqa: F401


@pytest.fixture
def clock() -> FixedClock:
    """2026-09-20T00:00:00.000Z, standing still."""
    return FixedClock(1_789_862_400_000)
