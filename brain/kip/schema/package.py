"""One Schema Package: its artifact checked once, its definitions ready for use (KIP 2.0 §20.2, §20.5, §20.11).

An artifact is immutable: its reference and the digest over its content belong together. `load` takes nothing on trust
and fetches nothing; `complete` turns an author's short form into a whole artifact before it is first sealed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brain import errors
from brain.ids import Symbol, digest
from brain.kip.json_schema import why_illegal
from brain.kip.schema.definitions import (
    CORE_KINDS,
    CORE_PACKAGE,
    SECTIONS,
    SYMBOL_KINDS,
    WIRE_KINDS,
    Definition,
    SymbolKind,
    read_definition,
)
from brain.kip.schema.pinned import Resources, check_references, value_schemas
from brain.store.base import Document

FORMAT = "KIP-Schema-Package"
FORMAT_VERSION = "2.0-draft"
DIGEST_PROFILE = "kip-jcs-safe-v1"

_PACKAGE_ID = re.compile(r"kip://[a-z0-9-]+(?:/[a-z0-9-]+)*", re.ASCII)
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?", re.ASCII)
_MEMBERS = frozenset(
    {
        "aliases",
        "canonicalization",
        "compatibility",
        "constraints",
        "definitions",
        "dependencies",
        "format",
        "format_version",
        "integrity",
        "manifest",
        "migrations",
        "model_hints",
    }
)


@dataclass(frozen=True, slots=True)
class Dependency:
    """Another package this one needs, with the digest it was built against when it pins one."""

    package_ref: str
    content_digest: str | None
    required: bool


@dataclass(frozen=True, slots=True)
class Package:
    """A checked package.

    ref          `kip://path@version`
    digest       over every top-level member except `integrity` (§37.7)
    definitions  per kind, by symbol name
    renames      per kind, the old name to its successor in this version (§20.14)
    retired      per kind, names whose lineage ends at this version
    resources    the pinned JSON Schemas its value schemas may refer to, by `$id`
    is_bundled   whether this product brings the artifact along, so that a Space needs to keep only its digest
    """

    package_id: str
    version: str
    digest: str
    artifact: Document
    dependencies: tuple[Dependency, ...]
    definitions: Mapping[SymbolKind, Mapping[str, Definition]]
    renames: Mapping[SymbolKind, Mapping[str, str]]
    retired: Mapping[SymbolKind, frozenset[str]]
    resources: Mapping[str, Document]
    is_bundled: bool = False

    @property
    def ref(self) -> str:
        return f"{self.package_id}@{self.version}"

    @property
    def activity_classes(self) -> tuple[str, ...]:
        """Values this package adds to the registry of activity classes (§16.2, §20.13)."""
        extensions = self.artifact["definitions"].get("registry_extensions", {})
        return tuple(extensions.get("activity_classes", {}).get("values", ()))


def content_digest(artifact: Document) -> str:
    """The digest an artifact's `integrity` has to carry."""
    return digest({name: value for name, value in artifact.items() if name != "integrity"})


def seal(artifact: Document) -> dict[str, Any]:
    """The artifact with its `integrity` computed anew."""
    body = {name: value for name, value in artifact.items() if name != "integrity"}
    integrity = {
        "content_digest": content_digest(body),
        "covers": "every top-level member but this one",
        "digest_profile": DIGEST_PROFILE,
    }
    return body | {"integrity": integrity}


def complete(artifact: Document) -> dict[str, Any]:
    """A whole, sealed artifact from an author's short form.

    What follows from the rest may be left out: the format version, `package_ref`, each definition's `ref` and `kind`,
    and `integrity`. An artifact that carries `integrity` is taken as it stands.
    """
    if "integrity" in artifact:
        return dict(artifact)
    manifest = dict(_object(artifact.get("manifest"), "manifest"))
    ref = f"{manifest.get('package_id')}@{manifest.get('version')}"
    manifest.setdefault("package_ref", ref)
    definitions: dict[str, Any] = {}
    for section, members in _object(artifact.get("definitions"), "definitions").items():
        kind = next((kind for kind, name in SECTIONS.items() if name == section), None)
        if kind is None:
            definitions[section] = members
            continue
        definitions[section] = {
            name: {"ref": f"{ref}/{name}", "kind": WIRE_KINDS[kind], **_object(wire, f"definitions.{section}.{name}")}
            for name, wire in _object(members, f"definitions.{section}").items()
        }
    whole = dict(artifact) | {"manifest": manifest, "definitions": definitions}
    whole.setdefault("format_version", FORMAT_VERSION)
    return seal(whole)


def load(artifact: Any, resources: Resources | None = None) -> Package:
    """Check an artifact and read its definitions.

    resources   the JSON Schemas at hand, of which only those the manifest pins by digest are used
    raises      ArtifactParseError for a thing that is no package; InvalidIdentifier for a bad reference;
                DigestMismatch when the content is not what `integrity` says; SchemaSymbolConflict for a symbol that
                shadows Core;
                SchemaPackageUnavailable for a schema that is not pinned or not at hand; ConstraintViolation otherwise
    """
    artifact = _object(artifact, "package")
    manifest = _object(artifact.get("manifest"), "manifest")
    package_id, version = _identity(manifest)
    _check_format(artifact)
    declared = _object(artifact["integrity"], "integrity").get("content_digest")
    found = content_digest(artifact)
    if declared != found:
        raise errors.DigestMismatch(
            f"The content of {package_id}@{version} does not have the digest it declares.",
            details={"package_ref": f"{package_id}@{version}", "declared": declared, "found": found},
        )
    pinned = (resources or Resources({})).pinned(manifest.get("validation_schemas", []), f"{package_id}@{version}")
    definitions = _definitions(package_id, version, _object(artifact["definitions"], "definitions"), pinned)
    renames, retired = _succession(artifact, definitions)
    return Package(
        package_id=package_id,
        version=version,
        digest=found,
        artifact=artifact,
        dependencies=_dependencies(artifact.get("dependencies", [])),
        definitions=definitions,
        renames=renames,
        retired=retired,
        resources=pinned,
    )


def check_schemas(package: Package) -> Package:
    """The package, when each of its value schemas is a JSON Schema; ConstraintViolation names the first that is none.

    Apart from `load`, which a start does for every bundled package: those are proved by their tests, and the validator
    is slow to import.
    """
    for definitions in package.definitions.values():
        for definition in definitions.values():
            for schema in value_schemas(definition.wire):
                reason = why_illegal(schema)
                if reason is not None:
                    raise errors.ConstraintViolation(
                        f"{definition.symbol.ref}: a value_schema is no JSON Schema. {reason}"
                    )
    return package


def _check_format(artifact: Mapping[str, Any]) -> None:
    if artifact.get("format") != FORMAT:
        raise errors.ArtifactParseError(f'A Schema Package has format "{FORMAT}".')
    if artifact.get("format_version") != FORMAT_VERSION:
        raise errors.ArtifactParseError(f'A Schema Package of this protocol has format_version "{FORMAT_VERSION}".')
    missing = sorted({"manifest", "definitions", "integrity"} - artifact.keys())
    unknown = sorted(artifact.keys() - _MEMBERS)
    if missing or unknown:
        raise errors.ArtifactParseError(
            "The members of this Schema Package are not those of the format.",
            details={"missing": missing, "unknown": unknown},
        )
    profile = _object(artifact["integrity"], "integrity").get("digest_profile")
    if profile != DIGEST_PROFILE:
        raise errors.ArtifactParseError(f'The digest profile has to be "{DIGEST_PROFILE}".')


def _identity(manifest: Mapping[str, Any]) -> tuple[str, str]:
    package_id, version = manifest.get("package_id"), manifest.get("version")
    if (
        not isinstance(package_id, str)
        or not isinstance(version, str)
        or not _PACKAGE_ID.fullmatch(package_id)
        or not _VERSION.fullmatch(version)
    ):
        raise errors.InvalidIdentifier(
            f"{package_id or ''}@{version or ''} is not a package reference.",
            hint="Write kip://path@major.minor.patch; path segments hold a to z, 0 to 9 and '-'.",
        )
    if manifest.get("package_ref") != f"{package_id}@{version}":
        raise errors.ConstraintViolation("manifest.package_ref does not join package_id and version.")
    if package_id == CORE_PACKAGE:
        raise errors.SchemaSymbolConflict("kip://core is defined by the protocol and has no artifact.")
    return package_id, version


def _definitions(
    package_id: str, version: str, wire: Mapping[str, Any], pinned: Mapping[str, Document]
) -> Mapping[SymbolKind, Mapping[str, Definition]]:
    result: dict[SymbolKind, Mapping[str, Definition]] = {}
    for kind in SYMBOL_KINDS:
        found: dict[str, Definition] = {}
        for name, definition in _object(wire.get(SECTIONS[kind]), f"definitions.{SECTIONS[kind]}").items():
            symbol = Symbol(package_id, version, name)
            definition = _object(definition, f"definitions.{SECTIONS[kind]}.{name}")
            if not name or "/" in name:
                raise errors.InvalidIdentifier(f"{name!r} is not a symbol name.")
            if name in CORE_KINDS:
                raise errors.SchemaSymbolConflict(f"{symbol.ref} would shadow the Core symbol {name}.")
            if definition.get("ref") != symbol.ref or definition.get("kind") != WIRE_KINDS[kind]:
                raise errors.ConstraintViolation(
                    f"The definition of {name} has to carry ref {symbol.ref} and kind {WIRE_KINDS[kind]}."
                )
            check_references(definition, pinned, symbol.ref)
            found[name] = read_definition(kind, symbol, definition)
        result[kind] = found
    return result


def _dependencies(wire: Any) -> tuple[Dependency, ...]:
    if not isinstance(wire, (list, tuple)):
        raise errors.ConstraintViolation("dependencies is an array.")
    found = []
    for entry in wire:
        entry = _object(entry, "dependencies")
        ref = entry.get("package_ref") or f"{entry.get('package_id')}@{entry.get('version')}"
        pin = entry.get("content_digest")
        found.append(
            Dependency(str(ref), pin if isinstance(pin, str) else None, entry.get("required", True) is not False)
        )
    return tuple(found)


def _succession(
    artifact: Mapping[str, Any], definitions: Mapping[SymbolKind, Mapping[str, Definition]]
) -> tuple[Mapping[SymbolKind, Mapping[str, str]], Mapping[SymbolKind, frozenset[str]]]:
    """What a version declares in `compatibility`, per section: `renamed` {old: new} and `retired` [name]."""
    compatibility = _object(artifact.get("compatibility"), "compatibility")
    renamed = _object(compatibility.get("renamed"), "compatibility.renamed")
    ended = _object(compatibility.get("retired"), "compatibility.retired")
    renames: dict[SymbolKind, Mapping[str, str]] = {}
    retired: dict[SymbolKind, frozenset[str]] = {}
    for kind, section in SECTIONS.items():
        renames[kind] = dict(_object(renamed.get(section), f"compatibility.renamed.{section}"))
        for old, new in renames[kind].items():
            if new not in definitions[kind] or old in definitions[kind]:
                raise errors.ConstraintViolation(
                    f"{old} cannot be renamed to {new}: one is missing or both are defined."
                )
        names = ended.get(section, [])
        retired[kind] = frozenset(names)
        if retired[kind] & definitions[kind].keys():
            raise errors.ConstraintViolation(f"A retired symbol is still defined: {sorted(retired[kind])}.")
    return renames, retired


def _object(value: Any, member: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise errors.ArtifactParseError(f"{member} is not an object.")
    return value
