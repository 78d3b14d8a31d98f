"""Traces: spans of a request, a pass, a model's call and the store's transactions, and nothing without an endpoint."""

from __future__ import annotations

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from brain.observe.traces import Tracer
from tests.observe.test_operating import SECRET, opened
from tests.service.world import settings_for


class Kept(SpanExporter):
    """Takes spans and keeps them."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def export(self, spans: object) -> SpanExportResult:
        self.spans += list(spans)  # type: ignore[call-overload]
        return SpanExportResult.SUCCESS


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
@pytest.mark.requirement("BR-OPS-020")
async def test_spans_tell_what_was_done_within_what_and_never_of_what(tmp_path: Path) -> None:
    kept = Kept()
    async with opened(tmp_path, otel_exporter_otlp_endpoint="http://127.0.0.1:1") as operator:
        operator.application.observed.tracer.start(exporter=kept)
        await operator.formed(f"My name is {SECRET} and I live in {SECRET}.")
        await operator.client.get(f"/v1/{operator.space}/info")
        operator.application.observed.tracer.stop()
    names = {span.name for span in kept.spans}
    assert names == {"http.request", "pass", "model.call", "store.transaction"}
    by_id = {span.context.span_id: span for span in kept.spans if span.context}
    [work] = [span for span in kept.spans if span.name == "pass"]
    assert dict(work.attributes or {}) == {"brain.queue": "formation", "brain.outcome": "completed"}
    calls = [span for span in kept.spans if span.name == "model.call"]
    assert {by_id[call.parent.span_id].name for call in calls if call.parent} == {"pass"}
    accepted = [span for span in kept.spans if (span.attributes or {}).get("http.route") == "/v1/{space_id}/formation"]
    assert [dict(span.attributes or {})["http.response.status_code"] for span in accepted] == [200]
    for span in kept.spans:
        told = f"{span.name} {dict(span.attributes or {})} {[event.attributes for event in span.events]}"
        assert SECRET not in told
        assert operator.space not in told


@pytest.mark.requirement("BR-OPS-020")
def test_spans_reach_the_collector_that_was_named(tmp_path: Path) -> None:
    heard: list[tuple[str, str | None, int]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            heard.append((self.path, self.headers["content-type"], len(body)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        endpoint = f"http://127.0.0.1:{server.server_address[1]}/"
        tracer = Tracer(settings_for(tmp_path, otel_exporter_otlp_endpoint=endpoint))
        assert tracer.span("before it was started").__enter__() is None
        tracer.start()
        with tracer.span("one"):
            pass
        tracer.stop()
        with tracer.span("after it was stopped") as span:
            assert span is None
        server.shutdown()
        thread.join()
    assert [(path, kind) for path, kind, _ in heard] == [("/v1/traces", "application/x-protobuf")]


@pytest.mark.requirement("BR-OPS-020", "BR-OPS-027")
def test_nothing_is_imported_for_what_was_not_asked_for() -> None:
    code = (
        "import sys, brain.serve, brain.app\n"
        "from brain.settings import Settings\n"
        "application = brain.app.build(Settings(_env_file=None, storage='memory'))\n"
        "application.warm()\n"
        "application.observed.measures.text(application.observed.gauges())\n"
        "print([name for name in ('opentelemetry', 'prometheus_client', 'redis', 'celery') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr
