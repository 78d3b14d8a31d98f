"""Where the tool keeps the Spaces it plays on: files of its own, or a Neo4j, by `--store`.

A Neo4j is the one NEO4J_URI and its siblings name, else one of the tool's own (`deploy/services`), which ends with it.
"""

from __future__ import annotations

import argparse
import atexit
import os
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from brain.store.base import Store
from brain.store.sqlite import SqliteStore
from brain.store.sqlite.connection import Durability
from brain.times import Clock

STORES = ("sqlite", "neo4j")


class Place(Protocol):
    """Holds the Spaces of one engine adapter."""

    def opened(self, clock: Clock) -> Store:
        """A store on what is there; again after the one before was closed, as after a restart."""
        ...

    def close(self) -> None:
        """Give back what was taken for it."""
        ...


class Files:
    """A temporary folder."""

    def __init__(self, durability: Durability) -> None:
        self._durability = durability
        self._folder = tempfile.TemporaryDirectory(prefix="brain-conformance-")

    def opened(self, clock: Clock) -> Store:
        return SqliteStore(Path(self._folder.name), clock=clock, durability=self._durability)

    def close(self) -> None:
        self._folder.cleanup()


class Neo4j:
    """A deployment of its own in a Neo4j that others may use too; its Spaces are deleted at the end."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._deployment = f"conformance-{uuid.uuid4().hex[:12]}"

    def opened(self, clock: Clock) -> Store:
        from brain.store.neo4j import Neo4jStore

        uri, user, password, database = (self._variables[f"NEO4J_{name}"] for name in _NAMES)
        return Neo4jStore(uri, user, password, database=database, deployment=self._deployment, clock=clock)

    def close(self) -> None:
        from brain.times import SystemClock

        store = self.opened(SystemClock())
        for space_id in store.spaces():
            store.delete(space_id)
        store.close()


_TRIPS = 300
_PROCESSOR = (
    'CALL dbms.queryJmx("java.lang:type=OperatingSystem") YIELD attributes RETURN attributes.ProcessCpuTime.value'
)
_NAMES = ("URI", "USER", "PASSWORD", "DATABASE")


def place(store: str, durability: Durability = "normal") -> Place:
    """A place in a store named by `STORES`."""
    return Neo4j(_neo4j()) if store == "neo4j" else Files(durability)


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add `--store`."""
    parser.add_argument("--store", choices=STORES, default=STORES[0], help="where Spaces are kept")


def settings_of(store: str) -> Mapping[str, str]:
    """What a serving process is told to keep its Spaces there; a Neo4j is shared with whoever else uses it."""
    return {"STORAGE": "neo4j", **_neo4j()} if store == "neo4j" else {}


def round_trip_ms() -> float:
    """The median of a bare driver's round trips to the Neo4j in use."""
    with bare_trips() as trip:
        return statistics.median(trip() for _ in range(_TRIPS))


@contextmanager
def bare_trips() -> Iterator[Callable[[], float]]:
    """What makes one round trip to the Neo4j in use, by a bare driver, and tells its milliseconds."""
    with _bare_session() as session:

        def trip() -> float:
            begun = time.perf_counter()
            session.run("RETURN 1").consume()
            return (time.perf_counter() - begun) * 1000

        yield trip


def database_s(store: str) -> float:
    """Processor time the database has taken since its start; NaN for one that is no process of its own."""
    if store != "neo4j":
        return float("nan")
    with _bare_session() as session:
        return float(session.run(_PROCESSOR).values()[0][0]) / 1e9


@contextmanager
def _bare_session() -> Iterator[Any]:
    import neo4j

    variables = _neo4j()
    login = (variables["NEO4J_USER"], variables["NEO4J_PASSWORD"])
    with (
        neo4j.GraphDatabase.driver(variables["NEO4J_URI"], auth=login) as driver,
        driver.session(database=variables["NEO4J_DATABASE"]) as session,
    ):
        yield session


@cache
def _neo4j() -> Mapping[str, str]:
    if os.environ.get("NEO4J_URI"):
        return {f"NEO4J_{name}": os.environ.get(f"NEO4J_{name}", "neo4j") for name in _NAMES}
    from deploy.services import Services

    folder = Path(tempfile.mkdtemp(prefix="brain-conformance-services-"))
    services = Services(folder)
    remove: Callable[[], None] = services.remove
    atexit.register(remove)
    return services.start("neo4j")
