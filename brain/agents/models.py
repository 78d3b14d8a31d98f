"""Which model answers: a provider's when one is configured, the key-free one otherwise, within one budget of calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Lock

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from brain.agents.model import Model, ModelAnswer, ModelRequest
from brain.settings import BUILTIN_EMBEDDINGS, OFFLINE_MODEL, Settings
from brain.store.embedding import Embedder


class BudgetedModel:
    """A model whose calls share one budget; a call waits for its place and can be cancelled there.

    max_output, timeout_ms  bounds of one call, below which an agent may ask for less
    """

    def __init__(self, model: Model, most: int, *, max_output: int, timeout_ms: int) -> None:
        self.name = model.name
        self._model = model
        self._most = max(most, 1)
        self._max_output = max_output
        self._timeout_ms = timeout_ms
        self._places: CapacityLimiter | None = None

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        if self._places is None:  # made on the running loop, not where the settings were read
            self._places = CapacityLimiter(self._most)
        bounded = replace(
            request,
            max_output_tokens=min(request.max_output_tokens, self._max_output),
            timeout_ms=min(request.timeout_ms, self._timeout_ms),
        )
        async with self._places:
            return await self._model.answer(bounded)


class LateModel:
    """A model that is imported with its first call, in a thread, or by `load` before."""

    def __init__(self, name: str, make: Callable[[], Model]) -> None:
        self.name = name
        self._make = make
        self._made: Model | None = None
        self._lock = Lock()

    def load(self) -> Model:
        """The model itself, made once."""
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        model = self._made if self._made is not None else await run_sync(self.load)
        return await model.answer(request)


def model_for(settings: Settings) -> Model:
    """The model the settings choose; neither the built-in one nor litellm is imported before its first call."""
    if not settings.has_provider:
        return LateModel(OFFLINE_MODEL, _offline)
    from brain.agents.litellm_model import LitellmModel, Provider

    provider = Provider(
        family=settings.model_family,
        name=settings.model_name,
        api_key=settings.model_api_key.get_secret_value(),
        api_base=settings.model_api_base or None,
    )
    return BudgetedModel(
        LitellmModel(provider),
        settings.llm_max_concurrency,
        max_output=settings.model_max_output,
        timeout_ms=settings.model_timeout_ms,
    )


def embedder_for(settings: Settings) -> Embedder | None:
    """What the settings choose to compare texts with; None for search by words alone. litellm is not imported yet."""
    if not settings.embedding_family:
        return None
    if settings.embedding_family == BUILTIN_EMBEDDINGS:
        from brain.store.hashing import HashEmbedder

        return HashEmbedder()
    from brain.agents.litellm_embedder import LitellmEmbedder
    from brain.agents.litellm_model import Provider

    provider = Provider(
        family=settings.embedding_family,
        name=settings.embedding_name,
        api_key=settings.embedding_api_key.get_secret_value(),
        api_base=settings.embedding_api_base or None,
    )
    return LitellmEmbedder(
        provider,
        dimensions=settings.embedding_dimensions or None,
        batch=settings.embedding_batch,
        timeout_ms=settings.embedding_timeout_ms,
    )


def _offline() -> Model:
    from brain.agents.builtin import OfflineModel

    return OfflineModel()
