"""The real service behind a real socket, in this process: for what only bytes on a line can show."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from brain.app import Application
from brain.serve import Server, address_of, bind
from tests.service.world import OWNER, settings_for


@dataclass(frozen=True)
class Listening:
    """A service that listens."""

    url: str
    application: Application

    def sent(self, request: bytes, *, limit_s: float = 10) -> bytes:
        """Everything that comes back for these bytes until the service closes, or falls silent."""
        host, port = self.url.removeprefix("http://").rsplit(":", 1)
        pieces = []
        with socket.create_connection((host, int(port)), timeout=limit_s) as line:
            line.sendall(request)
            with contextlib.suppress(TimeoutError, ConnectionResetError):
                while piece := line.recv(65_536):
                    pieces.append(piece)
        return b"".join(pieces)

    def post(self, path: str, body: Any, **more: Any) -> httpx.Response:
        return httpx.post(f"{self.url}{path}", json=body, timeout=120, **more)


@contextlib.contextmanager
def listening(folder: Path, *, token: str | None = None, **settings: Any) -> Iterator[Listening]:
    """A service on a port of its own, with a Space `home` made by the bearer of a token."""
    given = settings_for(folder, **{"listen_addr": "127.0.0.1:0", **settings})
    with bind(given) as listener:
        server = Server(given)
        thread = threading.Thread(target=lambda: server.run(sockets=[listener]))
        thread.start()
        service = Listening(f"http://{address_of(listener)}", server.application)
        try:
            headers = {} if token is None else {"authorization": f"Bearer {token}"}
            made = service.post("/admin/create_space", {"user": OWNER, "space_id": "home", "tier": 3}, headers=headers)
            assert made.status_code == 200, made.text
            yield service
        finally:
            server.should_exit = True
            thread.join(30)
