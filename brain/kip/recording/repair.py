"""One repair: checked against the source, then the right claims, the record of it and the invalidation in one commit.

No statement does this; a host does, for a session whose principal a door authenticated. What was wrongly recorded keeps
its content, its lifecycle and its actor: only its recording stops being valid, so belief and search leave it out and
what was derived from it has to be reviewed (KIP 2.0 §57.8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brain import errors
from brain.ids import digest
from brain.kip import ast, capabilities, commit, govern
from brain.kip.belief.dependency import is_recording_invalidated
from brain.kip.context import Answer, Changed, Run, Session, WriteSet
from brain.kip.governance import approvals, audit
from brain.kip.governance.access import access_of, revalidate
from brain.kip.operate import ledger_of
from brain.kip.parser import language_of, parse
from brain.kip.recording.recorders import may_repair
from brain.kip.recording.request import Asked, Replacement, asked_of
from brain.kip.recording.source import check_source, cited, claim_times, goes_back_to
from brain.kip.write import Ledger, run_kml
from brain.kip.write.planes import stamp
from brain.store.base import Document, Element, ElementId, Json, Kind, Transaction
from brain.times import Seq, timestamp

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine

PERMISSION = "repair_recording"
ACTIVITY = "recording_repair"
CONTROL = "recording"
"""The control document that names what is invalid, by its repair."""

_EXTRACTIONS = (Kind.ASSERTION, Kind.CONCEPT, Kind.EVIDENCE)
_RECORD = """CREATE ACTIVITY ?repair {
  SET FIELDS {activity_class: "recording_repair", status: "completed", ended_at: :now}
  SET FACET "RecordingRepair" {
    source_ref: :source_ref, source_digest: :source_digest, source_locator: :source_locator, reason: :reason,
    invalidated_refs: :invalidated_refs, replacement_refs: :replacement_refs, expected_versions: :expected_versions
  }
  SET STRUCTURAL {%s}
}"""


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair came to: the Activity that records it, the claims in place of the wrong ones, the commit."""

    repair: ElementId
    replacements: tuple[ElementId, ...]
    seq: Seq
    receipt: Document


def repair_recording(
    engine: Engine, session: Session, record: Mapping[str, Json], replacement: Replacement | None = None
) -> Repaired:
    """Invalidate what the caller itself recorded wrongly from a source; all of it is one commit or none is.

    record  a RecordingRepair, whose `replacement_refs` may name handles of `replacement` as `?name`
    raises  UnsupportedCapability where repair is not offered, ReadonlyViolation, NotAuthorized for what another
            principal recorded and for claims the caller may not make, NotFoundOrNotVisible, VersionConflict,
            DigestMismatch, ConstraintViolation
    """
    if not capabilities.is_held(ACTIVITY):
        raise errors.UnsupportedCapability(
            "Recordings are not repaired here.", details={"capability": ACTIVITY, "offered": False}
        )
    if session.readonly:
        raise errors.ReadonlyViolation()
    asked = asked_of(record)
    statement = _parsed(session, replacement)
    made_of = {"repair_recording": dict(record), "command": replacement and replacement.command}
    request_digest = digest({**made_of, "parameters": dict(replacement.parameters) if replacement else {}})
    try:
        with engine.space.transaction() as tx:
            return _Repair(engine, session, tx, asked).done(statement, replacement, request_digest)
    except (errors.NotAuthorized, errors.RequiresApproval, errors.RequiresStrongerAuthentication) as refused:
        _refusal(engine, session, refused, replacement, request_digest)
        raise


def _refusal(
    engine: Engine,
    session: Session,
    refused: errors.KipError,
    replacement: Replacement | None,
    request_digest: str,
) -> None:
    """Audit a refusal; what waits for a second principal is kept for that one to see."""
    at = timestamp(engine.clock.now_ms())
    permission = str(refused.details.get("permission", PERMISSION))
    with engine.space.transaction() as tx:
        audit.note(tx, session, at=at, action=PERMISSION, decision="deny", permission=permission, details={})
        if isinstance(refused, errors.RequiresApproval):
            waiting = approvals.Filed(
                refused.details["approval_id"],
                session.principal_id,
                request_digest,
                tuple(refused.details["permissions"]),
                () if replacement is None else (replacement.command,),
                (),
                at,
                engine.clock.now_ms() + engine.limits.idempotency_retention_ms,
            )
            approvals.file(tx, waiting)


def _parsed(session: Session, replacement: Replacement | None) -> ast.KmlStatement | None:
    if replacement is None:
        return None
    statement: Any = parse(replacement.command)
    if language_of(statement) != "KML" or isinstance(statement, ast.Define):
        raise errors.LanguageMismatch("A replacement is KML that makes claims.")
    if session.admit is not None:
        session.admit(statement, replacement.parameters)
    found: ast.KmlStatement = statement
    return found


class _Repair:
    """A repair under way in its transaction."""

    def __init__(self, engine: Engine, session: Session, tx: Transaction, asked: Asked) -> None:
        self.engine, self.door, self.tx, self.asked = engine, session, tx, asked
        self.access = access_of(engine.planes, session, tx, tx, engine.clock)
        self.session = self.access.session
        self.environment = engine.environment(tx)
        self.now = timestamp(engine.clock.now_ms())
        self.ledger: Ledger = ledger_of(self._run({}), tx)
        self.answers: list[Answer] = []

    def done(
        self, statement: ast.KmlStatement | None, replacement: Replacement | None, request_digest: str
    ) -> Repaired:
        govern.permit(self.session, PERMISSION)
        self.ledger.asked.add(PERMISSION)
        source = self._element(self.asked.source_ref)
        check_source(source, self.asked.source_digest, self.asked.source_locator)
        wrong = [self._element(ref) for ref in self.asked.invalidated_refs]
        self._check_versions()
        for element in wrong:
            self._check_extraction(element, source)
        made = self._make(statement, replacement)
        replacements = self._replacements(made)
        for claim in replacements:
            self._check_replacement(claim, source)
        repair = self._record(source, replacements)
        self._invalidate(wrong, repair)
        receipt = self._commit(request_digest)
        return Repaired(repair, tuple(claim.id for claim in replacements), self.ledger.seq, receipt)

    # --- what is wrong ------------------------------------------------------------------------------------------------

    def _element(self, element_id: ElementId) -> Element:
        """An element the caller may read, as it is stored.

        raises  NotFoundOrNotVisible
        """
        shown = self.access.snapshot.elements([element_id]).get(element_id)
        stored = self.tx.elements([element_id]).get(element_id)
        if shown is None or stored is None or self._is_withheld(element_id):
            raise errors.NotFoundOrNotVisible(f"There is no {element_id} that you may read.")
        return stored

    def _is_withheld(self, element_id: ElementId) -> bool:
        sight = self.access.sight
        return sight is not None and not sight.reads(element_id)

    def _check_versions(self) -> None:
        for element_id, expected in self.asked.expected_versions.items():
            found = self._element(element_id).version
            if found != expected:
                raise errors.VersionConflict(
                    f"{element_id} is at version {found}, not {expected}.",
                    details={"element": element_id, "expected": expected, "found": found},
                )

    def _check_extraction(self, element: Element, source: Element) -> None:
        """Whether this is something the caller itself drew from this source, and still counts."""
        govern.permit(self.session, PERMISSION, element)
        if element.kind not in _EXTRACTIONS or element.id == source.id:
            raise errors.ConstraintViolation(
                f"{element.id} is nothing that was drawn from {source.id}.",
                hint="A repair invalidates claims, and Concepts and Evidence made from a source.",
                details={"element": element.id},
            )
        if not may_repair(self.access.plane, self.session, element, self.now):
            raise errors.NotAuthorized(
                f"{element.id} was recorded by another principal, whose recordings are not yours to repair.",
                details={"permission": PERMISSION, "element": element.id},
            )
        if element.state != "active" or is_recording_invalidated(element.body):
            raise errors.ConstraintViolation(
                f"{element.id} is no recording that still counts.", details={"element": element.id}
            )
        if not goes_back_to(self.tx, element, source.id):
            raise errors.ConstraintViolation(
                f"Nothing says that {element.id} was drawn from {source.id}.",
                hint="It cites the source, or is an output of an Activity the source went into.",
                details={"element": element.id, "source": source.id},
            )

    # --- what is right ------------------------------------------------------------------------------------------------

    def _make(self, statement: ast.KmlStatement | None, replacement: Replacement | None) -> Mapping[str, ElementId]:
        """Run the replacement; its handles."""
        if statement is None or replacement is None:
            return {}
        answer, write_set = self._apply(statement, replacement.parameters)
        if write_set.changed or write_set.erased or write_set.controls:
            raise errors.ConstraintViolation(
                "A replacement only adds what was really said; it changes nothing that is there.",
                details={"changed": sorted(one.after.id for one in write_set.changed)},
            )
        if self.session.review is not None:
            self.session.review(write_set, self.tx)
        handles: Mapping[str, ElementId] = answer.result["handles"]
        named = {handles.get(ref.removeprefix("?")) for ref in self.asked.replacement_refs if ref.startswith("?")}
        unnamed = [one.id for one in write_set.created if one.kind is Kind.ASSERTION and one.id not in named]
        if unnamed:
            raise errors.ConstraintViolation(
                "The replacement makes claims that replacement_refs does not name.", details={"count": len(unnamed)}
            )
        return handles

    def _replacements(self, handles: Mapping[str, ElementId]) -> list[Element]:
        found: dict[ElementId, Element] = {}
        for ref in self.asked.replacement_refs:
            element_id = handles.get(ref[1:]) if ref.startswith("?") else ref
            if element_id is None:
                raise errors.ReferenceError(f"The replacement has no handle {ref}.", details={"handle": ref})
            created = ref.startswith("?")
            found[element_id] = self.tx.elements([element_id])[element_id] if created else self._element(element_id)
        return list(found.values())

    def _check_replacement(self, claim: Element, source: Element) -> None:
        """A replacement says what the source says, of when the source was: it is the old claim, told right."""
        fault = None
        if claim.kind is not Kind.ASSERTION or claim.id in self.asked.invalidated_refs:
            fault = "is no claim that could take another's place"
        elif claim.state != "active" or claim.body["lifecycle"]["status"] != "active":
            fault = "is no claim that stands"
        elif is_recording_invalidated(claim.body):
            fault = "was itself recorded wrongly"
        elif source.id not in cited(claim):
            fault = f"does not cite {source.id}"
        elif claim.body["asserted_at"] not in claim_times(source):
            fault = "is not dated by the source"
        if fault is not None:
            raise errors.ConstraintViolation(
                f"{claim.id} {fault}.",
                hint="A replacement cites the source, and its asserted_at is the source's observed_at or an instant "
                "the source itself states.",
                details={"element": claim.id, "claim_times": sorted(claim_times(source))},
            )
        if claim.body["_system"]["origin"]["principal_id"] != self.session.principal_id:
            raise errors.NotAuthorized(
                f"{claim.id} is another principal's.", details={"permission": PERMISSION, "element": claim.id}
            )
        identity = self.tx.control("identity") or {}
        permission = govern.assertion_permission(self.session, claim.body["asserted_by"]["id"], identity.get("self"))
        govern.permit(self.session, permission)
        self.ledger.asked.add(permission)

    # --- what is written ----------------------------------------------------------------------------------------------

    def _record(self, source: Element, replacements: Sequence[Element]) -> ElementId:
        asked = self.asked
        record = {
            "source_ref": asked.source_ref,
            "source_digest": asked.source_digest,
            "source_locator": asked.source_locator,
            "invalidated_refs": list(asked.invalidated_refs),
            "replacement_refs": [claim.id for claim in replacements],
            "reason": asked.reason,
            "expected_versions": dict(asked.expected_versions),
        }
        ends = [("inputs", source.id), *(("inputs", ref) for ref in asked.invalidated_refs)]
        ends += [("outputs", claim.id) for claim in replacements]
        parameters: dict[str, Json] = {f"end{place}": {"id": end} for place, (_, end) in enumerate(ends)}
        fields = " ".join(f'("{name}", :end{place})' for place, (name, _) in enumerate(ends))
        statement: Any = parse(_RECORD % fields)
        answer, _ = self._apply(statement, {**parameters, **record, "now": self.now})
        repair: ElementId = answer.result["handles"]["repair"]
        return repair

    def _invalidate(self, wrong: Sequence[Element], repair: ElementId) -> None:
        validity = {"status": "invalidated", "repair_ref": repair}
        changed = []
        for before in wrong:
            system = {**before.body["_system"], "recording_validity": validity}
            after = stamp(
                before,
                {**before.body, "_system": system},
                seq=self.ledger.seq,
                tx_id=self.ledger.tx_id,
                now=self.now,
                origin=before.body["_system"]["origin"],
                environment=self.environment,
            )
            changed.append(Changed(before, after))
        commit.apply(WriteSet(changed=changed), self.tx, self.ledger)

    def _commit(self, request_digest: str) -> Document:
        held = self.tx.control(CONTROL) or {"version": 0, "invalidated": {}}
        repairs = dict.fromkeys(self.asked.invalidated_refs, self.ledger.seq)
        control = {"version": held["version"] + 1, "invalidated": {**held["invalidated"], **repairs}}
        run = self._run({})
        total = WriteSet(controls={CONTROL: control}, changes=commit.overall_changes(self.tx, run, self.ledger))
        commit.apply(WriteSet(controls=total.controls), self.tx, self.ledger)
        revalidate(self.engine.planes, self.access, self.door, self.ledger.asked, self.engine.clock)
        plane, needed = self.access.plane, self.ledger.asked
        approval = approvals.require(self.tx, plane, self.door, needed, request_digest)
        receipt = commit.finish(
            self.tx, run, self.ledger, self.answers, total, request_digest=request_digest, dry_run=False
        )
        approvals.spend(self.tx, approval)
        audit.note(
            self.tx,
            self.session,
            at=self.now,
            action=PERMISSION,
            decision="allow",
            permission=PERMISSION,
            details={"elements": sorted(self.asked.invalidated_refs), "reason": self.asked.reason},
            space_seq=self.ledger.seq,
            tx_id=self.ledger.tx_id,
        )
        return receipt

    def _apply(self, statement: ast.KmlStatement, parameters: Mapping[str, Json]) -> tuple[Answer, WriteSet]:
        answer, write_set = run_kml(statement, self._run(parameters), self.tx, ledger=self.ledger)
        commit.apply(write_set, self.tx, self.ledger)
        self.answers.append(answer)
        return answer, write_set

    def _run(self, parameters: Mapping[str, Json]) -> Run:
        access = self.access
        return Run(
            access.snapshot,
            self.environment,
            parameters,
            access.session,
            self.now,
            self.engine.space_uri,
            limits=self.engine.limits,
            sight=access.sight,
            weighed=access.weighed,
            plane=access.plane,
        )
