"""Schema migration: elements written under one version of their type, taken over to another (KIP 2.0 §20.10, §20.14).

No statement of the language can do it. It is one commit or none: every element is held whole against the definition it
comes under, its name and content stay as they are, and an Activity of class `schema_migration` records what was done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from brain import errors
from brain.ids import digest, lineage_of
from brain.kip import commit, validate
from brain.kip.context import Answer, Run, Session
from brain.kip.governance.access import access_of
from brain.kip.operate import ledger_of
from brain.kip.resolve import named_id
from brain.kip.schema import ConceptType
from brain.kip.write.records import fill_activity
from brain.kip.write.run import seal, together
from brain.kip.write.work import Draft, Workspace, by_number
from brain.store.base import ElementId, Kind
from brain.times import timestamp

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine

ACTIVITY_CLASS = "schema_migration"


def migrate(engine: Engine, session: Session, targets: Mapping[ElementId, str]) -> dict[str, Any]:
    """Bind Concepts to other versions of their types; the receipt, `no_effect` when all are bound so already.

    targets  Concept to the exact reference of the version it comes under
    raises   NotAuthorized without `manage_schema`, InvalidIdentifier, NotFoundOrNotVisible, SchemaSymbolNotFound;
             ConstraintViolation for what is no Concept, another lineage or a version nothing is written under; and what
             a Concept of that version could not be written with. Every fault of every element is in `details.faults`
    """
    with engine.space.transaction() as tx:
        access = access_of(engine.planes, session, tx, tx, engine.clock)
        run = Run(
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
        ledger = ledger_of(run, tx)
        work = Workspace(run, tx, ledger)
        work.permit("manage_schema")
        if len(targets) > run.limits.plan_elements:
            raise errors.TransactionTooLarge(f"A transaction changes at most {run.limits.plan_elements} elements.")
        for element_id in targets:
            named_id(element_id, "A target")
        moved = _moved(work, targets)
        if moved:
            _record(work, moved)
        write_set = seal(work, frozenset())
        commit.apply(write_set, tx, ledger)
        answer = Answer({"changes": write_set.changes})
        asked = digest({"migrate": dict(targets)})
        return commit.finish(tx, run, ledger, [answer], write_set, request_digest=asked, dry_run=False)


def _moved(work: Workspace, targets: Mapping[ElementId, str]) -> list[Draft]:
    """The working copies of what really changes, all of them legal under their new versions."""
    faults: list[tuple[int | None, errors.KipError]] = []
    moved: list[Draft] = []
    work.find(list(targets))
    for element_id in by_number(targets):
        try:
            draft = work.draft(element_id)
            target = _target(work, draft, targets[element_id])
        except errors.KipError as fault:
            faults.append((None, fault))
            continue
        if draft.body["schema_ref"] != target.symbol.ref:
            work.permit("manage_schema", draft.before)
            draft.put(("schema_ref",), target.symbol.ref)
            moved.append(draft)
            faults += [(None, fault) for fault in _faults(work, draft, target)]
    if faults:
        raise together(faults)
    return moved


def _target(work: Workspace, draft: Draft, ref: str) -> ConceptType:
    if draft.kind is not Kind.CONCEPT or draft.state == "purged":
        raise errors.ConstraintViolation(
            f"{draft.id} is bound to no Concept Type.", hint="Only Concepts have a type whose versions differ."
        )
    environment = work.environment
    target = environment.exact_concept_type(ref)
    lineages = environment.group("concept_type", lineage_of(draft.body["schema_ref"]))
    if target.symbol.lineage not in lineages:
        raise errors.ConstraintViolation(
            f"{draft.id} is a {environment.local_name(draft.body['schema_ref'])}, and {ref} is another type.",
            hint="A migration changes the version of a type. What is something else is a new Concept.",
        )
    if environment.status_of(target) != "active":
        raise errors.ConstraintViolation(f"Nothing is written under {ref} here: its package is not active.")
    return target


def _faults(work: Workspace, draft: Draft, target: ConceptType) -> Iterator[errors.KipError]:
    """What of a whole Concept the new version does not take, also where the migration left it as it was."""
    environment, body = work.environment, draft.body
    carrier = validate.Carrier(Kind.CONCEPT, target.symbol.ref)
    structural: Mapping[str, Any] = body.get("structural", {})
    try:
        validate.check_attributes(environment, target, body.get("attributes", {}))
        for ref, members in body.get("facets", {}).items():
            validate.check_facet(environment, environment.exact_facet(ref), carrier, members)
        fields = {ref: environment.exact_structural_field(ref) for ref in structural}
        for ref, field in fields.items():
            for reference in structural[ref]:
                found = work.body(reference["id"])
                if found is not None:
                    end = Kind(found["kind"]), found.get("schema_ref")
                    validate.check_structural(environment, field, (Kind.CONCEPT, target.symbol.ref), end)
        held = {field.symbol.lineage for field in fields.values()}
        for field in validate.required_fields(environment, target):
            if field.symbol.lineage not in held:
                validate.check_cardinality(field, 0)
    except errors.KipError as fault:
        fault.message = f"{draft.id}: {fault.message}"
        fault.details.setdefault("element", draft.id)
        yield fault


def _record(work: Workspace, moved: list[Draft]) -> None:
    """The Activity that names what was migrated: with no inputs, since nothing was derived from anything."""
    activity = work.create(Kind.ACTIVITY, {})
    fill_activity(work, activity, {"activity_class": ACTIVITY_CLASS, "status": "completed"})
    activity.body |= {"started_at": work.now, "ended_at": work.now}
    activity.body["outputs"] = [{"id": draft.id} for draft in moved]
