"""Commits that change protected state, made by hosts and never by a statement (KIP 2.0 §28.1, §36.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from brain import errors
from brain.ids import digest
from brain.kip import commit, govern
from brain.kip.context import Changed, Run, Session, WriteSet
from brain.kip.governance import audit
from brain.kip.governance.access import Access, access_of
from brain.kip.governance.plane import CONTROL, Plane, to_document
from brain.kip.operate import ledger_of
from brain.kip.write.planes import change_entry, stamp
from brain.store.base import Document, Element, ElementId, Transaction
from brain.times import Seq, timestamp

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine

Governed = Mapping[str, Any]
"""The `governance` member of an element."""


@dataclass(slots=True)
class Move:
    """What one transition changes, filled in by its body.

    plane      the protected state before it
    changed    after it; None to leave it
    controls   other control documents with a new version
    governed   elements with their new `governance`
    details    for the audit, and the digest of what was asked; no content
    """

    access: Access
    tx: Transaction
    plane: Plane
    changed: Plane | None = None
    controls: dict[str, Document] = field(default_factory=dict)
    governed: dict[ElementId, Governed] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def session(self) -> Session:
        """Who makes it, with what it really holds."""
        return self.access.session

    def element(self, element_id: ElementId) -> Element:
        """An element the caller may read.

        raises  NotFoundOrNotVisible
        """
        found = self.access.snapshot.elements([element_id]).get(element_id)
        stored = self.tx.elements([element_id]).get(element_id)
        if found is None or stored is None:
            raise errors.NotFoundOrNotVisible(f"There is no {element_id} that you may see.")
        return stored


def transition(engine: Engine, session: Session, action: str, permission: str, body: Callable[[Move], None]) -> Seq:
    """Make one transition and audit it, or refuse it, audit that, and change nothing; the sequence it committed as.

    A transition that changes nothing makes no commit and answers with the sequence as it is.

    raises  NotAuthorized, and what `body` raises
    """
    now = timestamp(engine.clock.now_ms())
    try:
        with engine.space.transaction() as tx:
            access = access_of(engine.planes, session, tx, tx, engine.clock)
            move = Move(access, tx, access.plane or Plane())
            govern.permit(move.session, permission)
            body(move)
            return _committed(engine, move, action, permission)
    except (errors.NotAuthorized, errors.RequiresApproval, errors.RequiresStrongerAuthentication) as refused:
        with engine.space.transaction() as tx:
            audit.note(
                tx,
                session,
                at=now,
                action=action,
                decision="deny",
                permission=str(refused.details.get("permission", permission)),
                details={},
            )
        raise


def _committed(engine: Engine, move: Move, action: str, permission: str) -> Seq:
    tx = move.tx
    now = timestamp(engine.clock.now_ms())
    run = Run(tx, engine.environment(tx), {}, move.session, now, engine.space_uri)
    ledger = ledger_of(run, tx)
    ledger.asked.add(permission)
    write_set = WriteSet(controls=dict(move.controls))
    if move.changed is not None and move.changed != move.plane:
        write_set.controls[CONTROL] = to_document(replace(move.changed, version=move.plane.version + 1))
    write_set.changed = _new_versions(run, move, ledger.seq, ledger.tx_id)
    write_set.changes = [change_entry(one.before, one.after, run.environment) for one in write_set.changed]
    if write_set.is_empty:
        return tx.seq
    asked = digest({"action": action, **move.details})
    commit.apply(write_set, tx, ledger)
    commit.finish(tx, run, ledger, (), write_set, request_digest=asked, dry_run=False)
    audit.note(
        tx,
        move.session,
        at=now,
        action=action,
        decision="allow",
        permission=permission,
        details=move.details,
        space_seq=ledger.seq,
        tx_id=ledger.tx_id,
    )
    return ledger.seq


def _new_versions(run: Run, move: Move, seq: Seq, tx_id: str) -> list[Changed]:
    stored = move.tx.elements(move.governed.keys())
    changed: list[Changed] = []
    for element_id in _by_number(move.governed):
        before = stored[element_id]
        if before.body.get("governance", {}) == move.governed[element_id]:
            continue
        after = stamp(
            before,
            {**before.body, "governance": dict(move.governed[element_id])},
            seq=seq,
            tx_id=tx_id,
            now=run.now,
            origin=before.body["_system"].get("origin", {}),
            environment=run.environment,
        )
        changed.append(Changed(before, after))
    return changed


def _by_number(ids: Mapping[ElementId, Governed]) -> Sequence[ElementId]:
    return sorted(ids, key=lambda element_id: (element_id[0], int(element_id[2:])))
