"""VERIFY, VALIDATE and PREVIEW of a Capsule: three questions, none of which takes anything in (KIP 2.0 §41.2, §69)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brain import errors
from brain.ids import lineage_of
from brain.kip.capsule.check import content_faults, shape_faults
from brain.kip.capsule.form import read_capsule
from brain.kip.capsule.vocabulary import Vocabulary, vocabulary_of
from brain.kip.context import Answer, Run
from brain.kip.govern import permit
from brain.kip.schema.drafts import DRAFT_REF
from brain.store.base import Document, Kind, Scan

_NO_IMPORT = "Importing Capsules belongs to the capability capsule_import, which is not offered here."


def verify_capsule(artifact: Mapping[str, Any]) -> Answer:
    """Whether a Capsule is what it was when it was sealed; says nothing of truth, trust or authority.

    raises  what `form.read_capsule` names
    """
    payload, integrity = read_capsule(artifact), artifact["integrity"]
    signatures = integrity.get("signatures")
    return Answer(
        {
            "valid": True,
            "content_digest": integrity["content_digest"],
            "kind": payload["manifest"].get("kind"),
            "closure": payload["manifest"].get("closure"),
            "source": payload["source"],
            "records": len(payload["records"]),
            "external_refs": len(payload["external_refs"]),
            "signatures": {"present": len(signatures) if isinstance(signatures, list) else 0, "checked": False},
            "note": "The content has this digest. Whether it is true, and what to do with it, is another question.",
        }
    )


def capsule_faults(artifact: Mapping[str, Any], run: Run) -> tuple[list[Document], list[Document]]:
    """For VALIDATE: what is wrong with a Capsule, and what could not be judged, each `{code, path, message}`."""
    payload = read_capsule(artifact)
    found = shape_faults(payload, run)
    if found:
        return list(found), []
    vocabulary = vocabulary_of(payload, run)
    warnings: list[Document] = [
        {
            "code": "SchemaPackageUnavailable",
            "path": "payload.schema_dependencies",
            "message": f"{ref} is not at hand, so what is written in its words was not checked.",
        }
        for ref in vocabulary.missing
    ]
    return list(content_faults(payload, vocabulary, run)), warnings


def preview_import(artifact: Mapping[str, Any], into: str, run: Run) -> Answer:
    """What the destination would make of a Capsule: `{would_commit, error, content_digest, schema, identities, note}`.

    It creates nothing, and nothing of the source counts here: not its ids, its keys, its names, its trust or its
    authority. As nothing is imported by this engine, `would_commit` is false and `error` says so.

    raises  NotAuthorized without `import`; NotFoundOrNotVisible for another destination; what `form.read_capsule`
            names; CapsuleValidationFailed with every fault; SchemaPackageUnavailable with every package and every
            draft symbol of the source that nothing here stands for
    """
    permit(run.session, "import")
    payload = read_capsule(artifact)
    if into not in (run.space_uri, run.snapshot.space_id):
        raise errors.NotFoundOrNotVisible(f"There is no Space {into} that you may see.")
    faults = shape_faults(payload, run)
    vocabulary = None if faults else vocabulary_of(payload, run)
    if vocabulary is not None:
        faults = content_faults(payload, vocabulary, run)
    if faults or vocabulary is None:
        raise errors.CapsuleValidationFailed(
            f"The Capsule breaks {len(faults)} rules of its format.", details={"faults": faults}
        )
    if payload["manifest"]["kind"] == "delta":
        raise errors.UnsupportedCapability(
            "Changes of another Space are not applied here.", details={"capability": "capsule_import"}
        )
    _require_vocabulary(payload, vocabulary, run)
    refusal = errors.UnsupportedCapability(_NO_IMPORT, details={"capability": "capsule_import"})
    return Answer(
        {
            "would_commit": False,
            "error": refusal.to_wire(),
            "content_digest": artifact["integrity"]["content_digest"],
            "schema": {entry["package_ref"]: "active" for entry in payload["schema_dependencies"]},
            "identities": [_identity(record, run) for record in payload["records"]],
            "note": "Nothing was kept, reserved or mapped.",
        }
    )


def _require_vocabulary(payload: Document, vocabulary: Vocabulary, run: Run) -> None:
    """Every word of the records is of the destination's own vocabulary; what came along does not count (§41.3)."""
    used = sorted(set(_symbols(payload)))
    foreign = payload["source"]["space_id"] != run.space_uri
    drafts = [ref for ref in used if ref.startswith(f"{DRAFT_REF}/") and (foreign or not _is_known(ref, run))]
    packages = {ref.rpartition("/")[0] for ref in used} - {DRAFT_REF}
    declared = {entry["package_ref"]: entry.get("content_digest") for entry in payload["schema_dependencies"]}
    missing = []
    for ref in sorted(packages):
        installed = run.environment.installed(ref)
        if installed is None or installed.status != "active" or installed.package.digest != declared.get(ref):
            missing.append(ref)
    if missing or drafts:
        raise errors.SchemaPackageUnavailable(
            "The Capsule is written in words this Space does not have.",
            hint="Activate the packages here, and map each draft symbol of the source to a symbol of the same kind.",
            details={"packages": missing, "unmapped_symbols": drafts, "at_hand": sorted(_carried(vocabulary, missing))},
        )


def _symbols(payload: Document) -> Iterator[str]:
    for record in payload["records"]:
        for member in ("schema_ref", "predicate_ref"):
            if member in record:
                yield record[member]
        yield from record.get("facets", {})
        yield from record.get("structural", {})


def _is_known(ref: str, run: Run) -> bool:
    package_ref, _, name = ref.rpartition("/")
    installed = run.environment.installed(package_ref)
    return installed is not None and any(name in found for found in installed.package.definitions.values())


def _carried(vocabulary: Vocabulary, missing: list[str]) -> list[str]:
    """Missing packages whose artifact is at hand, for whoever may activate them."""
    return [ref for ref in missing if vocabulary.environment.installed(ref) is not None]


def _identity(record: Document, run: Run) -> Document:
    """Who a record would be here (§38.2). Nothing is one with an element of this Space by itself: no import was mapped
    before, no source of canonical ids is trusted, and no package declares keys that go beyond a Space. An element with
    the same canonical id is named for whoever approves a mapping; one of the same name or key never is."""
    candidates: list[str] = []
    canonical_id = record.get("canonical_id")
    if isinstance(canonical_id, str):
        lineages = run.environment.group("concept_type", lineage_of(record["schema_ref"]))
        same = run.snapshot.scan(Scan(Kind.CONCEPT, lineages=lineages, canonical_id=canonical_id))
        candidates = [element.id for element in same]
    return {"id": record["id"], "kind": record["kind"], "decision": "create", "candidates": candidates}
