"""The SQLite store keeps the store contract, and what a file of its own adds to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from brain.store.sqlite import SqliteStore
from brain.times import FixedClock
from tests.store.contract import StoreContract, full, space, world

__all__ = ["full", "space", "world"]


@pytest.fixture
def store(tmp_path: Path, clock: FixedClock) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "spaces", clock=clock)
    yield opened
    opened.close()


class TestSqliteStore(StoreContract):
    pass
