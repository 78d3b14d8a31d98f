"""The durable queue of a Space: what is accepted, who works on it, how it ends. Each method is one transaction.

An accepted input is a conversation and a queue entry, written together. Whoever works on an entry holds the Space's
`pass` lease; formation and maintenance share it, so that they exclude each other across processes. Every write of a
pass checks the lease's fencing token, so a holder that was overtaken writes nothing more, and notes its commits beside
the conversation in the very transaction that makes them.

That note decides what becomes of a pass that was cut short: with nothing committed it is taken up again, otherwise it
ends as failed with an unknown outcome, since what it still meant to write cannot be known (BR-FORM-038). An input of
several passes keeps those that ended and goes on with the windows after the one that was cut (`service/progress.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from brain.agents.jobs import RunResult, Window
from brain.agents.model import Usage
from brain.kip.context import WriteSet
from brain.service import conversations, ledger, probe, rounds
from brain.service.conversations import Collection, usage_to_wire
from brain.service.failures import Busy, InvalidInput, NotFound
from brain.service.progress import (
    Progress,
    ended_early,
    forget_progress,
    has_committed,
    note_pass,
    progress_of,
    skip_pass,
)
from brain.service.records import record_of
from brain.service.spaces import OpenSpace
from brain.service.triggers import due_by_count, is_due_by_clock
from brain.store.base import Document, Lease, LeaseLost, Reader, Snapshot, SpaceStore, Transaction, Work, WorkStatus
from brain.times import Clock

PASS_LEASE = "pass"  # noqa: S105 - a lease's name, no password
FORMATION: Collection = "formation"
MAINTENANCE: Collection = "maintenance"

_UNKNOWN = "interrupted: some of it was stored and what was left to do is unknown"
_CUT = "interrupted: its process ended before it did, or it took too long"


@dataclass(frozen=True, slots=True)
class Taken:
    """An entry in hand, with the lease it is worked on under.

    number       of its conversation in `collection`
    input        what was accepted, accepted_ms when
    request_id   of the request that brought it, None for what the service began itself
    progress     how far earlier runs of it came
    """

    work: Work
    lease: Lease
    collection: Collection
    number: int
    input: Document
    accepted_ms: int
    request_id: str | None
    progress: Progress


class Queue:
    """What one holder may do with the queues of Spaces.

    holder  names this process among all that may work
    """

    def __init__(self, *, clock: Clock, holder: str, lease_ttl_ms: int) -> None:
        self._clock = clock
        self._holder = holder
        self._ttl_ms = lease_ttl_ms

    # --- accepting ----------------------------------------------------------------------------------------------------

    def accept_formation(
        self,
        tx: Transaction,
        stored: Document,
        *,
        user: str,
        messages: Sequence[Mapping[str, Any]],
        request_id: str | None,
    ) -> int:
        """Queue one input within the caller's transaction; its conversation."""
        number = conversations.open_conversation(
            tx, FORMATION, user=user, messages=messages, now_ms=self._clock.now_ms(), queued_input=stored
        )
        tx.enqueue(FORMATION, {"conversation": number, "request_id": request_id})
        return number

    def accept_cycle(self, space: OpenSpace, stored: Document, *, user: str, request_id: str | None) -> int:
        """Queue one maintenance cycle; its conversation.

        raises  Busy while a pass of this Space is at work or a cycle is already waiting
        """
        with space.transaction() as tx:
            if self._is_held(tx) or tx.work(MAINTENANCE, limit=1):
                raise Busy("the space is processing another pass; try again when it has ended")
            return self._queue_cycle(tx, stored, user, request_id)

    def accept_cycle_by_clock(self, space: SpaceStore) -> bool:
        """Queue a full cycle when the clock calls for one (BR-MAINT-009); whether it did."""
        with space.snapshot(assumed=True) as now:
            if not self._is_due_by_clock(now):
                return False
        with space.transaction() as tx:
            if not self._is_due_by_clock(tx) or self._is_held(tx) or tx.work(MAINTENANCE, limit=1):
                return False
            done = ledger.progress(tx)["formation_processed_id"]
            self._queue_cycle(tx, cycle_input("full", "scheduled", done), "$system", None)
            return True

    def _is_due_by_clock(self, reader: Snapshot) -> bool:
        return is_due_by_clock(ledger.progress(reader), record_of(reader)["created_at"], self._clock.now_ms())

    def _queue_cycle(self, tx: Transaction, stored: Document, user: str, request_id: str | None) -> int:
        number = conversations.open_conversation(
            tx, MAINTENANCE, user=user, messages=[], now_ms=self._clock.now_ms(), queued_input=stored
        )
        tx.enqueue(MAINTENANCE, {"conversation": number, "request_id": request_id})
        return number

    def is_maintaining(self, reader: Reader) -> bool:
        """Whether a maintenance cycle is at work just now."""
        return self._is_held(reader) and bool(reader.work(MAINTENANCE, statuses={WorkStatus.RUNNING}, limit=1))

    def restart_formation(self, space: OpenSpace, number: int) -> None:
        """Queue an input that failed or was given up once more, at the end of its queue.

        raises  NotFound for a conversation that is not there, InvalidInput for one that waits, runs or has succeeded
        """
        with space.transaction() as tx:
            record = conversations.read(tx, FORMATION, number)
            if record is None or conversations.input_of(tx, FORMATION, number) is None:
                raise NotFound(f"there is no formation conversation {number}")
            if record["status"] not in ("failed", "cancelled"):
                raise InvalidInput(f"formation {number} is {record['status']}; only what failed can be started again")
            conversations.change(tx, FORMATION, number, self._clock.now_ms(), status="submitted", failed_reason=None)
            tx.enqueue(FORMATION, {"conversation": number, "request_id": None})

    # --- taking -------------------------------------------------------------------------------------------------------

    def has_due(self, reader: Reader, collection: Collection) -> bool:
        """Whether an entry may be taken now, or is being worked on."""
        return bool(reader.due_work(collection, self._clock.now_ms(), limit=1))

    def has_work(self, space: SpaceStore) -> bool:
        """Whether a Space has an entry of any kind to take now, or one whose holder may have died."""
        with space.snapshot(assumed=True) as now:
            return self.has_due(now, MAINTENANCE) or self.has_due(now, FORMATION)

    def wait_ms(self, space: SpaceStore) -> int | None:
        """How long nothing can be taken (a waiting round, another holder's lease); None without any entry."""
        outlook = self.outlook(space)
        return None if outlook is None else outlook[1]

    def outlook(self, space: SpaceStore) -> tuple[Collection, int] | None:
        """Which queue the next entry to take stands in, and in how many ms it can be taken; None without any entry."""
        at = self._clock.now_ms()
        with space.snapshot(assumed=True) as now:
            lease = now.lease(PASS_LEASE)
            following = self._next_due(now)
            if following is None:
                waiting = [*now.work(MAINTENANCE), *now.work(FORMATION)]
                following = min(waiting, key=lambda work: work.not_before, default=None)
        if following is None:
            return None
        due = 0 if following.status is WorkStatus.RUNNING else following.not_before
        return _collection_of(following), max(due, lease.expires_ms if lease else 0, at) - at

    def _next_due(self, reader: Reader) -> Work | None:
        """The entry to take now: maintenance comes first, each queue is in order of acceptance."""
        at = self._clock.now_ms()
        due = reader.due_work(MAINTENANCE, at, limit=1) or reader.due_work(FORMATION, at, limit=1)
        return due[0] if due else None

    def take(self, space: OpenSpace, only: Collection | None = None) -> Taken | None:
        """The next entry, under the lease, or None. Entries of a holder that died are judged on the way.

        only  nothing is taken while the next entry stands in another queue than this
        """
        with space.state() as now:
            due = None if self._is_held(now) else self._next_due(now)
        if due is None or only not in (None, due.queue):
            return None
        with space.transaction(durable=False) as tx:
            at = self._clock.now_ms()
            # A lease that is still good is somebody's, and be it this very process: one pass at a time.
            if self._is_held(tx):
                return None
            lease = tx.acquire_lease(PASS_LEASE, self._holder, ttl_ms=self._ttl_ms, now_ms=at)
            if lease is None:
                return None
            while (due := self._next_due(tx)) and only in (None, due.queue):
                taken = self._begin(tx, lease, due)
                if taken is not None:
                    return taken
            tx.release_lease(lease)
            return None

    def _begin(self, tx: Transaction, lease: Lease, work: Work) -> Taken | None:
        """The entry as taken; None when it ends here, or has to wait, because of how its last pass was cut short."""
        collection = _collection_of(work)
        number: int = work.payload["conversation"]
        record = conversations.read(tx, collection, number)
        stored = conversations.input_of(tx, collection, number)
        if record is None or stored is None:
            tx.delete_work(work.id)
            return None
        if work.status is WorkStatus.RUNNING:
            if has_committed(tx, collection, number):
                if not self._goes_on(tx, collection, work.id, number, stored):
                    return None
            elif not self._is_retried_at_once(tx, collection, work.id, number, stored):
                return None
        at = self._clock.now_ms()
        begun = tx.begin_work(work.id, at)
        conversations.change(tx, collection, number, at, status="working", failed_reason=None)
        if collection == MAINTENANCE:
            self._note_start(tx, stored["scope"])
        request_id = work.payload.get("request_id")
        progress = progress_of(tx, collection, number)
        return Taken(begun, lease, collection, number, stored, record["created_at"], request_id, progress)

    def _goes_on(self, tx: Transaction, collection: Collection, work_id: int, number: int, stored: Document) -> bool:
        """Whether a run has passes after the one that was cut with something stored; else it ends here."""
        reason = skip_pass(tx, collection, number, stored, _UNKNOWN)
        if reason is not None:
            self._close(tx, collection, work_id, number, reason)
            return False
        rounds.forget(tx, work_id)
        return True

    def _is_retried_at_once(
        self, tx: Transaction, collection: Collection, work_id: int, number: int, stored: Document
    ) -> bool:
        """Count a pass that was cut short with nothing stored: its entry goes on, waits, or is given up."""
        at = self._clock.now_ms()
        wait = rounds.note_cut(tx, work_id, at)
        if wait is None:
            reason = f"interrupted: gave up after {rounds.rounds_of(tx, work_id)['cut']} passes that were cut short"
            self._close(tx, collection, work_id, number, ended_early(tx, collection, number, stored, reason))
            return False
        if wait:
            tx.update_work(work_id, status=WorkStatus.QUEUED, not_before=at + wait, note=_CUT)
            conversations.change(tx, collection, number, at, status="submitted", failed_reason=_CUT)
        return not wait

    def _note_start(self, tx: Transaction, scope: str) -> None:
        at, progress = self._clock.now_ms(), ledger.progress(tx)
        ledger.set_progress(
            tx,
            formed_at={**progress["formed_at"], scope: progress["formed"]},
            maintenance_at={**progress["maintenance_at"], scope: at, "start_at": at},
        )

    def _is_held(self, reader: Reader) -> bool:
        lease = reader.lease(PASS_LEASE)
        return lease is not None and lease.expires_ms > self._clock.now_ms()

    # --- working ------------------------------------------------------------------------------------------------------

    def renew(self, space: OpenSpace, taken: Taken) -> Taken:
        """The same entry under a longer lease; LeaseLost when it is somebody else's or ran out."""
        with space.transaction(durable=False) as tx:
            self._check(tx, taken)
            lease = taken.lease
            longer = tx.acquire_lease(lease.name, lease.holder, ttl_ms=self._ttl_ms, now_ms=self._clock.now_ms())
            if longer is None or longer.token != lease.token:
                raise LeaseLost(lease.name)
            return replace(taken, lease=longer)

    def note_commit(self, taken: Taken, written: WriteSet, tx: Transaction) -> None:
        """Called inside every write transaction of a pass: let it commit, and note it; LeaseLost otherwise."""
        self._check(tx, taken)
        if not written.is_empty:
            conversations.add_commit(tx, taken.collection, taken.number, tx.seq + 1)

    def keep_transcript(
        self, space: OpenSpace, taken: Taken, messages: Sequence[Mapping[str, Any]], usage: Usage
    ) -> None:
        """Show how far a pass has come; LeaseLost when it is no longer its holder's to show."""
        with space.transaction(durable=False) as tx:
            self._check(tx, taken)
            progress = progress_of(tx, taken.collection, taken.number)
            record = conversations.read(tx, taken.collection, taken.number)
            before = record["messages"][: progress.shown] if record else []
            conversations.change(
                tx,
                taken.collection,
                taken.number,
                self._clock.now_ms(),
                messages=[*before, *messages],
                usage=usage_to_wire(progress.usage + usage),
            )

    def end_window(self, space: OpenSpace, taken: Taken, window: Window, result: RunResult) -> None:
        """Write down that one pass of a longer run has ended.

        result  of that pass; a failed one has stored something, and is not done again
        raises  LeaseLost
        """
        with space.transaction() as tx:
            self._check(tx, taken)
            if has_committed(tx, taken.collection, taken.number):
                probe.forget_misses(tx)
            note_pass(tx, taken.collection, taken.number, taken.input, window, result)
            ledger.add_usage(tx, taken.collection, result.usage)
            rounds.forget(tx, taken.work.id)  # it comes forward: what failed before counts no more

    def _check(self, tx: Transaction, taken: Taken) -> None:
        tx.check_lease(taken.lease, self._clock.now_ms())

    # --- ending -------------------------------------------------------------------------------------------------------

    def finish(self, space: OpenSpace, taken: Taken, result: RunResult, corrections: int = 0) -> str:
        """End a pass as its result says, and free the Space; the status its conversation has now.

        corrections  new ones a settlement found, for the metrics
        raises       LeaseLost
        """
        with space.transaction() as tx:
            self._check(tx, taken)
            # What was committed is what the pass noted as it committed, whatever its result tells.
            is_stored = bool(conversations.commits_of(tx, taken.collection, taken.number))
            faults = progress_of(tx, taken.collection, taken.number).faults
            ledger.add_usage(tx, taken.collection, result.usage)
            if corrections:
                ledger.add_metrics(tx, self._clock.now_ms(), corrections=corrections)
            if result.failed_reason is None:
                status: conversations.Status = "failed" if faults else "completed"
            elif (
                taken.collection == FORMATION
                and result.stopped == "failed"
                and not has_committed(tx, taken.collection, taken.number)
            ):
                status = self._after_failed_round(tx, taken, result)
            else:
                status = "failed"
            if status != "submitted":
                self._end(tx, taken, status, result)
            if taken.collection == FORMATION and (status == "completed" or is_stored):
                probe.forget_misses(tx)
            if taken.collection == FORMATION and status == "completed":
                self._count_formed(tx)
            tx.release_lease(taken.lease)
        return status

    def hand_back(self, space: OpenSpace, taken: Taken, *, overran: bool = False) -> None:
        """Stop a pass before its end: the entry waits again when nothing was committed, else it ends as unknown.

        overran  it took longer than a pass may: that counts as a cut, or it would be done again for ever
        raises   LeaseLost
        """
        with space.transaction() as tx:
            self._check(tx, taken)
            collection, number, work_id = taken.collection, taken.number, taken.work.id
            if has_committed(tx, collection, number):
                is_queued = self._goes_on(tx, collection, work_id, number, taken.input)
            else:
                is_queued = not overran or self._is_retried_at_once(tx, collection, work_id, number, taken.input)
            if is_queued:
                tx.update_work(work_id, status=WorkStatus.QUEUED, not_before=0)
                conversations.change(tx, collection, number, self._clock.now_ms(), status="submitted")
            tx.release_lease(taken.lease)

    def note_formed(self, tx: Transaction, number: int) -> None:
        """Count a conversation that was formed without a pass, in the transaction that formed it."""
        done = max(ledger.progress(tx)["formation_processed_id"], number)
        ledger.set_progress(tx, formation_processed_id=done)
        probe.forget_misses(tx)
        self._count_formed(tx)

    def _after_failed_round(self, tx: Transaction, taken: Taken, result: RunResult) -> conversations.Status:
        """Let an input wait for its next round, or give it up (BR-FORM-035); later inputs go on meanwhile."""
        at, work = self._clock.now_ms(), taken.work
        wait = rounds.note_failed(tx, work.id, at)
        if wait is None:
            return "cancelled"
        tx.update_work(work.id, status=WorkStatus.QUEUED, not_before=at + wait, note=result.failed_reason)
        conversations.change(
            tx, FORMATION, taken.number, at, status="submitted", failed_reason=result.failed_reason, model=result.model
        )
        return "submitted"

    def _end(self, tx: Transaction, taken: Taken, status: conversations.Status, result: RunResult) -> None:
        reason = result.failed_reason
        if status == "cancelled":
            failed = rounds.rounds_of(tx, taken.work.id)["failed"]
            reason = f"formation_failed: gave up after {failed} rounds: {reason}"
        progress = progress_of(tx, taken.collection, taken.number)
        result = progress.merged(result)
        if reason is not None:
            reason = ended_early(tx, taken.collection, taken.number, taken.input, reason)
        elif progress.faults:
            reason = "; ".join(progress.faults)
        conversations.change(
            tx,
            taken.collection,
            taken.number,
            self._clock.now_ms(),
            status=status,
            failed_reason=reason,
            model=result.model,
            usage=usage_to_wire(result.usage),
            extra={
                "content": result.content,
                "rounds": result.rounds,
                "stopped": result.stopped,
                "memory_refs": list(result.ids),
                "prompt_digest": result.prompt_digest,
            },
        )
        self._remove(tx, taken.collection, taken.work.id, taken.number)

    def _close(self, tx: Transaction, collection: Collection, work_id: int, number: int, reason: str) -> None:
        extra = progress_of(tx, collection, number).to_extra()
        conversations.change(
            tx, collection, number, self._clock.now_ms(), status="failed", failed_reason=reason, extra=extra
        )
        self._remove(tx, collection, work_id, number)

    def _remove(self, tx: Transaction, collection: Collection, work_id: int, number: int) -> None:
        tx.delete_work(work_id)
        rounds.forget(tx, work_id)
        forget_progress(tx, collection, number)
        member = f"{collection}_processed_id"
        ledger.set_progress(tx, **{member: max(ledger.progress(tx)[member], number)})

    def _count_formed(self, tx: Transaction) -> None:
        """Count a formed conversation and queue the cycle it makes due; maintenance goes before the next input."""
        progress = ledger.progress(tx)
        formed = progress["formed"] + 1
        ledger.set_progress(tx, formed=formed)
        scope = due_by_count(formed, progress["formed_at"])
        if scope is not None and not tx.work(MAINTENANCE, limit=1):
            stored = cycle_input(scope, "threshold", progress["formation_processed_id"])
            self._queue_cycle(tx, stored, "$system", None)


def _collection_of(work: Work) -> Collection:
    return FORMATION if work.queue == FORMATION else MAINTENANCE


def cycle_input(
    scope: str, trigger: str, formation_id: int, parameters: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What a maintenance conversation works on."""
    return {"scope": scope, "trigger": trigger, "formation_id": formation_id, "parameters": dict(parameters or {})}
