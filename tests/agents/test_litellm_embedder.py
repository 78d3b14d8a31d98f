"""Embeddings of real providers behind the Embedder promise, shown against a local OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from brain.agents.litellm_embedder import LitellmEmbedder
from brain.agents.litellm_model import Provider
from brain.service.hosting import HOST
from brain.service.spaces import OpenSpace
from brain.store.embedding import EmbeddingFailure, index_pending
from tests.agents.openai_server import ScriptedServer, hang, serving, status
from tests.service.world import world


@pytest.fixture(scope="module")
def shared_server() -> Iterator[ScriptedServer]:
    with serving() as server:
        yield server


@pytest.fixture
def server(shared_server: ScriptedServer) -> ScriptedServer:
    shared_server.steps.clear()
    shared_server.asked.clear()
    return shared_server


def embedder(server: ScriptedServer, dimensions: int | None = None, **kwargs: int) -> LitellmEmbedder:
    return LitellmEmbedder(
        Provider("openai", "fake-embedding", "sk-very-secret", server.url), dimensions=dimensions, **kwargs
    )


def test_every_text_has_its_vector_in_the_order_of_the_texts(server: ScriptedServer) -> None:
    assert embedder(server, batch=2).embed(["ab", "c", "def"]) == [[2.0, 97.0], [1.0, 99.0], [3.0, 100.0]]
    assert [asked["input"] for asked in server.asked] == [["ab", "c"], ["def"]]
    assert {asked["model"] for asked in server.asked} == {"fake-embedding"}


def test_vectors_of_another_size_have_another_name(server: ScriptedServer) -> None:
    assert embedder(server).name == "openai/fake-embedding"
    assert embedder(server, 64).name == "openai/fake-embedding#64"
    embedder(server, 64).embed(["a"])
    assert server.asked[0]["dimensions"] == 64
    assert "very-secret" not in repr(vars(embedder(server)))


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (status(401), "not_configured"),
        (status(429), "rate_limited"),
        (status(500), "provider_error"),
        (hang(2.0), "timeout"),
    ],
)
def test_a_failure_has_a_stable_code_and_nothing_of_the_providers_words(
    server: ScriptedServer, step: dict[str, object], reason: str
) -> None:
    server.steps = [step]
    with pytest.raises(EmbeddingFailure) as failed:
        embedder(server, timeout_ms=500).embed(["a"])
    assert failed.value.reason == reason
    assert not failed.value.is_about_text
    assert "secret" not in str(failed.value)
    assert "leak" not in str(failed.value)


@pytest.fixture
def written(tmp_path: Path) -> OpenSpace:
    """A Space with three texts of ours, one of which the provider refuses."""
    home = world(tmp_path)
    home.create()
    space = home.application.spaces.get("home")
    for name in ("Ann", "forbidden fruit", "Ben"):
        space.engine.run('MUTATE { CREATE CONCEPT ?c {TYPE "Person" NAME :name} }', {"name": name}, session=HOST)
    return space


def test_one_refused_text_keeps_no_other_from_its_vector(server: ScriptedServer, written: OpenSpace) -> None:
    done = index_pending(written.store, embedder(server))
    assert done.skipped == 1
    assert done.done >= 3
    assert index_pending(written.store, embedder(server)).done == 0


def test_a_provider_that_refuses_every_request_skips_no_text(server: ScriptedServer, written: OpenSpace) -> None:
    server.steps = [status(400), status(400)]
    with pytest.raises(EmbeddingFailure):
        index_pending(written.store, embedder(server))
    server.steps = []
    assert index_pending(written.store, embedder(server)).skipped == 1
