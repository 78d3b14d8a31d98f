"""A model that is measured."""

from __future__ import annotations

import time

from brain.agents.model import Model, ModelAnswer, ModelRequest
from brain.observe.measures import Measures
from brain.observe.traces import Tracer


class MeasuredModel:
    """The same model, with the time its calls take told."""

    def __init__(self, model: Model, measures: Measures, tracer: Tracer) -> None:
        self.name = model.name
        self._model = model
        self._measures = measures
        self._tracer = tracer

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        started, outcome = time.perf_counter(), "failed"
        try:
            with self._tracer.span("model.call", model=self.name):
                answer = await self._model.answer(request)
            outcome = "answered"
            return answer
        finally:
            self._measures.model_calls.observe(time.perf_counter() - started, outcome)
