"""The processes of a deployment, each started again when it has died."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from conformance.chaos.stores import ChaosStore
from conformance.redis_server import RedisServer
from conformance.servers import ROOT, free_port

OWNER = "uuc56-gyb"
ENDED = frozenset({"completed", "failed", "cancelled"})

_LOOK_S = 0.2
_START_S = 90.0
_STOP_S = 60.0
_POOL = 2
_READY = b'"event": "ready"'


@dataclass(eq=False)
class Supervised:
    """One process that is to be there: started again when it has ended, after a short pause."""

    name: str
    command: list[str]
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    starts: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self) -> None:
        """Start it unless it runs."""
        with self.lock:
            if self.process is None or self.process.poll() is not None:
                with self.log.open("ab") as sink:
                    self.process = subprocess.Popen(
                        self.command, cwd=ROOT, env=self.environment, stdout=sink, stderr=sink
                    )
                self.starts += 1

    def pids(self) -> list[int]:
        """The process and those it started, while they run."""
        process = self.process
        if process is None or process.poll() is not None:
            return []
        with suppress(OSError):
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            return [process.pid, *map(int, children)]
        return [process.pid]

    def signal(self, number: signal.Signals, pids: Sequence[int]) -> None:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)


class Deployment:
    """Two of each: API process, worker, clock. A context manager that ends them all."""

    def __init__(self, folder: Path, store: ChaosStore, redis: RedisServer) -> None:
        self.store = store
        self.redis = redis
        ports = [free_port() for _ in range(2)]
        self.urls = [f"http://127.0.0.1:{port}" for port in ports]
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("MODEL_", "SPACE_", "LLM_", "EMBEDDING_", "CELERY_"))
        }
        shared = {
            **clean,
            **store.environment(),
            "WORK_QUEUE": "celery",
            "REDIS_URL": self.redis.url,
            "SWEEP_INTERVAL_MS": "2000",
            "LEASE_TTL_MS": str(store.lease_ms),
            "WORKER_CONCURRENCY": str(_POOL),
            "SHUTDOWN_GRACE_MS": "5000",
        }
        self.apis = [
            self._made(folder, "api", number, {**shared, "LISTEN_ADDR": f"127.0.0.1:{port}"})
            for number, port in enumerate(ports)
        ]
        self.workers = [self._made(folder, "worker", number, shared) for number in range(2)]
        self.beats = [self._made(folder, "beat", number, shared) for number in range(2)]
        self._stopped = threading.Event()
        self._supervisor = threading.Thread(target=self._supervise, name="supervisor", daemon=True)

    def _made(self, folder: Path, what: str, number: int, environment: dict[str, str]) -> Supervised:
        command = [sys.executable, "-m", "brain", "serve" if what == "api" else what]
        return Supervised(f"{what}{number}", command, environment, folder / f"{what}{number}.log")

    @property
    def everything(self) -> list[Supervised]:
        """All processes but Redis and the store's."""
        return [*self.apis, *self.workers, *self.beats]

    def __enter__(self) -> Self:
        self._supervisor.start()
        self._wait_for_apis()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._supervisor.join(10)
        for one in self.everything:
            one.signal(signal.SIGKILL, one.pids())
            if one.process is not None:
                one.process.wait(20)

    def is_at_work(self, one: Supervised) -> bool:
        """Whether a process is up: an API process answers, a worker takes messages."""
        if one in self.apis:
            return _answers(self.urls[self.apis.index(one)])
        return bool(one.pids()) and (one not in self.workers or one.log.read_bytes().count(_READY) >= one.starts)

    def repair(self) -> None:
        """Wait until what was killed is back."""
        self._wait_for_apis()

    def stop(self) -> None:
        """Ask every process to stop, and wait until it has: the store is the judge's alone then."""
        self._stopped.set()
        self._supervisor.join(10)
        for one in self.everything:
            if one.process is not None:
                one.process.send_signal(signal.SIGTERM)
        for one in self.everything:
            if one.process is not None:
                one.process.wait(_STOP_S)

    def create_spaces(self, spaces: Sequence[str]) -> None:
        """Create the Spaces of a run."""
        for space in spaces:
            body = {"user": OWNER, "space_id": space, "tier": 3}
            httpx.post(f"{self.urls[0]}/admin/create_space", json=body, timeout=60).raise_for_status()

    def wait_until_settled(self, spaces: Sequence[str], seconds: float) -> float | None:
        """Seconds until every conversation of the Spaces had ended; None when for so long none ended any more."""
        begun = last = time.monotonic()
        ended = -1
        while time.monotonic() - last < seconds:
            with suppress(httpx.HTTPError):
                records = [record for space in spaces for record in conversations(self.urls[0], space)]
                now_ended = sum(record["status"] in ENDED for record in records)
                if now_ended == len(records):
                    return time.monotonic() - begun
                if now_ended > ended:
                    ended, last = now_ended, time.monotonic()
            time.sleep(1)
        return None

    def _supervise(self) -> None:
        while not self._stopped.is_set():
            for one in self.everything:
                one.keep()
            self._stopped.wait(_LOOK_S)

    def _wait_for_apis(self) -> None:
        end = time.monotonic() + _START_S
        for url in self.urls:
            while True:
                if _answers(url):
                    break
                if time.monotonic() > end:
                    raise RuntimeError(f"{url} does not answer; see the logs (--keep)")
                time.sleep(0.1)


def _answers(url: str) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(f"{url}/info", timeout=5).status_code == 200
    return False


def conversations(url: str, space: str) -> list[dict[str, object]]:
    """Every formation of a Space, as the API tells of them, by number."""
    found: list[dict[str, object]] = []
    cursor: str | None = None
    while True:
        asked: dict[str, str | int] = {"collection": "formation", "limit": 100}
        if cursor is not None:
            asked["cursor"] = cursor
        answer = httpx.get(f"{url}/v1/{space}/conversations", params=asked, timeout=30).raise_for_status().json()
        found = [*answer["result"], *found]
        cursor = answer.get("next_cursor")
        if cursor is None:
            return found
