"""Agents' runs and passes that are measured."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from brain.agents.jobs import Place
from brain.agents.model import Usage
from brain.observe.measures import Measures
from brain.observe.traces import Tracer
from brain.service.conversations import Collection

Job = TypeVar("Job")
Result = TypeVar("Result")


def counted(
    role: str, run: Callable[[Place, Job], Awaitable[Result]], measures: Measures, usage: Callable[[Result], Usage]
) -> Callable[[Place, Job], Awaitable[Result]]:
    """An agent whose usage, as `usage` finds it in what it came to, is counted under its role."""

    async def measured(place: Place, job: Job) -> Result:
        result = await run(place, job)
        measures.used(role, usage(result))
        return result

    return measured


class PassWatch:
    """Counts and times passes; the function it gives takes how one ended."""

    def __init__(self, measures: Measures, tracer: Tracer) -> None:
        self._measures = measures
        self._tracer = tracer

    @contextmanager
    def __call__(self, queue: Collection) -> Iterator[Callable[[str], None]]:
        outcome, started = "broke", time.perf_counter()

        def ended(how: str) -> None:
            nonlocal outcome
            outcome = how

        with self._tracer.span("pass", brain_queue=queue) as span:
            try:
                yield ended
            finally:
                self._measures.passes.add(queue, outcome)
                self._measures.pass_seconds.observe(time.perf_counter() - started, queue)
                if span is not None:
                    span.set_attribute("brain.outcome", outcome)
