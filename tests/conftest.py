"""Fixtures every test may use."""

from __future__ import annotations

import pytest
from hypothesis import settings

from brain.times import FixedClock
from tests import laws  # noqa: F401 - registers the profile `nightly` before a command line asks for it

# What a night allows: `pytest --hypothesis-profile=nightly`, for the laws that take their number of examples from it.
settings.register_profile("nightly", max_examples=10_000)


@pytest.fixture
def clock() -> FixedClock:
    """2026-09-20T00:00:00.000Z, standing still."""
    return FixedClock(1_789_862_400_000)
