"""A store that several processes of a test have open at once: how one tells another of it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from brain.store.base import Store
from brain.store.neo4j import Neo4jStore
from brain.store.sqlite import SqliteStore
from tests.store.neo4j_service import connected

VARIABLE = "STORE_OF_TEST"


def told(where: Path | tuple[Mapping[str, str], str]) -> dict[str, str]:
    """The environment of a process that is to open the same store: a folder, or a Neo4j and a deployment there."""
    told = str(where) if isinstance(where, Path) else json.dumps([dict(where[0]), where[1]])
    return {**os.environ, VARIABLE: told}


def opened() -> Store:
    """The store this process was told of."""
    where = os.environ[VARIABLE]
    if not where.startswith("["):
        return SqliteStore(where)
    service, deployment = json.loads(where)
    store: Neo4jStore = connected(service, deployment)
    return store
