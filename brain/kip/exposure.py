"""The exposure log: what was shown or used, kept beside memory and never part of it (KIP 2.0 §66.8).

A read reinforces nothing, and a commit for every read would make reading a way of writing. So hosts note here what
they returned (`retrieved`) and what a decision rested on (`used`). The log takes no sequence number, is in no envelope
and is nobody's Evidence. Its entries are only ever added; retention and an erasure's plan take them away.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from brain import errors
from brain.ids import is_element_id
from brain.kip import govern
from brain.kip.belief.dependency import facet
from brain.kip.context import Session
from brain.kip.governance.access import access_of
from brain.store.base import Document, ElementId, Kind, Reader, Transaction
from brain.times import Seq, timestamp

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine

RETENTION_MS = 400 * 24 * 3_600_000
"""How long an entry is kept: long enough to see what a year's rhythm uses."""

LARGEST_PAGE = 500

EXPOSURES = ("retrieved", "used")

_ROWS = "kip.exposure"
_NEXT = ("kip.exposure.state", "next")


def note(
    tx: Transaction,
    elements: Collection[ElementId],
    *,
    exposure: str,
    space_uri: str,
    principal_id: str,
    snapshot_seq: Seq,
    now_ms: int,
    recall_ref: str | None = None,
    decision_ref: str | None = None,
) -> None:
    """Add an entry for each element, in a transaction of the host's; it makes no commit.

    elements      that were shown to the principal, each once
    snapshot_seq  of the read that showed them
    recall_ref    what the host calls the recall
    """
    if not elements:
        return
    number = int((tx.get(*_NEXT) or {"next": 1})["next"])
    shared = {
        "space_id": space_uri,
        "exposure": exposure,
        "snapshot_seq": snapshot_seq,
        "recorded_at": timestamp(now_ms),
        "principal_id": principal_id,
        "decision_ref": decision_ref,
        "recall_ref": recall_ref,
    }
    for element_id in dict.fromkeys(elements):
        tx.set(_ROWS, f"{number:012d}", {"element_id": element_id, **shared}, expires_ms=now_ms + RETENTION_MS)
        number += 1
    tx.set(*_NEXT, {"next": number})


class ExposureLog:
    """The log of an engine's Space, for hosts and for whoever may audit."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def record(
        self,
        session: Session,
        elements: Collection[ElementId],
        *,
        exposure: str,
        snapshot_seq: Seq,
        recall_ref: str | None = None,
        decision_ref: ElementId | None = None,
    ) -> None:
        """Note what the session was shown or has used.

        raises  ConstraintViolation for another word than retrieved or used, or a sequence that is not reached yet;
                NotFoundOrNotVisible for an element the session does not see
        """
        with self._engine.space.transaction() as tx:
            if exposure not in EXPOSURES:
                raise errors.ConstraintViolation(f"An exposure is {' or '.join(EXPOSURES)}, not {exposure!r}.")
            if not 0 <= snapshot_seq <= tx.seq:
                raise errors.ConstraintViolation(f"The Space is at {tx.seq}; nothing was read at {snapshot_seq}.")
            access = access_of(self._engine.planes, session, tx, tx, self._engine.clock)
            named = {*elements, *(() if decision_ref is None else (decision_ref,))}
            unseen = named - access.snapshot.elements(named).keys()
            if unseen:
                raise errors.NotFoundOrNotVisible(f"There is no {min(unseen)} that you may see.")
            note(
                tx,
                elements,
                exposure=exposure,
                space_uri=self._engine.space_uri,
                principal_id=access.session.principal_id,
                snapshot_seq=snapshot_seq,
                now_ms=self._engine.clock.now_ms(),
                recall_ref=recall_ref,
                decision_ref=decision_ref,
            )

    def record_decision(self, session: Session, decision: ElementId) -> None:
        """Note what a decision says it used (Profile §6.4).

        raises  NotFoundOrNotVisible, ConstraintViolation for an Activity without a DecisionRecord
        """
        with self._engine.space.snapshot() as head:
            access = access_of(self._engine.planes, session, head, head, self._engine.clock)
            found = access.snapshot.elements([decision]).get(decision)
        if found is None or found.kind is not Kind.ACTIVITY:
            raise errors.NotFoundOrNotVisible(f"There is no decision {decision} that you may see.")
        record = facet(found.body, "DecisionRecord")
        if record is None:
            raise errors.ConstraintViolation(f"{decision} decided nothing: it has no DecisionRecord.")
        seq = int(found.body["_system"]["space_seq"])
        self.record(session, record["used_refs"], exposure="used", snapshot_seq=seq, decision_ref=decision)

    def read(self, session: Session, *, after: int = 0, limit: int = 100) -> list[tuple[int, Document]]:
        """ExposureRecords by their number, oldest first, without those of elements the session may not know of.

        A page may be shorter than `limit` for that, and even empty before the end; `last` says where the log ends.

        raises  NotAuthorized without `read_audit`
        """
        with self._engine.space.snapshot() as head:
            access = access_of(self._engine.planes, session, head, head, self._engine.clock)
            govern.permit(access.session, "read_audit")
            rows = head.scan_state(_ROWS, after=f"{after:012d}", limit=min(limit, LARGEST_PAGE))
            refs = {ref for _, row in rows for ref in _refs(row)}
            seen = access.snapshot.elements(refs).keys()
        return [(int(key), _shown(row, seen)) for key, row in rows if row["element_id"] in seen]

    def last(self) -> int:
        """The number of the newest entry, 0 when there never was one."""
        with self._engine.space.snapshot() as head:
            return _last(head)

    def erase(self, session: Session, plan: Mapping[str, Any]) -> int:
        """Take away the entries of what an ErasurePlan names as elements (§60.7); how many there were.

        raises  NotAuthorized without `purge` of one of them, ConstraintViolation for a plan of another scope than
                semantic forgetting
        """
        if plan.get("scope") != "semantic_forgetting":
            raise errors.ConstraintViolation(
                "Only a plan that forgets what was learned takes entries from the exposure log."
            )
        wanted = {target["ref"] for target in plan["targets"] if target["surface"] == "element"}
        with self._engine.space.transaction() as tx:
            access = access_of(self._engine.planes, session, tx, tx, self._engine.clock)
            govern.permit(access.session, "purge")
            for element in tx.elements({ref for ref in wanted if is_element_id(ref)}).values():
                govern.permit(access.session, "purge", element)
            return forget(tx, wanted)


def forget(tx: Transaction, elements: Collection[ElementId]) -> int:
    """Take away every entry that speaks of one of these elements; how many there were."""
    wanted = set(elements)
    after, erased = "", 0
    while rows := tx.scan_state(_ROWS, after=after, limit=LARGEST_PAGE):
        after = rows[-1][0]
        for key, row in rows:
            if not wanted.isdisjoint(_refs(row)):
                tx.delete(_ROWS, key)
                erased += 1
    return erased


def _last(reader: Reader) -> int:
    return int((reader.get(*_NEXT) or {"next": 1})["next"]) - 1


def _refs(row: Document) -> set[ElementId]:
    """The elements an entry speaks of."""
    decision = row["decision_ref"]
    return {row["element_id"], *(() if decision is None else (decision,))}


def _shown(row: Document, seen: Collection[ElementId]) -> Document:
    hides = row["decision_ref"] is not None and row["decision_ref"] not in seen
    return {**row, "decision_ref": None} if hides else row
