"""META over the vocabulary: packages, symbols and the environment they stand in (KIP 2.0 §65)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain import errors
from brain.kip import ast
from brain.kip.context import Answer, Run
from brain.kip.describe.pages import list_page
from brain.kip.describe.sight import environment_at, seq_of
from brain.kip.resolve import Binder
from brain.kip.schema import (
    CORE_FIELDS,
    CORE_KINDS,
    CORE_REF,
    SECTIONS,
    SPOKEN,
    Definition,
    Environment,
    Installed,
    PredicateType,
    SymbolKind,
)
from brain.kip.schema.pinned import resolve, value_schemas
from brain.store.base import Document

_DESCRIBED: Mapping[str, SymbolKind] = {
    "FACET": "facet",
    "PREDICATE": "predicate",
    "STRUCTURAL FIELD": "structural_field",
    "TYPE": "concept_type",
}
_LISTED: Mapping[str, SymbolKind] = {
    "FACETS": "facet",
    "PREDICATES": "predicate",
    "STRUCTURAL FIELDS": "structural_field",
    "TYPES": "concept_type",
}
_STATUSES = frozenset({"active", "blocked", "readable"})


def describe_symbol(statement: ast.Describe, run: Run) -> Answer:
    """DESCRIBE TYPE, PREDICATE, FACET or STRUCTURAL FIELD, by local name or exact reference.

    `{ref, local_name, kind, package_ref, status, definition}`; members of a Predicate left out by its package are shown
    with their defaults (§20.15), and a value schema that is a reference is shown with what it refers to.
    """
    kind = _DESCRIBED[statement.subject]
    name = Binder.of(run).text(_operand(statement), f"DESCRIBE {statement.subject}")
    if kind == "structural_field" and name.removeprefix(f"{CORE_REF}/") in CORE_FIELDS:
        return Answer(_core_field(name.removeprefix(f"{CORE_REF}/")))
    definition = run.environment.describe(kind, name)
    return Answer(_row(run.environment, definition) | {"kind": SPOKEN[kind], "definition": _shown(run, definition)})


def list_symbols(statement: ast.List, run: Run) -> Answer:
    """LIST TYPES, PREDICATES, FACETS or STRUCTURAL FIELDS: `{ref, local_name, package_ref, status}`, by reference."""
    kind = _LISTED[statement.subject]

    def rows(pinned: Run) -> list[Document]:
        environment = pinned.environment
        return [_row(environment, definition) for definition in environment.definitions(kind)]

    return list_page(run, statement, rows)


def list_packages(statement: ast.List, run: Run) -> Answer:
    """LIST SCHEMA PACKAGES [STATUS s]: the packages of this Space's lock, its drafts among them, by reference."""
    status = None
    if statement.status is not None:
        status = Binder.of(run).text(statement.status, "STATUS")
        if status not in _STATUSES:
            raise errors.ConstraintViolation(f"A package is {', '.join(sorted(_STATUSES))}; not {status!r}.")

    def rows(pinned: Run) -> list[Document]:
        entries = [entry for entry in pinned.environment.packages if status in (None, entry.status)]
        return [_package_row(entry) for entry in entries]

    return list_page(run, statement, rows)


def describe_package(statement: ast.Describe, run: Run) -> Answer:
    """DESCRIBE PACKAGE by reference, or by its id for the version new elements bind to.

    `{package_ref, status, manifest, dependencies, integrity, symbols, model_hints}`; SchemaPackageUnavailable otherwise
    """
    ref = Binder.of(run).text(_operand(statement), "DESCRIBE PACKAGE")
    if ref == CORE_REF:
        return Answer(_core_package())
    version = run.environment.write_versions.get(ref)
    entry = run.environment.installed(f"{ref}@{version}" if version else ref)
    if entry is None:
        raise errors.SchemaPackageUnavailable(
            f"{ref} is not part of this Space's vocabulary.",
            hint="LIST SCHEMA PACKAGES shows what is.",
            details={"package_ref": ref},
        )
    package = entry.package
    return Answer(
        {
            "package_ref": package.ref,
            "status": entry.status,
            "manifest": package.artifact["manifest"],
            "dependencies": list(package.artifact.get("dependencies", [])),
            "integrity": package.artifact["integrity"],
            "symbols": {section: sorted(package.definitions[kind]) for kind, section in SECTIONS.items()},
            "model_hints": package.artifact.get("model_hints", {}),
        }
    )


def describe_environment(statement: ast.Describe, run: Run) -> Answer:
    """DESCRIBE SCHEMA ENVIRONMENT [AS OF SEQ n]: the exact packages, write versions, aliases and promotions."""
    seq = run.snapshot.seq if statement.as_of is None else seq_of(run, statement.as_of)
    with environment_at(run, seq) as environment:
        return Answer(
            {
                "version": environment.version,
                "snapshot_seq": seq,
                "core": CORE_REF,
                "packages": {
                    entry.package.ref: {"content_digest": entry.package.digest} for entry in environment.packages
                },
                "states": {entry.package.ref: entry.status for entry in environment.packages},
                "write_defaults": dict(environment.write_versions),
                "aliases": {SECTIONS[kind]: dict(names) for kind, names in environment.aliases.items()},
                "lineage_maps": [promotion.to_wire() for promotion in environment.promotions],
            }
        )


# --- wire shapes ------------------------------------------------------------------------------------------------------


def _row(environment: Environment, definition: Definition) -> dict[str, Any]:
    symbol = definition.symbol
    return {
        "ref": symbol.ref,
        "local_name": symbol.name,
        "package_ref": symbol.package_ref,
        "status": environment.status_of(definition),
    }


def _package_row(entry: Installed) -> Document:
    manifest = entry.package.artifact["manifest"]
    return {
        "package_ref": entry.package.ref,
        "package_id": entry.package.package_id,
        "version": entry.package.version,
        "name": manifest.get("name"),
        "description": manifest.get("description"),
        "status": entry.status,
    }


def _shown(run: Run, definition: Definition) -> Document:
    shown = dict(definition.wire)
    if isinstance(definition, PredicateType):
        shown |= {
            "functional": definition.functional,
            "open_world": definition.open_world,
            "complete": definition.complete,
            "boolean_completeness": definition.boolean_completeness,
            "temporal_conflict": definition.temporal_conflict,
        }
    resources = run.environment.resources_of(definition)
    referred: dict[str, Any] = {}
    for schema in value_schemas(definition.wire):
        ref = schema.get("$ref") if isinstance(schema, Mapping) else None
        if isinstance(ref, str):
            referred[ref] = resolve(ref, schema, resources, definition.symbol.ref)
    return shown | ({"referred_schemas": referred} if referred else {})


def _core_field(name: str) -> Document:
    return {
        "ref": f"{CORE_REF}/{name}",
        "local_name": name,
        "package_ref": CORE_REF,
        "status": "active",
        "kind": SPOKEN["structural_field"],
        "definition": {
            "description": f"A reference that every {CORE_FIELDS[name].value} can carry by the protocol itself.",
            "source": {"kinds": [CORE_FIELDS[name].value.capitalize()]},
        },
    }


def _core_package() -> Document:
    package_id, version = CORE_REF.split("@")
    return {
        "package_ref": CORE_REF,
        "status": "active",
        "manifest": {
            "package_id": package_id,
            "version": version,
            "package_ref": CORE_REF,
            "name": "Core",
            "description": "What the protocol itself defines; it has no artifact and cannot be replaced.",
        },
        "dependencies": [],
        "symbols": {"kinds": sorted(CORE_KINDS), "structural_fields": sorted(CORE_FIELDS)},
    }


def _operand(statement: ast.Describe) -> ast.Scalar:
    assert statement.value is not None  # noqa: S101 - the grammar requires it
    return statement.value
