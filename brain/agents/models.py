"""Which model answers: a provider's when one is configured, the key-free one otherwise, within one budget of calls."""

from __future__ import annotations

from dataclasses import replace

from anyio import CapacityLimiter

from brain.agents.model import Model, ModelAnswer, ModelRequest
from brain.settings import Settings


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


def model_for(settings: Settings) -> Model:
    """The model the settings choose; litellm is not imported before the first call to it."""
    if not settings.has_provider:
        from brain.agents.builtin import OfflineModel

        return OfflineModel()
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
