"""Which model answers: a provider's when one is configured, the key-free one otherwise, within one budget of calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from brain.agents.model import Model, ModelAnswer, ModelRequest
from brain.settings import BUILTIN_EMBEDDINGS, OFFLINE_MODEL, Settings
from brain.store.embedding import Embedder

if TYPE_CHECKING:
    from brain.agents.own_model import OwnProvider


class Shared(Protocol):
    """Places that several processes share."""

    def place(self) -> AbstractAsyncContextManager[None]:
        """A place until the end of the block; waits for it, and never fails."""
        ...


class Places:
    """How many calls there may be at a time, of every model that shares them.

    most    in this process
    shared  what bounds the calls of all processes of a deployment beside that, None for nothing
    """

    def __init__(self, most: int, shared: Shared | None = None) -> None:
        self._most = max(most, 1)
        self._shared = shared
        self._limiter: CapacityLimiter | None = None

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place until the end of the block; waits for it."""
        if self._limiter is None:  # of the running loop, which is not there yet where the settings are read
            self._limiter = CapacityLimiter(self._most)
        async with self._limiter:
            if self._shared is None:
                yield
                return
            async with self._shared.place():
                yield


class BudgetedModel:
    """A model whose calls share one budget; a call waits for its place and can be cancelled there.

    max_output, timeout_ms  bounds of one call, below which an agent may ask for less
    prepare                 what the first call needs and no place should be held for, run in a thread
    """

    def __init__(
        self,
        model: Model,
        places: Places,
        *,
        max_output: int,
        timeout_ms: int,
        prepare: Callable[[], object] | None = None,
    ) -> None:
        self.name = model.name
        self._prepare = prepare
        self._model = model
        self._places = places
        self._max_output = max_output
        self._timeout_ms = timeout_ms

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        bounded = replace(
            request,
            max_output_tokens=min(request.max_output_tokens, self._max_output),
            timeout_ms=min(request.timeout_ms, self._timeout_ms),
        )
        if self._prepare is not None:
            await run_sync(self._prepare)
            self._prepare = None
        async with self._places.place():
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


def model_for(settings: Settings, places: Places | None = None) -> Model:
    """The model the settings choose; neither the built-in one nor litellm is imported before its first call."""
    if not settings.has_provider:
        return LateModel(OFFLINE_MODEL, _offline)
    from brain.agents.litellm_model import LitellmModel, Provider, load_litellm

    provider = Provider(
        family=settings.model_family,
        name=settings.model_name,
        api_key=settings.model_api_key.get_secret_value(),
        api_base=settings.model_api_base or None,
    )
    return BudgetedModel(
        LitellmModel(provider, context_window=settings.model_context_window),
        places or Places(settings.llm_max_concurrency),
        max_output=settings.model_max_output,
        timeout_ms=settings.model_timeout_ms,
        prepare=load_litellm,
    )


def own_model_for(chosen: OwnProvider, settings: Settings, places: Places) -> Model:
    """The model one Space's managers chose, within the budget of all."""
    from brain.agents.litellm_model import load_litellm
    from brain.agents.own_model import OwnModel

    return BudgetedModel(
        OwnModel(chosen, settings.byok_allowed_hosts),
        places,
        max_output=settings.model_max_output,
        timeout_ms=settings.model_timeout_ms,
        prepare=load_litellm,
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
