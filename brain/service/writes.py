"""Facts that callers know, written without a model: the same gate as Formation's, another pen."""

from __future__ import annotations

from time import monotonic
from typing import Any

import structlog

from brain import errors
from brain.kip import respond
from brain.service.callers import Caller
from brain.service.queries import Queries, one_lane
from brain.service.queue import Queue
from brain.service.spaces import Spaces
from brain.service.turns import TurnMissed
from brain.service.write_inputs import RememberInput, WriteInput
from brain.settings import Settings
from brain.times import Clock

log = structlog.get_logger(__name__)

_THREADS = 4
"""Requests that write at a time, of all Spaces."""

_OF_ONE = 2
"""Of one Space, which has one writer at a time in any case: the other one prepares meanwhile."""


class Writes:
    """Each method raises SpaceNotFound for a Space that is not there."""

    def __init__(self, spaces: Spaces, settings: Settings, clock: Clock, queue: Queue) -> None:
        self._spaces = spaces
        self._clock = clock
        self._settings = settings
        self._queue = queue
        self._timeout_ms = settings.kip_timeout_ms
        self._queries = Queries(settings.kip_timeout_ms, settings.kip_max_concurrency, one_lane(_THREADS, _OF_ONE))

    async def execute_kip(self, space_id: str, asked: WriteInput, caller: Caller) -> dict[str, Any]:
        """Run KIP that may write, for a bounded time: the KIP response, with every refusal in it.

        raises  InvalidInput for a request of another shape
        """
        request = asked.envelope(deadline_ms=self._timeout_ms)

        def ask(deadline_ms: int) -> dict[str, Any]:
            from brain.service.kip_writes import execute_kip  # the gate and the engine, which there are by now

            with self._spaces.use(space_id) as space:
                return execute_kip(space, asked, caller, self._clock, deadline_ms)

        try:
            response = await self._queries.answer(space_id, ask)
        except (errors.RateLimited, errors.ExecutionTimeout) as refused:
            return respond.refused(refused, request)
        log.info("kip_written", space=space_id, status=response["status"], operations=len(response["results"]))
        return response

    async def remember(self, space_id: str, asked: RememberInput, caller: Caller) -> dict[str, Any]:
        """Keep a document, all of it or nothing.

        raises  InvalidInput with every fault, Conflict for a key of another request, OverTier; Unavailable when there
                was no time for it, RateLimited and other KipErrors when it can be sent again
        """

        def keep(left_ms: int) -> dict[str, Any]:
            from brain.service.documents import Documents  # the agents and the engine, which there are by now

            ends = monotonic() + left_ms / 1000
            with self._spaces.use(space_id) as space:
                return Documents(self._settings, self._queue, self._clock, ends).remember(space, asked, caller)

        try:
            told = await self._queries.answer(space_id, keep)
        except errors.ExecutionTimeout:
            raise TurnMissed from None
        log.info("document_kept", space=space_id, conversation=told["conversation"], wrote=told["wrote"])
        return told
