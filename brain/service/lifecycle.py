"""What administrators do with a Space as a whole: flush, close, keep open, delete.

Of a deletion nothing can be undone, so it has to be asked for by the Space's own id, and it answers with what the store
held before and holds after. It may be cut off anywhere: the Space is there whole or gone, and asking again ends it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

from brain.service.failures import InvalidInput, SpaceNotFound, SpaceUnreadable, Unavailable
from brain.service.records import KEPT_OPEN, change_record
from brain.service.spaces import Spaces, check_space_id
from brain.store.base import Store
from brain.times import Clock

log = structlog.get_logger(__name__)

STOP_WAIT_S = 30.0
"""How long what was told to stop may take: a write in hand is always ended."""


class CloseSpaceInput(BaseModel):
    """How long what is in hand may take."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    timeout_ms: StrictInt = Field(default=30_000, ge=0, le=600_000)


class KeepOpenInput(BaseModel):
    """Whether a Space stays open although nobody uses it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kept_open: StrictBool


class DeleteSpaceInput(BaseModel):
    """The id of the Space once more: what is deleted cannot be brought back."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    confirm: StrictStr


class Lifecycle:
    """One method per operation, for the event loop; each raises SpaceNotFound.

    release       ends this process's background work on a Space and hands it back
    stop_recalls  ends the recalls under way in a Space here
    """

    def __init__(
        self,
        spaces: Spaces,
        store: Store,
        clock: Clock,
        *,
        release: Callable[[str], Awaitable[None]],
        stop_recalls: Callable[[str], None],
    ) -> None:
        self._spaces = spaces
        self._store = store
        self._clock = clock
        self._release = release
        self._stop_recalls = stop_recalls

    async def flush(self, space_id: str) -> dict[str, Any]:
        """Have all that was committed on the disk; the sequence up to which it is."""

        def flush() -> int:
            with self._spaces.use(space_id) as space:
                seq = space.store.head()
                space.store.flush()
                return seq

        return {"space_seq": await run_sync(flush)}

    async def close(self, space_id: str, asked: CloseSpaceInput) -> dict[str, Any]:
        """Let what is in hand end and close the Space in this process; whether it was open. The next access opens it.

        raises  Unavailable when that takes longer than asked for, and then it stays open
        """

        def close() -> bool:
            was_open = self._spaces.let_go(space_id, asked.timeout_ms / 1000)
            if not was_open and not self._store.exists(space_id):
                raise SpaceNotFound("space not found")
            return was_open

        check_space_id(space_id)
        was_open = await run_sync(close)
        log.info("space_closed", space=space_id, was_open=was_open)
        return {"closed": was_open}

    async def keep_open(self, space_id: str, asked: KeepOpenInput) -> dict[str, Any]:
        """Keep the Space open, in every process that opens it, or leave that to how it is used."""

        def keep() -> None:
            with self._spaces.use(space_id) as space, space.transaction() as tx:
                change_record(tx, lambda record: record.update({KEPT_OPEN: asked.kept_open}))

        await run_sync(keep)
        log.info("space_kept_open", space=space_id, is_kept_open=asked.kept_open)
        return {"kept_open": asked.kept_open}

    async def delete(self, space_id: str, asked: DeleteSpaceInput) -> dict[str, Any]:
        """Remove the Space with everything in it, and show that nothing is left.

        raises  InvalidInput unless it is confirmed; Unavailable when its work does not end, and then nothing was
                removed, or when the store fails, and then asking again goes on
        """
        check_space_id(space_id)
        if asked.confirm != space_id:
            raise InvalidInput(f"deleting cannot be undone: to delete the space, send its id {space_id!r} as confirm")
        with self._spaces.barred(space_id):
            instance = await run_sync(self._instance, space_id)
            if instance is None:
                return self._report(space_id, None, {}, {})
            await self.stop(space_id)
            report = await run_sync(self._remove, space_id, instance)
        log.info("space_deleted", space=space_id, rows=sum(report["before"].values()))
        return report

    async def stop(self, space_id: str) -> None:
        """End all work in a Space that was barred, and close it here; Unavailable when that takes too long."""
        await self._release(space_id)
        self._stop_recalls(space_id)
        await run_sync(self._spaces.let_go, space_id, STOP_WAIT_S)

    # --- how ----------------------------------------------------------------------------------------------------------

    def _instance(self, space_id: str) -> str | None:
        """Which Space it is, empty for one that cannot be read; None when its removal was begun, and is ended now."""
        if not self._store.exists(space_id):
            if space_id in self._store.finish_removals():
                return None
            raise SpaceNotFound("space not found")
        try:
            return self._spaces.instance_of(space_id)
        except SpaceUnreadable:
            return ""

    def _remove(self, space_id: str, instance: str) -> dict[str, Any]:
        before = self._store.holds(space_id, instance)
        self._store.delete(space_id)
        after = self._store.holds(space_id, instance)
        if self._store.exists(space_id) or any(after.values()):
            raise Unavailable("not all of the space could be removed; send the same request again")
        return self._report(space_id, instance, before, after)

    def _report(
        self, space_id: str, instance: str | None, before: dict[str, int], after: dict[str, int]
    ) -> dict[str, Any]:
        return {
            "space_id": space_id,
            "instance": instance,
            "deleted_at": self._clock.now_ms(),
            "before": before,
            "after": {kind: after.get(kind, 0) for kind in before},
        }
