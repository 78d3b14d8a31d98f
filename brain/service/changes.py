"""The change stream of a Space: what was committed after a place, as the caller may know of it (KIP 2.0 §36).

A page is read by the caller's own `CHANGES`, so what is hidden from it is hidden here. Whoever has read everything
waits: one look a moment at the newest sequence of a Space serves all who follow it in this process, and shows what
other processes commit too. Nothing is kept for anybody: a follower is a place in the stream, and reads on from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import anyio
import structlog
from anyio.to_thread import run_sync

from brain import errors, logs
from brain.auth.credentials import AccessClosed
from brain.errors import Retry
from brain.service.callers import Caller
from brain.service.failures import InvalidInput, SpaceNotFound
from brain.service.spaces import OpenSpace, Spaces
from brain.store.base import SpaceMissing
from brain.times import Seq

log = structlog.get_logger(__name__)

T = TypeVar("T")

MOST_CHANGES = 100
_LOOK_EVERY_S = 0.2
_THREADS = 4
_NEWEST = "now"


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the stream to read on: behind what a cursor has shown, or behind a sequence.

    cursor  None where `after` counts
    after   None for behind the newest commit
    """

    cursor: str | None = None
    after: Seq | None = 0

    @classmethod
    def read(cls, cursor: str | None, after: str | None) -> Place:
        """The place a request names; the beginning when it names none. InvalidInput for one that is none."""
        if cursor is not None and after is not None:
            raise InvalidInput("send cursor or after, not both")
        if cursor is not None:
            return cls(cursor)
        if after == _NEWEST:
            return cls(after=None)
        if after is not None and not (after.isascii() and after.isdigit() and len(after) <= 15):
            raise InvalidInput(f"invalid after: it must be a sequence, a whole number, or {_NEWEST}")
        return cls(after=int(after or 0))


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the stream.

    rows      change envelopes in order, each with the cursor to go on behind it
    cursor    to go on behind the page, also where nothing of it could be shown
    through   the sequence the page reaches
    is_whole  whether there is nothing more just now
    """

    rows: tuple[tuple[str, dict[str, Any]], ...]
    cursor: str
    through: Seq
    is_whole: bool


@dataclass(slots=True)
class _Tide:
    """The newest sequence of one Space, while somebody here waits for it to move."""

    seq: Seq = -1
    waiting: int = 0
    is_over: bool = False
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    look: asyncio.Task[None] | None = None

    def tell(self) -> None:
        """Wake everybody who waits."""
        self.moved.set()
        self.moved = asyncio.Event()


class Changes:
    """Reads and awaits changes; of one event loop.

    timeout_ms  of one page
    is_over     whether this process is stopping, when nobody waits any more
    """

    def __init__(self, spaces: Spaces, *, timeout_ms: int, is_over: Callable[[], bool]) -> None:
        self._spaces = spaces
        self._timeout_ms = timeout_ms
        self._is_over = is_over
        self._tides: dict[str, _Tide] = {}
        self._threads = anyio.CapacityLimiter(_THREADS)

    def is_over(self) -> bool:
        """Whether followers should go, and come again elsewhere."""
        return self._is_over()

    async def page(self, space_id: str, place: Place, limit: int, caller: Caller) -> Page:
        """At most `limit` changes (1 to 100) behind a place.

        raises  SpaceNotFound; InvalidInput with the KIP error in its data for a cursor of another Space, of a history
                this Space has no more, or of nobody; AccessClosed for a caller who may not read history; a KipError
                that says when to come again
        """
        limit = min(max(limit, 1), MOST_CHANGES)
        return await self._in_space(space_id, lambda space: _page(space, place, limit, caller, self._timeout_ms))

    async def wait(self, space_id: str, seq: Seq, seconds: float) -> bool:
        """Wait for a commit after a sequence; whether there is one, or nothing more to wait for.

        Whoever stops waiting leaves nothing behind.
        """
        tide = self._tides.get(space_id)
        if tide is None:
            tide = self._tides[space_id] = _Tide()
            tide.look = asyncio.get_running_loop().create_task(self._look(space_id, tide))
        tide.waiting += 1
        try:
            with anyio.move_on_after(seconds):
                while tide.seq <= seq and not tide.is_over:
                    await tide.moved.wait()
        finally:
            tide.waiting -= 1
            if not tide.waiting:
                self._leave(space_id, tide)
        return tide.seq > seq or tide.is_over

    def followed(self) -> int:
        """Spaces somebody here waits for."""
        return len(self._tides)

    # --- how ----------------------------------------------------------------------------------------------------------

    async def _look(self, space_id: str, tide: _Tide) -> None:
        """Tell a tide how far its Space has come, until nobody waits."""
        is_well = True
        while not self.is_over():
            try:
                seq = await self._in_space(space_id, lambda space: space.store.head())
            except (SpaceNotFound, SpaceMissing):
                break
            except Exception as fault:  # noqa: BLE001 - a busy store may tell at the next look
                if is_well:  # told once, however long it goes on
                    log.warning("change_look_failed", space=space_id, **logs.fault(fault))
                is_well = False
            else:
                is_well = True
                if seq < tide.seq:
                    break  # a Space took the place of a longer one: who waits has to find out where it is
                if seq > tide.seq:
                    tide.seq = seq
                    tide.tell()
            await asyncio.sleep(_LOOK_EVERY_S)
        tide.is_over = True
        self._leave(space_id, tide)
        tide.tell()

    def _leave(self, space_id: str, tide: _Tide) -> None:
        if self._tides.get(space_id) is tide:
            del self._tides[space_id]
        if tide.look is not None and not tide.is_over:
            tide.look.cancel()

    async def _in_space(self, space_id: str, work: Callable[[OpenSpace], T]) -> T:
        def run() -> T:
            with self._spaces.use(space_id) as space:
                return work(space)

        return await run_sync(run, limiter=self._threads)


def _page(space: OpenSpace, place: Place, limit: int, caller: Caller, timeout_ms: int) -> Page:
    after = space.store.head() if place.after is None else place.after
    where, value = ("AFTER SEQ", after) if place.cursor is None else ("SINCE", place.cursor)
    response = space.engine.run(
        f"CHANGES {where} :place LIMIT :limit",
        {"place": value, "limit": limit},
        session=caller.reader(),
        options={"deadline_ms": timeout_ms},
    ).response
    answer = response["results"][0] if response["results"] else response
    if "error" in answer:
        raise _refused(answer["error"])
    context = answer["context"]
    through = context["extensions"]["brain/coverage"]["through_seq"]
    return Page(
        tuple(zip(_cursors(space, answer["result"]), answer["result"], strict=True)),
        context["cursor"],
        through,
        is_whole="next_cursor" not in answer,
    )


def _cursors(space: OpenSpace, envelopes: list[dict[str, Any]]) -> list[str]:
    """The change cursor behind each envelope, as a page that ended there would have it."""
    from brain.kip.cursor import Cursor, issue  # part of the engine, which there is by now

    if not envelopes:
        return []
    first, last = envelopes[0]["space_seq"], envelopes[-1]["space_seq"]
    with space.snapshot() as now:
        marks = {one.seq: one.record.get("receipt_digest", "") for one in now.commits(after=first - 1, until=last)}
    engine = space.engine
    seqs = [envelope["space_seq"] for envelope in envelopes]
    return [issue(Cursor("changes", engine.space_uri, seq, marks[seq], seq), engine.cursor_key) for seq in seqs]


def _refused(error: dict[str, Any]) -> Exception:
    """The failure of a page that the engine refused."""
    if error["code"] == errors.NotAuthorized.__name__:
        return AccessClosed(error["message"])
    if error["retry"]["class"] == Retry.SAFE_SAME_REQUEST:
        kind: type[errors.KipError] = getattr(errors, error["code"])
        return kind(error["message"], retry=Retry.SAFE_SAME_REQUEST, after_ms=error["retry"].get("after_ms"))
    return InvalidInput(f"{error['message']} {error['hint']}".strip(), error)
