"""What a deployment keeps its Spaces in: how it is started, killed and named to the processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from brain.settings import Settings, load_settings
from deploy.services.manager import Services


class ChaosStore(Protocol):
    """A store for one run; a context manager that starts and ends its database, where it has one.

    can_be_killed  whether it is a process of its own
    lease_ms       how long a lease lasts: longer than what a pass does between two looks at it, also while a database
                   that was just started plans every statement anew
    """

    can_be_killed: bool
    lease_ms: int

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def environment(self) -> dict[str, str]:
        """What the processes are told."""
        ...

    def settings(self) -> Settings:
        """The same for the judge, who looks when they have ended."""
        ...

    def kill(self) -> None:
        """End the database at once."""
        ...

    def start(self) -> None:
        """Start it again and wait until it answers."""
        ...


class SqliteFiles:
    """One file per Space in a folder; what kills its writers is all that can happen to it."""

    can_be_killed = False
    lease_ms = 3_000

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "spaces"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def environment(self) -> dict[str, str]:
        return {"STORAGE": "local", "LOCAL_DB_PATH": str(self._folder)}

    def settings(self) -> Settings:
        return load_settings(storage="local", local_db_path=self._folder, work_queue="embedded")

    def kill(self) -> None:
        raise RuntimeError("files cannot be killed")

    def start(self) -> None:
        raise RuntimeError("files need no start")


class Neo4jDatabase:
    """A Neo4j of the run's own (`deploy/services`), killed like everything else; its data stay."""

    can_be_killed = True
    lease_ms = 10_000

    def __init__(self, folder: Path) -> None:
        self._services = Services(folder / "services")
        self._variables: dict[str, str] = {}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._services.kill("neo4j")

    def environment(self) -> dict[str, str]:
        return {"STORAGE": "neo4j", **self._variables}

    def settings(self) -> Settings:
        given = {name.lower(): value for name, value in self._variables.items()}
        return load_settings(storage="neo4j", work_queue="embedded", **given)

    def kill(self) -> None:
        self._services.kill("neo4j")

    def start(self) -> None:
        self._variables = self._services.start("neo4j")


STORES: dict[str, Callable[[Path], ChaosStore]] = {"sqlite": SqliteFiles, "neo4j": Neo4jDatabase}
