"""A wire to a Bolt server that can be cut at a commit, before it is sent or before its answer is."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from enum import StrEnum
from urllib.parse import urlsplit

COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""The message by which a client asks to commit, as it stands on the wire."""


class Cut(StrEnum):
    """Where the wire breaks at the next commit."""

    NEVER = "never"
    BEFORE = "before"
    AFTER = "after"


class Wire:
    """Listens on a port of its own and passes everything on to a server and back.

    cut      where to break next; it is used up by the first commit
    is_down  whether it refuses whoever comes, from the next cut on
    """

    def __init__(self, uri: str) -> None:
        place = urlsplit(uri)
        self._server = (place.hostname, place.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.uri = f"bolt://127.0.0.1:{self._listener.getsockname()[1]}"
        self.cut = Cut.NEVER
        self.stays_down = False
        self.is_down = False
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def break_all(self) -> None:
        """Close every connection there is."""
        for end in list(self._open):
            _close(end)

    def close(self) -> None:
        _close(self._listener)
        self.break_all()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self.is_down:
                    _close(client)
                    continue
                server = socket.create_connection(self._server)
                self._open |= {client, server}
                threading.Thread(target=self._forth, args=(client, server), daemon=True).start()

    def _forth(self, client: socket.socket, server: socket.socket) -> None:
        """Pass on what the client says, and meanwhile what the server does."""
        quiet, answered = threading.Event(), threading.Event()
        threading.Thread(target=_back, args=(server, client, quiet, answered), daemon=True).start()
        with contextlib.suppress(OSError):
            while data := client.recv(65_536):
                if data.endswith(COMMIT) and self.cut is not Cut.NEVER:
                    if self.cut is Cut.AFTER:
                        quiet.set()
                        answered.clear()
                        server.sendall(data)
                        answered.wait(30)
                    self.cut = Cut.NEVER
                    self.is_down = self.stays_down
                    break
                server.sendall(data)
        for end in (client, server):
            _close(end)
        if self.is_down:
            self.break_all()


def _back(server: socket.socket, client: socket.socket, quiet: threading.Event, answered: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while data := server.recv(65_536):
            answered.set()
            if not quiet.is_set():
                client.sendall(data)
    _close(client)


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


@contextlib.contextmanager
def wire_to(uri: str) -> Iterator[Wire]:
    wire = Wire(uri)
    try:
        yield wire
    finally:
        wire.close()
