"""A store for the Spaces of many examples."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from brain.store.base import Store
from brain.store.sqlite import SqliteStore


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = SqliteStore(tmp_path_factory.mktemp("spaces"), durability="normal")
    yield opened
    opened.close()
