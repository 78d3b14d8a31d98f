"""A Redis of one's own, for tests and for chaos: on a free port, without files, killed and started again at will."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from conformance.servers import free_port

_START_S = 30.0


class RedisServer:
    """One `redis-server` process; keeps nothing when it ends, as a broker may."""

    def __init__(self, folder: Path) -> None:
        binary = shutil.which("redis-server")
        if binary is None:
            raise FileNotFoundError("redis-server is not installed (Debian: apt-get install redis-server)")
        self._binary = binary
        self._folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._process = subprocess.Popen(
            [self._binary, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + _START_S
        while True:
            with suppress(RedisError):
                if self.client().ping():
                    return
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("redis-server did not start")
            time.sleep(0.02)

    def kill(self) -> None:
        """End it at once, with everything in it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None

    @property
    def pid(self) -> int | None:
        """Of its process, while it runs."""
        return None if self._process is None else self._process.pid

    def empty(self) -> None:
        """Delete everything in it."""
        self.client().flushall()

    def client(self) -> Redis:
        """A connection."""
        return Redis.from_url(self.url, socket_timeout=5, socket_connect_timeout=5)


@contextmanager
def redis_server(folder: Path) -> Iterator[RedisServer]:
    """A running Redis, killed at the end of the block."""
    server = RedisServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()
