"""A Redis of one's own (`deploy/services`), for tests and for chaos: killed, emptied and started again at will."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis

from deploy.services import Services

_NAME = "redis"


class RedisServer:
    """A running Redis whose files are below a folder; it keeps its address."""

    def __init__(self, folder: Path) -> None:
        self._services = Services(folder / "redis")
        self.url = self._services.start(_NAME)["REDIS_URL"]

    def start(self) -> None:
        """Start it again and wait until it answers.

        raises  RuntimeError when another program has taken its port meanwhile
        """
        if self._services.start(_NAME)["REDIS_URL"] != self.url:
            raise RuntimeError("somebody has taken the port of this Redis")

    def kill(self) -> None:
        """End it at once, with everything in it, as a broker may."""
        self._services.kill(_NAME)
        shutil.rmtree(self._services.folder / _NAME / "data", ignore_errors=True)

    def remove(self) -> None:
        """End it for good."""
        self._services.remove()

    @property
    def pid(self) -> int | None:
        """Of its process, while it runs."""
        return self._services.state(_NAME).pid

    def empty(self) -> None:
        """Delete everything in it."""
        self.client().flushall()

    def client(self) -> Redis:
        """A connection."""
        return Redis.from_url(self.url, socket_timeout=5, socket_connect_timeout=5)


@contextmanager
def redis_server(folder: Path) -> Iterator[RedisServer]:
    """A running Redis, ended with the block."""
    server = RedisServer(folder)
    try:
        yield server
    finally:
        server.remove()
