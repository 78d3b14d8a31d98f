"""Places for model calls that all processes of a deployment share, kept in its Redis.

A place is a lease: it stands in Redis until it is given back, or until nobody has renewed it for `LEASE_TTL_MS`, so the
places of a process that was killed come back by themselves. Processes that wait stand in one line and take a place
each in turn, so that a long queue in one of them keeps none of the others out.

One thread of a process speaks to Redis for all its calls, with one script that gives back, renews and takes: a busy
event loop loses no place. While Redis is away nobody waits for it, and each process bounds its own calls.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import structlog

from brain import logs
from brain.broker import redis_client
from brain.settings import Settings

if TYPE_CHECKING:
    from redis import Redis

log = structlog.get_logger(__name__)

KEYS = ("{brain.places}:held", "{brain.places}:line", "{brain.places}:seen")
"""Who holds a place, until when; which processes wait, since when; until when each of those counts as waiting."""

_ANSWER_S = 2.0
_LOOK_S = 0.05
"""How often a process that waits asks; up to half of it is added by chance."""

_PATIENCE_MS = 2_000
"""How long a process that waits and does not ask keeps its turn."""

_FIRST_BACK_OFF_S = 0.5
_LONGEST_BACK_OFF_S = 15.0

_SCRIPT = """
local held, line, seen = KEYS[1], KEYS[2], KEYS[3]
local process, wanted = ARGV[1], ARGV[2]
local most, ttl, patience = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local returned = tonumber(ARGV[6])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- What ends later than it can was written before the clock was set back; who is there writes it anew.
for key, longest in pairs({[held] = now + ttl, [seen] = now + patience}) do
  for _, late in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. longest, '+inf')) do
    redis.call('ZADD', key, longest, late)
  end
end
redis.call('ZREMRANGEBYSCORE', held, '-inf', now)
for at = 7, 6 + returned do redis.call('ZREM', held, ARGV[at]) end
for at = 7 + returned, #ARGV do redis.call('ZADD', held, now + ttl, ARGV[at]) end
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', now)) do
  redis.call('ZREM', seen, gone)
  redis.call('ZREM', line, gone)
end
local granted = 0
if wanted == '' then
  redis.call('ZREM', seen, process)
  redis.call('ZREM', line, process)
else
  redis.call('ZADD', line, 'NX', time[1] * 1000000 + time[2], process)
  redis.call('ZADD', seen, now + patience, process)
  -- The answer to an earlier try may have been lost on its way.
  local has_it = redis.call('ZSCORE', held, wanted)
  if has_it or redis.call('ZRANK', line, process) < most - redis.call('ZCARD', held) then
    redis.call('ZADD', held, now + ttl, wanted)
    redis.call('ZREM', seen, process)
    redis.call('ZREM', line, process)
    granted = 1
  end
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ttl + patience) end
return granted
"""


@dataclass(eq=False, slots=True)
class _Waiting:
    """A call that waits for a place; `place` once it has one, from when on it has to give it back."""

    loop: asyncio.AbstractEventLoop
    let_in: asyncio.Event = field(default_factory=asyncio.Event)
    place: str | None = None


class SharedPlaces:
    """At most `LLM_MAX_CONCURRENCY` calls at a time in all processes that share a Redis.

    For an asyncio loop, and for the process that asks first: nothing is connected or started before, so it may be made
    before a fork.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._most = max(settings.llm_max_concurrency, 1)
        self._ttl_ms = settings.lease_ttl_ms
        self._name = uuid.uuid4().hex
        self._taken = 0
        self._changed = threading.Condition()
        self._has_news = False
        self._waiting: deque[_Waiting] = deque()
        self._held: set[str] = set()
        self._returned: dict[str, float] = {}
        """Places to give back, and when there is nothing left to give back of each."""

        self._is_lost = False
        self._back_off_s = _FIRST_BACK_OFF_S
        self._thread: threading.Thread | None = None
        self._client: Redis | None = None
        self._script: Any = None

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place until the end of the block; waits for it, and never fails: without Redis there is one at once."""
        waiting = _Waiting(asyncio.get_running_loop())
        try:
            self._ask_for(waiting)
            await waiting.let_in.wait()
            yield
        finally:
            self._let_go(waiting)

    # --- in the loop's thread -----------------------------------------------------------------------------------------

    def _ask_for(self, waiting: _Waiting) -> None:
        with self._changed:
            if self._is_lost:
                self._let_in(waiting)
            else:
                self._waiting.append(waiting)
            self._tell()

    def _let_go(self, waiting: _Waiting) -> None:
        with self._changed:
            if waiting.place is None:
                self._waiting.remove(waiting)
            else:
                self._held.discard(waiting.place)
                self._returned[waiting.place] = self._end_of_lease()
            self._tell()

    def _tell(self) -> None:
        self._has_news = True
        if self._thread is None:
            self._thread = threading.Thread(target=self._look_after, name="model-places", daemon=True)
            self._thread.start()
        self._changed.notify()

    # --- in the thread that speaks to Redis ---------------------------------------------------------------------------

    def _look_after(self) -> None:
        while True:
            pause_s = self._settle()
            with self._changed:
                # What is told while Redis is away can wait until it is asked again.
                if self._is_lost or not self._has_news:
                    self._changed.wait_for(lambda: self._has_news and not self._is_lost, pause_s)
                self._has_news = False

    def _settle(self) -> float | None:
        """Give back, renew and take; seconds until that is due again, None for when there is news."""
        with self._changed:
            self._returned = {place: end for place, end in self._returned.items() if end > time.monotonic()}
            returned, held = list(self._returned), list(self._held)
            self._taken += 1
            wanted = f"{self._name}:{self._taken}" if self._waiting else ""
        if not (returned or held or wanted or self._is_lost):
            return None
        try:
            is_granted = self._ask(returned, held, wanted)
        except Exception as fault:  # noqa: BLE001 - whatever it is, calls go on without
            return self._go_on_without(fault, wanted)
        with self._changed:
            if self._is_lost:
                self._is_lost, self._back_off_s = False, _FIRST_BACK_OFF_S
                log.info("places_shared_again")
            for place in returned:
                del self._returned[place]
            if is_granted and self._waiting:
                self._let_in(self._waiting.popleft(), wanted)
            elif is_granted:  # who it was for has left meanwhile
                self._returned[wanted] = self._end_of_lease()
                return 0
            if self._waiting:
                return 0 if is_granted else _LOOK_S * random.uniform(1, 1.5)  # noqa: S311 - spreading load, not secrecy
            return self._ttl_ms / 3_000 if self._held else None

    def _ask(self, returned: list[str], held: list[str], wanted: str) -> bool:
        if self._client is None:
            self._client = redis_client(self._settings, _ANSWER_S)
            self._script = self._client.register_script(_SCRIPT)
        numbers = [self._most, self._ttl_ms, _PATIENCE_MS, len(returned)]
        return bool(self._script(keys=KEYS, args=[self._name, wanted, *numbers, *returned, *held]))

    def _go_on_without(self, fault: Exception, wanted: str) -> float:
        client, self._client = self._client, None
        if client is not None:  # else one that was a master would be asked for good
            with suppress(Exception):
                client.close()
        with self._changed:
            if wanted:  # which may have been given, and the answer lost
                self._returned[wanted] = self._end_of_lease()
            if not self._is_lost:
                self._is_lost = True
                log.warning("places_not_shared", meaning="each process bounds its own model calls", **logs.fault(fault))
            while self._waiting:
                self._let_in(self._waiting.popleft())
            pause_s, self._back_off_s = self._back_off_s, min(self._back_off_s * 2, _LONGEST_BACK_OFF_S)
            return pause_s

    def _end_of_lease(self) -> float:
        return time.monotonic() + self._ttl_ms / 1000

    def _let_in(self, waiting: _Waiting, place: str | None = None) -> None:
        """Give a call its place. One that Redis has not given is told it when it is back, and counts there."""
        self._taken += 1
        waiting.place = place or f"{self._name}:{self._taken}"
        self._held.add(waiting.place)
        with suppress(RuntimeError):  # its loop has ended, and so has the call
            waiting.loop.call_soon_threadsafe(waiting.let_in.set)
