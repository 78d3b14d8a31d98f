"""A worker's main process looks at its store, and forks: no connection is ever in two processes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.service.world import settings_for
from workers.observing import LateStore


def sockets() -> int:
    """How many this process has open."""
    found = 0
    for link in Path("/proc/self/fd").iterdir():
        try:
            found += str(link.readlink()).startswith("socket:")
        except FileNotFoundError:
            continue  # of the look itself
    return found


@pytest.mark.requirement("BR-OPS-009")
def test_a_process_of_the_pool_inherits_no_connection_to_the_database(
    tmp_path: Path, neo4j_service: Mapping[str, str]
) -> None:
    variables = {name.lower(): value for name, value in neo4j_service.items()}
    store = LateStore(settings_for(tmp_path, storage="neo4j", **variables))
    before = sockets()
    store.check()
    assert sockets() > before
    child = os.fork()
    if child == 0:
        os._exit(min(sockets() - before, 100))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    store.check()
    store.close()
    assert sockets() == before
