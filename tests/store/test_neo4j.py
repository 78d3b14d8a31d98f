"""The Neo4j store keeps the store contract."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from brain.store.neo4j import Neo4jStore
from brain.times import FixedClock
from tests.store.contract import StoreContract, full, space, world
from tests.store.neo4j_service import fresh_store

__all__ = ["full", "space", "world"]


@pytest.fixture
def store(neo4j_service: Mapping[str, str], clock: FixedClock) -> Iterator[Neo4jStore]:
    with fresh_store(neo4j_service, clock) as opened:
        yield opened


class TestNeo4jStore(StoreContract):
    pass
