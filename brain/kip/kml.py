"""KML: the statements that write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal as OneOf
from typing import TypeVar, cast

from brain.errors import KipError
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
from brain.kip.faults import NO_COMMAS, near
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


def kml_statement(t: Tokens) -> KmlStatement:
    """Any statement that writes."""
    if t.head == "MUTATE":
        return mutate_statement(t)
    if t.head == "DEFINE":
        return define_statement(t)
    return mutation_clause(t)


def mutate_statement(t: Tokens) -> Mutate:
    """`MUTATE { clause clause }`"""
    start = t.at
    t.expect("MUTATE", "{")
    clauses = []
    while not t.take("}"):
        clauses.append(mutation_clause(t))
    return Mutate(t.since(start), tuple(clauses))


def mutation_clause(t: Tokens) -> MutationClause:
    """Any change that a block can hold, or that stands alone."""
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
    if word == ",":
        return NO_COMMAS
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


def create_concept(t: Tokens) -> CreateConcept:
    """`CREATE CONCEPT ?x { clause clause }`"""
    start = t.at
    t.expect("CREATE", "CONCEPT")
    name = handle(t)
    clauses = _braced(t, concept_create_clause)
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
    clauses = _braced(t, record_create_clause)
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
    clauses = _braced(t, upsert_clause)
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


def _braced(t: Tokens, clause: Callable[[Tokens], Clause]) -> tuple[Clause, ...]:
    t.expect("{")
    clauses = []
    while not t.take("}"):
        clauses.append(clause(t))
    return tuple(clauses)


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


# --- UPDATE -----------------------------------------------------------------------------------------------------------


def update_statement(t: Tokens) -> Update:
    """`UPDATE target action action` and the common end."""
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
    entries = _braced(t, structural_assignment)
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
    entries = _braced(t, structural_removal)
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


# --- lifecycle, retention, merge --------------------------------------------------------------------------------------


def transition_statement(t: Tokens) -> Transition:
    """`TRANSITION target TO "state" [BY other] [SET …]` and the common end."""
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


def transition_finalize_clause(t: Tokens) -> FinalizeClause:
    """`SET FIELDS` or `SET STRUCTURAL`."""
    if t.ahead() == "STRUCTURAL":
        return set_structural_clause(t)
    return set_fields_clause(t)


def set_retention(t: Tokens) -> SetRetention:
    """`SET RETENTION target {…}` and the common end."""
    start = t.at
    t.expect("SET")
    if t.head != "RETENTION":
        raise t.unexpected(
            "SET alone begins SET RETENTION only", hint="Other SET clauses stand behind UPDATE and its target."
        )
    t.expect("RETENTION")
    target = target_ref(t)
    assignments = assignment_object(t)
    where, limit, expect = _tail(t)
    return SetRetention(t.since(start), target, assignments, where, limit, expect)


def purge_statement(t: Tokens) -> Purge | PurgePayload:
    """`PURGE target`, the common end, `[REFERENCE POLICY p] CONFIRM "PURGE"`; or its PAYLOAD form."""
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


def purge_payload_statement(t: Tokens) -> PurgePayload:
    """`PURGE PAYLOAD target`, the common end, `CONFIRM "PURGE"`."""
    start = t.at
    t.expect("PURGE", "PAYLOAD")
    target = target_ref(t)
    where, limit, expect = _tail(t)
    _confirm(t)
    return PurgePayload(t.since(start), target, where, limit, expect)


def _confirm(t: Tokens) -> None:
    if not t.take("CONFIRM"):
        hint = 'End the statement with CONFIRM "PURGE".'
        raise t.unexpected("CONFIRM has to stand here", hint=hint, expected="CONFIRM")
    if t.head != STRING or string_literal(t) != "PURGE":
        t.at -= t.heads[t.at - 1] == STRING
        message = 'what is confirmed has to be written out as "PURGE"'
        raise t.unexpected(message, hint='Write CONFIRM "PURGE".', expected='"PURGE"')


def merge_concept(t: Tokens) -> MergeConcept:
    """`MERGE CONCEPT source INTO target` and the common end without its limit."""
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


def define_statement(t: Tokens) -> Define:
    """`DEFINE PREDICATE "p" {…}` or `DEFINE CONCEPT TYPE "T" {…}`"""
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


def expect_version_clause(t: Tokens) -> ExpectVersion:
    """`EXPECT VERSION n [OF plane]`"""
    start = t.at
    t.expect("EXPECT")
    if t.head == "STATE":
        raise t.unexpected("there is no guard on the state", hint="TRANSITION itself checks the state it starts from.")
    t.expect("VERSION")
    version = scalar_value(t, "a version number")
    plane = version_plane(t) if t.take("OF") else None
    return ExpectVersion(t.since(start), version, plane)


def version_plane(t: Tokens) -> Plane:
    """`ATTRIBUTES`, `STRUCTURAL`, `RETENTION` or `FACET "F"`."""
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

KML_STATEMENTS = ("DEFINE", "MUTATE", *_CLAUSES)
"""First words of the statements that write."""

_ACTIONS: dict[tuple[str, str], Callable[[Tokens], UpdateAction]] = {
    ("SET", "ATTRIBUTES"): set_attributes_clause,
    ("SET", "FACET"): set_facet_clause,
    ("SET", "FIELDS"): set_fields_clause,
    ("SET", "STRUCTURAL"): set_structural_clause,
    ("UNSET", "ATTRIBUTES"): unset_attributes_clause,
    ("UNSET", "FACET"): unset_facet_clause,
    ("UNSET", "STRUCTURAL"): unset_structural_clause,
}
