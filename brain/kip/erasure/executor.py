"""Plans an erasure and carries it out: batch by batch, each a commit that is its own checkpoint (KIP 2.0 §60.7).

No statement does this; a host does, for a session whose principal a door authenticated. A process that ends between two
batches leaves a plan that any later `run` goes on with; what a batch erased it also marked as erased, in one commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from brain import errors
from brain.ids import digest, is_element_id
from brain.kip import exports
from brain.kip.context import Session
from brain.kip.erasure import record
from brain.kip.erasure.batch import Batch
from brain.kip.erasure.record import OUTSIDE, SCOPES, STATES, ErasureReport, Plan, Scope, State, Surface, Target
from brain.kip.erasure.replays import broken_replays
from brain.kip.governance import approvals, audit
from brain.kip.governance.transitions import Move, transition
from brain.kip.write import erased as tombstones
from brain.store.base import ElementId, Kind
from brain.times import Seq, timestamp

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine

PERMISSION = "purge"
RETENTION_MS = 400 * 24 * 3_600_000
"""How long erased events are refused, when a plan does not say."""

Handlers: TypeAlias = Mapping[Surface, Callable[[str], bool]]
"""How a host erases its own copies: by surface, what takes a ref and says whether that copy is verified to be gone.

It is called again after a crash, so it answers True for what is gone already.
"""


class Eraser:
    """Plans and carries out erasures in the Space of an engine. Every method needs `purge` unless it says otherwise.

    batch  how many elements one commit erases
    """

    def __init__(self, engine: Engine, *, handlers: Handlers | None = None, batch: int = 50) -> None:
        self._engine = engine
        self._handlers: Handlers = handlers or {}
        self._batch = max(1, batch)

    def plan(
        self,
        session: Session,
        sources: Iterable[ElementId],
        scope: Scope = "semantic_forgetting",
        *,
        outside: Iterable[tuple[Surface, str]] = (),
        external_exports: Iterable[str] = (),
        retention_ms: int = RETENTION_MS,
        refuses_new: bool = False,
    ) -> ErasureReport:
        """Write a plan down; nothing is erased yet.

        sources           the Evidence whose events are to be forgotten
        outside           copies in the host's hands, backups among them, as (surface, ref)
        external_exports  copies that left the deployment, beside the Capsules the Space exported itself
        retention_ms      how long the same event is refused afterwards
        refuses_new       refuse the same content as a later observation too; else that is an event of its own
        raises            NotAuthorized, NotFoundOrNotVisible, TypeMismatch for what is no Evidence,
                          ConstraintViolation, PurgeDenied when something came of it that the session may not see
        """
        named = list(dict.fromkeys(sources))
        held = tuple(dict.fromkeys(outside))
        if scope not in SCOPES:
            raise errors.ConstraintViolation(f"An erasure is {' or '.join(SCOPES)}, not {scope!r}.")
        if not named or not all(map(is_element_id, named)):
            raise errors.InvalidIdentifier(
                "An erasure names the Evidence it starts from.", hint='Ids look like "E-42".'
            )
        wrong = [surface for surface, ref in held if surface not in OUTSIDE or not ref]
        if wrong or retention_ms < 0:
            raise errors.ConstraintViolation(f"A host holds copies in {', '.join(OUTSIDE)}, each with a name.")
        with self._engine.space.transaction() as tx:
            batch = Batch.open(self._engine, session, tx)
            found = batch.access.snapshot.elements(named)
            for element_id in named:
                if element_id not in found:
                    raise errors.NotFoundOrNotVisible(f"There is no {element_id} that you may see.")
                if found[element_id].kind is not Kind.EVIDENCE:
                    raise errors.TypeMismatch(f"{element_id} is no Evidence, and only that is a source event.")
                if found[element_id].state == "purged":
                    raise errors.ConstraintViolation(f"{element_id} was erased before.")
            plan = Plan(
                record.new_ref(tx),
                scope,
                tx.seq,
                tuple(named),
                (),
                exports=tuple(external_exports),
                outside=held,
                retention_ms=retention_ms,
                refuses_new=refuses_new,
            )
            plan = batch.renewed(plan)
            record.keep(tx, plan)
            self._note(batch, plan, "plan_erasure", None)
            return self._report(batch, plan)

    def step(self, session: Session, ref: str) -> ErasureReport:
        """Carry out one batch: authority, holds and copies made meanwhile are looked at anew, then it is one commit.

        raises  NotAuthorized, RequiresApproval, PurgeDenied, NotFoundOrNotVisible; the plan stays as it was
        """
        asked = digest({"erasure": ref})
        try:
            with self._engine.space.transaction() as tx:
                batch = Batch.open(self._engine, session, tx)
                plan = batch.renewed(record.load(tx, ref))
                if not plan.has_begun:
                    until = self._engine.clock.now_ms() + plan.retention_ms
                    tombstones.bury(tx, ref, batch.events, until_ms=until, refuses_new=plan.refuses_new)
                    plan = replace(plan, has_begun=True)
                before = len(plan.receipts)
                plan, approval = batch.carried_out(plan, self._batch, asked)
                record.keep(tx, plan)
                if not plan.has_more:
                    approvals.spend(tx, approval)
                if len(plan.receipts) > before:
                    self._note(batch, plan, "erase", batch.ledger.seq)
                return self._report(batch, plan)
        except (errors.NotAuthorized, errors.RequiresApproval, errors.RequiresStrongerAuthentication) as refused:
            self._refusal(session, refused, asked)
            raise

    def run(self, session: Session, ref: str) -> ErasureReport:
        """Go on with a plan as far as it goes: the Space's own copies batch by batch, then the host's.

        Whatever is held, unavailable or still to be erased by the host stays in `remaining`; a later run looks again.
        """
        report = self.step(session, ref)
        while (plan := self._load(ref)).has_more:
            report = self.step(session, ref)
        for target in report.remaining:
            handler = self._handlers.get(target.surface)
            if handler is not None and not plan.is_own(target):
                state: State = "erased" if handler(target.ref) else "unavailable"
                report = self.confirm(session, ref, target.surface, target.ref, state)
        return report

    def confirm(self, session: Session, ref: str, surface: Surface, copy: str, state: State) -> ErasureReport:
        """Record what the host found of a copy in its hands; only that, never a copy of the Space's own.

        raises  NotFoundOrNotVisible for a copy the plan does not have in the host's hands, ConstraintViolation
        """
        with self._engine.space.transaction() as tx:
            batch = Batch.open(self._engine, session, tx)
            plan = record.load(tx, ref)
            if plan.is_own(Target(copy, surface)) or not any(
                (surface, copy) == (t.surface, t.ref) for t in plan.targets
            ):
                raise errors.NotFoundOrNotVisible(f"The plan has no {surface} {copy!r} in the host's hands.")
            if not plan.has_begun or state not in STATES:
                raise errors.ConstraintViolation(f"A copy is {', '.join(STATES)} once the plan has begun.")
            plan = plan.with_state({(surface, copy): state})
            record.keep(tx, plan)
            self._note(batch, plan, "confirm_erasure", None)
            return self._report(batch, plan)

    def report(self, session: Session, ref: str) -> ErasureReport:
        """What a plan has come to."""
        with self._engine.space.transaction() as tx:
            return self._report(Batch.open(self._engine, session, tx), record.load(tx, ref))

    def admit_again(self, session: Session, ref: str) -> Seq:
        """Decide that the events of a plan may be recorded anew, before their tombstones are over: `manage_policy`."""

        def body(move: Move) -> None:
            record.load(move.tx, ref)
            # A commit of its own: what may be recorded is policy, and when it changed is to be known.
            if tombstones.lift(move.tx, ref):
                move.changed = replace(move.plane, next_id=move.plane.next_id + 1)
            move.details = {"erasure_plan": ref}

        return transition(self._engine, session, "admit_erased", "manage_policy", body)

    # --- how ----------------------------------------------------------------------------------------------------------

    def _load(self, ref: str) -> Plan:
        with self._engine.space.snapshot() as snapshot:
            return record.load(snapshot, ref)

    def _report(self, batch: Batch, plan: Plan) -> ErasureReport:
        ids = {target.ref for target in plan.targets if is_element_id(target.ref)} | set(plan.sources)
        gone = {one.ref for one in plan.targets if one.state == "erased" and one.surface != "cache"}
        left = dict.fromkeys([*plan.exports, *exports.that_carried(batch.tx, ids)])
        shown = replace(plan, exports=tuple(left))
        return ErasureReport(
            plan.ref,
            shown.to_record(),
            tuple(target for target in plan.targets if target.state != "erased"),
            plan.kept,
            tuple({"export": name, "recalled": False} for name in left),
            tuple(broken_replays(batch.access.snapshot, gone)),
        )

    def _note(self, batch: Batch, plan: Plan, action: str, seq: Seq | None) -> None:
        """Audit without content: what was done where, by whom."""
        audit.note(
            batch.tx,
            batch.access.session,
            at=timestamp(self._engine.clock.now_ms()),
            action=action,
            decision="allow",
            permission=PERMISSION,
            details={"erasure_plan": plan.ref, "scope": plan.scope, "status": plan.status},
            space_seq=seq,
            tx_id=None if seq is None else batch.ledger.tx_id,
        )

    def _refusal(self, session: Session, refused: errors.KipError, asked: str) -> None:
        now = self._engine.clock.now_ms()
        with self._engine.space.transaction() as tx:
            permission = str(refused.details.get("permission", PERMISSION))
            audit.note(
                tx, session, at=timestamp(now), action="erase", decision="deny", permission=permission, details={}
            )
            if isinstance(refused, errors.RequiresApproval):
                waiting = approvals.Filed(
                    refused.details["approval_id"],
                    session.principal_id,
                    asked,
                    tuple(refused.details["permissions"]),
                    (),
                    (),
                    timestamp(now),
                    now + self._engine.limits.idempotency_retention_ms,
                )
                approvals.file(tx, waiting)
