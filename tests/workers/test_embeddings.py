"""The runner lets every Space's vectors follow its texts, and a provider that fails hinders nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from brain.service.hosting import HOST
from brain.store.embedding import EmbeddingFailure, has_pending
from brain.store.hashing import HashEmbedder
from tests.service.world import World, served, until, world

pytestmark = pytest.mark.anyio


def search(home: World, text: str) -> dict[str, Any]:
    space = home.application.spaces.get("home")
    command = 'SEARCH CONCEPT :text MODE "semantic" LIMIT 5'
    answer: dict[str, Any] = space.engine.run(command, {"text": text}, session=HOST).response["results"][0]
    return answer


def is_indexed(home: World) -> bool:
    embedder = home.application.spaces.embedder
    return embedder is not None and not has_pending(home.application.spaces.get("home").store, embedder)


@pytest.mark.requirement("KI-CAP-008")
async def test_what_was_formed_is_found_by_likeness_soon_after(tmp_path: Path) -> None:
    home = world(tmp_path, embedding_family="builtin")
    home.create()
    async with served(home.application):
        await home.submit("the lighthouse keeper retired")
        await until(lambda: home.statuses() == ["completed"] and is_indexed(home))
        found = search(home, "lihgthouse keeper retird")
        assert found["result"]["hits"]


async def test_a_start_embeds_what_waits_of_earlier_times(tmp_path: Path) -> None:
    before = world(tmp_path)
    before.create()
    async with served(before.application):
        await before.submit("the lighthouse keeper retired")
        await until(lambda: before.statuses() == ["completed"])
    after = world(tmp_path, embedding_family="builtin")
    async with served(after.application):
        await until(lambda: is_indexed(after))


class Flaky(HashEmbedder):
    """Fails as long as it is told to."""

    is_down = True

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if self.is_down:
            raise EmbeddingFailure("provider_error", "no")
        return super().embed(texts)


async def test_while_the_provider_fails_memory_is_formed_and_later_embedded(tmp_path: Path) -> None:
    home = world(tmp_path)
    flaky = Flaky()
    home.application.spaces.embedder = flaky
    home.create()
    async with served(home.application):
        await home.submit("one", "two", "three")
        await until(lambda: home.statuses() == ["completed"] * 3)
        assert "error" in search(home, "one")
        flaky.is_down = False
        await until(lambda: is_indexed(home))
        assert search(home, "three")["result"]["hits"]
