"""A deployment in a test's hands: serving processes, workers, the clock and Redis, on one folder of Spaces."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr
from redis import Redis

from conformance.redis_server import RedisServer, redis_server
from tests.service.processes import ServerProcess, started, wait_for
from tests.service.world import World, world
from workers.celery_app import celery_app
from workers.kinds import Kind

START_S = 60.0


@dataclass
class Fleet:
    """`folder` holds the Spaces; every process is killed at the end."""

    folder: Path
    redis: RedisServer
    stack: ExitStack
    settings: dict[str, Any]
    processes: list[ServerProcess] = field(default_factory=list)

    def api(self, **settings: Any) -> ServerProcess:
        """A serving process that has imported what its first answers need."""
        api = self._start("serve", module="brain", **settings)
        httpx.get(f"{api.url}/v1/home/info", timeout=START_S).raise_for_status()
        return api

    def worker(self, *arguments: str, module: str = "brain", wait: bool = True, **settings: Any) -> ServerProcess:
        """A worker, which takes messages; `module="tests.workers.worker"` for one with the keeper as its model."""
        words = ("worker", *arguments) if module == "brain" else arguments
        worker = self._start(*words, module=module, wait=False, **settings)
        if wait:
            wait_for(lambda: self.told(worker, "ready") or worker.process.poll() is not None, START_S)
            assert worker.process.poll() is None, worker.said.read_text()
        return worker

    def keeper(self, **settings: Any) -> ServerProcess:
        return self.worker(module="tests.workers.worker", **settings)

    def beat(self, **settings: Any) -> ServerProcess:
        beat = self._start("beat", module="brain", wait=False, **settings)
        wait_for(lambda: self.told(beat, "beating") or beat.process.poll() is not None, START_S)
        return beat

    def _start(self, *arguments: str, **settings: Any) -> ServerProcess:
        process = self.stack.enter_context(started(self.folder, *arguments, **{**self.settings, **settings}))
        self.processes.append(process)
        return process

    def send(self, kind: Kind, *arguments: object) -> None:
        """Send a worker a message as anybody who reaches Redis can."""
        settings = self.look().application.settings.model_copy(update={"redis_url": SecretStr(self.redis.url)})
        celery_app(settings).send_task(kind.task, arguments, queue=kind.queue, ignore_result=True)

    def look(self) -> World:
        """The Spaces as they are now."""
        return world(self.folder)

    def told(self, process: ServerProcess, event: str) -> list[dict[str, Any]]:
        """The log lines of an event of a process."""
        written, _, _ = process.said.read_text().rpartition("\n")  # the last line may be on its way still
        lines = [json.loads(line) for line in written.splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == event]

    def formed(self, process: ServerProcess) -> list[tuple[str, int]]:
        """The inputs a process formed."""
        return [
            (line["space"], line["conversation"])
            for line in self.told(process, "pass_ended")
            if line["collection"] == "formation"
        ]


@contextmanager
def fleet(folder: Path, *spaces: str, **settings: Any) -> Iterator[Fleet]:
    """A Redis and a folder of Spaces; processes are started by the test."""
    made = world(folder / "spaces")
    for space in spaces:
        made.create(space)
    made.application.spaces.close()
    with redis_server(folder) as redis, ExitStack() as stack:
        defaults = {
            "work_queue": "celery",
            "redis_url": redis.url,
            "sweep_interval_ms": 1000,
            "lease_ttl_ms": 2000,
            "worker_concurrency": 2,
        }
        yield Fleet(folder / "spaces", redis, stack, {**defaults, **settings})


def statuses(home: Fleet, space: str = "home") -> list[str]:
    found = home.look()
    try:
        return found.statuses(space_id=space)
    finally:
        found.application.spaces.close()


def is_working(home: Fleet, number: int, space: str = "home") -> bool:
    return statuses(home, space)[number - 1] == "working"


def is_at_rest(redis: Redis) -> bool:
    """Whether no message waits in Redis or is with a worker, whose processes then have nothing to do."""
    return not redis.hlen("unacked") and not any(redis.llen(kind.queue) for kind in Kind)


def family(worker: ServerProcess) -> list[int]:
    """A worker's process and those it has forked."""
    pid = worker.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def when(holds: Callable[[], Any], seconds: float = 60) -> None:
    """Wait until something holds; a busy machine is given its time."""
    wait_for(holds, seconds)
