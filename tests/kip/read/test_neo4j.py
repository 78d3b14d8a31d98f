"""What the Neo4j store runs by itself is what running the plan step by step answers, and takes fewer round trips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.store.neo4j import Neo4jStore
from tests.kip.graph import Graph
from tests.kip.read.strategies import blocks, graphs
from tests.kip.read.test_pushdown import any_query, what_a_store_runs
from tests.laws import law
from tests.store.neo4j_service import fresh_store

LAW = law(25, by_night=1_000)
"""Most queries have a shape of their own, which Neo4j plans anew for each: few of them each time."""


@pytest.fixture(scope="module")
def store(neo4j_service: Mapping[str, str]) -> Iterator[Neo4jStore]:
    with fresh_store(neo4j_service) as opened:
        yield opened


@pytest.mark.requirement("KI-KQL-006", "KI-KQL-067")
@LAW
@given(graph=graphs(), queries=st.lists(blocks(), min_size=1, max_size=2), data=st.data())
def test_any_query_is_answered_as_step_by_step(store: Neo4jStore, graph: Graph, queries: Any, data: Any) -> None:
    any_query(store, graph, queries, data)


@pytest.mark.requirement("KI-KQL-006", "KI-KQL-048", "KI-KQL-050", "KI-KQL-067")
@LAW
@given(seed=st.integers(0, 2**32))
def test_what_a_store_runs_is_what_its_steps_answer(store: Neo4jStore, seed: int) -> None:
    what_a_store_runs(store, seed)
