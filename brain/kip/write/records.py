"""CREATE EVIDENCE, CREATE ASSERTION and CREATE ACTIVITY (KIP 2.0 §13, §15, §16, §56)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain import errors
from brain.ids import digest
from brain.kip import ast, govern
from brain.kip.validate import TERMINAL_ACTIVITY, check_timestamp
from brain.kip.write import apply, refs
from brain.kip.write.concepts import apply_action
from brain.kip.write.planes import NO_VALUE
from brain.kip.write.steps import Step
from brain.kip.write.valid_time import valid_time
from brain.kip.write.values import SKIP, Values
from brain.kip.write.work import Draft, Workspace, by_number
from brain.store.base import ElementId, Kind

OUTCOME = "outcome"
"""The Evidence class of recorded consequences, which only an instrument writes (§15.7)."""

OBSERVATION = "outcome_observation"
"""The Activity class that links an outcome to the decision it grades (§29.8)."""

STANCES = ("support", "reject", "uncertain")
MODES = ("observed", "stated", "inferred", "predicted", "hypothetical", "imported")

_EVIDENCE: Mapping[str, apply.Reader] = {
    "content_digest": apply.text,
    "evidence_class": apply.filled_text,
    "media_type": apply.filled_text,
    "observed_at": check_timestamp,
    "payload": lambda value, _name: payload_of(value),
}

_ASSERTION: Mapping[str, apply.Reader] = {
    "asserted_at": check_timestamp,
    "confidence": lambda value, name: _confidence(value, name),
    "mode": apply.one_of(*MODES),
    "stance": apply.one_of(*STANCES),
    "valid_time": valid_time,
}
"""Fields of a claim that name no element."""

ACTIVITY_FIELDS: Mapping[str, apply.Reader] = {
    "ended_at": apply.timestamp_or_null,
    "parameters_digest": apply.sha256,
    "started_at": apply.timestamp_or_null,
}
"""What a TRANSITION may still finish."""

_ACTIVITY: Mapping[str, apply.Reader] = {
    **ACTIVITY_FIELDS,
    "activity_class": apply.filled_text,
    "status": apply.one_of("pending", "running", *sorted(TERMINAL_ACTIVITY)),
}


class CreateRecord(Step[ast.CreateRecord]):
    """A new Evidence, Assertion or Activity, or the earlier one when the client key says retry."""

    draft: Draft

    def declare(self) -> None:
        kind = Kind(self.clause.kind)
        if kind is not Kind.ASSERTION:
            self.work.permit("create")
        keys = [clause.key for clause in self.clause.clauses if isinstance(clause, ast.ClientKey)]
        client_key = Values(self.work).text(keys[0], "CLIENT KEY") if keys else None
        self.draft = self.work.create(kind, {}, client_key)
        self.bind(self.clause.handle.name, self.draft.id)

    def fill(self) -> None:
        values = Values(self.work)
        fields: dict[str, Any] = {}
        for clause in self.clause.clauses:
            if isinstance(clause, ast.SetFields):
                fields |= apply.assigned(values, clause.assignments)
        fill_record(self.work, self.draft, {name: value for name, value in fields.items() if value is not SKIP})
        for clause in self.clause.clauses:
            if isinstance(clause, (ast.SetFacet, ast.SetStructural)):
                apply_action(self.work, self.draft, clause, values)


def fill_record(work: Workspace, draft: Draft, fields: Mapping[str, Any]) -> None:
    """Write a record's fields with the defaults of its kind."""
    {Kind.ACTIVITY: fill_activity, Kind.ASSERTION: fill_assertion, Kind.EVIDENCE: fill_evidence}[draft.kind](
        work, draft, fields
    )


def fill_evidence(work: Workspace, draft: Draft, fields: Mapping[str, Any]) -> None:
    apply.set_fields(draft, fields, _EVIDENCE)
    _require(draft, "evidence_class", "payload")
    body = draft.body
    if body["evidence_class"] == OUTCOME:
        work.permit("record_outcome")
    body.setdefault("observed_at", work.now)
    body["lifecycle"] = {"status": "active"}
    supplied = body.pop("content_digest", None)
    computed = payload_digest(body["payload"])
    if supplied is not None and not supplied.startswith("sha256:"):
        work.warnings.append(
            {
                "code": "DigestIgnored",
                "message": "A content digest of another algorithm than sha256 was left out; our own was computed.",
                "details": {"element": draft.id},
            }
        )
        supplied = None
    if computed is None and supplied is None:
        raise errors.ConstraintViolation(
            "Evidence with an external payload needs its content_digest.", hint="Give the sha256 of the content."
        )
    if computed is not None and supplied not in (None, computed):
        raise errors.DigestMismatch(
            "The content digest is not the payload's.", details={"declared": supplied, "computed": computed}
        )
    body["content_digest"] = computed or apply.sha256(supplied, "content_digest")


def fill_activity(work: Workspace, draft: Draft, fields: Mapping[str, Any]) -> None:
    apply.set_fields(draft, fields, _ACTIVITY)
    _require(draft, "activity_class")
    if draft.body["activity_class"] == OBSERVATION:
        work.permit("record_outcome")
    draft.body.setdefault("status", "pending")
    draft.body.setdefault("inputs", [])
    draft.body.setdefault("outputs", [])


def fill_assertion(work: Workspace, draft: Draft, fields: Mapping[str, Any]) -> None:
    def proposition(value: Any, name: str) -> dict[str, Any]:
        found = refs.reference(work, value, holder=draft.id, path=name, kinds={Kind.PROPOSITION})
        return {"id": found}

    def actor(value: Any, name: str) -> dict[str, Any]:
        return {"id": refs.reference(work, value, holder=draft.id, path=name, kinds={Kind.CONCEPT})}

    def contexts(value: Any, name: str) -> Any:
        found = context_refs(work, draft.id, value, name)
        return [{"id": context} for context in found] if found else NO_VALUE

    references = {"asserted_by": actor, "context_refs": contexts, "proposition": proposition}
    apply.set_fields(draft, fields, {**_ASSERTION, **references})
    _require(draft, "proposition", "asserted_by", "stance", "mode")
    draft.body.setdefault("asserted_at", work.now)
    draft.body["lifecycle"] = {"status": "active"}
    actor_id = draft.body["asserted_by"]["id"]
    session = work.run.session
    work.permit(govern.assertion_permission(session, actor_id, work.identity()["self"]))
    work.ledger.binding = next((name for name, actors in session.bindings if actor_id in actors), work.ledger.binding)


def context_refs(work: Workspace, holder: ElementId, value: Any, name: str) -> list[ElementId]:
    """The canonical context set of a claim: existing Concepts, merges followed, each once, in order of number."""
    if not isinstance(value, list):
        raise errors.TypeMismatch(f"{name} is an array of references to Concepts.", details={"field": name})
    return by_number(
        refs.reference(work, item, holder=holder, path=f"{name}[{position}]", kinds={Kind.CONCEPT})
        for position, item in enumerate(value)
    )


def payload_of(value: Any) -> dict[str, Any]:
    """The stored shape of a payload; a bare value is kept inline, as it is (§15.3)."""
    if isinstance(value, dict):
        if value.get("status") == "purged" and set(value) == {"status"}:
            raise errors.ConstraintViolation("Evidence is not created with a purged payload.")
        if set(value) == {"mode", "inline"} and value["mode"] == "inline":
            return value
        if set(value) == {"mode", "content_ref"} and value["mode"] == "external":
            return {"mode": "external", "content_ref": apply.filled_text(value["content_ref"], "payload.content_ref")}
    return {"mode": "inline", "inline": value}


def payload_digest(payload: Mapping[str, Any]) -> str | None:
    """The digest of an inline payload: over a text's own bytes, else over canonical JSON; None for an external one."""
    if payload.get("mode") != "inline":
        return None
    value = payload["inline"]
    return digest(value.encode() if isinstance(value, str) else value)


def _confidence(value: Any, name: str) -> Any:
    if value is None:
        return NO_VALUE
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise errors.TypeMismatch("confidence is a number from 0 to 1.", details={"field": name, "found": value})
    if not 0 <= value <= 1:
        raise errors.ConstraintViolation("confidence lies between 0 and 1.", details={"field": name, "found": value})
    return value


def _require(draft: Draft, *names: str) -> None:
    absent = [name for name in names if name not in draft.body]
    if absent:
        raise errors.ConstraintViolation(
            f"A new {draft.kind.value} needs {', '.join(absent)}.", details={"missing": absent}
        )
