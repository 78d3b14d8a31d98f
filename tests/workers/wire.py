"""A wire to a Redis that can be cut without a word, led elsewhere, or answered on in the server's stead."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

_COMMAND = re.compile(rb"(?:^|\r\n)\*\d+\r\n")


class Wire:
    """`url` is where it begins. Each connection keeps what it was made with: a dead one stays dead.

    target  where new connections lead
    answer  what every command is answered with on all of them instead of being passed on; b"" for nothing, None for
            what Redis itself says
    """

    def __init__(self, url: str) -> None:
        self.target = url
        self.answer: bytes | None = None
        self._lead: list[_Line] = []
        self._door = socket.create_server(("127.0.0.1", 0))
        password = urlsplit(url).password or ""
        self.url = f"redis://:{password}@127.0.0.1:{self._door.getsockname()[1]}/0"
        threading.Thread(target=self._accept, daemon=True).start()

    def drop(self) -> int:
        """From now on nothing goes through the connections there are, and nobody is told; how many there were."""
        for line in self._lead:
            line.is_dead = True
        return len(self._lead)

    def close(self) -> None:
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)  # else who waits at it lets one more in
        self._door.close()
        for line in self._lead:
            line.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._door.accept()
                where = urlsplit(self.target)
                try:
                    far = socket.create_connection((where.hostname or "", where.port or 0), 5)
                except OSError:
                    near.close()
                    continue
                self._lead.append(_Line(self, near, far))


class _Line:
    def __init__(self, wire: Wire, near: socket.socket, far: socket.socket) -> None:
        self.is_dead = False
        self._wire, self._near, self._far = wire, near, far
        for source, sink in ((near, far), (far, near)):
            threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def close(self) -> None:
        for end in (self._near, self._far):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                answer = self._wire.answer
                if self.is_dead:
                    continue
                if answer is None:
                    sink.sendall(data)
                elif source is self._near:
                    source.sendall(answer * len(_COMMAND.findall(data)))
        if not self.is_dead:
            self.close()


@contextmanager
def wire(url: str) -> Iterator[Wire]:
    """A wire to a Redis until the end of the block."""
    made = Wire(url)
    try:
        yield made
    finally:
        made.close()
