"""Every provider's embeddings, behind the Embedder promise, by way of litellm.

As with models, litellm is imported with the first call, and what a provider says when it fails stays here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from brain.agents.litellm_model import Provider, failure_kind, load_litellm, quieten
from brain.store.embedding import EmbeddingFailure

_HARMLESS = "memory"
"""A text that every provider embeds: whether it does now tells a refused text from a refused request."""

_ABOUT_TEXT = frozenset({"too_long", "refused"})
_REFUSED_REQUEST = frozenset({"BadRequestError", "UnprocessableEntityError"})


class LitellmEmbedder:
    """A provider's embeddings. Thread-safe.

    dimensions  size asked of the provider; None leaves it to the model
    batch       texts sent in one call, at most: providers differ in what they take
    One attempt is made for each call: whoever indexes tries again later, and a search says that it has no vector.
    """

    likeness = "meaning, as the model sees it"

    def __init__(
        self,
        provider: Provider,
        *,
        dimensions: int | None = None,
        batch: int = 32,
        timeout_ms: int = 30_000,
        load: Callable[[], ModuleType] | None = None,
    ) -> None:
        size = f"#{dimensions}" if dimensions else ""
        self.name = f"{provider.family}/{provider.name}{size}"
        self.dimensions = dimensions
        self._provider = provider
        self._batch = batch
        self._timeout_s = timeout_ms / 1000
        self._load = load or load_litellm

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `brain.store.embedding.Embedder`."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self._batch):
            vectors += self._call(texts[start : start + self._batch])
        return vectors

    def _call(self, texts: Sequence[str]) -> list[list[float]]:
        try:
            return self._ask(texts)
        except Exception as failed:  # noqa: BLE001 - litellm raises many kinds; each becomes one of ours
            kind = failure_kind(failed)
            refused = type(failed).__name__ in _REFUSED_REQUEST and self._takes_harmless()
            raise EmbeddingFailure(
                kind.reason, kind.text, is_about_text=refused or kind.reason in _ABOUT_TEXT
            ) from None

    def _takes_harmless(self) -> bool:
        try:
            return bool(self._ask([_HARMLESS]))
        except Exception:  # noqa: BLE001 - as above
            return False

    def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        litellm = self._load()
        quieten()
        arguments: dict[str, Any] = {
            "model": self._provider.route,
            "input": list(texts),
            "api_key": self._provider.api_key or None,
            "timeout": self._timeout_s,
            "encoding_format": "float",
            "drop_params": True,
        }
        if self._provider.api_base:
            arguments["api_base"] = self._provider.api_base
        if self.dimensions:
            arguments |= {"dimensions": self.dimensions, "allowed_openai_params": ["dimensions"]}
        answer = litellm.embedding(**arguments)
        found = sorted(answer.data or (), key=lambda item: int(item["index"]))
        return [[float(number) for number in item["embedding"]] for item in found]
