"""A store on the Neo4j of the test run, for one test: with Spaces of its own, as all tests share it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from brain.store.neo4j import Neo4jStore
from brain.times import Clock


def connected(service: Mapping[str, str], deployment: str, clock: Clock | None = None) -> Neo4jStore:
    """A store on a Neo4j as the fixture `neo4j_service` tells of it, with the Spaces of one deployment."""
    return Neo4jStore(
        service["NEO4J_URI"],
        service["NEO4J_USER"],
        service["NEO4J_PASSWORD"],
        database=service["NEO4J_DATABASE"],
        deployment=deployment,
        clock=clock,
    )


@contextmanager
def fresh_store(service: Mapping[str, str], clock: Clock | None = None) -> Iterator[Neo4jStore]:
    """An empty store; what is left in it goes with the database at the end of the run."""
    store = connected(service, f"test-{uuid.uuid4().hex}", clock)
    try:
        yield store
    finally:
        store.close()
