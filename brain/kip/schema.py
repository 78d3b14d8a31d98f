"""Schema packages and a Space's vocabulary: symbols, lineages, definitions, drafts (KIP 2.0 §20)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from brain.ids import Symbol
from brain.store.base import Document, Kind

SymbolKind = Literal["concept_type", "predicate", "facet", "structural_field"]


@dataclass(frozen=True, slots=True)
class Definition:
    """A symbol's definition as its package states it.

    symbol   the exact reference; `symbol.ref`, `symbol.lineage`
    wire     the definition member of the package, unchanged (what DESCRIBE shows)
    """

    symbol: Symbol
    wire: Document


@dataclass(frozen=True, slots=True)
class ConceptType(Definition):
    """A Concept Type (§20.5)."""

    is_open: bool
    fields: Mapping[str, Document]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What one end of a Predicate admits (§20.15).

    kinds          element kinds; empty with `literal_types` set means literals only
    type_lineages  Concept Types by lineage; None admits Concepts of every type
    literal_types  of boolean, null, number, string; empty admits no Literal
    """

    kinds: frozenset[Kind]
    type_lineages: frozenset[str] | None
    literal_types: frozenset[str]
    nullable: bool
    format: str | None


@dataclass(frozen=True, slots=True)
class PredicateType(Definition):
    """A Predicate (§20.15), members left out having their documented defaults."""

    subject: Endpoint
    object: Endpoint
    functional: bool
    functional_by: Literal["object_type"] | None
    open_world: bool
    complete: bool
    boolean_completeness: bool
    temporal_conflict: Literal["overlapping_valid_time", "none"]


@dataclass(frozen=True, slots=True)
class FacetType(Definition):
    """A Facet (§18, §20.5)."""

    is_closed: bool
    fields: Mapping[str, Document]
    applicable_to: Document
    attachment: Document | None
    is_computed: bool


@dataclass(frozen=True, slots=True)
class StructuralField(Definition):
    """A declared structural field (§17, §20.5); `most` is None without an upper bound."""

    source: Document
    target: Document
    least: int
    most: int | None
    unique: bool
    ordered: bool
    is_computed: bool


class Environment:
    """The vocabulary of one Space at one environment version; immutable and shareable between threads.

    Names are local (`Person`) or exact (`kip://…@…/Person`). A local name that several lineages export raises
    SchemaSymbolAmbiguous, an unknown one SchemaSymbolNotFound with the nearest names in details and hint.
    """

    version: int

    @classmethod
    def load(cls, document: Document, library: Any) -> Environment:
        """The environment a `schema` control document describes, its artifacts taken from `library` by digest."""
        raise NotImplementedError

    def to_document(self) -> Document:
        """The `schema` control document."""
        raise NotImplementedError

    def concept_type(self, name: str) -> ConceptType:
        """The write version of a Concept Type."""
        raise NotImplementedError

    def predicate(self, name: str) -> PredicateType:
        """The write version of a Predicate."""
        raise NotImplementedError

    def facet(self, name: str) -> FacetType:
        raise NotImplementedError

    def structural_field(self, name: str) -> StructuralField:
        """A declared structural field; the six Core names are not declared and never found here."""
        raise NotImplementedError

    def lineages(self, kind: SymbolKind, name: str) -> frozenset[str]:
        """Every lineage that matches as one with the named symbol: itself, renames, promotions (§20.14)."""
        raise NotImplementedError

    def canonical_lineage(self, kind: SymbolKind, lineage: str) -> str:
        """The one lineage that stands for all that match as one; an unknown lineage stands for itself."""
        raise NotImplementedError

    def local_name(self, ref: str) -> str:
        """How a person writes a symbol: its local name when that is unambiguous, else the exact reference."""
        raise NotImplementedError

    def definitions(self, kind: SymbolKind) -> tuple[Definition, ...]:
        """All readable symbols of a kind, sorted by reference."""
        raise NotImplementedError

    def nearest(self, kind: SymbolKind, name: str, count: int = 3) -> tuple[Definition, ...]:
        """The symbols most alike to a name, best first, for hints."""
        raise NotImplementedError
