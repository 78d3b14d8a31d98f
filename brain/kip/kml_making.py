"""KML: the statements that make elements: CREATE, UPSERT, ENSURE, ASSERT."""

from __future__ import annotations

from typing import Literal as OneOf
from typing import cast

from brain.kip.ast import (
    Assert,
    ClientKey,
    CreateClause,
    CreateConcept,
    CreateRecord,
    EnsureProposition,
    MatchClause,
    MutationClause,
    NameClause,
    SetFacet,
    SetFields,
    SetStructural,
    TypeClause,
    UpsertClause,
    UpsertConcept,
    Variable,
)
from brain.kip.kml_actions import (
    assignment_object,
    set_attributes_clause,
    set_facet_clause,
    set_fields_clause,
    set_structural_clause,
    update_action,
)
from brain.kip.kml_tail import expect_version_clauses
from brain.kip.lexer import Tokens
from brain.kip.patterns import object_pattern, proposition_tuple, target_ref
from brain.kip.terms import braced, scalar_value, schema_symbol, variable
from brain.kip.tokens import VARIABLE

RecordClause = ClientKey | SetFields | SetFacet | SetStructural


def create(t: Tokens) -> MutationClause:
    """`CREATE` and what it makes."""
    kind = t.ahead()
    if kind == "CONCEPT":
        return create_concept(t)
    if kind in ("EVIDENCE", "ASSERTION", "ACTIVITY"):
        return create_record(t)
    t.at += 1
    hint = 'Write ENSURE PROPOSITION (?a, "predicate", ?b).' if kind == "PROPOSITION" else None
    raise t.unexpected("CREATE makes a CONCEPT, EVIDENCE, ASSERTION or ACTIVITY", hint=hint)


def create_concept(t: Tokens) -> CreateConcept:
    """`CREATE CONCEPT ?x { clause clause }`"""
    start = t.at
    t.expect("CREATE", "CONCEPT")
    name = handle(t)
    clauses = braced(t, concept_create_clause)
    return CreateConcept(t.since(start), name, clauses)


def concept_create_clause(t: Tokens) -> CreateClause:
    """`TYPE`, `NAME`, `CLIENT KEY` or a `SET`."""
    head = t.head
    if head == "TYPE":
        return type_clause(t)
    if head == "CLIENT":
        return client_key_clause(t)
    if head == "NAME":
        return name_clause(t)
    if head == "SET":
        part = t.ahead()
        if part == "FIELDS":
            return set_fields_clause(t)
        if part == "ATTRIBUTES":
            return set_attributes_clause(t)
        if part == "FACET":
            return set_facet_clause(t)
        if part == "STRUCTURAL":
            return set_structural_clause(t)
        t.at += 1
    raise t.unexpected("this is no clause of CREATE CONCEPT")


def create_record(t: Tokens) -> CreateRecord:
    """`CREATE EVIDENCE ?e {…}`, `CREATE ASSERTION ?a {…}`, `CREATE ACTIVITY ?t {…}`: one shape."""
    start = t.at
    t.expect("CREATE")
    kind = cast("OneOf['evidence', 'assertion', 'activity']", t.head.lower())
    t.at += 1
    name = handle(t)
    clauses = braced(t, record_create_clause)
    return CreateRecord(t.since(start), kind, name, clauses)


def record_create_clause(t: Tokens) -> RecordClause:
    """`CLIENT KEY`, or a `SET` that a record takes."""
    head = t.head
    if head == "CLIENT":
        return client_key_clause(t)
    if head == "SET":
        part = t.ahead()
        if part == "FIELDS":
            return set_fields_clause(t)
        if part == "FACET":
            return set_facet_clause(t)
        if part == "STRUCTURAL":
            return set_structural_clause(t)
        t.at += 1
    raise t.unexpected("a record is made of CLIENT KEY, SET FIELDS, SET FACET and SET STRUCTURAL clauses only")


def upsert_concept(t: Tokens) -> UpsertConcept:
    """`UPSERT CONCEPT ?x { clause clause } [guards]`"""
    start = t.at
    t.expect("UPSERT", "CONCEPT")
    name = handle(t)
    clauses = braced(t, upsert_clause)
    expect = expect_version_clauses(t)
    return UpsertConcept(t.since(start), name, clauses, expect)


def upsert_clause(t: Tokens) -> UpsertClause:
    """`MATCH {…}` or what UPDATE does."""
    if t.head == "MATCH":
        return match_clause(t)
    return update_action(t)


def ensure_proposition(t: Tokens) -> EnsureProposition:
    """`ENSURE PROPOSITION [?p] (…) [guards]`"""
    start = t.at
    t.expect("ENSURE")
    if t.head == "CONCEPT":
        raise t.unexpected("ENSURE makes Propositions", hint="Write UPSERT CONCEPT ?x { MATCH {type: …, key: …} }.")
    t.expect("PROPOSITION")
    name = _optional_handle(t)
    proposition = proposition_tuple(t)
    expect = expect_version_clauses(t)
    return EnsureProposition(t.since(start), name, proposition, expect)


def assert_statement(t: Tokens) -> Assert:
    """`ASSERT [?a] (…) {…} [SUPERSEDING old]`"""
    start = t.at
    t.expect("ASSERT")
    name = _optional_handle(t)
    proposition = proposition_tuple(t)
    members = assignment_object(t)
    superseding = target_ref(t) if t.take("SUPERSEDING") else None
    return Assert(t.since(start), name, proposition, members, superseding)


def handle(t: Tokens) -> Variable:
    """`?name`"""
    return variable(t, "a handle")


def _optional_handle(t: Tokens) -> Variable | None:
    return handle(t) if t.head == VARIABLE else None


def type_clause(t: Tokens) -> TypeClause:
    """`TYPE "Person"`"""
    start = t.at
    t.expect("TYPE")
    type_ = schema_symbol(t, "a type")
    return TypeClause(t.since(start), type_)


def client_key_clause(t: Tokens) -> ClientKey:
    """`CLIENT KEY :k`"""
    start = t.at
    t.expect("CLIENT", "KEY")
    key = scalar_value(t, "a client key")
    return ClientKey(t.since(start), key)


def name_clause(t: Tokens) -> NameClause:
    """`NAME "Ann"`"""
    start = t.at
    t.expect("NAME")
    name = scalar_value(t, "a name")
    return NameClause(t.since(start), name)


def match_clause(t: Tokens) -> MatchClause:
    """`MATCH {type: "Person", key: :k}`"""
    start = t.at
    t.expect("MATCH")
    match = object_pattern(t)
    return MatchClause(t.since(start), match)
