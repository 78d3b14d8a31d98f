"""Documents that callers bring instead of leaving the reading to a model (`POST /remember`).

What is kept, its conversation, its counting and its key are one transaction. The conversation's number is part of what
is written, so it is taken beforehand and checked at commit; who was overtaken begins again with the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brain import errors
from brain.agents.documents import Checked, DocumentRefused, Ready, check_document, keep_document
from brain.agents.hostwrites import HostWriteFailed
from brain.agents.jobs import FormationJob, Place
from brain.agents.model import ModelAnswer, ModelRequest
from brain.agents.reading import ReadFailed
from brain.auth.credentials import Scope
from brain.gate.facts import Speaker
from brain.kip.context import Review, WriteSet
from brain.service import conversations
from brain.service.callers import Caller
from brain.service.entries import FORMATION
from brain.service.failures import Conflict, InvalidInput, Unavailable
from brain.service.policy import policy_in
from brain.service.queue import Queue
from brain.service.records import record_of
from brain.service.replays import Keyed
from brain.service.room import check_room_for_input
from brain.service.spaces import OpenSpace
from brain.service.write_inputs import RememberInput
from brain.service.writers import known_writer, writer_of
from brain.settings import Settings
from brain.store.base import Document, Kind, Snapshot, Transaction
from brain.times import Clock, Seq, Timestamp, timestamp

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine

ROUTE = "remember"
_MOST_TRIES = 16
_MOST_NAMED = 8
"""Faults whose places stand in the message of a refusal; its data has all of them."""


_LATE = "the document was not kept in time, and nothing it says was; send the same request again"


class _NoModel:
    """The model of work that asks none."""

    name = "none"

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        raise AssertionError(f"a document is kept without a model, and one was asked {len(request.messages)} messages")


@dataclass(frozen=True, slots=True)
class Documents:
    """Keeps documents. Blocking.

    ends  when the time of what is being kept is over, a moment of the monotonic clock in seconds
    """

    settings: Settings
    queue: Queue
    clock: Clock
    ends: float

    def remember(self, space: OpenSpace, asked: RememberInput, caller: Caller) -> dict[str, Any]:
        """Keep a document, all of it or nothing.

        raises  InvalidInput with every fault in its data; Conflict for a key that stands for another request;
                OverTier; Unavailable or a KipError when the store does not take it for now
        """
        may_read = caller.scope.satisfies(Scope.READ)
        try:
            told = self._remembered(space, asked, caller)
        except DocumentRefused as refused:
            faults = [fault.to_wire() for fault in refused.faults]
            if not may_read:
                faults = [{name: said for name, said in fault.items() if name != "choices"} for fault in faults]
            listed = "; ".join(f"{fault['at']}: {fault['problem']}" for fault in faults[:_MOST_NAMED])
            raise InvalidInput(f"nothing was kept: {listed}", {"faults": faults}) from refused
        except errors.ExecutionTimeout as late:
            raise Unavailable(_LATE) from late
        except (HostWriteFailed, ReadFailed) as failed:
            if failed.code == errors.ExecutionTimeout.__name__:
                raise Unavailable(_LATE) from failed
            raise Unavailable(f"memory cannot be written just now ({failed.code})") from failed
        # What memory holds beside what was sent is not for a credential that only writes.
        return told if may_read else {**told, "notes": []}

    # --- how ----------------------------------------------------------------------------------------------------------

    def _remembered(self, space: OpenSpace, asked: RememberInput, caller: Caller) -> dict[str, Any]:
        keyed = self._keyed(asked, caller)
        for _ in range(_MOST_TRIES):
            with space.snapshot() as now:
                number = conversations.count(now, FORMATION) + 1
                told = self._replayed(now, keyed)
                if told is not None:
                    return told
                check_room_for_input(now, record_of(now))
            try:
                return self._kept(space, asked, caller, number, keyed)
            except (DocumentRefused, errors.SerializationConflict, errors.ClientKeyConflict):
                # Whoever took the number meanwhile is as good a reason as any: then it begins again with the next.
                with space.snapshot() as now:
                    if conversations.count(now, FORMATION) + 1 == number:
                        raise
        raise Unavailable("too many others write to this space; send the same request again")

    def _engine(self, space: OpenSpace) -> Engine:
        return space.engine.until(self.ends)

    def _keyed(self, asked: RememberInput, caller: Caller) -> Keyed | None:
        if asked.idempotency_key is None:
            return None
        content = asked.model_dump(mode="json", exclude_none=True, exclude={"idempotency_key"})
        try:
            return Keyed.of(ROUTE, caller, asked.idempotency_key, content)
        except errors.InvalidRequestEnvelope as inexact:
            raise InvalidInput(inexact.message, inexact.to_wire()) from inexact

    def _replayed(self, reader: Snapshot, keyed: Keyed | None) -> dict[str, Any] | None:
        """What the key led to, as it was told then."""
        try:
            kept = None if keyed is None else keyed.found(reader, self.clock.now_ms())
        except errors.IdempotencyConflict as conflict:
            raise Conflict(conflict.message, conflict.to_wire()) from conflict
        if kept is None:
            return None
        record = conversations.read(reader, FORMATION, kept["conversation"])
        [seq] = conversations.commits_of(reader, FORMATION, kept["conversation"])
        return None if record is None else _told(record, _receipt_of(reader, seq))

    def _kept(
        self, space: OpenSpace, asked: RememberInput, caller: Caller, number: int, keyed: Keyed | None
    ) -> dict[str, Any]:
        now_ms = self.clock.now_ms()
        accepted_at = timestamp(now_ms)
        told: dict[str, Any] = {}

        def ready(document: Ready) -> None:
            told.update(content=document.summary, names=document.names, notes=document.notes, defined=document.defined)

        def review(written: WriteSet, tx: Transaction) -> None:
            if not told or written.is_empty:
                return  # a speaker or a word; what is to be kept comes after
            if conversations.count(tx, FORMATION) + 1 != number:
                raise errors.SerializationConflict
            self._note(tx, asked, caller, now_ms, _extra(told, written))
            if keyed is not None:
                keyed.keep(tx, {"conversation": number}, now_ms)

        writer = known_writer(self._engine(space), caller)
        checked = self._checked(space, asked, writer, number, accepted_at, review)
        if writer.id is None:  # it is stored for a document that can be kept, and for no other
            checked = self._checked(space, asked, writer_of(self._engine(space), caller), number, accepted_at, review)
        receipt = keep_document(checked, ready)
        with space.snapshot() as now:
            record = conversations.read(now, FORMATION, number)
        assert record is not None  # noqa: S101 - it was committed
        return _told(record, receipt)

    def _checked(
        self,
        space: OpenSpace,
        asked: RememberInput,
        writer: Speaker,
        number: int,
        accepted_at: Timestamp,
        review: Review,
    ) -> Checked:
        place = Place(
            space_id=space.id,
            engine=self._engine(space),
            # Conclusions in the document are the caller's, and not the Brain's.
            self_id=writer.id or space.self_id,
            model=_NoModel(),
            clock=self.clock,
            attribution=policy_in(space).memory_attribution or self.settings.memory_attribution,
            transcript=lambda *_: None,
        )
        job = FormationJob(
            conversation=number,
            messages=asked.said(accepted_at),
            accepted_at=accepted_at,
            commit_review=review,
            sender=writer,
            **asked.context.model_dump(),
        )
        return check_document(place, job, asked.document)

    def _note(
        self, tx: Transaction, asked: RememberInput, caller: Caller, now_ms: int, extra: Mapping[str, Any]
    ) -> None:
        """The conversation, as one that a model has formed."""
        number = conversations.open_conversation(
            tx,
            FORMATION,
            user=caller.principal,
            messages=[message.to_wire() for message in asked.messages],
            now_ms=now_ms,
            status="completed",
        )
        conversations.change(tx, FORMATION, number, now_ms, extra=extra, artifacts=[{"remember": asked.document}])
        conversations.add_commit(tx, FORMATION, number, tx.seq + 1)
        self.queue.note_formed(tx, number)


def _extra(told: Mapping[str, Any], written: WriteSet) -> dict[str, Any]:
    """What the conversation tells of the document."""
    created = {element.id: element.body.get("name") for element in written.created if element.kind is Kind.CONCEPT}
    refs = [*(element.id for element in written.created), *(changed.after.id for changed in written.changed)]
    return {
        "content": told["content"],
        "memory_refs": refs,
        "ids": {name: element_id for element_id, name in created.items() if name in told["names"]},
        "notes": list(told["notes"]),
        "defined": list(told["defined"]),
        "rounds": 0,
        "stopped": "done",
    }


def _told(record: Document, receipt: Mapping[str, Any]) -> dict[str, Any]:
    """The answer, made of what was committed only, so that it is the same whenever it is given."""
    extra = record["extra"]
    return {
        "conversation": record["_id"],
        "wrote": len(extra["memory_refs"]),
        "ids": extra["ids"],
        "notes": extra["notes"],
        "defined": extra["defined"],
        "receipt": dict(receipt),
    }


def _receipt_of(reader: Snapshot, seq: Seq) -> Mapping[str, Any]:
    """A commit's receipt, as the engine gave it."""
    commit = reader.commit(seq)
    assert commit is not None  # noqa: S101 - conversations note only what is committed with them
    return {name: value for name, value in commit.record.items() if name != "governance"}
