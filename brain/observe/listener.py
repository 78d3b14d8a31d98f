"""A listener for operators' routes alone, on an address of its own, in a thread of its own."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from brain.observe.metrics import CONTENT_TYPE, State
from brain.observe.observed import Observed

Answer = tuple[int, str, bytes]
"""Status, media type, body."""

_PATIENCE_S = 10.0


class Listener:
    """Answers GET for a few paths.

    raises  OSError when the address is taken or not ours
    """

    def __init__(self, address: tuple[str, int], routes: Mapping[str, Callable[[], Answer]]) -> None:
        class Handler(BaseHTTPRequestHandler):
            timeout = _PATIENCE_S

            def do_GET(self) -> None:
                answer = routes.get(self.path.partition("?")[0])
                status, media_type, body = (404, "text/plain", b"") if answer is None else answer()
                self.send_response_only(status)
                for name, value in (("content-type", media_type), ("content-length", str(len(body)))):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Scrapes are no events."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET

            def handle_error(self, *_: Any) -> None:
                """A client that left is no event either."""

        self._server = Server(address, Handler)
        self.address = self._server.server_address[:2]
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.2}, name="metrics", daemon=True
        )

    def start(self) -> None:
        """Answer from now on."""
        self._thread.start()

    def close(self) -> None:
        """Stop answering."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


def routes_of(observed: Observed, others: Callable[[], list[State]] = list) -> dict[str, Callable[[], Answer]]:
    """The operators' routes of a process.

    others  numbers of further processes that are told with its own
    """

    def ready() -> Answer:
        verdict = observed.readiness.look()
        return 200 if verdict.is_ready else 503, "application/json", json.dumps(verdict.to_wire()).encode()

    def metrics() -> Answer:
        return 200, CONTENT_TYPE, observed.measures.text(observed.gauges(), others())

    return {"/healthz": _alive, "/readyz": ready, "/metrics": metrics}


def _alive() -> Answer:
    """Of `/healthz`: the process answers."""
    return 200, "application/json", b'{"alive":true}'
