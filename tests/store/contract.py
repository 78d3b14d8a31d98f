"""The store contract: a backend's test file subclasses it and supplies `store`, whose time is the `clock` fixture's."""

from __future__ import annotations

import pytest

from brain.store.base import SpaceStore, Store
from tests.store.contracts.dumps import DumpContract, full
from tests.store.contracts.graph import ErasureContract, GraphContract, world
from tests.store.contracts.history import HistoryContract
from tests.store.contracts.search import SearchContract
from tests.store.contracts.spaces import SpacesContract
from tests.store.contracts.state import StateContract
from tests.store.contracts.transactions import TransactionsContract
from tests.store.contracts.vectors import VectorContract

__all__ = ["StoreContract", "full", "space", "world"]


@pytest.fixture
def space(store: Store) -> SpaceStore:
    return store.create("demo", now_ms=0)


@pytest.mark.requirement("BR-STORE-001")
class StoreContract(
    SpacesContract,
    TransactionsContract,
    GraphContract,
    ErasureContract,
    HistoryContract,
    SearchContract,
    VectorContract,
    StateContract,
    DumpContract,
):
    """Everything a store promises, as tests."""
