"""Server processes in a test's hands: started, killed, stopped, asked."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.service.world import store_of

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class ServerProcess:
    """One server; `said` is where its log lines go."""

    process: subprocess.Popen[bytes]
    url: str
    said: Path

    def get(self, path: str) -> Any:
        return httpx.get(f"{self.url}{path}", timeout=10).raise_for_status().json()["result"]

    def post(self, path: str, body: Any) -> Any:
        return httpx.post(f"{self.url}{path}", json=body, timeout=10).raise_for_status().json()["result"]

    def form(self, text: str, space: str = "home") -> int:
        """Post one message; its conversation."""
        message = {"role": "user", "name": "Ana", "content": text}
        number: int = self.post(f"/v1/{space}/formation", {"messages": [message]})["conversation"]
        return number

    def kill(self) -> None:
        """End it at once, whatever it does."""
        self.process.kill()
        self.process.wait(10)

    def stop(self, seconds: float = 20) -> int:
        """Ask it to stop; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def is_up(self) -> bool:
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"{self.url}/info", timeout=2).status_code == 200
        return False


@contextlib.contextmanager
def started(
    folder: Path, *arguments: str, module: str = "tests.service.server", wait: bool = True, **settings: Any
) -> Iterator[ServerProcess]:
    """A server over the Spaces of a folder, killed at the end of the block if it still runs."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("MODEL_", "SPACE_", "LLM_", "LOG_"))
    }
    environment = {
        **clean,
        "LISTEN_ADDR": f"127.0.0.1:{port}",
        "LOCAL_DB_PATH": str(folder),
        "LEASE_TTL_MS": "1000",
        "SWEEP_INTERVAL_MS": "200",
        **{name.upper(): str(value) for name, value in (store_of(folder) | settings).items()},
    }
    said = folder.parent / f"{folder.name}-{port}.log"
    with said.open("ab") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments], cwd=ROOT, env=environment, stdout=sink, stderr=sink
        )
    server = ServerProcess(process, f"http://127.0.0.1:{port}", said)
    try:
        if wait:
            wait_for(lambda: server.is_up() or process.poll() is not None, 30)
            assert process.poll() is None, said.read_text()
        yield server
    finally:
        if process.poll() is None:
            server.kill()


def wait_for(holds: Any, seconds: float) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.01)
