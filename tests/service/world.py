"""A whole service in a test's hands: the real application on a folder of its own, with an obedient model."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx

from brain.agents.model import Model
from brain.app import Application, build
from brain.service import conversations
from brain.service.callers import Caller
from brain.service.hosting import HOST
from brain.service.inputs import FormationInput, MessageInput
from brain.settings import Settings
from brain.times import Clock
from tests.service.keeper import Keeper
from tests.services.fixtures import started

CALLER = Caller("tester", "test")
OWNER = "uuc56-gyb"

STORE = "BRAIN_TEST_STORE"
"""An environment variable: `neo4j` has every test that makes an application run on the Neo4j of the test run."""


def settings_for(folder: Path, **changed: Any) -> Settings:
    """Settings of a test: nothing from the environment, short pauses."""
    values: dict[str, Any] = {
        name: field.default for name, field in Settings.model_fields.items() if field.default is not None
    }
    values |= {"local_db_path": folder, "sqlite_durability": "normal", "sweep_interval_ms": 200}
    values |= store_of(folder)
    return Settings(_env_file=None, **{**values, **changed})


def store_of(folder: Path) -> dict[str, str]:
    """The settings that name the store of a folder, none for the files in it."""
    if os.environ.get(STORE) != "neo4j":
        return {}
    # A folder stands for a deployment: who is given the same one finds the same Spaces.
    deployment = hashlib.sha256(str(folder.absolute()).encode()).hexdigest()[:32]
    variables = {name.lower(): value for name, value in started("neo4j").items()}
    return {"storage": "neo4j", "neo4j_deployment": deployment, **variables}


@dataclass
class World:
    """One process's service."""

    application: Application
    keeper: Keeper

    @property
    def clock(self) -> Any:
        return self.application.queue._clock

    def create(self, space_id: str = "home", tier: int = 3) -> str:
        self.application.spaces.create(space_id, owner=OWNER, tier=tier)
        return space_id

    async def submit(self, *texts: str, space_id: str = "home") -> list[int]:
        """Accept one input per text; their conversations."""
        numbers = []
        for text in texts:
            said = FormationInput(messages=[MessageInput(role="user", name="Ana", content=text)])
            numbers.append((await self.application.brain.submit_formation(space_id, said, CALLER))["conversation"])
        return numbers

    async def work(self, space_id: str = "home", steps: int = 1_000) -> int:
        """Do queued entries until none can be taken now; how many."""
        space = self.application.spaces.get(space_id)
        for step in range(steps):
            if not await self.application.passes.step(space):
                return step
        return steps

    def record(self, number: int, collection: str = "formation", space_id: str = "home") -> dict[str, Any]:
        with self.application.spaces.get(space_id).snapshot() as now:
            found = conversations.read(now, collection, number)
        assert found is not None
        return dict(found)

    def statuses(self, collection: str = "formation", space_id: str = "home") -> list[str]:
        with self.application.spaces.get(space_id).snapshot() as now:
            count = conversations.count(now, collection)
        return [self.record(number, collection, space_id)["status"] for number in range(1, count + 1)]

    def kept(self, space_id: str = "home") -> list[str]:
        """What the keeper kept, in the order it was formed."""
        return [row[0] for row in self.find('FIND(?e.attributes.summary) WHERE { ?e {type: "Event"} }', space_id)]

    def find(self, command: str, space_id: str = "home") -> list[Any]:
        response = self.application.spaces.get(space_id).engine.run(command, session=HOST).response
        assert response["status"] == "succeeded", response
        rows: list[Any] = response["results"][0]["result"]
        return [row if isinstance(row, list) else [row] for row in rows]


def world(folder: Path, *, clock: Clock | None = None, keeper: Keeper | None = None, **changed: Any) -> World:
    """A service on a folder; whoever makes several on one folder has several processes' worth of them."""
    keeper = keeper or Keeper()
    return World(build(settings_for(folder, **changed), clock=clock, model=keeper), keeper)


@asynccontextmanager
async def served(application: Application) -> AsyncIterator[httpx.AsyncClient]:
    """The application over HTTP, with its background work running."""
    async with application.http.router.lifespan_context(application.http):
        transport = httpx.ASGITransport(application.http)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=30) as client:
            yield client


async def until(holds: Callable[[], Any], seconds: float = 10) -> None:
    """Wait until something holds."""
    with anyio.fail_after(seconds):
        while not holds():  # noqa: ASYNC110 - what is waited for has no event
            await anyio.sleep(0.01)


def with_model(folder: Path, model: Model | None, **changed: Any) -> Application:
    """The application alone; without a model the one the settings choose."""
    return build(settings_for(folder, **changed), model=model)
