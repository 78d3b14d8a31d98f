"""What an answer writes travels together, in its order, and is never held for long."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from brain.http.connections import Joined

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """As the service runs."""
    return "asyncio"


class Line(asyncio.Transport):
    """A transport that keeps what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []
        self.is_closed = False

    def write(self, data: Any) -> None:
        self.sent.append(bytes(data))

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    abort = close

    def get_write_buffer_size(self) -> int:
        return 0


def joined() -> tuple[Joined, Line]:
    line = Line()
    return Joined(line, asyncio.get_running_loop()), line


async def test_headers_and_body_of_an_answer_are_sent_as_one() -> None:
    transport, line = joined()
    for piece in (b"head", b"", b"body"):
        transport.write(piece)
    assert (line.sent, transport.get_write_buffer_size()) == ([], 8)
    transport.flush()
    transport.flush()
    assert (line.sent, transport.get_write_buffer_size()) == ([b"headbody"], 0)


async def test_a_piece_that_nothing_follows_is_sent_in_a_moment() -> None:
    transport, line = joined()
    transport.write(b"head")
    await asyncio.sleep(0.05)
    assert line.sent == [b"head"]
    transport.write(b"event")
    await asyncio.sleep(0.05)
    assert line.sent == [b"head", b"event"]


async def test_much_is_sent_at_once_so_that_its_sender_learns_to_wait() -> None:
    transport, line = joined()
    for _ in range(10):
        transport.write(b"x" * 40_000)
    assert sum(map(len, line.sent)) == 400_000
    assert transport.get_write_buffer_size() == 0


async def test_closing_sends_what_is_held_and_breaking_off_does_not() -> None:
    for end, sent in (("close", [b"bye"]), ("abort", [])):
        transport, line = joined()
        transport.write(b"bye")
        getattr(transport, end)()
        await asyncio.sleep(0.01)
        assert (line.sent, line.is_closed) == (sent, True)
        transport.write(b"late")  # to whom nobody listens any more
        await asyncio.sleep(0.01)
        assert line.sent == sent
