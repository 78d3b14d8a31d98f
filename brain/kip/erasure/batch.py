"""One batch of an erasure inside its transaction (KIP 2.0 §60.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from brain import errors
from brain.ids import is_element_id
from brain.kip import commit, exposure
from brain.kip.context import Answer, Run, Session
from brain.kip.erasure.closure import EXPOSURES, closure, is_spoken_of, source_events, targets_of
from brain.kip.erasure.record import Plan, State, Surface, Target
from brain.kip.governance import approvals
from brain.kip.governance.access import Access, access_of, revalidate
from brain.kip.operate import ledger_of
from brain.kip.write.removal import erase
from brain.kip.write.run import seal
from brain.kip.write.work import Draft, Workspace
from brain.store.base import Element, ElementId, Transaction
from brain.times import timestamp

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine

PERMISSION = "purge"
States = dict[tuple[Surface, str], State]


class Batch:
    """A transaction of an erasure: who does it, and what it changes."""

    def __init__(self, engine: Engine, door: Session, access: Access, tx: Transaction) -> None:
        self.engine, self.door, self.access, self.tx = engine, door, access, tx
        self.run = Run(
            access.snapshot,
            engine.environment(tx),
            {},
            access.session,
            timestamp(engine.clock.now_ms()),
            engine.space_uri,
            limits=engine.limits,
            sight=access.sight,
            plane=access.plane,
        )
        self.ledger = ledger_of(self.run, tx)
        self.work = Workspace(self.run, tx, self.ledger)
        self.events: Sequence[Element] = ()

    @classmethod
    def open(cls, engine: Engine, session: Session, tx: Transaction) -> Batch:
        """A batch for a session that may purge.

        raises  ReadonlyViolation, NotAuthorized
        """
        if session.readonly:
            raise errors.ReadonlyViolation()
        batch = cls(engine, session, access_of(engine.planes, session, tx, tx, engine.clock), tx)
        batch.work.permit(PERMISSION)
        return batch

    def renewed(self, plan: Plan) -> Plan:
        """The plan for the Space as it stands: copies made meanwhile are added, what now stands by itself is let go.

        raises  PurgeDenied for a copy the session may not know of, NotAuthorized for one it may not purge
        """
        self.events = source_events(self.tx, self.tx.elements(plan.sources).values())
        found = closure(self.tx, self.events)
        fresh = {(one.surface, one.ref): one for one in targets_of(plan.scope, self.events, found)}
        fresh |= {key: Target(key[1], key[0]) for key in plan.outside}
        known = {(one.surface, one.ref): one for one in plan.targets}
        self._require_whole(fresh)
        stored = self.tx.elements({ref for _, ref in fresh if is_element_id(ref)})
        merged = [target for key, target in known.items() if key in fresh or self._stays(plan, target)]
        for key, target in fresh.items():
            if key in known:
                continue
            element = stored.get(target.ref)
            if element is None or not _is_gone(element, target.surface):
                merged.append(target)
        order = {key: place for place, key in enumerate(fresh)}
        merged.sort(key=lambda one: order.get((one.surface, one.ref), -1))
        return replace(
            plan, targets=tuple(merged), kept=tuple(sorted(found.kept)) if plan.scope != "payload_only" else ()
        )

    def _stays(self, plan: Plan, target: Target) -> bool:
        """Whether a target stays that nothing of the source leads to any more, because what led to it is erased."""
        if target.state == "erased" or not plan.is_own(target):
            return True
        doomed = {one.ref for one in plan.targets}
        return target.state == "held" and not is_spoken_of(self.tx, target.ref, doomed)

    def carried_out(self, plan: Plan, most: int, request_digest: str) -> tuple[Plan, str | None]:
        """Erase up to `most` elements; the plan afterwards, and the approval that was needed."""
        drafts = self._next(plan, most)
        states: States = {}
        for draft, targets in drafts:
            if draft.body.get("retention", {}).get("legal_hold"):
                states |= {(one.surface, one.ref): "held" for one in targets}
                continue
            self._take(draft, {one.surface for one in targets})
            states |= {(one.surface, one.ref): "erased" for one in targets}
        if plan.scope == "semantic_forgetting" and not plan.with_state(states).waiting:
            gone = {one.ref for one in plan.targets if is_element_id(one.ref)}
            exposure.forget(self.tx, gone)
            states[("cache", EXPOSURES)] = "erased"
        plan = plan.with_state(states)
        revalidate(self.engine.planes, self.access, self.door, self.ledger.asked, self.engine.clock)
        approval = approvals.require(self.tx, self.access.plane, self.door, self.ledger.asked, request_digest)
        write_set = seal(self.work, frozenset())
        commit.apply(write_set, self.tx, self.ledger)
        answer = Answer({"changes": write_set.changes})
        receipt = commit.finish(
            self.tx, self.run, self.ledger, [answer], write_set, request_digest=request_digest, dry_run=False
        )
        self._verify([ref for (_, ref), state in states.items() if state == "erased"], plan)
        if receipt["status"] == "committed":
            plan = replace(plan, receipts=(*plan.receipts, receipt["tx_id"]))
        return plan, approval

    def _next(self, plan: Plan, most: int) -> list[tuple[Draft, list[Target]]]:
        """The elements of the batch with their targets: what was held is looked at anew, beside the pending ones."""
        waiting: dict[ElementId, list[Target]] = {}
        for target in plan.waiting:
            waiting.setdefault(target.ref, []).append(target)
        pending = [ref for ref, targets in waiting.items() if any(one.state == "pending" for one in targets)]
        chosen = pending[:most] or list(waiting)
        return [(self.work.draft(ref), waiting[ref]) for ref in chosen]

    def _take(self, draft: Draft, surfaces: set[Surface]) -> None:
        if draft.state == "purged":
            return
        self.work.permit(PERMISSION, draft.before)
        self.work.erasing.add(draft.id)
        if surfaces & {"element", "replay", "summary"}:
            erase(draft)
        elif "payload" in surfaces:
            draft.put(("payload",), {"status": "purged"})

    def _require_whole(self, fresh: dict[tuple[Surface, str], Target]) -> None:
        ids = {ref for _, ref in fresh if is_element_id(ref)}
        stored = self.tx.elements(ids)
        for element in stored.values():
            if element.state == "purged":
                continue
            if self.work.is_hidden(element.id):
                raise errors.PurgeDenied(
                    "This cannot be erased with the authority you have.", hint="Ask the owner of the Space."
                )
            self.work.permit(PERMISSION, element)

    def _verify(self, refs: Sequence[str], plan: Plan) -> None:
        """Every kept version of what was erased is without it; else nothing of the batch stands."""
        surfaces: dict[str, set[Surface]] = {}
        for target in plan.targets:
            surfaces.setdefault(target.ref, set()).add(target.surface)
        for ref in set(refs):
            if not is_element_id(ref):
                continue
            for _, version in self.tx.versions(ref):
                if not all(_is_gone(version, surface) for surface in surfaces[ref] - {"index"}):
                    raise errors.InternalError(f"{ref} was not erased from every version.")


def _is_gone(element: Element, surface: Surface) -> bool:
    """Whether nothing of an element is left on a surface of the Space's own."""
    if element.state == "purged":
        return True
    if surface in ("payload", "index") and "payload" in element.body:
        return bool(element.body["payload"] == {"status": "purged"})
    return False
