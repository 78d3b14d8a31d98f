"""The real application over HTTP, with the key-free model, on a folder of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx
import neo4j
import pytest

from brain.app import build
from tests.service.world import OWNER, served, settings_for, store_of


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests run on asyncio, as the service does."""
    return "asyncio"


@dataclass
class Door:
    """A client with one Space made for it."""

    client: httpx.AsyncClient
    space: str

    async def post(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        if body is not None:
            more["json"] = body
        return await self.client.post(f"/v1/{self.space}/{path}", **more)

    async def get(self, path: str, **more: Any) -> httpx.Response:
        return await self.client.get(f"/v1/{self.space}/{path}", **more)

    async def result(self, path: str, body: Any = None) -> Any:
        answer = await (self.get(path) if body is None else self.post(path, body))
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    async def ended(self, number: int, collection: str = "formation") -> dict[str, Any]:
        with anyio.fail_after(20):
            while True:  # until it ended
                record: dict[str, Any] = await self.result(f"conversations/{number}?collection={collection}")
                if record["status"] in {"completed", "failed", "cancelled"}:
                    return record
                await anyio.sleep(0.02)

    async def formed(self, *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
        accepted = await self.result("formation", {"messages": list(messages), **more})
        return await self.ended(accepted["conversation"])

    async def kip(self, command: str, **parameters: Any) -> Any:
        answer = (await self.post("execute_kip_readonly", {"command": command, "parameters": parameters})).json()
        assert answer["status"] == "succeeded", answer
        return answer["results"][0]["result"]


@asynccontextmanager
async def opened(folder: Path, **settings: Any) -> AsyncIterator[Door]:
    """A served application with a Space called `home`."""
    async with served(build(settings_for(folder, **settings))) as client:
        made = await client.post("/admin/create_space", json={"user": OWNER, "space_id": "home", "tier": 3})
        assert made.status_code == 200, made.text
        yield Door(client, "home")


def said(content: str, name: str = "Ana Ruiz", **more: Any) -> dict[str, Any]:
    """One message of a person."""
    return {"role": "user", "name": name, "content": content, **more}


def holding(folder: Path, text: str) -> list[str]:
    """Files in which a text stands, and nodes in the database of the folder's Spaces, if they are in one."""
    files = [str(file) for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]
    return [*files, *_nodes_holding(store_of(folder), text)]


def _nodes_holding(store: Mapping[str, str], text: str) -> list[str]:
    if not store:
        return []
    login = (store["neo4j_user"], store["neo4j_password"])
    with neo4j.GraphDatabase.driver(store["neo4j_uri"], auth=login) as driver:
        found = driver.execute_query(
            "MATCH (s:Space {deployment: $deployment}) MATCH (n) WHERE n.space = s.space"
            " AND any(name IN keys(n) WHERE valueType(n[name]) STARTS WITH 'STRING' AND n[name] CONTAINS $text)"
            " RETURN labels(n) AS labels",
            deployment=store["neo4j_deployment"],
            text=text,
            database_=store["neo4j_database"],
        )
    return [" ".join(record["labels"]) for record in found.records]
