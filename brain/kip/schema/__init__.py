"""Schema packages and a Space's vocabulary: symbols, lineages, definitions, drafts (KIP 2.0 §20)."""

from brain.kip.schema.definitions import (
    CORE_FIELDS,
    CORE_KINDS,
    CORE_REF,
    LITERAL_TYPES,
    SECTIONS,
    SPOKEN,
    SYMBOL_KINDS,
    ConceptType,
    Definition,
    Endpoint,
    FacetType,
    PredicateType,
    StructuralField,
    SymbolKind,
)
from brain.kip.schema.drafts import DRAFT_ID, DRAFT_REF, check_draft
from brain.kip.schema.environment import Environment, Installed, Promotion, birth
from brain.kip.schema.package import Package

__all__ = [
    "CORE_FIELDS",
    "CORE_KINDS",
    "CORE_REF",
    "DRAFT_ID",
    "DRAFT_REF",
    "LITERAL_TYPES",
    "SECTIONS",
    "SPOKEN",
    "SYMBOL_KINDS",
    "ConceptType",
    "Definition",
    "Endpoint",
    "Environment",
    "FacetType",
    "Installed",
    "Package",
    "PredicateType",
    "Promotion",
    "StructuralField",
    "SymbolKind",
    "birth",
    "check_draft",
]
