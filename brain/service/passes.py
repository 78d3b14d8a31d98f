"""Background passes of one Space: take the next entry of its queue, work on it, end it.

A pass runs until its agent is done, its lease is lost, or its process stops. While it works its lease is renewed; when
that fails for good the agent is stopped at once, and what it was writing is refused at commit. Agents and stores work
in threads: a write in flight is always waited for, so that nothing of a pass goes on after it ended.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import anyio
import structlog
from anyio.to_thread import run_sync

from brain import logs
from brain.agents.jobs import FormationJob, MaintenanceJob, Place, RunResult, Said, Window
from brain.agents.model import Usage
from brain.errors import SerializationConflict
from brain.kip.context import Review, WriteSet
from brain.service.byok import OwnModels
from brain.service.conversations import Collection
from brain.service.entries import FORMATION, Taken
from brain.service.progress import messages_of, windows_left
from brain.service.queue import Queue
from brain.service.spaces import OpenSpace
from brain.settings import Settings
from brain.store.base import Document, Lease, LeaseLost, SpaceMissing, Transaction
from brain.times import Clock, timestamp

log = structlog.get_logger(__name__)

T = TypeVar("T")
Form = Callable[[Place, FormationJob], Awaitable[RunResult]]
Maintain = Callable[[Place, MaintenanceJob], Awaitable[RunResult]]
Settle = Callable[[OpenSpace, str, Mapping[str, Any], Lease], Document]

Watched = Callable[[Collection], AbstractContextManager[Callable[[str], None]]]
"""Entered for as long as a pass of a queue works; what it gives is told how the pass ended."""

_THREADS = 8
"""For the queue's own short transactions: agents that fill every other thread must not keep a lease from renewal."""


@dataclass(slots=True)
class _Pass:
    """What a pass under way knows of itself; `overran` tells, when it is cancelled, whether it took too long."""

    taken: Taken
    overran: Callable[[], bool]
    ended: Callable[[str], None]
    corrections: int = 0
    is_lost: bool = False
    has_ended: bool = False


def _unwatched(_: Collection) -> AbstractContextManager[Callable[[str], None]]:
    return nullcontext(lambda _: None)


class Passes:
    """Does the queued work of Spaces, one entry a step."""

    def __init__(
        self,
        *,
        clock: Clock,
        settings: Settings,
        queue: Queue,
        models: OwnModels,
        form: Form,
        maintain: Maintain,
        settle: Settle,
        watched: Watched | None = None,
    ) -> None:
        self._clock = clock
        self._settings = settings
        self._queue = queue
        self._models = models
        self._form = form
        self._maintain = maintain
        self._settle = settle
        self._watched = watched or _unwatched
        self._threads = anyio.CapacityLimiter(_THREADS)

    async def step(
        self, space: OpenSpace, only: Collection | None = None, *, overran: Callable[[], bool] = lambda: False
    ) -> bool:
        """Do the next entry; False when there is none to take now, or somebody else is at it.

        only     leave the entries of other queues alone
        overran  asked when the step is cancelled: whether because it took too long
        """
        taken = await self._in_thread(lambda: self._queue.take(space, only))
        if taken is None:
            return False
        with (
            structlog.contextvars.bound_contextvars(
                request_id=taken.request_id, space=space.id, collection=taken.collection, conversation=taken.number
            ),
            self._watched(taken.collection) as ended,
        ):
            await self._run(space, _Pass(taken, overran, ended))
        return True

    async def _run(self, space: OpenSpace, under_way: _Pass) -> None:
        try:
            # The lease is renewed until the end of the pass is written, which may have to wait for other writers.
            async with anyio.create_task_group() as group:
                group.start_soon(self._keep_lease, space, under_way, group.cancel_scope)
                await self._to_its_end(space, under_way)
                group.cancel_scope.cancel()
        except anyio.get_cancelled_exc_class():
            under_way.ended("handed_back")
            with anyio.CancelScope(shield=True):
                await self._hand_back(space, under_way)
            raise
        if under_way.is_lost:
            under_way.ended("lease_lost")
            log.warning("pass_lease_lost")

    async def _to_its_end(self, space: OpenSpace, under_way: _Pass) -> None:
        try:
            result = await self._result(space, under_way)
            if not under_way.is_lost:
                status = await self._finish(space, under_way, result)
                under_way.has_ended = True
                under_way.ended(status)
                self._tell(status, result)
        except LeaseLost:
            under_way.is_lost = True

    async def _result(self, space: OpenSpace, under_way: _Pass) -> RunResult:
        """What the agent came to."""
        try:
            return await self._work(space, under_way)
        except LeaseLost:
            raise
        except Exception as fault:  # noqa: BLE001 - whatever broke, the input keeps its place in the queue
            log.error("pass_broke", **logs.fault(fault))
            reason = "internal_error: the pass ended unexpectedly"
            return RunResult("", reason, Usage(), self._models.default.name, 0, "failed")

    async def _finish(self, space: OpenSpace, under_way: _Pass, result: RunResult) -> str:
        """Write how the pass ended; while other writers keep the Space busy, again and again under the lease."""
        while True:
            try:
                return await self._in_thread(
                    lambda: self._queue.finish(space, under_way.taken, result, under_way.corrections)
                )
            except SerializationConflict:
                log.warning("pass_end_delayed")

    async def _keep_lease(self, space: OpenSpace, under_way: _Pass, scope: anyio.CancelScope) -> None:
        """Renew the lease until cancelled; when it is lost, stop the pass."""
        pause = self._settings.lease_ttl_ms / 3000
        while True:
            await anyio.sleep(pause)
            try:
                under_way.taken = await self._in_thread(lambda: self._queue.renew(space, under_way.taken))
            except (LeaseLost, SpaceMissing):
                if not under_way.has_ended:
                    under_way.is_lost = True
                    scope.cancel()
                return
            except Exception as fault:  # noqa: BLE001 - a busy store may do it in time at the next try
                log.warning("lease_renewal_failed", **logs.fault(fault))

    async def _work(self, space: OpenSpace, under_way: _Pass) -> RunResult:
        taken = under_way.taken

        def review(written: WriteSet, tx: Transaction) -> None:
            # The engine answers a refusal as a failed write; that this one ends the pass is remembered here.
            try:
                self._queue.note_commit(taken, written, tx)
            except LeaseLost:
                under_way.is_lost = True
                raise

        def keep(messages: Sequence[Mapping[str, Any]], usage: Usage) -> None:
            self._queue.keep_transcript(space, taken, messages, usage)

        policy, model = await self._in_thread(lambda: self._models.terms(space))
        place = Place(
            space_id=space.id,
            engine=space.engine,
            self_id=space.self_id,
            model=model,
            clock=self._clock,
            attribution=policy.memory_attribution or self._settings.memory_attribution,
            transcript=keep,
        )
        stored = taken.input
        if taken.collection == FORMATION:
            return await self._formed(space, under_way, place, review)
        scope, parameters = stored["scope"], policy.cycle(stored["parameters"])
        settlement = await run_sync(lambda: self._settle(space, scope, parameters, taken.lease))
        under_way.corrections = settlement.get("new_corrections", 0)
        return await self._maintain(
            place,
            MaintenanceJob(
                scope=scope,
                trigger=stored["trigger"],
                formation_id=stored["formation_id"],
                settlement=settlement,
                commit_review=review,
                parameters=parameters,
            ),
        )

    async def _formed(self, space: OpenSpace, under_way: _Pass, place: Place, review: Review) -> RunResult:
        """Form an input, one pass for each of its windows; what the last of them came to."""
        taken = under_way.taken
        context = taken.input["context"]
        job = FormationJob(
            conversation=taken.number,
            messages=tuple(Said(**message) for message in messages_of(taken.input)),
            counterparty=context.get("counterparty"),
            agent=context.get("agent"),
            source=context.get("source"),
            topic=context.get("topic"),
            accepted_at=timestamp(taken.accepted_ms),
            commit_review=review,
        )
        started, rounds = time.monotonic(), 0
        *windows, last = windows_left(taken.input, taken.progress)
        for window in windows:
            result = await self._form(place, self._within(job, window, started, rounds))
            rounds += result.rounds
            # A pass that failed before it stored anything waits for its next round; one that used up what a run may
            # take ends the run. After one that failed half-way the messages that follow are read all the same.
            if result.failed_reason is not None and not (result.stopped == "failed" and result.committed):
                return result
            await self._end_window(space, under_way, window, result)
        return await self._form(place, self._within(job, last, started, rounds))

    def _within(self, job: FormationJob, window: Window, started: float, rounds: int) -> FormationJob:
        """One pass of a run, which has made so many model calls since it started."""
        return replace(job, window=window, used_rounds=rounds, used_ms=int((time.monotonic() - started) * 1000))

    async def _end_window(self, space: OpenSpace, under_way: _Pass, window: Window, result: RunResult) -> None:
        while True:
            try:
                await self._in_thread(lambda: self._queue.end_window(space, under_way.taken, window, result))
            except SerializationConflict:
                log.warning("pass_end_delayed")
            else:
                return

    async def _hand_back(self, space: OpenSpace, under_way: _Pass) -> None:
        """This process stops: leave the entry to the next one."""
        try:
            overran = under_way.overran()
            await self._in_thread(lambda: self._queue.hand_back(space, under_way.taken, overran=overran))
            log.info("pass_handed_back", overran=overran)
        except LeaseLost:  # or it had just ended
            log.warning("pass_lease_lost")
        except Exception as fault:  # noqa: BLE001 - the lease runs out, and the next holder judges what is there
            log.error("hand_back_failed", **logs.fault(fault))

    def _tell(self, status: str, result: RunResult) -> None:
        log.info(
            "pass_ended",
            status=status,
            stopped=result.stopped,
            reason=result.failed_reason.partition(":")[0] if result.failed_reason else None,
            rounds=result.rounds,
            commits=len(result.committed),
            model=result.model,
            input_tokens=result.usage.input_tokens,
            output_tokens=result.usage.output_tokens,
        )

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await run_sync(work, limiter=self._threads)
