"""Whether a Capsule is consistent in itself and with its packages (KIP 2.0 §40.3, §41.7, §69.2).

Every fault is found; none of them is repaired, and nothing outside of the Capsule is looked up but vocabulary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from brain import errors
from brain.ids import digest, is_element_id, parse_symbol
from brain.kip import validate
from brain.kip.capsule.export import package_refs
from brain.kip.capsule.form import DIGEST
from brain.kip.capsule.references import facet_references, references
from brain.kip.capsule.shape import PAYLOAD, RECORDS
from brain.kip.capsule.vocabulary import Vocabulary
from brain.kip.context import Run
from brain.kip.json_schema import compiled, faults_found, schema_faults
from brain.kip.schema.definitions import CORE_REF
from brain.kip.validate import Carrier
from brain.kip.write.records import payload_digest
from brain.store.base import Document, Kind

Fault = dict[str, Any]
"""`{code, path, message}`."""


def shape_faults(payload: Document, run: Run) -> list[Fault]:
    """Where a payload is not of the shape of a Capsule's; what else is wrong with it can be told only then."""
    found = [
        _fault("CapsuleValidationFailed", f"payload{at}", said) for at, said in schema_faults(PAYLOAD, {}, payload)
    ]
    if found:
        return found
    schemas = {kind: compiled(schema) for kind, schema in RECORDS.items()}
    for place, record in enumerate(payload["records"]):
        run.check_deadline()
        found += _shape(f"payload.records[{place}]", record, schemas)
    return found


def content_faults(payload: Document, vocabulary: Vocabulary, run: Run) -> list[Fault]:
    """What does not fit together in a payload of the right shape; empty when everything does."""
    return [
        *_names(payload),
        *_closure(payload),
        *_delta(payload),
        *_blobs(payload),
        *_dependencies(payload),
        *vocabulary.faults,
        *_content(payload, vocabulary, run),
    ]


def _shape(path: str, record: Document, schemas: Mapping[str, Any]) -> Iterator[Fault]:
    schema = schemas.get(str(record.get("kind")))
    if schema is None:
        yield _fault("CapsuleValidationFailed", path, f"{record.get('kind')!r} is no kind of element")
        return
    for at, said in faults_found(schema, record):
        yield _fault("CapsuleValidationFailed", f"{path}{at}", said)


def _names(payload: Document) -> Iterator[Fault]:
    """Each id stands for one thing, and each reference and root for something."""
    records = [record["id"] for record in payload["records"]]
    external = [entry["id"] for entry in payload["external_refs"]]
    for name, count in Counter([*records, *external]).items():
        if count > 1:
            yield _fault("CapsuleValidationFailed", "payload", f"the id {name} stands for {count} things")
    known, held = {*records, *external}, set(records)
    for record in payload["records"]:
        for member, to in references(record):
            if to not in known:
                yield _dangling(record["id"], member, to)
    for root in payload["manifest"]["roots"]:
        if root not in held:
            yield _dangling("manifest", "roots", root)


def _closure(payload: Document) -> Iterator[Fault]:
    if payload["manifest"]["closure"] == "closed" and payload["external_refs"]:
        outside = ", ".join(entry["id"] for entry in payload["external_refs"])
        yield _fault(
            "CapsuleValidationFailed", "payload.external_refs", f"a closed Capsule leaves nothing out: {outside}"
        )


def _delta(payload: Document) -> Iterator[Fault]:
    manifest = payload["manifest"]
    if manifest["kind"] != "delta":
        return
    base, target = manifest["base_seq"], manifest["target_seq"]
    if not base < target <= payload["source"]["snapshot_seq"]:
        yield _fault("CapsuleValidationFailed", "payload.manifest", f"no changes lie after {base} and up to {target}")
    told = [change.get("space_seq") for change in payload.get("changes", ())]
    if told != list(range(base + 1, target + 1)):
        yield _fault("CapsuleValidationFailed", "payload.changes", f"the commits after {base} up to {target}, in order")


def _blobs(payload: Document) -> Iterator[Fault]:
    for name, content in payload["blobs"].items():
        if not DIGEST.fullmatch(name):
            yield _fault("CapsuleValidationFailed", "payload.blobs", f"{name} is no digest")
        elif digest(content.encode()) != name:
            yield _fault("DigestMismatch", f"payload.blobs[{name}]", "the content has another digest")
    for record in payload["records"]:
        computed = payload_digest(record["payload"]) if record["kind"] == Kind.EVIDENCE else None
        if computed not in (None, record.get("content_digest")):
            yield _fault("DigestMismatch", f"{record['id']}.payload", "the content has another digest")


def _dependencies(payload: Document) -> Iterator[Fault]:
    """Every symbol is of a package the Capsule declares, each by its digest."""
    declared = {entry["package_ref"]: entry.get("content_digest") for entry in payload["schema_dependencies"]}
    for ref, content_digest in declared.items():
        if content_digest is None and ref != CORE_REF:
            yield _fault("CapsuleValidationFailed", "payload.schema_dependencies", f"{ref} has no content_digest")
    for record in payload["records"]:
        for ref in sorted(set(package_refs(record)) - declared.keys()):
            yield _fault("CapsuleValidationFailed", record["id"], f"uses {ref}, which the Capsule does not declare")


def _content(payload: Document, vocabulary: Vocabulary, run: Run) -> Iterator[Fault]:
    """Each record against its definitions, as far as they are at hand."""
    records = {record["id"]: record for record in payload["records"]}
    mapped = payload["handling"].get("source_elements")
    known = {to for to in mapped.values() if isinstance(to, str)} if isinstance(mapped, Mapping) else set()
    located = [(entry.get("locator") or {}).get("element_id") for entry in payload["external_refs"]]
    known |= {to for to in located if isinstance(to, str)}
    for record in payload["records"]:
        run.check_deadline()
        if not vocabulary.covers(record):
            continue
        try:
            _check_record(record, records, vocabulary)
            for path, to in facet_references(vocabulary.environment, record):
                if is_element_id(to) and to not in known:
                    yield _dangling(record["id"], path, to)
        except errors.KipError as error:
            yield _fault(error.code, record["id"], error.message)


def _check_record(record: Document, records: Mapping[str, Document], vocabulary: Vocabulary) -> None:
    environment, kind = vocabulary.environment, Kind(record["kind"])
    if kind is Kind.CONCEPT:
        validate.check_attributes(
            environment, environment.exact_concept_type(record["schema_ref"]), record.get("attributes", {})
        )
    elif kind is Kind.PROPOSITION:
        predicate = environment.exact_predicate(record["predicate_ref"])
        subject = records.get(record["subject"]["id"])
        if subject is not None:
            validate.check_subject(environment, predicate, Kind(subject["kind"]), subject.get("schema_ref"))
        if not isinstance(record["object"], Mapping):
            validate.check_literal(predicate, record["object"])
        elif (target := records.get(record["object"]["id"])) is not None:
            validate.check_object(environment, predicate, Kind(target["kind"]), target.get("schema_ref"))
    carrier = Carrier(kind, record.get("schema_ref"), record.get("activity_class"), record.get("status"))
    for ref, value in record.get("facets", {}).items():
        validate.check_facet(environment, environment.exact_facet(ref), carrier, value)
    for ref in record.get("structural", {}):
        if parse_symbol(ref) is not None:
            environment.exact_structural_field(ref)


def _dangling(holder: str, member: str, to: str) -> Fault:
    return _fault(
        "CapsuleValidationFailed", f"{holder}.{member}", f"{to} is neither a record nor an external reference"
    )


def _fault(code: str, path: str, message: str) -> Fault:
    return {"code": code, "path": path, "message": message}
