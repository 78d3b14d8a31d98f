"""One empty Space per test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from brain.store.sqlite import SqliteStore
from tests.kip.belief.world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    store = SqliteStore(tmp_path, durability="normal")
    yield World(store.create("tests", now_ms=0))
    store.close()
