"""Fixtures of the upkeep tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.space import TestSpace, open_space


@pytest.fixture
def space(tmp_path: Path) -> Iterator[TestSpace]:
    """A Space with the everyday vocabulary, nothing in it but its self."""
    with open_space(tmp_path / "spaces") as opened:
        yield opened
