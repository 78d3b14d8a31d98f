"""Run one KML statement against a transaction: from its clauses to the write set (KIP 2.0 §32.3, §53)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from brain import errors
from brain.kip import ast
from brain.kip.context import Answer, Changed, Run, WriteSet
from brain.kip.governance import inheritance
from brain.kip.validate import TERMINAL_ACTIVITY
from brain.kip.write import check
from brain.kip.write.claims import Assert, EnsureProposition
from brain.kip.write.concepts import CreateConcept, UpsertConcept
from brain.kip.write.define import define
from brain.kip.write.erased import refuse_erased
from brain.kip.write.ingest import IngestEntry, mint
from brain.kip.write.lookups import lookups_of, named
from brain.kip.write.merge import MergeConcept
from brain.kip.write.planes import NO_VALUE, change_entry, changed_content, same, stamp
from brain.kip.write.records import CreateRecord
from brain.kip.write.removal import Purge, PurgePayload, SetRetention
from brain.kip.write.rules import dependency_basis, profile_rules
from brain.kip.write.steps import Step
from brain.kip.write.transition import Transition
from brain.kip.write.update import Update
from brain.kip.write.work import Broken, Draft, Ledger, Workspace, by_number
from brain.store.base import Element, ElementId, Kind, Transaction

_STEPS: Mapping[type[ast.Node], type[Step[Any]]] = {
    ast.Assert: Assert,
    ast.CreateConcept: CreateConcept,
    ast.CreateRecord: CreateRecord,
    ast.EnsureProposition: EnsureProposition,
    ast.MergeConcept: MergeConcept,
    ast.Purge: Purge,
    ast.PurgePayload: PurgePayload,
    ast.SetRetention: SetRetention,
    ast.Transition: Transition,
    ast.Update: Update,
    ast.UpsertConcept: UpsertConcept,
}

_PHASES: Sequence[Callable[[Step[Any]], None]] = (
    lambda step: step.declare(),
    lambda step: step.foresee(),
    lambda step: step.resolve(),
    lambda step: step.select(),
    lambda step: step.fill(),
)


def run_kml(
    statement: ast.KmlStatement,
    run: Run,
    tx: Transaction,
    *,
    ledger: Ledger | None = None,
    ingest: Sequence[IngestEntry] = (),
    op_id: str | None = None,
    bind: dict[str, Any] | None = None,
) -> tuple[Answer, WriteSet]:
    """What the statement answers, and everything it would write; the transaction itself is not written to.

    ledger  what earlier statements of the same transaction changed; None for the first
    ingest  observations minted along with the statement
    bind    takes in the parameters that name what was minted, for later statements
    raises  the first fault, with every fault of the statement in `details.faults` when there are several
    """
    ledger = ledger or Ledger(tx.seq + 1, f"{run.space_uri}#{tx.seq + 1}")
    if isinstance(statement, ast.Define):
        return define(statement, run, tx, ledger)
    work = Workspace(run, tx, ledger, op_id)
    minted = mint(work, ingest)
    if minted:
        bound = {key: {"id": element_id} for key, element_id in minted.items()}
        work.run = replace(run, parameters={**run.parameters, **bound})
        if bind is not None:
            bind.update(bound)
    clauses = statement.clauses if isinstance(statement, ast.Mutate) else (statement,)
    if len(clauses) > run.limits.plan_elements:
        raise errors.TransactionTooLarge(f"A block takes at most {run.limits.plan_elements} clauses.")
    tx.look_ahead(lambda: lookups_of(work, clauses))
    work.find(named(run.parameters))  # at once, before clause by clause asks for it
    steps = [_STEPS[type(clause)](work, clause, position) for position, clause in enumerate(clauses)]
    _run_phases(work, steps)
    write_set = seal(work, frozenset(minted.values()))
    return _answer(work, steps, write_set), write_set


def _run_phases(work: Workspace, steps: Sequence[Step[Any]]) -> None:
    """Every phase over every clause; a clause that failed takes no further part, its error waits for the others'.

    raises  ExecutionTimeout past the deadline, whatever was found until then
    """
    faults: list[tuple[int | None, errors.KipError]] = []
    alive = dict(enumerate(steps))

    def attempt(place: int, step: Step[Any], action: Callable[[Step[Any]], None]) -> None:
        work.run.check_deadline()
        try:
            action(step)
        except errors.KipError as fault:
            faults.append((step.position, fault))
        except Broken:
            pass
        else:
            return
        del alive[place]
        work.broken.update(step.handles)

    for phase in _PHASES:
        for place, step in list(alive.items()):
            attempt(place, step, phase)
    if not faults:
        for place, step in list(alive.items()):
            attempt(place, step, lambda step: step.move())
    if not faults:
        faults += [(None, fault) for fault in [*_erased_faults(work), *_retry_faults(work)]]
        faults += [(None, fault) for fault in check.final_state(work)]
    if not faults:
        faults += [(None, fault) for fault in profile_rules(work)]
    if len(work.drafts) > work.run.limits.plan_elements:
        raise errors.TransactionTooLarge(f"A transaction changes at most {work.run.limits.plan_elements} elements.")
    if faults:
        raise together(faults)


def together(faults: Sequence[tuple[int | None, errors.KipError]]) -> errors.KipError:
    """The first error, telling of the others."""
    first = faults[0][1]
    if len(faults) > 1:
        first.details["faults"] = [
            {"code": fault.code, "message": fault.message, "hint": fault.hint}
            | ({"clause": position} if position is not None else {})
            | ({"details": fault.details} if fault.details and fault is not first else {})
            for position, fault in faults
        ]
    return first


# --- retried creations ------------------------------------------------------------------------------------------------

_NOT_COMPARED = frozenset({"_system", "governance", "id", "lifecycle", "payload", "retention"})
_DEFAULTED = frozenset({"asserted_at", "observed_at"})


def _erased_faults(work: Workspace) -> list[errors.KipError]:
    """What keeps an erased source event from being recorded again (§60.7)."""
    made = [draft.body for draft in work.drafts.values() if draft.kind is Kind.EVIDENCE and draft.before is None]
    again = [retry.id for retry in work.retries if retry.kind is Kind.EVIDENCE]
    if made or again:
        try:
            refuse_erased(work.tx, made, again)
        except errors.ConstraintViolation as fault:
            return [fault]
    return []


def _retry_faults(work: Workspace) -> list[errors.KipError]:
    """ClientKeyConflict for every creation whose key stands for other content (§7.5, §52.1)."""
    faults: list[errors.KipError] = []
    for retry in work.retries:
        differing = _differing(retry, _as_created(work, retry.id))
        if differing:
            faults.append(
                errors.ClientKeyConflict(
                    f"The client key {retry.client_key!r} stands for {retry.id}, whose {', '.join(differing)} differ.",
                    details={"element": retry.id, "differing": differing},
                )
            )
    return faults


def _as_created(work: Workspace, element_id: ElementId) -> Mapping[str, Any]:
    """The first content of an element: what a retry is compared with, whatever became of it since."""
    own = work.drafts.get(element_id)
    if own is not None and own.before is None:
        return own.body
    return work.tx.versions(element_id)[0][1].body


def _differing(retry: Draft, first: Mapping[str, Any]) -> list[str]:
    if first["_system"]["state"] == "purged":
        return []
    differing = [
        name
        for name in sorted({*retry.body, *first} - _NOT_COMPARED - {"facets"})
        if not (name in _DEFAULTED and name not in retry.stated)
        and not same(retry.body.get(name, NO_VALUE), first.get(name, NO_VALUE))
    ]
    facets, held = retry.body.get("facets", {}), first.get("facets", {})
    return differing + [f"facets.{ref}" for ref in facets if not same(facets[ref], held.get(ref, NO_VALUE))]


# --- from working copies to versions ----------------------------------------------------------------------------------


def seal(work: Workspace, minted: frozenset[ElementId]) -> WriteSet:
    """The new versions of everything that really changed."""
    write_set = WriteSet(controls=dict(work.controls))
    sealed: list[tuple[Element | None, Element]] = []
    session = work.run.session
    origin = {"principal_id": session.principal_id, "channel": session.channel, "import_id": None}
    finished = _finish(work)
    inheritance.settle(work)
    for draft in work.drafts.values():
        if draft.before is not None and not changed_content(draft.before, draft.body):
            continue
        if draft.id in work.supplied:
            earlier = draft.body["_system"].get("input_references", [])
            draft.body["_system"]["input_references"] = [*earlier, *work.supplied[draft.id]]
        original = work.ledger.originals.get(draft.id, draft.before)
        after = stamp(
            original,
            draft.body,
            seq=work.ledger.seq,
            tx_id=work.ledger.tx_id,
            now=work.now,
            origin=origin,
            environment=work.environment,
        )
        sealed.append((draft.before, after))
    _capture_versions(work, [after for _, after in sealed], finished)
    for before, after in sealed:
        if after.id in work.erasing:
            write_set.erased.append(after)
        elif before is None:
            write_set.created.append(after)
        else:
            write_set.changed.append(Changed(before, after))
    write_set.client_keys = {
        draft.id: draft.client_key for draft in work.drafts.values() if draft.before is None and draft.client_key
    }
    write_set.changes = changes_of(work.environment, sealed)
    write_set.ingested = minted & {element.id for element in write_set.created}
    return write_set


def changes_of(environment: Any, sealed: Sequence[tuple[Element | None, Element]]) -> list[dict[str, Any]]:
    """Envelope entries for elements before and after, in order of id."""
    pairs = {after.id: (before, after) for before, after in sealed}
    return [change_entry(*pairs[element_id], environment) for element_id in by_number(pairs)]


def _finish(work: Workspace) -> frozenset[ElementId]:
    """Activities this statement brings to a terminal state; what inferred claims are derived from is noted too."""
    finished = set()
    for draft in work.drafts.values():
        if draft.kind is Kind.ACTIVITY and draft.state != "purged":
            before = draft.before.body.get("status") if draft.before else None
            if draft.body["status"] in TERMINAL_ACTIVITY and before not in TERMINAL_ACTIVITY:
                finished.add(draft.id)
        elif draft.kind is Kind.ASSERTION and draft.before is None and draft.body["mode"] == "inferred":
            cited = [citation["id"] for citation in draft.body.get("evidence", ())]
            if cited:
                draft.body["governance"]["authority_lineage"] = cited
    return frozenset(finished)


def _capture_versions(work: Workspace, sealed: Sequence[Element], finished: frozenset[ElementId]) -> None:
    """Note the committed versions of a finished Activity's inputs and outputs (§16.6)."""
    after = {element.id: element for element in sealed}
    for element in sealed:
        if element.id not in finished:
            continue
        system: Any = element.body["_system"]
        for name in ("inputs", "outputs"):
            ids = [reference["id"] for reference in element.body.get(name, ())]
            work.find(ids)
            versions = {}
            for element_id in ids:
                found = after.get(element_id) or work.element(element_id)
                if found is not None:
                    versions[element_id] = found.version
            if versions:
                system[f"{name[:-1]}_versions"] = versions
        if dependency_basis(element.body) is not None:
            system["output_plane_versions"] = _certified_planes(work, element, after)


def _certified_planes(
    work: Workspace, activity: Element, after: Mapping[ElementId, Element]
) -> dict[ElementId, dict[str, int]]:
    """The planes of its outputs a derivation answers for; memory strength and retention may move on (§57.6)."""
    certified = {}
    for reference in activity.body.get("outputs", ()):
        found = after.get(reference["id"]) or work.element(reference["id"])
        if found is not None:
            planes = found.body["_system"]["plane_versions"]
            certified[found.id] = {name: planes[name] for name in ("attributes", "structural")}
    return certified


def _answer(work: Workspace, steps: Sequence[Step[Any]], write_set: WriteSet) -> Answer:
    """Changes and handles; how many targets a sweep left as they were, when that is not plain from the changes."""
    result: dict[str, Any] = {"changes": write_set.changes, "handles": dict(sorted(work.handles.items()))}
    counted: dict[str, int] = {}
    if work.swept is not None:
        changed = {entry["id"] for entry in write_set.changes}
        counted = {"matched": len(work.swept), "updated": len(work.swept & changed)}
        if len(steps) == 1 and counted["matched"] != counted["updated"]:
            result |= counted
    return Answer(result, warnings=tuple(work.warnings), counted=counted)
