"""Redis: the system's `redis-server`, with a password, on the loopback address, keeping what it was told."""

from __future__ import annotations

from pathlib import Path

from deploy.services import packages, ports

CONFIGURATION = """\
bind {address}
port {port}
requirepass {password}
dir {data}
appendonly yes
appendfsync everysec
save ""
maxmemory 256mb
maxmemory-policy noeviction
daemonize no
"""


class RedisServer:
    """How a Redis is installed, started and asked whether it is ready."""

    name = "redis"
    start_seconds = 60.0
    stop_seconds = 30.0

    def install(self) -> None:
        """`redis-server` on the search path, from the system's packages when this user may install them."""
        packages.require("redis-server", "redis-server")

    def variables(self, port: int, password: str) -> dict[str, str]:
        """What the application reads, docs/configuration.md."""
        return {"REDIS_URL": f"redis://:{password}@{ports.LOOPBACK}:{port}/0"}

    def prepare(self, folder: Path, port: int, password: str) -> list[str]:
        """Write the configuration; the command that starts the server."""
        data = folder / "data"
        data.mkdir(mode=0o700, exist_ok=True)
        configuration = folder / "redis.conf"
        configuration.touch(mode=0o600)
        text = CONFIGURATION.format(address=ports.LOOPBACK, port=port, password=password, data=f'"{data}"')
        configuration.write_text(text, "utf-8")
        return [packages.require("redis-server", "redis-server"), str(configuration)]

    def ready(self, port: int, password: str) -> bool:
        """Whether it answers: it says LOADING while it still reads its data."""
        expected = b"+OK\r\n+PONG\r\n"
        return ports.ask(port, f"AUTH {password}\r\nPING\r\n".encode(), len(expected)) == expected

    def log(self, folder: Path) -> Path:
        """Where it says what went wrong."""
        return folder / "output.log"
