"""KML: the statements that write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal as OneOf

from brain.kip.ast import (
    Define,
    KmlStatement,
    MergeConcept,
    Mutate,
    MutationClause,
    Purge,
    PurgePayload,
    SetFields,
    SetRetention,
    SetStructural,
    Transition,
    Update,
)
from brain.kip.faults import NO_COMMAS, near
from brain.kip.habits import STARTS
from brain.kip.kml_actions import assignment_object, more_sets, set_fields_clause, set_structural_clause, update_action
from brain.kip.kml_making import assert_statement, create, ensure_proposition, upsert_concept
from brain.kip.kml_tail import _where, expect_version_clauses, selection
from brain.kip.lexer import Tokens
from brain.kip.patterns import target_ref
from brain.kip.terms import braced, object_literal, scalar_value, schema_symbol, string_literal
from brain.kip.tokens import STRING

FinalizeClause = SetFields | SetStructural


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
    t.expect("MUTATE")
    clauses = braced(t, mutation_clause)
    return Mutate(t.since(start), clauses)


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


def update_statement(t: Tokens) -> Update:
    """`UPDATE target action action` and the common end."""
    start = t.at
    t.expect("UPDATE")
    target = target_ref(t)
    actions = [update_action(t)]
    while t.head == "UNSET" or more_sets(t):
        actions.append(update_action(t))
    where, limit, expect = selection(t)
    return Update(t.since(start), target, tuple(actions), where, limit, expect)


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
    while more_sets(t):
        finalize.append(transition_finalize_clause(t))
    where, limit, expect = selection(t)
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
    where, limit, expect = selection(t)
    return SetRetention(t.since(start), target, assignments, where, limit, expect)


def purge_statement(t: Tokens) -> Purge | PurgePayload:
    """`PURGE target`, the common end, `[REFERENCE POLICY p] CONFIRM "PURGE"`; or its PAYLOAD form."""
    if t.ahead() == "PAYLOAD":
        return purge_payload_statement(t)
    start = t.at
    t.expect("PURGE")
    target = target_ref(t)
    where, limit, expect = selection(t)
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
    where, limit, expect = selection(t)
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


_CLAUSES: dict[str, Callable[[Tokens], MutationClause]] = {
    "ASSERT": assert_statement,
    "CREATE": create,
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
