"""Ports on the loopback address."""

from __future__ import annotations

import contextlib
import random
import socket

LOOPBACK = "127.0.0.1"
# Below the range from which systems take ports for outgoing connections, so that none is taken during a restart.
CANDIDATES = range(20_000, 32_000)


def is_free(port: int) -> bool:
    """Whether a server could listen on this port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def choose() -> int:
    """A free port; another program may still be quicker to take it."""
    return next(port for port in random.sample(CANDIDATES, len(CANDIDATES)) if is_free(port))


def ask(port: int, message: bytes, length: int) -> bytes:
    """What the server there answers: its first `length` bytes, fewer when it closes, none when nobody answers."""
    answer = b""
    with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port), timeout=2) as connection:
        connection.sendall(message)
        while len(answer) < length and (received := connection.recv(length - len(answer))):
            answer += received
    return answer
