"""Spans for OpenTelemetry, where `OTEL_EXPORTER_OTLP_ENDPOINT` is set; otherwise nothing is imported or done.

A span tells what was done and for how long, never of what: no text, no name, no parameter of anybody's.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import structlog

from brain import __version__
from brain.settings import Settings, SettingsError

log = structlog.get_logger(__name__)

Span = Any
_NOTHING: AbstractContextManager[Span] = nullcontext()


class Tracer:
    """Makes spans once `start` was called, and nothing before or without it."""

    def __init__(self, settings: Settings) -> None:
        self._endpoint = settings.otel_exporter_otlp_endpoint
        self._begin: Callable[..., AbstractContextManager[Span]] | None = None
        self._provider: Any = None

    @property
    def is_on(self) -> bool:
        return self._begin is not None

    def start(self, *, exporter: Any = None) -> None:
        """Import the SDK and send spans from now on; nothing without an endpoint.

        exporter  takes the spans instead of the endpoint
        raises    SettingsError when the extra `otel` is not installed
        """
        if not self._endpoint or self.is_on:
            return
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as missing:
            raise SettingsError(
                "cannot trace: OTEL_EXPORTER_OTLP_ENDPOINT is set and the extra `otel` is not installed"
            ) from missing
        # The exporter reads the endpoint and its headers from the environment, as every OTLP client does; given in
        # another way it is the base address too.
        sink = exporter or OTLPSpanExporter(endpoint=f"{self._endpoint.rstrip('/')}/v1/traces")
        provider = TracerProvider(resource=Resource.create({"service.name": "brain", "service.version": __version__}))
        provider.add_span_processor(BatchSpanProcessor(sink))
        self._provider = provider
        self._begin = provider.get_tracer("brain", __version__).start_as_current_span

    def span(self, name: str, **attributes: str | int) -> AbstractContextManager[Span]:
        """A span around a block, within the one that is open; gives it, or None when there are none."""
        if self._begin is None:
            return _NOTHING
        # What an exception says may be somebody's text; how the work ended is told by attributes.
        return self._begin(
            name,
            attributes={key.replace("_", "."): value for key, value in attributes.items()},
            record_exception=False,
            set_status_on_exception=False,
        )

    def flush(self) -> None:
        """Send what is waiting."""
        if self._provider is not None:
            self._provider.force_flush(2_000)

    def stop(self) -> None:
        """Send what is waiting, then nothing more."""
        if self._provider is not None:
            self._begin = None
            self._provider.shutdown()
