"""Starting and stopping the services of one folder, whoever else does the same at the same time."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from deploy.services import ports
from deploy.services.errors import ServiceError
from deploy.services.neo4j_server import Neo4jServer
from deploy.services.process import Process
from deploy.services.redis_server import RedisServer

ROOT = Path(__file__).resolve().parents[2]
PORTS_TRIED = 4


class Server(Protocol):
    """One kind of service."""

    name: str
    start_seconds: float  # longest wait until it is ready
    stop_seconds: float  # longest wait for an orderly end

    def install(self) -> None:
        """Get what it needs; nothing when it is there. Raises ServiceError."""

    def variables(self, port: int, password: str) -> dict[str, str]:
        """Environment variables with which the application reaches it."""

    def prepare(self, folder: Path, port: int, password: str) -> list[str]:
        """Write its configuration into `folder`; the command that starts it. Raises ServiceError."""

    def ready(self, port: int, password: str) -> bool:
        """Whether it answers now."""

    def log(self, folder: Path) -> Path:
        """The file in which it says what went wrong."""


SERVERS: dict[str, Server] = {server.name: server for server in (RedisServer(), Neo4jServer())}


def last_lines(log: Path) -> str:
    """The end of a log, for an error message."""
    return "\n".join(log.read_text("utf-8", "replace").splitlines()[-15:]) if log.exists() else ""


@dataclass(frozen=True, slots=True)
class State:
    """One service as it is now. `pid` is None when it does not run; `variables` is empty when it never did."""

    name: str
    pid: int | None
    ready: bool
    variables: dict[str, str]


@dataclass(frozen=True, slots=True)
class Settings:
    """What is chosen at the first start and kept: the port while it is free, the password for good."""

    port: int
    password: str


class Services:
    """The services whose data, settings and processes are in one folder. It touches no process but theirs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()

    def start(self, name: str) -> dict[str, str]:
        """Start a service unless it runs, and wait until it answers.

        returns the environment variables with which to reach it
        raises  ServiceError when it cannot be installed, or ends instead of answering
        """
        server, process = SERVERS[name], Process(self.folder / name)
        with self._alone(name):
            settings = self._settings(name) or Settings(ports.choose(), secrets.token_urlsafe(24))
            # Perhaps its starter was killed before it was ready, or a child of it outlives it for a moment.
            if process.running() and self._await_ready(server, process, settings):
                return server.variables(settings.port, settings.password)
            for _ in range(PORTS_TRIED):
                if not ports.is_free(settings.port):
                    settings = Settings(ports.choose(), settings.password)
                self._keep(name, settings)
                process.spawn(server.prepare(process.folder, settings.port, settings.password))
                if self._await_ready(server, process, settings):
                    return server.variables(settings.port, settings.password)
                if ports.is_free(settings.port):  # so it was not for the port that it ended
                    logs = dict.fromkeys((server.log(process.folder), process.output))
                    said = "\n".join(last_lines(log) for log in logs)
                    raise ServiceError(f"{name} ended instead of starting:\n{said}")
            raise ServiceError(f"{name} found every port taken; the last was {settings.port}")

    def stop(self, name: str, *, now: bool = False) -> bool:
        """Stop a service and wait until it is gone; `now` without an orderly end. False when it did not run."""
        server, process = SERVERS[name], Process(self.folder / name)
        if not process.folder.is_dir():
            return False
        with self._alone(name):
            if not process.running():
                return False
            process.stop(0 if now else server.stop_seconds)
            return True

    def kill(self, name: str) -> None:
        """End a service with SIGKILL, as a failing machine would; its data stay. Nothing when it does not run."""
        self.stop(name, now=True)

    def state(self, name: str) -> State:
        """Whether a service runs and answers."""
        server, settings, pid = SERVERS[name], self._settings(name), Process(self.folder / name).pid()
        if settings is None:
            return State(name, pid, ready=False, variables={})
        ready = pid is not None and server.ready(settings.port, settings.password)
        return State(name, pid, ready, server.variables(settings.port, settings.password))

    def end_with(self, owner: Path) -> None:
        """Stop everything and remove the folder when whoever holds the lock (flock) of the file `owner` is gone."""
        guard = Process(self.folder / "guard")
        with self._alone("guard"):
            if not guard.running():
                command = [sys.executable, "-m", "deploy.services", "--dir", str(self.folder), "guard", str(owner)]
                guard.spawn(command, directory=ROOT)

    def remove(self) -> None:
        """Stop everything at once and remove the folder with all data."""
        for name in SERVERS:
            self.stop(name, now=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _await_ready(self, server: Server, process: Process, settings: Settings) -> bool:
        """True when it answers, False when it has ended. Raises ServiceError, and ends it, when it does neither."""
        deadline = time.monotonic() + server.start_seconds
        while time.monotonic() < deadline:
            if not process.running():
                return False
            if server.ready(settings.port, settings.password):
                return True
            time.sleep(0.05)
        process.stop(0)
        raise ServiceError(
            f"{server.name} did not answer within {server.start_seconds:.0f} s; see {server.log(process.folder)}"
        )

    def _settings(self, name: str) -> Settings | None:
        try:
            return Settings(**json.loads((self.folder / name / "settings.json").read_text("utf-8")))
        except FileNotFoundError:
            return None

    def _keep(self, name: str, settings: Settings) -> None:
        part = self.folder / name / "settings.json.part"
        part.touch(mode=0o600)
        part.write_text(json.dumps({"port": settings.port, "password": settings.password}), "utf-8")
        part.replace(part.with_suffix(""))

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """One starter or stopper of a service at a time; the system frees the lock of one that was killed."""
        folder = self.folder / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)
