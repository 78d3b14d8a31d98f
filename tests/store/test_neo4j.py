"""The Neo4j store keeps the store contract."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from brain.store.neo4j import Neo4jStore
from brain.times import FixedClock
from tests.store.contract import space, world
from tests.store.contracts.graph import ErasureContract, GraphContract
from tests.store.contracts.history import HistoryContract
from tests.store.contracts.search import SearchContract
from tests.store.contracts.spaces import SpacesContract
from tests.store.contracts.state import StateContract
from tests.store.contracts.transactions import TransactionsContract
from tests.store.contracts.vectors import VectorContract
from tests.store.neo4j_service import fresh_store

__all__ = ["space", "world"]


@pytest.fixture
def store(neo4j_service: Mapping[str, str], clock: FixedClock) -> Iterator[Neo4jStore]:
    with fresh_store(neo4j_service, clock) as opened:
        yield opened


class TestNeo4jStore(
    SpacesContract,
    TransactionsContract,
    GraphContract,
    ErasureContract,
    HistoryContract,
    SearchContract,
    VectorContract,
    StateContract,
):
    pass
