"""A Neo4j that nobody has used yet."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from deploy.services import Services
from tests.store.neo4j_service import connected
from tests.store.opened import told
from tests.store.processes import answer_of, start


@pytest.fixture
def untouched(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """A server of its own: the one all tests share has its schema by now."""
    services = Services(tmp_path)
    try:
        yield services.start("neo4j")
    finally:
        services.remove()


@pytest.mark.slow
@pytest.mark.requirement("BR-STORE-008")
def test_four_processes_that_start_at_once_on_an_empty_database_make_its_schema_once(
    untouched: Mapping[str, str],
) -> None:
    environment, when = told((untouched, "first")), time.time() + 4
    names = [f"space_{number}" for number in range(4)]
    started = [start(environment, "tests.store.starting", when, name) for name in names]
    assert [answer_of(process) for process in started] == [1] * 4
    store = connected(untouched, "first")
    assert list(store.spaces()) == names
    store.close()
