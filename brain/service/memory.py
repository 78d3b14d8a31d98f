"""Hosts' operations on what a Space remembers, beside formation and recall. What writes blocks."""

from __future__ import annotations

from time import monotonic
from typing import Any

import structlog

from brain.service import attention, entities, vocabulary
from brain.service.callers import Caller
from brain.service.inputs import ForgetInput, PinInput, PromoteInput, UserInput
from brain.service.queue import Queue
from brain.service.spaces import Spaces
from brain.service.turns import Turns
from brain.store.base import Document
from brain.times import Clock

log = structlog.get_logger(__name__)


_LOOKS = 4
"""Looks for what asks for attention at a time: anybody may ask a public Space."""


class Memory:
    """timeout_ms  a look for what asks for attention may take, waiting for its turn included

    Each method raises SpaceNotFound for a Space that is not there."""

    def __init__(self, spaces: Spaces, queue: Queue, clock: Clock, *, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self._looks = Turns(_LOOKS, of_one=_LOOKS // 2)
        self._spaces = spaces
        self._queue = queue
        self._clock = clock

    def pin(self, space_id: str, asked: PinInput) -> dict[str, Any]:
        """Keep an element out of retention archival, or no longer."""
        with self._spaces.use(space_id) as space:
            return entities.pin(space, asked.entity, asked.pinned)

    def forget(self, space_id: str, asked: ForgetInput) -> dict[str, Any]:
        """Purge elements, or tell what that would come to."""
        with self._spaces.use(space_id) as space:
            report = entities.forget(
                space, asked.entities, is_dry_run=asked.dry_run, queue=self._queue, clock=self._clock
            )
        faults = sum("error" in told for told in report["entities"])
        log.info("forgotten", space=space_id, dry_run=asked.dry_run, asked=len(report["entities"]), refused=faults)
        return report

    def user(self, space_id: str, asked: UserInput) -> Document:
        """The Person a user is known as."""
        with self._spaces.use(space_id) as space:
            return entities.get_or_init_user(space, asked.user, asked.name)

    async def attention(self, space_id: str, cursor: str | None, limit: int, caller: Caller) -> dict[str, Any]:
        """What fired and what fell due after a position; Unavailable when there was no time for it."""
        ends = monotonic() + self._timeout_ms / 1000

        def look() -> dict[str, Any]:
            from brain.agents.reading import Reading

            with self._spaces.use(space_id) as space:
                return attention.attention(Reading(space.engine, caller.reader(), ends=ends), cursor, limit)

        return await self._looks.run(space_id, look, ends)

    def promote(self, space_id: str, asked: PromoteInput) -> dict[str, Any]:
        """Make a draft symbol one with an installed one."""
        with self._spaces.use(space_id) as space:
            promoted = vocabulary.promote(space, asked.kind, asked.source, asked.target)
        log.info("symbol_promoted", space=space_id, symbol=promoted["promoted"], to=promoted["to"])
        return promoted

    def restart_formation(self, space_id: str, number: int) -> None:
        """Queue once more what failed."""
        with self._spaces.use(space_id) as space:
            self._queue.restart_formation(space, number)
        log.info("formation_restarted", space=space_id, conversation=number)
