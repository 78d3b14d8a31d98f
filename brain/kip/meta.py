"""META: the statements that look at vocabulary, history, artifacts and the engine itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal as OneOf
from typing import cast, get_args

from brain.kip.ast import (
    Changes,
    Describe,
    DescribeSubject,
    ExportCapsule,
    History,
    List,
    ListSubject,
    MetaStatement,
    Preview,
    Scalar,
    Search,
    Validate,
    Verify,
)
from brain.kip.faults import near
from brain.kip.kql import as_of_clause, cursor_clause, limit_clause, search_request
from brain.kip.lexer import Tokens
from brain.kip.patterns import target_ref, where_block, where_clause
from brain.kip.terms import is_literal, is_parameter, object_literal, scalar_value

meta_value = scalar_value
"""meta_value = parameter | literal ;"""

VerifySubject = OneOf["CAPSULE", "SCHEMA PACKAGE", "RECEIPT"]
ValidateSubject = OneOf["KQL", "KML", "CAPSULE", "SCHEMA PACKAGE", "IMPORT PLAN"]
PreviewSubject = OneOf["KML", "IMPORT CAPSULE"]

_ONE_VALUE = ("CAPSULE", "ERROR", "FACET", "PACKAGE", "PREDICATE", "STRUCTURAL FIELD", "TYPE")
_MAYBE_A_VALUE = ("EPISTEMIC POLICY", "SPACE", "TRUST")


# meta_statement = describe_statement | list_statement | search_statement | verify_statement | validate_statement
#                | preview_statement | history_statement | changes_statement | export_capsule_statement ;
def meta_statement(t: Tokens) -> MetaStatement:
    return META_STATEMENTS[t.head](t)


# --- DESCRIBE ---------------------------------------------------------------------------------------------------------


# describe_statement = describe_primer | describe_protocol | … ;
def describe_statement(t: Tokens) -> Describe:
    start = t.at
    t.expect("DESCRIBE")
    subject = cast("DescribeSubject", _phrase(t, get_args(DescribeSubject), "DESCRIBE"))
    value = mode = to = as_of = at_time = options = None
    by_key = False
    if subject in _ONE_VALUE:
        # describe_package, describe_type, describe_predicate, describe_facet, describe_structural_field,
        # describe_error, describe_capsule = "DESCRIBE", …, meta_value ;
        value = meta_value(t)
    elif subject in _MAYBE_A_VALUE:
        # describe_space, describe_epistemic_policy, describe_trust = "DESCRIBE", …, [ meta_value ] ;
        value = meta_value(t) if is_parameter(t) or is_literal(t) else None
    elif subject == "PRIMER":
        mode = describe_primer(t)
    elif subject == "COMPATIBILITY":
        value, to = describe_compatibility(t)
    elif subject == "TRANSACTION":
        # describe_transaction = "DESCRIBE", "TRANSACTION", ( meta_value | "BY", "IDEMPOTENCY", "KEY", meta_value ) ;
        by_key = t.take("BY")
        if by_key:
            t.expect("IDEMPOTENCY", "KEY")
        value = meta_value(t)
    elif subject == "SCHEMA ENVIRONMENT":
        # describe_schema_environment = "DESCRIBE", "SCHEMA", "ENVIRONMENT", [ as_of_clause ] ;
        as_of = as_of_clause(t)
    elif subject == "SNAPSHOT":
        as_of, at_time = describe_snapshot(t)
    elif subject == "ACCESS" and t.take("WITH"):
        # describe_access = "DESCRIBE", "ACCESS", [ "WITH", object_literal ] ;
        options = object_literal(t)
    return Describe(t.since(start), subject, value, mode, to, by_key, as_of, at_time, options)


# describe_primer = "DESCRIBE", "PRIMER", [ "MODE", ( '"compact"' | '"full"' | parameter ) ] ;
def describe_primer(t: Tokens) -> Scalar | None:
    if not t.take("MODE"):
        return None
    if not is_parameter(t) and t.text() not in ('"compact"', '"full"'):
        raise t.unexpected('the mode of a primer is "compact" or "full", or a parameter')
    return meta_value(t)


# describe_compatibility = "DESCRIBE", "COMPATIBILITY", "FROM", meta_value, "TO", meta_value ;
def describe_compatibility(t: Tokens) -> tuple[Scalar, Scalar]:
    t.expect("FROM")
    value = meta_value(t)
    t.expect("TO")
    return value, meta_value(t)


# describe_snapshot = "DESCRIBE", "SNAPSHOT", [ as_of_clause | "AT", "TIME", meta_value ] ;
def describe_snapshot(t: Tokens) -> tuple[Scalar | None, Scalar | None]:
    if t.take("AT"):
        t.expect("TIME")
        return None, meta_value(t, "an instant")
    return as_of_clause(t), None


# --- LIST -------------------------------------------------------------------------------------------------------------


# list_statement = list_spaces | list_schema_packages | list_types | list_predicates | list_facets
#                | list_structural_fields | list_epistemic_policies | list_dependents ;
def list_statement(t: Tokens) -> List:
    start = t.at
    t.expect("LIST")
    subject = cast("ListSubject", _phrase(t, get_args(ListSubject), "LIST"))
    of = depth = status = None
    if subject == "DEPENDENTS":
        # list_dependents = "LIST", "DEPENDENTS", meta_value, [ "DEPTH", meta_value ], [ paging_clauses ] ;
        of = meta_value(t, "an element id")
        depth = meta_value(t, "a depth") if t.take("DEPTH") else None
    elif subject == "SCHEMA PACKAGES":
        # list_schema_packages = "LIST", "SCHEMA", "PACKAGES", [ "STATUS", meta_value ], [ paging_clauses ] ;
        status = meta_value(t, "a status") if t.take("STATUS") else None
    # paging_clauses = "LIMIT", meta_value, [ "CURSOR", meta_value ] | "CURSOR", meta_value ;
    limit = limit_clause(t)
    cursor = cursor_clause(t)
    return List(t.since(start), subject, of, depth, status, limit, cursor)


# --- SEARCH -----------------------------------------------------------------------------------------------------------


# search_statement = "SEARCH", search_kind, meta_value, [ "WITH", "TYPE", meta_value ],
#                    [ "WITH", "PREDICATE", meta_value ], [ "MODE", search_mode ], [ "THRESHOLD", meta_value ],
#                    [ historical_search_clause ], [ "LIMIT", meta_value ], [ "CURSOR", meta_value ] ;
# historical_search_clause = "AS", "OF", "SEQ", meta_value ;
def search_statement(t: Tokens) -> Search:
    start = t.at
    kind, text, type_, predicate, mode, threshold = search_request(t)
    as_of = as_of_clause(t)
    limit = limit_clause(t)
    cursor = cursor_clause(t)
    return Search(t.since(start), kind, text, type_, predicate, mode, threshold, as_of, limit, cursor)


# --- VERIFY, VALIDATE, PREVIEW ----------------------------------------------------------------------------------------


# verify_statement = "VERIFY", verify_target, meta_value ;
# verify_target = "CAPSULE" | "SCHEMA", "PACKAGE" | "RECEIPT" ;
def verify_statement(t: Tokens) -> Verify:
    start = t.at
    t.expect("VERIFY")
    subject = cast("VerifySubject", _phrase(t, get_args(VerifySubject), "VERIFY"))
    value = meta_value(t)
    return Verify(t.since(start), subject, value)


# validate_statement = "VALIDATE", validate_target, meta_value, [ "WITH", validation_options ] ;
# validate_target = "KQL" | "KML" | "CAPSULE" | "SCHEMA", "PACKAGE" | "IMPORT", "PLAN" ;
# validation_options = object_literal ;
def validate_statement(t: Tokens) -> Validate:
    start = t.at
    t.expect("VALIDATE")
    subject = cast("ValidateSubject", _phrase(t, get_args(ValidateSubject), "VALIDATE"))
    value = meta_value(t)
    options = object_literal(t) if t.take("WITH") else None
    return Validate(t.since(start), subject, value, options)


# preview_statement = preview_kml | preview_import_capsule ;
# preview_kml = "PREVIEW", "KML", meta_value ;
# preview_import_capsule = "PREVIEW", "IMPORT", "CAPSULE", meta_value, "INTO", meta_value ;
def preview_statement(t: Tokens) -> Preview:
    start = t.at
    t.expect("PREVIEW")
    subject = cast("PreviewSubject", _phrase(t, get_args(PreviewSubject), "PREVIEW"))
    value = meta_value(t)
    into = None
    if subject == "IMPORT CAPSULE":
        t.expect("INTO")
        into = meta_value(t, "a Space")
    return Preview(t.since(start), subject, value, into)


# --- HISTORY, CHANGES -------------------------------------------------------------------------------------------------


# history_statement = history_element | history_space ;
# history_element = "HISTORY", "ELEMENT", meta_value, [ "FROM", "SEQ", meta_value ], [ "TO", "SEQ", meta_value ],
#                   [ "LIMIT", meta_value ], [ "CURSOR", meta_value ] ;
# history_space = "HISTORY", "SPACE", and the same after it ;
def history_statement(t: Tokens) -> History:
    start = t.at
    t.expect("HISTORY")
    element = None
    if t.take("ELEMENT"):
        element = meta_value(t, "an element id")
    elif not t.take("SPACE"):
        raise t.unexpected("HISTORY is followed by ELEMENT and an id, or by SPACE")
    from_seq = _seq_clause(t, "FROM")
    to_seq = _seq_clause(t, "TO")
    limit = limit_clause(t)
    cursor = cursor_clause(t)
    return History(t.since(start), element, from_seq, to_seq, limit, cursor)


# changes_statement = "CHANGES", ( "SINCE", meta_value, [ "LIMIT", meta_value ]
#                                | "AFTER", "SEQ", meta_value, [ "LIMIT", meta_value ] ) ;
def changes_statement(t: Tokens) -> Changes:
    start = t.at
    t.expect("CHANGES")
    after_seq = _seq_clause(t, "AFTER")
    since = None
    if after_seq is None:
        if not t.take("SINCE"):
            raise t.unexpected("CHANGES is followed by SINCE and a cursor, or by AFTER SEQ and a number")
        since = meta_value(t, "a cursor")
    limit = limit_clause(t)
    return Changes(t.since(start), since, after_seq, limit)


def _seq_clause(t: Tokens, word: str) -> Scalar | None:
    if not t.take(word):
        return None
    t.expect("SEQ")
    return meta_value(t, "a sequence number")


# --- EXPORT CAPSULE ---------------------------------------------------------------------------------------------------


# export_capsule_statement = "EXPORT", "CAPSULE", target_ref, "WHERE", export_where_block, [ "WITH", object_literal ],
#                            [ as_of_clause ] ;
def export_capsule_statement(t: Tokens) -> ExportCapsule:
    start = t.at
    t.expect("EXPORT", "CAPSULE")
    target = target_ref(t)
    t.expect("WHERE")
    where = where_block(t, where_clause)
    options = object_literal(t) if t.take("WITH") else None
    as_of = as_of_clause(t)
    return ExportCapsule(t.since(start), target, where, options, as_of)


def _phrase(t: Tokens, phrases: tuple[str, ...], verb: str) -> str:
    """One of the phrases of one or two words, read."""
    one = t.head
    two = f"{one} {t.ahead()}"
    if two in phrases:
        t.at += 2
        return two
    if one not in phrases:
        raise t.unexpected(f"this is nothing {verb} knows", hint=near(one, phrases))
    t.at += 1
    return one


META_STATEMENTS: dict[str, Callable[[Tokens], MetaStatement]] = {
    "CHANGES": changes_statement,
    "DESCRIBE": describe_statement,
    "EXPORT": export_capsule_statement,
    "HISTORY": history_statement,
    "LIST": list_statement,
    "PREVIEW": preview_statement,
    "SEARCH": search_statement,
    "VALIDATE": validate_statement,
    "VERIFY": verify_statement,
}
