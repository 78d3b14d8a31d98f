"""KML: the statements that write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal as OneOf
from typing import TypeVar, cast

from brain.kip.ast import (
    Assert,
    ClientKey,
    CreateClause,
    CreateConcept,
    CreateRecord,
    Define,
    EnsureProposition,
    ExpectVersion,
    KmlStatement,
    MatchClause,
    MergeConcept,
    Mutate,
    MutationClause,
    NameClause,
    Plane,
    Purge,
    PurgePayload,
    Scalar,
    SetAttributes,
    SetFacet,
    SetFields,
    SetRetention,
    SetStructural,
    StructuralEntry,
    Transition,
    TypeClause,
    UnsetAttributes,
    UnsetFacet,
    UnsetStructural,
    Update,
    UpdateAction,
    UpsertClause,
    UpsertConcept,
    Variable,
    Where,
)
from brain.kip.faults import near
from brain.kip.habits import STARTS
from brain.kip.kql import limit_clause
from brain.kip.lexer import Tokens
from brain.kip.patterns import object_pattern, proposition_tuple, target_ref, where_block, where_clause
from brain.kip.terms import (
    comma_list,
    data_value,
    field_name,
    object_literal,
    scalar_value,
    schema_symbol,
    string_literal,
    variable,
)
from brain.kip.tokens import STRING, VARIABLE

Clause = TypeVar("Clause")
RecordClause = ClientKey | SetFields | SetFacet | SetStructural
FinalizeClause = SetFields | SetStructural

assignment_object = object_literal
"""assignment_object = "{", [ assignment_member, { ",", assignment_member } ], "}" ; its members are object members."""


# kml_statement = mutate_statement | mutation_clause | define_statement ;
def kml_statement(t: Tokens) -> KmlStatement:
    if t.head == "MUTATE":
        return mutate_statement(t)
    if t.head == "DEFINE":
        return define_statement(t)
    return mutation_clause(t)


# mutate_statement = "MUTATE", "{", { mutation_clause }, "}" ;
def mutate_statement(t: Tokens) -> Mutate:
    start = t.at
    t.expect("MUTATE", "{")
    clauses = []
    while not t.take("}"):
        clauses.append(mutation_clause(t))
    return Mutate(t.since(start), tuple(clauses))


# mutation_clause = create_concept | upsert_concept | ensure_proposition | assert_statement | create_evidence
#                 | create_assertion | create_activity | update_statement | transition_statement | set_retention
#                 | purge_statement | purge_payload_statement | merge_concept ;
def mutation_clause(t: Tokens) -> MutationClause:
    read = _CLAUSES.get(t.head)
    if read is None:
        if t.head in ("MUTATE", "DEFINE"):
            raise t.unexpected(
                f"{t.head} is a statement of its own and never stands inside MUTATE", hint="Send it by itself."
            )
        raise t.unexpected("a statement that changes something has to stand here", hint=_instead(t))
    return read(t)


def _instead(t: Tokens) -> str | None:
    word = t.head
    if word in ("FIND", "SEARCH", "DESCRIBE"):
        return "A MUTATE block holds changes only; read with a statement of its own."
    return STARTS.get(word) or near(word, _CLAUSES)


def _create(t: Tokens) -> MutationClause:
    kind = t.ahead()
    if kind == "CONCEPT":
        return create_concept(t)
    if kind in ("EVIDENCE", "ASSERTION", "ACTIVITY"):
        return create_record(t)
    t.at += 1
    hint = 'Write ENSURE PROPOSITION (?a, "predicate", ?b).' if kind == "PROPOSITION" else None
    raise t.unexpected("CREATE makes a CONCEPT, EVIDENCE, ASSERTION or ACTIVITY", hint=hint)


# create_concept = "CREATE", "CONCEPT", handle, "{", { concept_create_clause }, "}" ;
def create_concept(t: Tokens) -> CreateConcept:
    start = t.at
    t.expect("CREATE", "CONCEPT")
    name = handle(t)
    clauses = _braced(t, concept_create_clause)
    return CreateConcept(t.since(start), name, clauses)


# concept_create_clause = type_clause | client_key_clause | name_clause | set_fields_clause | set_attributes_clause
#                       | set_facet_clause | set_structural_clause ;
def concept_create_clause(t: Tokens) -> CreateClause:
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


# create_evidence = "CREATE", "EVIDENCE", handle, "{", { record_create_clause }, "}" ;
# create_assertion, create_activity likewise
def create_record(t: Tokens) -> CreateRecord:
    start = t.at
    t.expect("CREATE")
    kind = cast("OneOf['evidence', 'assertion', 'activity']", t.head.lower())
    t.at += 1
    name = handle(t)
    clauses = _braced(t, record_create_clause)
    return CreateRecord(t.since(start), kind, name, clauses)


# record_create_clause = client_key_clause | set_fields_clause | set_facet_clause | set_structural_clause ;
def record_create_clause(t: Tokens) -> RecordClause:
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


# upsert_concept = "UPSERT", "CONCEPT", handle, "{", { upsert_clause }, "}", { expect_version_clause } ;
def upsert_concept(t: Tokens) -> UpsertConcept:
    start = t.at
    t.expect("UPSERT", "CONCEPT")
    name = handle(t)
    clauses = _braced(t, upsert_clause)
    expect = expect_version_clauses(t)
    return UpsertConcept(t.since(start), name, clauses, expect)


# upsert_clause = match_clause | update_action ;
def upsert_clause(t: Tokens) -> UpsertClause:
    if t.head == "MATCH":
        return match_clause(t)
    return update_action(t)


# ensure_proposition = "ENSURE", "PROPOSITION", [ handle ], proposition_tuple, { expect_version_clause } ;
def ensure_proposition(t: Tokens) -> EnsureProposition:
    start = t.at
    t.expect("ENSURE")
    if t.head == "CONCEPT":
        raise t.unexpected("ENSURE makes Propositions", hint="Write UPSERT CONCEPT ?x { MATCH {type: …, key: …} }.")
    t.expect("PROPOSITION")
    name = _optional_handle(t)
    proposition = proposition_tuple(t)
    expect = expect_version_clauses(t)
    return EnsureProposition(t.since(start), name, proposition, expect)


# assert_statement = "ASSERT", [ handle ], proposition_tuple, assignment_object, [ "SUPERSEDING", target_ref ] ;
def assert_statement(t: Tokens) -> Assert:
    start = t.at
    t.expect("ASSERT")
    name = _optional_handle(t)
    proposition = proposition_tuple(t)
    members = assignment_object(t)
    superseding = target_ref(t) if t.take("SUPERSEDING") else None
    return Assert(t.since(start), name, proposition, members, superseding)


# handle = variable ;
def handle(t: Tokens) -> Variable:
    return variable(t, "a handle")


def _optional_handle(t: Tokens) -> Variable | None:
    return handle(t) if t.head == VARIABLE else None


def _braced(t: Tokens, clause: Callable[[Tokens], Clause]) -> tuple[Clause, ...]:
    t.expect("{")
    clauses = []
    while not t.take("}"):
        clauses.append(clause(t))
    return tuple(clauses)


# type_clause = "TYPE", schema_symbol ;
def type_clause(t: Tokens) -> TypeClause:
    start = t.at
    t.expect("TYPE")
    type_ = schema_symbol(t, "a type")
    return TypeClause(t.since(start), type_)


# client_key_clause = "CLIENT", "KEY", scalar_or_parameter ;
def client_key_clause(t: Tokens) -> ClientKey:
    start = t.at
    t.expect("CLIENT", "KEY")
    key = scalar_value(t, "a client key")
    return ClientKey(t.since(start), key)


# name_clause = "NAME", scalar_or_parameter ;
def name_clause(t: Tokens) -> NameClause:
    start = t.at
    t.expect("NAME")
    name = scalar_value(t, "a name")
    return NameClause(t.since(start), name)


# match_clause = "MATCH", object_pattern ;
def match_clause(t: Tokens) -> MatchClause:
    start = t.at
    t.expect("MATCH")
    match = object_pattern(t)
    return MatchClause(t.since(start), match)


# --- UPDATE -----------------------------------------------------------------------------------------------------------


# update_statement = "UPDATE", target_ref, update_action, { update_action }, [ "WHERE", where_block ],
#                    [ limit_clause ], { expect_version_clause } ;
def update_statement(t: Tokens) -> Update:
    start = t.at
    t.expect("UPDATE")
    target = target_ref(t)
    actions = [update_action(t)]
    while t.head == "UNSET" or _more_sets(t):
        actions.append(update_action(t))
    where, limit, expect = _tail(t)
    return Update(t.since(start), target, tuple(actions), where, limit, expect)


def _more_sets(t: Tokens) -> bool:
    """Whether SET goes on with this clause; SET RETENTION begins the next one of a MUTATE."""
    return t.head == "SET" and t.ahead() != "RETENTION"


# update_action = set_fields_clause | set_attributes_clause | set_facet_clause | unset_attributes_clause
#               | unset_facet_clause | set_structural_clause | unset_structural_clause ;
def update_action(t: Tokens) -> UpdateAction:
    read = _ACTIONS.get((t.head, t.ahead()))
    if read is None:
        if t.head == "UNSET" and t.ahead() == "FIELDS":
            raise t.unexpected(
                "fields of the record cannot be unset", hint="UNSET takes ATTRIBUTES, FACET or STRUCTURAL."
            )
        t.at += t.head in ("SET", "UNSET")
        raise t.unexpected("a SET or UNSET of fields, attributes, a facet or structural references has to stand here")
    return read(t)


# set_fields_clause = "SET", "FIELDS", assignment_object ;
def set_fields_clause(t: Tokens) -> SetFields:
    start = t.at
    t.expect("SET", "FIELDS")
    assignments = assignment_object(t)
    return SetFields(t.since(start), assignments)


# set_attributes_clause = "SET", "ATTRIBUTES", assignment_object ;
def set_attributes_clause(t: Tokens) -> SetAttributes:
    start = t.at
    t.expect("SET", "ATTRIBUTES")
    assignments = assignment_object(t)
    return SetAttributes(t.since(start), assignments)


# set_facet_clause = "SET", "FACET", schema_symbol, assignment_object ;
def set_facet_clause(t: Tokens) -> SetFacet:
    start = t.at
    t.expect("SET", "FACET")
    facet = schema_symbol(t, "a facet")
    assignments = assignment_object(t)
    return SetFacet(t.since(start), facet, assignments)


# unset_attributes_clause = "UNSET", "ATTRIBUTES", unset_field_set ;
def unset_attributes_clause(t: Tokens) -> UnsetAttributes:
    start = t.at
    t.expect("UNSET", "ATTRIBUTES")
    names = unset_field_set(t)
    return UnsetAttributes(t.since(start), names)


# unset_facet_clause = "UNSET", "FACET", schema_symbol, unset_field_set ;
def unset_facet_clause(t: Tokens) -> UnsetFacet:
    start = t.at
    t.expect("UNSET", "FACET")
    facet = schema_symbol(t, "a facet")
    names = unset_field_set(t)
    return UnsetFacet(t.since(start), facet, names)


# unset_field_set = "{", [ unset_field, { ",", unset_field } ], "}" ;   unset_field = identifier | string_literal ;
def unset_field_set(t: Tokens) -> tuple[str, ...]:
    return comma_list(t, "{", field_name, "}")


# set_structural_clause = "SET", "STRUCTURAL", "{", { structural_assignment }, "}" ;
def set_structural_clause(t: Tokens) -> SetStructural:
    start = t.at
    t.expect("SET", "STRUCTURAL")
    entries = _braced(t, structural_assignment)
    return SetStructural(t.since(start), entries)


# structural_assignment = "(", schema_symbol, ",", mutation_value, ")", [ object_literal ] ;
def structural_assignment(t: Tokens) -> StructuralEntry:
    start = t.at
    entry = structural_removal(t)
    if t.head != "{":
        return entry
    options = object_literal(t)
    return StructuralEntry(t.since(start), entry.field, entry.target, options)


# unset_structural_clause = "UNSET", "STRUCTURAL", "{", { structural_removal }, "}" ;
def unset_structural_clause(t: Tokens) -> UnsetStructural:
    start = t.at
    t.expect("UNSET", "STRUCTURAL")
    entries = _braced(t, structural_removal)
    return UnsetStructural(t.since(start), entries)


# structural_removal = "(", schema_symbol, ",", mutation_value, ")" ;   mutation_value is a data value
def structural_removal(t: Tokens) -> StructuralEntry:
    start = t.at
    t.expect("(")
    field = schema_symbol(t, "a structural field")
    t.expect(",")
    target = data_value(t)
    t.expect(")")
    return StructuralEntry(t.since(start), field, target, None)


# --- lifecycle, retention, merge --------------------------------------------------------------------------------------


# transition_statement = "TRANSITION", target_ref, "TO", scalar_or_parameter, [ "BY", target_ref ],
#                        { transition_finalize_clause }, [ "WHERE", where_block ], [ limit_clause ],
#                        { expect_version_clause } ;
def transition_statement(t: Tokens) -> Transition:
    start = t.at
    t.expect("TRANSITION")
    target = target_ref(t)
    t.expect("TO")
    state = scalar_value(t, "a state")
    by = target_ref(t) if t.take("BY") else None
    finalize = []
    while _more_sets(t):
        finalize.append(transition_finalize_clause(t))
    where, limit, expect = _tail(t)
    return Transition(t.since(start), target, state, by, tuple(finalize), where, limit, expect)


# transition_finalize_clause = set_fields_clause | set_structural_clause ;
def transition_finalize_clause(t: Tokens) -> FinalizeClause:
    if t.ahead() == "STRUCTURAL":
        return set_structural_clause(t)
    return set_fields_clause(t)


# set_retention = "SET", "RETENTION", target_ref, assignment_object, [ "WHERE", where_block ], [ limit_clause ],
#                 { expect_version_clause } ;
def set_retention(t: Tokens) -> SetRetention:
    start = t.at
    t.expect("SET", "RETENTION")
    target = target_ref(t)
    assignments = assignment_object(t)
    where, limit, expect = _tail(t)
    return SetRetention(t.since(start), target, assignments, where, limit, expect)


# purge_statement = "PURGE", target_ref, [ "WHERE", where_block ], [ limit_clause ], { expect_version_clause },
#                   [ "REFERENCE", "POLICY", scalar_or_parameter ], "CONFIRM", '"PURGE"' ;
def purge_statement(t: Tokens) -> Purge | PurgePayload:
    if t.ahead() == "PAYLOAD":
        return purge_payload_statement(t)
    start = t.at
    t.expect("PURGE")
    target = target_ref(t)
    where, limit, expect = _tail(t)
    policy = None
    if t.take("REFERENCE"):
        t.expect("POLICY")
        policy = scalar_value(t, "a reference policy")
    _confirm(t)
    return Purge(t.since(start), target, where, limit, expect, policy)


# purge_payload_statement = "PURGE", "PAYLOAD", target_ref, [ "WHERE", where_block ], [ limit_clause ],
#                           { expect_version_clause }, "CONFIRM", '"PURGE"' ;
def purge_payload_statement(t: Tokens) -> PurgePayload:
    start = t.at
    t.expect("PURGE", "PAYLOAD")
    target = target_ref(t)
    where, limit, expect = _tail(t)
    _confirm(t)
    return PurgePayload(t.since(start), target, where, limit, expect)


def _confirm(t: Tokens) -> None:
    t.expect("CONFIRM")
    if t.head != STRING or string_literal(t) != "PURGE":
        t.at -= t.heads[t.at - 1] == STRING
        raise t.unexpected('what is confirmed has to be written out as "PURGE"', expected='"PURGE"')


# merge_concept = "MERGE", "CONCEPT", target_ref, "INTO", target_ref, [ "WHERE", where_block ],
#                 { expect_version_clause } ;
def merge_concept(t: Tokens) -> MergeConcept:
    start = t.at
    t.expect("MERGE", "CONCEPT")
    source = target_ref(t)
    t.expect("INTO")
    target = target_ref(t)
    where = _where(t)
    if t.head == "LIMIT":
        raise t.unexpected("MERGE CONCEPT takes no LIMIT", hint="Both sides are named already; remove the LIMIT.")
    expect = expect_version_clauses(t)
    return MergeConcept(t.since(start), source, target, where, expect)


# define_statement = "DEFINE", ( "PREDICATE" | "CONCEPT", "TYPE" ), schema_symbol, object_literal ;
def define_statement(t: Tokens) -> Define:
    start = t.at
    t.expect("DEFINE")
    kind: OneOf["predicate", "concept_type"] = "predicate"
    if t.take("CONCEPT"):
        t.expect("TYPE")
        kind = "concept_type"
    elif not t.take("PREDICATE"):
        raise t.unexpected("DEFINE is followed by PREDICATE or CONCEPT TYPE")
    name = schema_symbol(t, "the name to define")
    definition = object_literal(t)
    return Define(t.since(start), kind, name, definition)


# --- the common tail --------------------------------------------------------------------------------------------------


def _tail(t: Tokens) -> tuple[Where | None, Scalar | None, tuple[ExpectVersion, ...]]:
    """`[WHERE] [LIMIT] {EXPECT VERSION}`, the end of every statement that selects (§52.8)."""
    return _where(t), limit_clause(t), expect_version_clauses(t)


def _where(t: Tokens) -> Where | None:
    return where_block(t, where_clause) if t.take("WHERE") else None


def expect_version_clauses(t: Tokens) -> tuple[ExpectVersion, ...]:
    """Guards, none to many."""
    guards = []
    while t.head == "EXPECT":
        guards.append(expect_version_clause(t))
    return tuple(guards)


# expect_version_clause = "EXPECT", "VERSION", scalar_or_parameter, [ "OF", version_plane ] ;
def expect_version_clause(t: Tokens) -> ExpectVersion:
    start = t.at
    t.expect("EXPECT")
    if t.head == "STATE":
        raise t.unexpected("there is no guard on the state", hint="TRANSITION itself checks the state it starts from.")
    t.expect("VERSION")
    version = scalar_value(t, "a version number")
    plane = version_plane(t) if t.take("OF") else None
    return ExpectVersion(t.since(start), version, plane)


# version_plane = "ATTRIBUTES" | "STRUCTURAL" | "RETENTION" | "FACET", schema_symbol ;
def version_plane(t: Tokens) -> Plane:
    start = t.at
    head = t.head
    if head not in ("ATTRIBUTES", "STRUCTURAL", "RETENTION", "FACET"):
        raise t.unexpected("a plane has to stand here: ATTRIBUTES, STRUCTURAL, RETENTION or FACET with its name")
    t.at += 1
    facet = schema_symbol(t, "a facet") if head == "FACET" else None
    return Plane(t.since(start), cast("OneOf['attributes', 'structural', 'retention', 'facet']", head.lower()), facet)


_CLAUSES: dict[str, Callable[[Tokens], MutationClause]] = {
    "ASSERT": assert_statement,
    "CREATE": _create,
    "ENSURE": ensure_proposition,
    "MERGE": merge_concept,
    "PURGE": purge_statement,
    "SET": set_retention,
    "TRANSITION": transition_statement,
    "UPDATE": update_statement,
    "UPSERT": upsert_concept,
}

_ACTIONS: dict[tuple[str, str], Callable[[Tokens], UpdateAction]] = {
    ("SET", "ATTRIBUTES"): set_attributes_clause,
    ("SET", "FACET"): set_facet_clause,
    ("SET", "FIELDS"): set_fields_clause,
    ("SET", "STRUCTURAL"): set_structural_clause,
    ("UNSET", "ATTRIBUTES"): unset_attributes_clause,
    ("UNSET", "FACET"): unset_facet_clause,
    ("UNSET", "STRUCTURAL"): unset_structural_clause,
}
