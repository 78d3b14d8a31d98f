"""What a Schema Package says about one symbol, read into typed values once (KIP 2.0 §20.5, §20.15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from brain import errors
from brain.ids import Symbol, lineage_of, parse_symbol
from brain.store.base import Document, Kind

SymbolKind: TypeAlias = Literal["concept_type", "predicate", "facet", "structural_field"]

SYMBOL_KINDS: tuple[SymbolKind, ...] = ("concept_type", "predicate", "facet", "structural_field")

SECTIONS: Mapping[SymbolKind, str] = {
    "concept_type": "concept_types",
    "predicate": "predicates",
    "facet": "facets",
    "structural_field": "structural_fields",
}
"""Where each kind stands in a package's `definitions`."""

WIRE_KINDS: Mapping[SymbolKind, str] = {
    "concept_type": "ConceptType",
    "predicate": "PredicateType",
    "facet": "FacetDefinition",
    "structural_field": "StructuralFieldDefinition",
}
"""The `kind` member a definition carries."""

SPOKEN: Mapping[SymbolKind, str] = {
    "concept_type": "Concept type",
    "predicate": "predicate",
    "facet": "facet",
    "structural_field": "structural field",
}
"""How each kind is called in messages and in DESCRIBE answers."""

CORE_PACKAGE = "kip://core"
CORE_REF = "kip://core@2.0.0"
CORE_KINDS: Mapping[str, Kind] = {kind.value.capitalize(): kind for kind in Kind}
"""The five element kinds as Core exports them (§20.13)."""

CORE_FIELDS: Mapping[str, Kind] = {
    "associated_actors": Kind.ACTIVITY,
    "evidence": Kind.ASSERTION,
    "generated_by": Kind.EVIDENCE,
    "inputs": Kind.ACTIVITY,
    "outputs": Kind.ACTIVITY,
    "source": Kind.EVIDENCE,
}
"""The reserved structural fields of Core, each with the kind whose elements carry it (§20.13)."""

LITERAL_TYPES = frozenset({"boolean", "null", "number", "string"})
"""Datatypes of Literals (§9.2)."""

FIELD_TYPES = LITERAL_TYPES | {"array", "integer", "object", "timestamp"}
"""Types a field of an attribute object or a Facet may have."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A symbol's definition as its package states it.

    symbol   the exact reference; `symbol.ref`, `symbol.lineage`
    wire     the definition member of the package, unchanged (what DESCRIBE shows)
    """

    symbol: Symbol
    wire: Document

    @property
    def description(self) -> str:
        return str(self.wire.get("description", ""))


@dataclass(frozen=True, slots=True)
class ConceptType(Definition):
    """A Concept Type (§20.5)."""

    is_open: bool
    fields: Mapping[str, Document]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What one end of a Predicate or structural field admits (§20.15).

    kinds          element kinds; empty with `literal_types` set means literals only
    type_lineages  Concept Types by lineage; None admits Concepts of every type
    literal_types  of boolean, null, number, string; empty admits no Literal
    nullable       whether null is a permitted object
    format         shape of a string Literal: `timestamp`, `uri` or a name of the package's own
    is_declared    False when the definition leaves this end unconstrained
    """

    kinds: frozenset[Kind]
    type_lineages: frozenset[str] | None
    literal_types: frozenset[str]
    nullable: bool
    format: str | None
    is_declared: bool = True

    @property
    def takes_propositions_by_name(self) -> bool:
        """Whether the definition itself lists the kind Proposition, which nested tuples need on write."""
        return self.is_declared and Kind.PROPOSITION in self.kinds


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
    """A Facet (§18, §20.5).

    applicable_to   the elements that may carry it, as an endpoint without Literals
    attachment      `{activity_classes, terminal_only}` or None
    """

    is_closed: bool
    fields: Mapping[str, Document]
    applicable_to: Endpoint
    attachment: Document | None
    is_computed: bool


@dataclass(frozen=True, slots=True)
class StructuralField(Definition):
    """A declared structural field (§17, §20.5); `most` is None without an upper bound."""

    source: Endpoint
    target: Endpoint
    least: int
    most: int | None
    unique: bool
    ordered: bool
    is_computed: bool


def read_definition(kind: SymbolKind, symbol: Symbol, wire: Document) -> Definition:
    """One definition of a package; ConstraintViolation names the member that breaks a rule."""
    return _READERS[kind](symbol, wire)


def _concept_type(symbol: Symbol, wire: Document) -> ConceptType:
    attributes = _mapping(symbol, "attributes", wire.get("attributes"))
    return ConceptType(
        symbol=symbol,
        wire=wire,
        is_open=_flag(symbol, "attributes.open", attributes, "open", default=True),
        fields=_fields(symbol, attributes.get("fields", wire.get("fields"))),
    )


def _predicate(symbol: Symbol, wire: Document) -> PredicateType:
    functional = _flag(symbol, "functional", wire, "functional", default=False)
    functional_by = wire.get("functional_by")
    if functional_by not in (None, "object_type"):
        raise _broken(symbol, "functional_by", 'is "object_type" or left out')
    target = read_endpoint(symbol, "object", wire.get("object"), literals=True)
    if functional_by is not None:
        if functional:
            raise _broken(symbol, "functional_by", "cannot stand beside functional: true")
        if not target.is_declared or target.literal_types or Kind.CONCEPT not in target.kinds:
            raise _broken(symbol, "functional_by", "partitions by Concept Type, so the object has to be Concepts")
    temporal = wire.get("temporal_conflict", "overlapping_valid_time")
    if temporal not in ("overlapping_valid_time", "none"):
        raise _broken(symbol, "temporal_conflict", 'is "overlapping_valid_time" or "none"')
    return PredicateType(
        symbol=symbol,
        wire=wire,
        subject=read_endpoint(symbol, "subject", wire.get("subject"), literals=False),
        object=target,
        functional=functional,
        functional_by="object_type" if functional_by else None,
        open_world=_flag(symbol, "open_world", wire, "open_world", default=True),
        complete=_flag(symbol, "complete", wire, "complete", default=False),
        boolean_completeness=_flag(symbol, "boolean_completeness", wire, "boolean_completeness", default=False),
        temporal_conflict=temporal,
    )


def _facet(symbol: Symbol, wire: Document) -> FacetType:
    attributes = _mapping(symbol, "attributes", wire.get("attributes"))
    attachment = wire.get("attachment")
    if attachment is not None:
        classes = _mapping(symbol, "attachment", attachment).get("activity_classes")
        if classes is not None and not _is_names(classes):
            raise _broken(symbol, "attachment.activity_classes", "is an array of names")
    is_open = _flag(symbol, "attributes.open", attributes, "open", default=True)
    return FacetType(
        symbol=symbol,
        wire=wire,
        is_closed=_flag(symbol, "closed", wire, "closed", default=not is_open),
        fields=_fields(symbol, wire.get("fields", attributes.get("fields"))),
        applicable_to=read_endpoint(symbol, "applicable_to", wire.get("applicable_to"), literals=False),
        attachment=attachment,
        is_computed=_flag(symbol, "computed", wire, "computed", default=False),
    )


def _structural_field(symbol: Symbol, wire: Document) -> StructuralField:
    cardinality = _mapping(symbol, "cardinality", wire.get("cardinality"))
    least, most = cardinality.get("min", 0), cardinality.get("max")
    if not _is_count(least) or not (most is None or _is_count(most)) or (most is not None and most < least):
        raise _broken(symbol, "cardinality", "is {min, max} with 0 <= min <= max, max null for no bound")
    source = read_endpoint(symbol, "source", wire.get("source"), literals=False)
    owner = CORE_FIELDS.get(symbol.name)
    if owner is not None and source.is_declared and owner in source.kinds:
        raise _broken(symbol, "source", f"includes {owner.value}s, where Core reserves this name")
    return StructuralField(
        symbol=symbol,
        wire=wire,
        source=source,
        target=read_endpoint(symbol, "target", wire.get("target"), literals=False),
        least=least,
        most=most,
        unique=_flag(symbol, "unique", wire, "unique", default=True),
        ordered=_flag(symbol, "ordered", wire, "ordered", default=False),
        is_computed=_flag(symbol, "computed", wire, "computed", default=False),
    )


_READERS: Mapping[SymbolKind, Callable[[Symbol, Document], Definition]] = {
    "concept_type": _concept_type,
    "predicate": _predicate,
    "facet": _facet,
    "structural_field": _structural_field,
}


def read_endpoint(symbol: Symbol, member: str, wire: Any, *, literals: bool) -> Endpoint:
    """One end. Types are exact references or names of the same package; an end left out admits everything.

    literals   whether Literals can stand here at all: only as a Predicate's object
    """
    if wire is None:
        literal_types = LITERAL_TYPES - {"null"} if literals else frozenset[str]()
        return Endpoint(frozenset(Kind), None, literal_types, nullable=False, format=None, is_declared=False)
    wire = _mapping(symbol, member, wire)
    for name in ("concept_types", "kinds", "literal_types"):
        if name in wire and not _is_names(wire[name]):
            raise _broken(symbol, f"{member}.{name}", "is an array of names")
    types, kinds, literal_types = wire.get("concept_types"), wire.get("kinds"), frozenset(wire.get("literal_types", ()))
    if types is None and kinds is None and not literal_types:
        raise _broken(symbol, member, "lists concept_types, kinds or literal_types")
    if literal_types and (not literals or not literal_types <= LITERAL_TYPES):
        raise _broken(symbol, f"{member}.literal_types", "takes boolean, null, number, string, on an object only")
    admitted: set[Kind] = {Kind.CONCEPT} if types else set()
    for name in kinds or ():
        if name not in CORE_KINDS:
            raise _broken(symbol, f"{member}.kinds", f"takes the element kinds of Core, not {name!r}")
        admitted.add(CORE_KINDS[name])
    text_format = wire.get("format") or None
    if text_format is not None and not isinstance(text_format, str):
        raise _broken(symbol, f"{member}.format", "is a name")
    return Endpoint(
        kinds=frozenset(admitted),
        type_lineages=frozenset(_type_lineage(symbol, name) for name in types) if types else None,
        literal_types=literal_types,
        nullable=_flag(symbol, f"{member}.nullable", wire, "nullable", default=False) or "null" in literal_types,
        format=text_format,
    )


def _type_lineage(symbol: Symbol, name: str) -> str:
    if parse_symbol(name) is not None:
        return lineage_of(name)
    return f"{symbol.path}/{name}"


def _fields(symbol: Symbol, wire: Any) -> Mapping[str, Document]:
    fields = _mapping(symbol, "fields", wire)
    for name, field in fields.items():
        if not isinstance(field, Mapping) or "type" not in field:
            raise _broken(symbol, f"fields.{name}", "is an object with a type")
        types = [field["type"]] if isinstance(field["type"], str) else field["type"]
        if not _is_names(types) or not types or not FIELD_TYPES.issuperset(types):
            raise _broken(symbol, f"fields.{name}.type", f"is one of {', '.join(sorted(FIELD_TYPES))}, or several")
    return fields


def _mapping(symbol: Symbol, member: str, value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _broken(symbol, member, "is an object")
    return value


def _flag(symbol: Symbol, member: str, wire: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = wire.get(name, default)
    if not isinstance(value, bool):
        raise _broken(symbol, member, "is true or false")
    return value


def _is_names(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) and item for item in value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _broken(symbol: Symbol, member: str, rule: str) -> errors.ConstraintViolation:
    return errors.ConstraintViolation(
        f"{symbol.name}: {member} {rule}.", details={"symbol": symbol.ref, "member": member}
    )
