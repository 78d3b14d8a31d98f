"""The vocabulary of one Space (KIP 2.0 §20.8): which packages are active, and what a name means under them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from brain import errors
from brain.ids import lineage_of, parse_symbol
from brain.kip.schema.definitions import (
    CORE_REF,
    SYMBOL_KINDS,
    WIRE_KINDS,
    ConceptType,
    Definition,
    FacetType,
    PredicateType,
    StructuralField,
    SymbolKind,
)
from brain.kip.schema.drafts import DRAFT_ID, DRAFT_REF, check_draft, draft_artifact
from brain.kip.schema.package import Package, load
from brain.kip.schema.symbols import SymbolTable
from brain.store.base import Document

if TYPE_CHECKING:
    from brain.kip.library import PackageLibrary

PackageStatus: TypeAlias = Literal["active", "readable", "blocked"]
"""active: read and write; readable: elements are read, none is created; blocked: its symbols do not resolve."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A package of the Space's lock and its state there."""

    package: Package
    status: PackageStatus


@dataclass(frozen=True, slots=True)
class Promotion:
    """One draft lineage that from now on counts as an installed one (§20.16)."""

    kind: SymbolKind
    source: str
    target: str

    def to_wire(self) -> Document:
        """The entry of `lineage_maps`."""
        return {"kind": self.kind, "from": self.source, "to": self.target}


class Environment:
    """The vocabulary of one Space at one environment version; immutable and shareable between threads.

    Names are local (`Person`) or exact (`kip://…@…/Person`). A local name that several lineages export raises
    SchemaSymbolAmbiguous, an unknown one SchemaSymbolNotFound with the nearest names in details and hint.
    """

    def __init__(
        self,
        version: int,
        installed: Iterable[Installed],
        *,
        drafts: Mapping[SymbolKind, Mapping[str, Document]] | None = None,
        promotions: Iterable[Promotion] = (),
        aliases: Mapping[SymbolKind, Mapping[str, str]] | None = None,
        write_versions: Mapping[str, str] | None = None,
    ) -> None:
        self.version = version
        self.drafts: Mapping[SymbolKind, Mapping[str, Document]] = drafts or {}
        self.promotions = tuple(promotions)
        self.aliases: Mapping[SymbolKind, Mapping[str, str]] = aliases or {}
        self._chosen = dict(write_versions or {})
        locked = sorted(installed, key=lambda entry: entry.package.ref)
        if any(self.drafts.values()):
            locked.append(Installed(load(draft_artifact(self.drafts)), "active"))
        self.packages = tuple(sorted(locked, key=lambda entry: entry.package.ref))
        _check_dependencies(self.packages)
        self.write_versions = _write_versions(self.packages, self._chosen)
        self._tables = {kind: self._table(kind) for kind in SYMBOL_KINDS}
        self._described: dict[tuple[SymbolKind, str], Definition] = {}
        self.activity_classes = frozenset(
            name for entry in self.packages if entry.status != "blocked" for name in entry.package.activity_classes
        )

    # --- to and from the control document ---------------------------------------------------------------------------

    @classmethod
    def load(cls, document: Document, library: PackageLibrary) -> Environment:
        """The environment a `schema` control document describes, its artifacts taken from `library` by digest.

        Artifacts no library bundles travel inside the document. SchemaPackageUnavailable when one is nowhere to be had.
        """
        artifacts = document.get("artifacts", {})
        installed = []
        for entry in document["packages"]:
            ref, content_digest = entry["package_ref"], entry["content_digest"]
            if ref in artifacts:
                package = library.check(artifacts[ref], content_digest)
            else:
                package = library.get(ref, content_digest)
            installed.append(Installed(package, entry["status"]))
        return cls(
            document["version"],
            installed,
            drafts=document.get("drafts"),
            promotions=[Promotion(p["kind"], p["from"], p["to"]) for p in document.get("lineage_maps", ())],
            aliases=document.get("aliases"),
            write_versions=document.get("write_versions"),
        )

    def to_document(self) -> Document:
        """The `schema` control document."""
        lock = [entry for entry in self.packages if entry.package.package_id != DRAFT_ID]
        document: dict[str, Any] = {
            "version": self.version,
            "packages": [
                {
                    "package_ref": entry.package.ref,
                    "content_digest": entry.package.digest,
                    "status": entry.status,
                }
                for entry in lock
            ],
        }
        carried = {entry.package.ref: entry.package.artifact for entry in lock if not entry.package.is_bundled}
        further = {
            "artifacts": carried,
            "drafts": {kind: dict(members) for kind, members in self.drafts.items() if members},
            "aliases": {kind: dict(names) for kind, names in self.aliases.items() if names},
            "lineage_maps": [promotion.to_wire() for promotion in self.promotions],
            "write_versions": dict(self._chosen),
        }
        return document | {name: value for name, value in further.items() if value}

    # --- names --------------------------------------------------------------------------------------------------------

    def concept_type(self, name: str) -> ConceptType:
        """The write version of a Concept Type."""
        return cast("ConceptType", self._tables["concept_type"].write_version(name))

    def predicate(self, name: str) -> PredicateType:
        """The write version of a Predicate."""
        return cast("PredicateType", self._tables["predicate"].write_version(name))

    def facet(self, name: str) -> FacetType:
        """The write version of a Facet."""
        return cast("FacetType", self._tables["facet"].write_version(name))

    def structural_field(self, name: str) -> StructuralField:
        """A declared structural field; the six Core names are not declared and never found here."""
        return cast("StructuralField", self._tables["structural_field"].write_version(name))

    def exact_concept_type(self, ref: str) -> ConceptType:
        """The very version a stored `schema_ref` names: what that element validates against."""
        return cast("ConceptType", self._tables["concept_type"].exact(ref))

    def exact_predicate(self, ref: str) -> PredicateType:
        """The very version a stored `predicate_ref` names."""
        return cast("PredicateType", self._tables["predicate"].exact(ref))

    def exact_facet(self, ref: str) -> FacetType:
        """The very version a stored Facet is kept under."""
        return cast("FacetType", self._tables["facet"].exact(ref))

    def exact_structural_field(self, ref: str) -> StructuralField:
        """The very version a stored structural reference is kept under."""
        return cast("StructuralField", self._tables["structural_field"].exact(ref))

    def lineages(self, kind: SymbolKind, name: str) -> frozenset[str]:
        """Every lineage that matches as one with the named symbol: itself, renames, promotions (§20.14)."""
        return self._tables[kind].lineages(name)

    def group(self, kind: SymbolKind, lineage: str) -> frozenset[str]:
        """Every lineage that matches as one with a lineage; an unknown lineage stands alone."""
        return self._tables[kind].group(lineage)

    def canonical_lineage(self, kind: SymbolKind, lineage: str) -> str:
        """The one lineage that stands for all that match as one; an unknown lineage stands for itself."""
        return self._tables[kind].canonical(lineage)

    def local_name(self, ref: str) -> str:
        """How a person writes a symbol: its local name when that is unambiguous, else the exact reference."""
        symbol = parse_symbol(ref)
        if symbol is None:
            return ref
        for table in self._tables.values():
            found = table.names(symbol.name)
            if table.canonical(symbol.lineage) in found and len(found) > 1:
                return ref
        return symbol.name

    def definitions(self, kind: SymbolKind) -> tuple[Definition, ...]:
        """All readable symbols of a kind, sorted by reference."""
        return self._tables[kind].definitions()

    def describe(self, kind: SymbolKind, name: str) -> Definition:
        """What a name means to a reader: an exact reference's own version, else the one new elements bind to."""
        found = self._described.get((kind, name))
        if found is None:
            # What names nothing raises, so there are never more of these than symbols.
            found = self._described[kind, name] = self._meant(kind, name)
        return found

    def _meant(self, kind: SymbolKind, name: str) -> Definition:
        table = self._tables[kind]
        lineage = table.resolve(name)
        if "://" in name:
            return table.exact(name)
        versions = [d for d in table.definitions() if table.canonical(d.symbol.lineage) == lineage]
        return next((d for d in versions if self._is_written(d)), versions[-1])

    def nearest(self, kind: SymbolKind, name: str, count: int = 3) -> tuple[Definition, ...]:
        """The symbols most alike to a name, best first, for hints."""
        return self._tables[kind].nearest(name, count)

    def installed(self, package_ref: str) -> Installed | None:
        """A package of the lock by reference, the draft package included."""
        return next((entry for entry in self.packages if entry.package.ref == package_ref), None)

    def status_of(self, definition: Definition) -> str:
        """The state of the package a definition belongs to."""
        entry = self.installed(definition.symbol.package_ref)
        return entry.status if entry else "active"

    def resources_of(self, definition: Definition) -> Mapping[str, Document]:
        """The pinned JSON Schemas a definition's value schemas may refer to, by `$id`."""
        entry = self.installed(definition.symbol.package_ref)
        return entry.package.resources if entry else {}

    def draft_symbols(self) -> list[tuple[str, str]]:
        """Wire kind and exact reference of every symbol the Space made for itself."""
        return [(WIRE_KINDS[kind], f"{DRAFT_REF}/{name}") for kind, named in self.drafts.items() for name in named]

    # --- the next environment ----------------------------------------------------------------------------------------

    def with_draft(
        self, kind: Literal["concept_type", "predicate"], name: str, definition: Mapping[str, Any]
    ) -> tuple[Environment, str]:
        """The environment after one DEFINE, and the new symbol's exact reference (§20.16).

        raises SchemaSymbolConflict, ConstraintViolation, InvalidIdentifier; SchemaSymbolNotFound for a type it names
        """
        self._refuse_taken(kind, name)
        body = check_draft(kind, name, definition, self)
        drafts = {section: dict(members) for section, members in self.drafts.items()}
        drafts.setdefault(kind, {})[name] = body
        return self._next(drafts=drafts), f"{DRAFT_REF}/{name}"

    def with_package(self, package: Package, status: PackageStatus = "active") -> Environment:
        """The environment after a package was installed or changed its state; drafts stay (§20.16).

        raises SchemaSymbolConflict when the reference is taken by another content
        """
        kept = [e for e in self._lock() if e.package.ref != package.ref]
        present = self.installed(package.ref)
        if present is not None and present.package.digest != package.digest:
            raise errors.SchemaSymbolConflict(
                f"{package.ref} is installed with other content; a published version never changes."
            )
        return self._next(installed=[*kept, Installed(package, status)])

    def with_promotion(self, kind: SymbolKind, name: str, target: str) -> Environment:
        """The environment after a draft symbol was promoted to an installed one of its kind (§20.16)."""
        source = f"{DRAFT_ID}/{name}"
        if name not in self.drafts.get(kind, {}):
            raise errors.SchemaSymbolNotFound(f"{name} is no draft {kind} of this Space.")
        if any((p.kind, p.source) == (kind, source) for p in self.promotions):
            raise errors.SchemaSymbolConflict(f"{name} was promoted before; a draft symbol is promoted once.")
        lineage = self._tables[kind].exact(target).symbol.lineage
        if lineage.startswith(f"{DRAFT_ID}/"):
            raise errors.ConstraintViolation("A draft symbol is promoted to a symbol of an installed package.")
        return self._next(promotions=[*self.promotions, Promotion(kind, source, lineage)])

    # --- inside -------------------------------------------------------------------------------------------------------

    def _next(
        self,
        *,
        installed: Iterable[Installed] | None = None,
        drafts: Mapping[SymbolKind, Mapping[str, Document]] | None = None,
        promotions: Iterable[Promotion] | None = None,
    ) -> Environment:
        return Environment(
            self.version + 1,
            self._lock() if installed is None else installed,
            drafts=self.drafts if drafts is None else drafts,
            promotions=self.promotions if promotions is None else promotions,
            aliases=self.aliases,
            write_versions=self._chosen,
        )

    def _lock(self) -> list[Installed]:
        return [entry for entry in self.packages if entry.package.package_id != DRAFT_ID]

    def _is_written(self, definition: Definition) -> bool:
        return self.write_versions.get(definition.symbol.path) == definition.symbol.version

    def _refuse_taken(self, kind: SymbolKind, name: str) -> None:
        taken = [
            entry.package.definitions[kind][name].symbol.ref
            for entry in self.packages
            if name in entry.package.definitions[kind]
        ]
        taken += [f"{lineage}" for lineage in self._tables[kind].names(name)]
        if taken:
            raise errors.SchemaSymbolConflict(
                f"{name} already names {taken[0]}.",
                hint="Use the symbol that exists; a draft never changes or hides another one.",
                details={"name": name, "kind": kind, "taken_by": taken[0]},
            )

    def _table(self, kind: SymbolKind) -> SymbolTable:
        readable: list[Definition] = []
        writable: dict[str, Definition] = {}
        successors = {p.source: p.target for p in self.promotions if p.kind == kind}
        for entry in self.packages:
            if entry.status == "blocked":
                continue
            package = entry.package
            readable += package.definitions[kind].values()
            for old, new in package.renames[kind].items():
                successors[f"{package.package_id}/{old}"] = f"{package.package_id}/{new}"
            if entry.status == "active" and self.write_versions.get(package.package_id) == package.version:
                writable |= {d.symbol.lineage: d for d in package.definitions[kind].values()}
        aliases = {name: lineage_of(ref) for name, ref in self.aliases.get(kind, {}).items()}
        return SymbolTable(kind, readable, writable, successors, aliases)


def birth(packages: Iterable[Package]) -> Document:
    """The `schema` control document of a new Space with these packages active, at environment version 1."""
    return Environment(1, [Installed(package, "active") for package in packages]).to_document()


def _check_dependencies(packages: tuple[Installed, ...]) -> None:
    present = {entry.package.ref: entry.package for entry in packages}
    for entry in packages:
        for needed in entry.package.dependencies:
            if needed.package_ref == CORE_REF:
                continue
            found = present.get(needed.package_ref)
            if found is None and needed.required:
                raise errors.SchemaPackageUnavailable(
                    f"{entry.package.ref} needs {needed.package_ref}, which is not part of this Space.",
                    details={"package_ref": needed.package_ref, "needed_by": entry.package.ref},
                )
            if found is not None and needed.content_digest not in (None, found.digest):
                raise errors.DigestMismatch(
                    f"{entry.package.ref} was built against another content of {needed.package_ref}.",
                    details={"package_ref": needed.package_ref, "declared": needed.content_digest},
                )


def _write_versions(packages: Iterable[Installed], chosen: Mapping[str, str]) -> dict[str, str]:
    """Package id to the version new elements bind to: the chosen one, else the highest active one."""
    versions: dict[str, list[str]] = {}
    for entry in packages:
        if entry.status == "active":
            versions.setdefault(entry.package.package_id, []).append(entry.package.version)
    return {
        package_id: chosen[package_id] if chosen.get(package_id) in found else max(found, key=_precedence)
        for package_id, found in versions.items()
    }


def _precedence(version: str) -> tuple[tuple[int, ...], bool, str]:
    numbers, _, prerelease = version.partition("-")
    return tuple(int(number) for number in numbers.split(".")), not prerelease, prerelease
