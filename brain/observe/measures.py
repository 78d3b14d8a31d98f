"""What this service counts. No label has a Space's id, a name, a text or anything else that grows with use."""

from __future__ import annotations

import contextlib
import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from brain import __version__
from brain.agents.model import Usage
from brain.observe.metrics import (
    LONG_SECONDS,
    Counter,
    Family,
    Histogram,
    Recorder,
    Sample,
    State,
    gauge,
    text_of,
)
from brain.settings import OFFLINE_MODEL, Settings
from brain.store.base import Json

_MILLION = 1_000_000


class Measures:
    """The numbers of one process, by name. Every method is cheap and never fails."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._started = time.time()
        self.requests = Counter("brain_requests_total", "Answers given.", "route", "method", "status")
        self.request_seconds = Histogram("brain_request_seconds", "How long answers took.", "route", "method")
        self.errors = Counter("brain_errors_total", "Refusals and failures, by their code.", "code")
        self.passes = Counter("brain_passes_total", "Passes that ended, by how.", "queue", "outcome")
        self.pass_seconds = Histogram("brain_pass_seconds", "How long passes worked.", "queue", bounds=LONG_SECONDS)
        self.tokens = Counter("brain_model_tokens_total", "Tokens that providers reported.", "role", "direction")
        self.cost = Counter("brain_model_cost_total", "Their price, by MODEL_*_PRICE.", "role")
        self.model_calls = Histogram(
            "brain_model_call_seconds", "How long calls of the model took.", "outcome", bounds=LONG_SECONDS
        )
        self.store_seconds = Histogram(
            "brain_store_seconds", "How long the store took: begin includes the wait for other writers.", "operation"
        )
        self.recorder = Recorder(
            (
                self.requests,
                self.request_seconds,
                self.errors,
                self.passes,
                self.pass_seconds,
                self.tokens,
                self.cost,
                self.model_calls,
                self.store_seconds,
            )
        )

    def used(self, role: str, usage: Usage) -> None:
        """Count what a run of a role used, as far as the provider said."""
        spent = 0.0
        for direction, count, price in (
            ("input", usage.input_tokens, self._settings.model_input_price),
            ("output", usage.output_tokens, self._settings.model_output_price),
            ("cached", usage.cached_tokens, 0.0),
        ):
            if count:
                self.tokens.add(role, direction, by=count)
                spent += count * price / _MILLION
        if spent:
            self.cost.add(role, by=spent)

    def answered(self, response: Mapping[str, Json]) -> None:
        """Count the errors in a KIP response."""
        for result in (response, *(response.get("results") or ())):
            error = result.get("error") if isinstance(result, Mapping) else None
            if error:
                self.errors.add(str(error["code"]))

    def text(self, gauges: Iterable[Family] = (), others: Iterable[State] = ()) -> bytes:
        """Everything for Prometheus: the numbers of this process and of others, and what stands at a value."""
        return text_of([*self._about(), *gauges, *self.recorder.families(list(others))])

    def _about(self) -> Iterator[Family]:
        settings = self._settings
        model = OFFLINE_MODEL if not settings.has_provider else f"{settings.model_family}/{settings.model_name}"
        yield gauge(
            "brain_info",
            "What runs here.",
            {(__version__, settings.storage, settings.work_queue, model, platform.python_version()): 1},
            "version",
            "storage",
            "work_queue",
            "model",
            "python",
        )
        yield gauge("process_start_time_seconds", "When this process began to count.", self._started)
        yield Family("process_cpu_seconds_total", "Processor time used.", "counter", (), _one(time.process_time()))
        with contextlib.suppress(OSError, ValueError, IndexError):  # where there is no /proc, nothing is said
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            yield gauge("process_resident_memory_bytes", "Memory in use.", pages * os.sysconf("SC_PAGE_SIZE"))
            yield gauge(
                "process_open_fds", "Open files and connections.", sum(1 for _ in Path("/proc/self/fd").iterdir())
            )


def _one(value: float) -> list[Sample]:
    return [Sample((), value)]
