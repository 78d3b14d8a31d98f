"""The shape of a Capsule's payload, kind of element by kind, as a JSON Schema of our own (KIP 2.0 §37.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain.ids import MAX_SAFE_INTEGER
from brain.store.base import Kind

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "minLength": 1}
_OBJECT: Schema = {"type": "object"}
_DIGEST: Schema = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_TIME: Schema = {"type": "string", "format": "timestamp"}
_SYMBOL: Schema = {"type": "string", "pattern": "^kip://[^@]+@[^/]+/.+$"}


def _closed(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": sorted(required),
        "additionalProperties": False,
    }


def _list(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _one_of(*texts: str) -> Schema:
    return {"enum": list(texts)}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _map(value: Schema) -> Schema:
    return {"type": "object", "additionalProperties": value}


def _count(least: int) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": MAX_SAFE_INTEGER}


_REF = _closed({"id": _TEXT})
_REFS = _list(_REF)
_BOUND = {"type": "object", "properties": {"earliest": _TIME, "latest": _TIME}, "additionalProperties": False}
_TIME_POINT = {"anyOf": [_TIME, {**_BOUND, "minProperties": 1}, {"type": "null"}]}

_ORIGIN = _closed({"principal_id": _TEXT, "channel": _TEXT}, {"import_id": _or_null(_TEXT)})
_SYSTEM = {
    "type": "object",
    "properties": {
        "version": _count(1),
        "state": _TEXT,
        "created_at": _TIME,
        "updated_at": _TIME,
        "created_tx": _TEXT,
        "updated_tx": _TEXT,
        "space_seq": _count(0),
        "origin": _ORIGIN,
        "plane_versions": _OBJECT,
        "input_versions": _map(_count(1)),
        "output_versions": _map(_count(1)),
        "output_plane_versions": _map({**_map(_count(0)), "minProperties": 1}),
        "input_references": _list(_OBJECT),
        "dependency_validity": _OBJECT,
        "recording_validity": _OBJECT,
    },
    "required": ["origin", "state", "version"],
    "additionalProperties": False,
}
_GOVERNANCE = {
    "type": "object",
    "properties": {
        "classification": _TEXT,
        "authority_class": _one_of("descriptive", "advisory", "behavioral", "executable"),
        "policy_ref": _TEXT,
    },
    "additionalProperties": False,
}
_RETENTION = {
    "type": "object",
    "properties": {"retention_class": _TEXT, "expires_at": _or_null(_TIME), "legal_hold": {"type": "boolean"}},
    "additionalProperties": False,
}
_PAYLOAD = {
    "oneOf": [
        _closed({"status": {"const": "purged"}}),
        _closed({"mode": {"const": "inline"}, "inline": {}}),
        _closed({"mode": {"const": "external"}, "content_ref": _TEXT}),
    ]
}
_LIFECYCLE = _closed(
    {"status": _TEXT},
    {
        **dict.fromkeys(("supersedes", "superseded_by", "corrects", "corrected_by"), _REFS),
        "retracted_at": _or_null(_TIME),
    },
)

_COMMON = {"id": _TEXT, "space_id": _TEXT, "_system": _SYSTEM}
_SHARED = {"governance": _GOVERNANCE, "retention": _RETENTION, "facets": _map(_OBJECT)}

_BY_KIND: Mapping[Kind, tuple[Mapping[str, Schema], Mapping[str, Schema]]] = {
    Kind.CONCEPT: (
        {"schema_ref": _SYMBOL},
        {
            "key": _TEXT,
            "name": {"type": "string"},
            "canonical_id": _or_null(_TEXT),
            "aliases": _list(_TEXT),
            "attributes": _OBJECT,
            "structural": _map(_REFS),
            "merged_into": _REF,
        },
    ),
    Kind.PROPOSITION: (
        {
            "subject": _REF,
            "predicate_ref": _SYMBOL,
            "object": {"anyOf": [_REF, {"type": ["string", "number", "boolean", "null"]}]},
        },
        {},
    ),
    Kind.ASSERTION: (
        {
            "proposition": _REF,
            "asserted_by": _REF,
            "stance": _one_of("support", "reject", "uncertain"),
            "mode": _one_of("observed", "stated", "inferred", "predicted", "hypothetical", "imported"),
            "asserted_at": _TIME,
            "lifecycle": _LIFECYCLE,
        },
        {
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "valid_time": {
                "type": "object",
                "properties": {"from": _TIME_POINT, "until": _TIME_POINT},
                "additionalProperties": False,
            },
            "context_refs": _REFS,
            "evidence": _list(_closed({"id": _TEXT, "role": _one_of("support", "challenge", "context")})),
        },
    ),
    Kind.EVIDENCE: (
        {"evidence_class": _TEXT, "payload": _PAYLOAD, "content_digest": _DIGEST, "observed_at": _TIME},
        {"lifecycle": _LIFECYCLE, "media_type": _TEXT, "source": _REFS, "generated_by": _or_null(_REF)},
    ),
    Kind.ACTIVITY: (
        {"activity_class": _TEXT, "status": _TEXT, "inputs": _REFS, "outputs": _REFS},
        {
            "started_at": _or_null(_TIME),
            "ended_at": _or_null(_TIME),
            "associated_actors": _REFS,
            "parameters_digest": _TEXT,
        },
    ),
}

RECORDS: Mapping[str, Schema] = {
    kind.value: _closed({"kind": {"const": kind.value}, **_COMMON, **required}, {**_SHARED, **optional})
    for kind, (required, optional) in _BY_KIND.items()
}
"""The shape of a record, by its kind."""

_MANIFEST = _closed(
    {
        "kind": _one_of("snapshot", "delta"),
        "closure": _one_of("closed", "referential", "selective"),
        "roots": _list(_TEXT),
    },
    {"base_seq": _count(0), "target_seq": _count(0)},
)

PAYLOAD: Schema = _closed(
    {
        "manifest": {
            **_MANIFEST,
            "if": {"properties": {"kind": {"const": "delta"}}},
            "then": {"required": ["base_seq", "target_seq"]},
        },
        "source": _closed({"space_id": _TEXT, "snapshot_seq": _count(0)}),
        "schema_dependencies": _list(_closed({"package_ref": _TEXT}, {"content_digest": _DIGEST})),
        "records": _list(_OBJECT),
        "external_refs": _list(
            _closed(
                {
                    "id": _TEXT,
                    "kind": _one_of(
                        "source_element",
                        "canonical_identity",
                        "semantic_locator",
                        "external_artifact",
                        "redacted",
                        "unavailable",
                    ),
                },
                {"locator": _OBJECT},
            )
        ),
        "blobs": _map({"type": "string"}),
        "handling": _OBJECT,
    },
    {"changes": _list(_OBJECT)},
)
"""The shape of everything around the records."""
