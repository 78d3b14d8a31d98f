"""The Neo4j and the Redis of one test run: started when the first test asks, shared by all workers, ended with the run.

Set SERVICES_DIR to a folder of `python -m deploy.services --dir` to use services that are started there and stay.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import pytest

from deploy.services import Services

FOLDER, OWNER, PREFIX = "SERVICES_DIR", "owner", "brain-services-"
# A run creates this file just before it locks it.
YOUNG_SECONDS = 60
_owned = pytest.StashKey[IO[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Give the run its folder, and hold the lock whose end is the end of the run. Workers find both set."""
    if not os.environ.get(FOLDER):
        clear_abandoned(Path(tempfile.gettempdir()))
        folder = tempfile.mkdtemp(prefix=PREFIX)
        owner = Path(folder, OWNER).open("w")  # noqa: SIM115 - held for the whole run
        fcntl.flock(owner, fcntl.LOCK_EX)
        os.environ[FOLDER] = folder
        config.stash[_owned] = owner


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what the run started. When this is not reached, the guard sees the lock fall and does the same."""
    if owner := config.stash.get(_owned, None):
        Services(Path(os.environ.pop(FOLDER))).remove()
        owner.close()


def clear_abandoned(place: Path) -> None:
    """Remove what runs left whose process and guard were both killed: nobody holds the lock of their `owner`."""
    for owner in place.glob(f"{PREFIX}*/{OWNER}"):
        with contextlib.suppress(OSError), owner.open() as handle:
            if time.time() - owner.stat().st_mtime > YOUNG_SECONDS:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                Services(owner.parent).remove()


def started(name: str) -> Mapping[str, str]:
    """Environment variables that reach this run's service, started if need be.

    raises  ServiceError, and so fails the test that needs it, when it cannot be started: nothing is skipped
    """
    folder = Path(os.environ[FOLDER])
    # Tests run many statements once each: code that is compiled fast serves them better than fast code.
    os.environ.setdefault("NEO4J_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
    services = Services(folder)
    if (folder / OWNER).exists():
        services.end_with(folder / OWNER)
    return services.start(name)


@pytest.fixture(scope="session")
def neo4j_service() -> Mapping[str, str]:
    """NEO4J_URI, _USER, _PASSWORD and _DATABASE of a Neo4j that all tests share: keep to Spaces of your own."""
    return started("neo4j")


@pytest.fixture(scope="session")
def redis_url() -> str:
    """A Redis that all tests share; each worker of pytest-xdist has a database of its own there."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 16
    return f"{started('redis')['REDIS_URL'].rsplit('/', 1)[0]}/{number}"
