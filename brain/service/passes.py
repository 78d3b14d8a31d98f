"""Background passes of one Space: formation in arrival order, maintenance between, never two at once.

The truth is in the Space's store: an accepted input is a conversation and a queue entry in one transaction; a pass
holds the Space's `pass` lease, renews it while it works, and every write it makes checks the lease's fencing token. So
any number of processes may try, one works, and a process that died is replaced when its lease runs out.

A pass cut short is taken up again only when its conversation shows that it committed nothing; otherwise it ends as
failed with an unknown outcome, because what it still meant to write cannot be known (BR-FORM-038).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from anyio.to_thread import run_sync

from brain.agents.jobs import FormationJob, MaintenanceJob, Place, RunResult, Said
from brain.agents.model import Model, Usage
from brain.kip.context import WriteSet
from brain.service import conversations, ledger
from brain.service.conversations import Collection
from brain.service.failures import Busy
from brain.service.spaces import OpenSpace
from brain.settings import Settings
from brain.store.base import Document, Lease, LeaseLost, Transaction, Work, WorkStatus
from brain.times import Clock, timestamp

log = structlog.get_logger(__name__)

PASS_LEASE = "pass"  # noqa: S105 - a lease's name, no password
FORMATION, MAINTENANCE = "formation", "maintenance"
_RETRY_AFTER_MS = (1_000, 60_000, 600_000)
_GIVE_UP_ROUNDS = 3
_GIVE_UP_AFTER_MS = 30 * 60_000
_MISS_CACHE = "probe_misses"

Form = Callable[[Place, FormationJob], Awaitable[RunResult]]
Maintain = Callable[[Place, MaintenanceJob], Awaitable[RunResult]]
Settle = Callable[[OpenSpace, str, Mapping[str, Any], Lease], Document]


@dataclass(frozen=True, slots=True)
class _Taken:
    """Work in hand, with the lease it is done under."""

    work: Work
    lease: Lease
    record: Document


class Passes:
    """Takes work of a Space and does it, one entry a step."""

    def __init__(
        self,
        *,
        clock: Clock,
        settings: Settings,
        holder: str,
        model: Model,
        form: Form,
        maintain: Maintain,
        settle: Settle,
    ) -> None:
        self._clock = clock
        self._settings = settings
        self._holder = holder
        self._model = model
        self._form = form
        self._maintain = maintain
        self._settle = settle

    # --- accepting ----------------------------------------------------------------------------------------------------

    def accept_maintenance(self, space: OpenSpace, stored: Document, *, user: str) -> int:
        """Queue one cycle, at once or not at all.

        raises  Busy while a pass of this Space is at work or a cycle is already waiting
        """
        with space.transaction() as tx:
            if self._is_held(tx) or tx.work(MAINTENANCE, limit=1):
                raise Busy("the space is processing another pass; try again when it has ended")
            return self._queue_cycle(tx, stored, user)

    def _queue_cycle(self, tx: Transaction, stored: Document, user: str) -> int:
        now = self._clock.now_ms()
        number = conversations.open_conversation(
            tx, "maintenance", user=user, messages=[], stored_input=stored, now_ms=now
        )
        tx.enqueue(MAINTENANCE, {"conversation": number})
        return number

    def _is_held(self, tx: Transaction) -> bool:
        lease = tx.lease(PASS_LEASE)
        return lease is not None and lease.expires_ms > self._clock.now_ms()

    # --- working ------------------------------------------------------------------------------------------------------

    def has_work(self, space: OpenSpace) -> bool:
        """Whether there is an entry to take now, or one whose holder may have died."""
        now = self._clock.now_ms()
        with space.snapshot() as snapshot:
            return bool(takeable(snapshot.work(MAINTENANCE), now) or takeable(snapshot.work(FORMATION), now))

    def wait_ms(self, space: OpenSpace) -> int | None:
        """Until when nothing can be taken (a waiting round, another holder's lease); None without any work."""
        now = self._clock.now_ms()
        with space.snapshot() as snapshot:
            entries = [*snapshot.work(MAINTENANCE), *snapshot.work(FORMATION)]
            lease = snapshot.lease(PASS_LEASE)
        if not entries:
            return None
        due = min(0 if work.status is WorkStatus.RUNNING else work.not_before for work in entries)
        return max(due, lease.expires_ms if lease else 0, now) - now

    async def step(self, space: OpenSpace) -> bool:
        """Do the next entry; False when there is none to take now, or another process is at it."""
        taken = await run_sync(self._take, space)
        if taken is None:
            return False
        collection: Collection = "formation" if taken.work.queue == FORMATION else "maintenance"
        space.pins += 1
        try:
            await self._run(space, collection, taken)
        except LeaseLost:
            log.warning("pass_lease_lost", space=space.id, conversation=taken.record["_id"])
        finally:
            space.pins -= 1
        return True

    async def _run(self, space: OpenSpace, collection: Collection, taken: _Taken) -> None:
        run = asyncio.ensure_future(self._work(space, collection, taken))
        try:
            while not run.done():
                await asyncio.wait({run}, timeout=self._settings.lease_ttl_ms / 3000)
                if not run.done():
                    await run_sync(self._renew, space, taken.lease)
            result = run.result()
        except asyncio.CancelledError:
            run.cancel()
            with contextlib.suppress(BaseException):
                await run
            await asyncio.shield(run_sync(self._interrupt, space, collection, taken))
            raise
        except LeaseLost:
            run.cancel()
            raise
        except Exception:
            log.exception("pass_failed", space=space.id, collection=collection, conversation=taken.record["_id"])
            result = RunResult(
                "", "internal_error: the pass ended unexpectedly", Usage(), self._model.name, 0, "failed"
            )
        await run_sync(self._finish, space, collection, taken, result)

    async def _work(self, space: OpenSpace, collection: Collection, taken: _Taken) -> RunResult:
        stored: Mapping[str, Any] = taken.record["input"]
        number: int = taken.record["_id"]
        place = Place(
            space_id=space.id,
            engine=space.engine,
            self_id=space.self_id,
            model=self._model,
            clock=self._clock,
            attribution=self._settings.memory_attribution,
            transcript=lambda messages, usage: self.keep_transcript(space, collection, number, messages, usage),
        )

        def review(written: WriteSet, tx: Transaction) -> None:
            self._note_commit(collection, number, taken.lease, written, tx)

        if collection == "formation":
            return await self._form(place, _job(number, stored, taken.record, review))
        settlement = await run_sync(self._settle, space, stored["scope"], stored["parameters"], taken.lease)
        return await self._maintain(
            place,
            MaintenanceJob(
                scope=stored["scope"],
                trigger=stored["trigger"],
                formation_id=stored["formation_id"],
                settlement=settlement,
                commit_review=review,
                parameters=stored["parameters"],
            ),
        )

    def _take(self, space: OpenSpace) -> _Taken | None:
        """The next entry under the lease, or None; entries of a holder that died are judged on the way."""
        now = self._clock.now_ms()
        if not self.has_work(space):
            return None
        with space.transaction() as tx:
            before = tx.lease(PASS_LEASE)
            if before is not None and before.expires_ms > now:
                return None  # someone is at it, this process included: one pass at a time
            lease = tx.acquire_lease(PASS_LEASE, self._holder, ttl_ms=self._settings.lease_ttl_ms, now_ms=now)
            if lease is None:
                return None
            for queue in (MAINTENANCE, FORMATION):
                for work in takeable(tx.work(queue), now):
                    collection: Collection = "formation" if queue == FORMATION else "maintenance"
                    record = conversations.read(tx, collection, work.payload["conversation"])
                    if record is None:
                        tx.delete_work(work.id)
                    elif work.status is WorkStatus.RUNNING and record.get("committed"):
                        self._close_as_unknown(tx, collection, work, record)
                    else:
                        begun = tx.begin_work(work.id, now)
                        record = conversations.change(tx, collection, record["_id"], now, status="working")
                        if collection == "maintenance":
                            self._note_start(tx, record["input"]["scope"], now)
                        return _Taken(begun, lease, record)
            tx.release_lease(lease)
            return None

    def _note_start(self, tx: Transaction, scope: str, now: int) -> None:
        progress = ledger.progress(tx)
        ledger.set_progress(
            tx,
            formed_at={**progress["formed_at"], scope: progress["formed"]},
            maintenance_at={**progress["maintenance_at"], scope: now, "start_at": now},
        )

    def _renew(self, space: OpenSpace, lease: Lease) -> None:
        with space.transaction() as tx:
            now = self._clock.now_ms()
            tx.check_lease(lease, now)
            tx.acquire_lease(lease.name, lease.holder, ttl_ms=self._settings.lease_ttl_ms, now_ms=now)

    def _note_commit(
        self, collection: Collection, number: int, lease: Lease, written: WriteSet, tx: Transaction
    ) -> None:
        now = self._clock.now_ms()
        tx.check_lease(lease, now)
        record = conversations.read(tx, collection, number)
        if record is not None and not written.is_empty:
            conversations.change(tx, collection, number, now, committed=[*record.get("committed", []), tx.seq + 1])

    def keep_transcript(
        self, space: OpenSpace, collection: Collection, number: int, messages: Sequence[Mapping[str, Any]], usage: Usage
    ) -> None:
        with space.transaction() as tx:
            conversations.change(
                tx,
                collection,
                number,
                self._clock.now_ms(),
                messages=list(messages),
                usage=conversations.usage_to_wire(usage),
            )

    # --- ending -------------------------------------------------------------------------------------------------------

    def _finish(self, space: OpenSpace, collection: Collection, taken: _Taken, result: RunResult) -> None:
        now = self._clock.now_ms()
        with space.transaction() as tx:
            tx.check_lease(taken.lease, now)
            ledger.add_usage(tx, collection, result.usage)
            if result.failed_reason is None:
                self._end(tx, collection, taken, now, status="completed", result=result)
                self._after_success(tx, collection)
            elif collection == "formation" and not result.committed:
                self._failed_round(tx, taken, now, result)
            else:
                self._end(tx, collection, taken, now, status="failed", result=result)
            tx.release_lease(taken.lease)
        log.info(
            "pass_ended",
            space=space.id,
            collection=collection,
            conversation=taken.record["_id"],
            stopped=result.stopped,
            rounds=result.rounds,
            commits=len(result.committed),
            failed=result.failed_reason is not None,
            model=result.model,
        )

    def _after_success(self, tx: Transaction, collection: Collection) -> None:
        progress = ledger.progress(tx)
        if collection == "formation":
            ledger.set_progress(tx, formed=progress["formed"] + 1)
            for key, _ in tx.scan_state(_MISS_CACHE):
                tx.delete(_MISS_CACHE, key)
            scope = due_scope(progress["formed"] + 1, progress["formed_at"])
            if scope is not None and not tx.work(MAINTENANCE, limit=1):
                self._queue_cycle(tx, cycle_input(scope, "threshold", progress["formation_processed_id"]), "$system")

    def _failed_round(self, tx: Transaction, taken: _Taken, now: int, result: RunResult) -> None:
        """Keep the input and let it wait for its next round, or give it up; later inputs go on meanwhile."""
        work = taken.work
        first = work.first_attempt_ms if work.first_attempt_ms is not None else now
        if work.attempts >= _GIVE_UP_ROUNDS and now - first >= _GIVE_UP_AFTER_MS:
            reason = f"formation_failed: gave up after {work.attempts} rounds: {result.failed_reason}"
            self._end(tx, "formation", taken, now, status="cancelled", result=result, reason=reason)
            return
        wait = _RETRY_AFTER_MS[min(work.attempts, len(_RETRY_AFTER_MS)) - 1]
        tx.update_work(work.id, status=WorkStatus.QUEUED, not_before=now + wait, note=result.failed_reason)
        conversations.change(
            tx, "formation", taken.record["_id"], now, status="submitted", failed_reason=result.failed_reason
        )

    def _end(
        self,
        tx: Transaction,
        collection: Collection,
        taken: _Taken,
        now: int,
        *,
        status: conversations.Status,
        result: RunResult,
        reason: str | None = None,
    ) -> None:
        number: int = taken.record["_id"]
        conversations.change(
            tx,
            collection,
            number,
            now,
            status=status,
            failed_reason=reason or result.failed_reason,
            model=result.model,
            usage=conversations.usage_to_wire(result.usage),
            extra={
                "content": result.content,
                "rounds": result.rounds,
                "stopped": result.stopped,
                "memory_refs": list(result.ids),
                "prompt_digest": result.prompt_digest,
            },
        )
        tx.delete_work(taken.work.id)
        self._note_processed(tx, collection, number)

    def _note_processed(self, tx: Transaction, collection: Collection, number: int) -> None:
        member = f"{collection}_processed_id"
        ledger.set_progress(tx, **{member: max(ledger.progress(tx)[member], number)})

    def _close_as_unknown(self, tx: Transaction, collection: Collection, work: Work, record: Document) -> None:
        conversations.change(
            tx,
            collection,
            record["_id"],
            self._clock.now_ms(),
            status="failed",
            failed_reason="interrupted: some of it was stored and what was left to do is unknown",
        )
        tx.delete_work(work.id)
        self._note_processed(tx, collection, record["_id"])

    def _interrupt(self, space: OpenSpace, collection: Collection, taken: _Taken) -> None:
        """This process stops: hand the entry back when nothing was stored, else close it as unknown."""
        now = self._clock.now_ms()
        with contextlib.suppress(LeaseLost), space.transaction() as tx:
            tx.check_lease(taken.lease, now)
            record = conversations.read(tx, collection, taken.record["_id"]) or taken.record
            if record.get("committed"):
                self._close_as_unknown(tx, collection, taken.work, record)
            else:
                tx.update_work(taken.work.id, status=WorkStatus.QUEUED, not_before=0)
                conversations.change(tx, collection, record["_id"], now, status="submitted")
            tx.release_lease(taken.lease)


def due_scope(formed: int, formed_at: Mapping[str, int]) -> str | None:
    """The widest cycle that is due after `formed` formed conversations (BR-MAINT-008), or None."""
    full, quick, daydream = formed_at["full"], formed_at["quick"], formed_at["daydream"]
    if formed - full >= 168:
        return "full"
    if formed - max(quick, full) >= 42:
        return "quick"
    if formed - max(daydream, quick, full) >= 21:
        return "daydream"
    return None


def cycle_input(
    scope: str, trigger: str, formation_id: int, parameters: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What a maintenance conversation stores as its input."""
    return {"scope": scope, "trigger": trigger, "formation_id": formation_id, "parameters": dict(parameters or {})}


def takeable(entries: Sequence[Work], now: int) -> list[Work]:
    """Entries that may be taken: queued and due, or left running by a holder whose lease is gone."""
    return [
        work
        for work in entries
        if (work.status is WorkStatus.QUEUED and work.not_before <= now) or work.status is WorkStatus.RUNNING
    ]


def _job(number: int, stored: Mapping[str, Any], record: Document, review: Any) -> FormationJob:
    context = stored["context"]
    return FormationJob(
        conversation=number,
        messages=tuple(Said(**message) for message in stored["messages"]),
        counterparty=context.get("counterparty"),
        agent=context.get("agent"),
        source=context.get("source"),
        topic=context.get("topic"),
        accepted_at=timestamp(record["created_at"]),
        commit_review=review,
    )
