"""A Space's draft vocabulary: what DEFINE may add, and the package it grows (KIP 2.0 §20.16)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from brain import errors
from brain.ids import Symbol
from brain.kip.schema.definitions import (
    CORE_FIELDS,
    CORE_KINDS,
    LITERAL_TYPES,
    SECTIONS,
    WIRE_KINDS,
    SymbolKind,
    read_definition,
)
from brain.kip.schema.package import FORMAT, complete
from brain.store.base import Document

if TYPE_CHECKING:
    from brain.kip.schema.environment import Environment

DRAFT_ID = "kip://local/draft"
DRAFT_VERSION = "0.0.0"
DRAFT_REF = f"{DRAFT_ID}@{DRAFT_VERSION}"

MAX_NAME = 128

PREDICATE_MEMBERS = frozenset(
    {
        "boolean_completeness",
        "complete",
        "description",
        "functional",
        "functional_by",
        "object",
        "open_world",
        "subject",
        "temporal_conflict",
    }
)
"""What a drafted Predicate may declare (§20.16)."""

_TYPE_MEMBERS = frozenset({"attributes", "description"})
_FIELD_MEMBERS = frozenset({"description", "type"})
_ENDPOINT_MEMBERS = frozenset({"concept_types", "format", "kinds", "literal_types", "nullable"})


def draft_artifact(drafts: Mapping[SymbolKind, Mapping[str, Document]]) -> Document:
    """The synthesized package of a Space's drafts: one reference for good, a new digest with every DEFINE."""
    return complete(
        {
            "format": FORMAT,
            "manifest": {
                "package_id": DRAFT_ID,
                "version": DRAFT_VERSION,
                "name": "Draft vocabulary",
                "description": "Symbols this Space defined for itself, until they are promoted.",
                "purpose": "space_local",
            },
            "definitions": {SECTIONS[kind]: dict(members) for kind, members in drafts.items()},
        }
    )


def check_draft(
    kind: Literal["concept_type", "predicate"], name: str, definition: Mapping[str, Any], environment: Environment
) -> Document:
    """The body of a draft definition as it is stored, with the types it names written as exact references.

    definition  parameters bound
    raises      InvalidIdentifier for the name, SchemaSymbolConflict for a reserved name, ConstraintViolation for a
                member that is unknown, misshapen or beyond what a draft may claim, SchemaSymbolNotFound for a type
    """
    check_name(name)
    description = definition.get("description")
    if not isinstance(description, str) or not description.strip():
        raise errors.ConstraintViolation(
            f"{name} needs a description.",
            hint="Say in a sentence what the symbol means; later readers have nothing else.",
        )
    body = _predicate(name, definition, environment) if kind == "predicate" else _concept_type(name, definition)
    symbol = Symbol(DRAFT_ID, DRAFT_VERSION, name)
    read_definition(kind, symbol, {"ref": symbol.ref, "kind": WIRE_KINDS[kind], **body})
    return body


def check_name(name: str) -> None:
    """Whether DEFINE may give a symbol this name."""
    if (
        not name
        or name != name.strip()
        or len(name) > MAX_NAME
        or "/" in name
        or any(unicodedata.category(character).startswith("C") for character in name)
    ):
        raise errors.InvalidIdentifier(
            f"{name!r} cannot name a symbol.",
            hint=f"Use a bare local name of 1 to {MAX_NAME} characters, without '/' and control characters.",
        )
    if name in CORE_KINDS or name in CORE_FIELDS:
        raise errors.SchemaSymbolConflict(f"{name} is reserved by Core.", hint="Choose another name.")


def _predicate(name: str, definition: Mapping[str, Any], environment: Environment) -> Document:
    _only(name, "", definition, PREDICATE_MEMBERS)
    body = dict(definition)
    for member in ("functional", "open_world", "complete", "boolean_completeness"):
        if member in body and not isinstance(body[member], bool):
            raise errors.ConstraintViolation(f"{name}: {member} is true or false.")
    if body.get("open_world") is False or body.get("complete") is True:
        raise errors.ConstraintViolation(
            f"{name}: a draft cannot claim a closed world or a complete set of values.",
            hint="Leave open_world and complete out; only an installed package makes those claims.",
        )
    for member in ("subject", "object"):
        if member in body:
            body[member] = _endpoint(name, member, body[member], environment)
    return body


def _endpoint(name: str, member: str, wire: Any, environment: Environment) -> Document:
    if not isinstance(wire, Mapping):
        raise errors.ConstraintViolation(f"{name}: {member} is an object.")
    _only(name, f"{member}.", wire, _ENDPOINT_MEMBERS)
    types = wire.get("concept_types")
    if types is None:
        return dict(wire)
    if not isinstance(types, (list, tuple)) or not all(isinstance(item, str) for item in types):
        raise errors.ConstraintViolation(f"{name}: {member}.concept_types is an array of type names.")
    return dict(wire) | {"concept_types": [environment.concept_type(item).symbol.ref for item in types]}


def _concept_type(name: str, definition: Mapping[str, Any]) -> Document:
    _only(name, "", definition, _TYPE_MEMBERS)
    attributes = definition.get("attributes", {})
    if not isinstance(attributes, Mapping):
        raise errors.ConstraintViolation(f"{name}: attributes is an object.")
    _only(name, "attributes.", attributes, frozenset({"fields", "open"}))
    if attributes.get("open", True) is not True:
        raise errors.ConstraintViolation(f"{name}: the attributes of a draft type stay open.")
    fields = attributes.get("fields", {})
    if not isinstance(fields, Mapping):
        raise errors.ConstraintViolation(f"{name}: attributes.fields is an object.")
    for field_name, field in fields.items():
        where = f"attributes.fields.{field_name}"
        if not isinstance(field, Mapping):
            raise errors.ConstraintViolation(f"{name}: {where} is an object.")
        _only(name, f"{where}.", field, _FIELD_MEMBERS)
        types = field.get("type")
        named = types if isinstance(types, (list, tuple)) else [types]
        if not named or not all(isinstance(item, str) and item in LITERAL_TYPES for item in named):
            raise errors.ConstraintViolation(
                f"{name}: {where}.type is one of boolean, null, number, string, or an array of them."
            )
        if not isinstance(field.get("description", ""), str):
            raise errors.ConstraintViolation(f"{name}: {where}.description is text.")
    return {"description": definition["description"], "attributes": {"open": True, "fields": dict(fields)}}


def _only(name: str, prefix: str, wire: Mapping[str, Any], known: frozenset[str]) -> None:
    unknown = sorted(wire.keys() - known)
    if unknown:
        raise errors.ConstraintViolation(
            f"{name}: a draft does not have the member {prefix}{unknown[0]}.",
            hint=f"Possible members: {', '.join(sorted(known))}.",
            details={"unknown": [prefix + item for item in unknown]},
        )
