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
from dataclasses import replace
from typing import Any

from brain.agents.jobs import RunResult, Window
from brain.agents.model import Usage
from brain.kip.context import WriteSet
from brain.service import conversations, ledger, probe, rounds
from brain.service.conversations import Collection, usage_to_wire
from brain.service.ends import after_failed_round, count_formed, end_run, goes_on, is_retried_at_once
from brain.service.entries import FORMATION, MAINTENANCE, PASS_LEASE, Taken, collection_of, cycle_input, queue_cycle
from brain.service.failures import Busy, InvalidInput, NotFound
from brain.service.progress import (
    has_committed,
    note_pass,
    progress_of,
)
from brain.service.records import record_of
from brain.service.silence import Silence
from brain.service.spaces import OpenSpace
from brain.service.triggers import is_due_by_clock
from brain.store.base import Document, Lease, LeaseLost, Reader, Snapshot, SpaceStore, Transaction, Work, WorkStatus
from brain.times import Clock


class Queue:
    """What one holder may do with the queues of Spaces.

    holder  names this process among all that may work
    """

    def __init__(self, *, clock: Clock, holder: str, lease_ttl_ms: int) -> None:
        self._clock = clock
        self._holder = holder
        self._ttl_ms = lease_ttl_ms
        self._silence = Silence(lease_ttl_ms)

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
            return queue_cycle(tx, self._clock.now_ms(), stored, user, request_id)

    def accept_cycle_by_clock(self, space: SpaceStore) -> bool:
        """Queue a full cycle when the clock calls for one (BR-MAINT-009); whether it did."""
        with space.snapshot(assumed=True) as now:
            if not self._is_due_by_clock(now):
                return False
        with space.transaction() as tx:
            if not self._is_due_by_clock(tx) or self._is_held(tx) or tx.work(MAINTENANCE, limit=1):
                return False
            done = ledger.progress(tx)["formation_processed_id"]
            queue_cycle(tx, self._clock.now_ms(), cycle_input("full", "scheduled", done), "$system", None)
            return True

    def _is_due_by_clock(self, reader: Snapshot) -> bool:
        return is_due_by_clock(ledger.progress(reader), record_of(reader)["created_at"], self._clock.now_ms())

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
        held_ms = self._silence.left_ms(lease, at) if lease else 0
        return collection_of(following), max(due - at, held_ms, 0)

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
            before = tx.lease(PASS_LEASE)
            # One that is over by its holder's silence is over at the time it tells.
            over_ms = max(at, before.expires_ms) if before else at
            lease = tx.acquire_lease(PASS_LEASE, self._holder, ttl_ms=self._ttl_ms, now_ms=over_ms)
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
        collection = collection_of(work)
        number: int = work.payload["conversation"]
        record = conversations.read(tx, collection, number)
        stored = conversations.input_of(tx, collection, number)
        if record is None or stored is None:
            tx.delete_work(work.id)
            return None
        if work.status is WorkStatus.RUNNING:
            if has_committed(tx, collection, number):
                if not goes_on(tx, self._clock.now_ms(), collection, work.id, number, stored):
                    return None
            elif not is_retried_at_once(tx, self._clock.now_ms(), collection, work.id, number, stored):
                return None
        at = self._clock.now_ms()
        begun = tx.begin_work(work.id, at)
        conversations.change(tx, collection, number, at, status="working", failed_reason=None)
        if collection == MAINTENANCE:
            self._note_start(tx, stored["scope"])
        request_id = work.payload.get("request_id")
        progress = progress_of(tx, collection, number)
        return Taken(begun, lease, collection, number, stored, record["created_at"], request_id, progress)

    def _note_start(self, tx: Transaction, scope: str) -> None:
        at, progress = self._clock.now_ms(), ledger.progress(tx)
        ledger.set_progress(
            tx,
            formed_at={**progress["formed_at"], scope: progress["formed"]},
            maintenance_at={**progress["maintenance_at"], scope: at, "start_at": at},
        )

    def _is_held(self, reader: Reader) -> bool:
        lease = reader.lease(PASS_LEASE)
        return lease is not None and not self._silence.has_ended(lease, self._clock.now_ms())

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
                status = after_failed_round(tx, self._clock.now_ms(), taken, result)
            else:
                status = "failed"
            if status != "submitted":
                end_run(tx, self._clock.now_ms(), taken, status, result)
            if taken.collection == FORMATION and (status == "completed" or is_stored):
                probe.forget_misses(tx)
            if taken.collection == FORMATION and status == "completed":
                count_formed(tx, self._clock.now_ms())
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
                is_queued = goes_on(tx, self._clock.now_ms(), collection, work_id, number, taken.input)
            else:
                is_queued = not overran or is_retried_at_once(
                    tx, self._clock.now_ms(), collection, work_id, number, taken.input
                )
            if is_queued:
                tx.update_work(work_id, status=WorkStatus.QUEUED, not_before=0)
                conversations.change(tx, collection, number, self._clock.now_ms(), status="submitted")
            tx.release_lease(taken.lease)

    def note_formed(self, tx: Transaction, number: int) -> None:
        """Count a conversation that was formed without a pass, in the transaction that formed it."""
        done = max(ledger.progress(tx)["formation_processed_id"], number)
        ledger.set_progress(tx, formation_processed_id=done)
        probe.forget_misses(tx)
        count_formed(tx, self._clock.now_ms())
