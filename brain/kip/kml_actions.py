"""KML: what a clause sets or unsets on one plane of an element (KML.ebnf, `update_action` and what it is made of)."""

from __future__ import annotations

from collections.abc import Callable

from brain.errors import KipError
from brain.kip.ast import (
    SetAttributes,
    SetFacet,
    SetFields,
    SetStructural,
    StructuralEntry,
    UnsetAttributes,
    UnsetFacet,
    UnsetStructural,
    UpdateAction,
)
from brain.kip.lexer import Tokens
from brain.kip.terms import braced, comma_list, data_value, field_name, object_literal, schema_symbol

assignment_object = object_literal
"""assignment_object = "{", [ assignment_member, { ",", assignment_member } ], "}" ; its members are object members."""


def more_sets(t: Tokens) -> bool:
    """Whether SET goes on with this clause; SET RETENTION begins the next one of a MUTATE."""
    return t.head == "SET" and t.ahead() != "RETENTION"


def update_action(t: Tokens) -> UpdateAction:
    """A `SET` or `UNSET` of one plane."""
    read = _ACTIONS.get((t.head, t.ahead()))
    if read is None:
        raise _no_action(t)
    return read(t)


def _no_action(t: Tokens) -> KipError:
    verb, message = t.head, "a SET or UNSET of fields, attributes, a facet or structural references has to stand here"
    if verb not in ("SET", "UNSET"):
        return t.unexpected(message)
    t.at += 1
    if verb == "UNSET" and t.head == "FIELDS":
        return t.unexpected("fields of the record cannot be unset", hint="Set the field to null where null is allowed.")
    hint = f"Write {verb} ATTRIBUTES, {verb} FACET or {verb} STRUCTURAL; the core fields are set with SET FIELDS."
    return t.unexpected(message, hint=hint)


def set_fields_clause(t: Tokens) -> SetFields:
    """`SET FIELDS {…}`"""
    start = t.at
    t.expect("SET", "FIELDS")
    assignments = assignment_object(t)
    return SetFields(t.since(start), assignments)


def set_attributes_clause(t: Tokens) -> SetAttributes:
    """`SET ATTRIBUTES {…}`"""
    start = t.at
    t.expect("SET", "ATTRIBUTES")
    assignments = assignment_object(t)
    return SetAttributes(t.since(start), assignments)


def set_facet_clause(t: Tokens) -> SetFacet:
    """`SET FACET "F" {…}`"""
    start = t.at
    t.expect("SET", "FACET")
    facet = schema_symbol(t, "a facet")
    assignments = assignment_object(t)
    return SetFacet(t.since(start), facet, assignments)


def unset_attributes_clause(t: Tokens) -> UnsetAttributes:
    """`UNSET ATTRIBUTES {a, "b c"}`"""
    start = t.at
    t.expect("UNSET", "ATTRIBUTES")
    names = unset_field_set(t)
    return UnsetAttributes(t.since(start), names)


def unset_facet_clause(t: Tokens) -> UnsetFacet:
    """`UNSET FACET "F" {a, "b c"}`"""
    start = t.at
    t.expect("UNSET", "FACET")
    facet = schema_symbol(t, "a facet")
    names = unset_field_set(t)
    return UnsetFacet(t.since(start), facet, names)


def unset_field_set(t: Tokens) -> tuple[str, ...]:
    """`{a, "b c"}`, each an `unset_field`; answers the names."""
    return comma_list(t, "{", field_name, "}")


def set_structural_clause(t: Tokens) -> SetStructural:
    """`SET STRUCTURAL { ("field", target) {index: 0} … }`"""
    start = t.at
    t.expect("SET", "STRUCTURAL")
    entries = braced(t, structural_assignment)
    return SetStructural(t.since(start), entries)


def structural_assignment(t: Tokens) -> StructuralEntry:
    """`("field", target) [{…}]`"""
    start = t.at
    entry = structural_removal(t)
    if t.head != "{":
        return entry
    options = object_literal(t)
    return StructuralEntry(t.since(start), entry.field, entry.target, options)


def unset_structural_clause(t: Tokens) -> UnsetStructural:
    """`UNSET STRUCTURAL { ("field", target) … }`"""
    start = t.at
    t.expect("UNSET", "STRUCTURAL")
    entries = braced(t, structural_removal)
    return UnsetStructural(t.since(start), entries)


def structural_removal(t: Tokens) -> StructuralEntry:
    """`("field", target)`"""
    start = t.at
    t.expect("(")
    field = schema_symbol(t, "a structural field")
    t.expect(",")
    target = data_value(t)
    t.expect(")")
    return StructuralEntry(t.since(start), field, target, None)


_ACTIONS: dict[tuple[str, str], Callable[[Tokens], UpdateAction]] = {
    ("SET", "ATTRIBUTES"): set_attributes_clause,
    ("SET", "FACET"): set_facet_clause,
    ("SET", "FIELDS"): set_fields_clause,
    ("SET", "STRUCTURAL"): set_structural_clause,
    ("UNSET", "ATTRIBUTES"): unset_attributes_clause,
    ("UNSET", "FACET"): unset_facet_clause,
    ("UNSET", "STRUCTURAL"): unset_structural_clause,
}
