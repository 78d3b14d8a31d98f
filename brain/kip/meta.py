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

_LOOKING = "LIST TYPES and LIST PREDICATES show the vocabulary; elements are found with FIND or SEARCH."

_ONE_VALUE = ("CAPSULE", "ERROR", "FACET", "PACKAGE", "PREDICATE", "STRUCTURAL FIELD", "TYPE")
_MAYBE_A_VALUE = ("EPISTEMIC POLICY", "SPACE", "TRUST")


def meta_statement(t: Tokens) -> MetaStatement:
    """Any statement that only looks."""
    return META_STATEMENTS[t.head](t)


# --- DESCRIBE ---------------------------------------------------------------------------------------------------------


def describe_statement(t: Tokens) -> Describe:
    """`DESCRIBE subject` with what the subject takes: nothing, one value, or a form of its own."""
    start = t.at
    t.expect("DESCRIBE")
    subject = cast("DescribeSubject", _phrase(t, get_args(DescribeSubject), "DESCRIBE"))
    value = mode = to = as_of = at_time = options = None
    by_key = False
    if subject in _ONE_VALUE:
        value = meta_value(t)
    elif subject in _MAYBE_A_VALUE:
        value = meta_value(t) if is_parameter(t) or is_literal(t) else None
    elif subject == "PRIMER":
        mode = describe_primer(t)
    elif subject == "COMPATIBILITY":
        value, to = describe_compatibility(t)
    elif subject == "TRANSACTION":
        by_key = t.take("BY")
        if by_key:
            t.expect("IDEMPOTENCY", "KEY")
        value = meta_value(t)
    elif subject == "SCHEMA ENVIRONMENT":
        as_of = as_of_clause(t)
    elif subject == "SNAPSHOT":
        as_of, at_time = describe_snapshot(t)
    elif subject == "ACCESS" and t.take("WITH"):
        options = object_literal(t)
    return Describe(t.since(start), subject, value, mode, to, by_key, as_of, at_time, options)


def describe_primer(t: Tokens) -> Scalar | None:
    """`[MODE "full"]`"""
    if not t.take("MODE"):
        return None
    if not is_parameter(t) and t.text() not in ('"compact"', '"full"'):
        raise t.unexpected('the mode of a primer is "compact" or "full", or a parameter')
    return meta_value(t)


def describe_compatibility(t: Tokens) -> tuple[Scalar, Scalar]:
    """`FROM a TO b`"""
    t.expect("FROM")
    value = meta_value(t)
    t.expect("TO")
    return value, meta_value(t)


def describe_snapshot(t: Tokens) -> tuple[Scalar | None, Scalar | None]:
    """`[AS OF SEQ n]` or `AT TIME t`"""
    if t.take("AT"):
        t.expect("TIME")
        return None, meta_value(t, "an instant")
    return as_of_clause(t), None


# --- LIST -------------------------------------------------------------------------------------------------------------


def list_statement(t: Tokens) -> List:
    """`LIST subject`, then a page. Only DEPENDENTS and SCHEMA PACKAGES take more."""
    start = t.at
    t.expect("LIST")
    subject = cast("ListSubject", _phrase(t, get_args(ListSubject), "LIST"))
    of = depth = status = None
    if subject == "DEPENDENTS":
        of = meta_value(t, "an element id")
        depth = meta_value(t, "a depth") if t.take("DEPTH") else None
    elif subject == "SCHEMA PACKAGES":
        status = meta_value(t, "a status") if t.take("STATUS") else None
    limit = limit_clause(t)
    cursor = cursor_clause(t)
    return List(t.since(start), subject, of, depth, status, limit, cursor)


# --- SEARCH -----------------------------------------------------------------------------------------------------------


def search_statement(t: Tokens) -> Search:
    """`SEARCH CONCEPT "text" […] [AS OF SEQ n] [LIMIT n] [CURSOR c]`"""
    start = t.at
    kind, text, type_, predicate, mode, threshold = search_request(t)
    as_of = as_of_clause(t)
    limit = limit_clause(t)
    cursor = cursor_clause(t)
    return Search(t.since(start), kind, text, type_, predicate, mode, threshold, as_of, limit, cursor)


# --- VERIFY, VALIDATE, PREVIEW ----------------------------------------------------------------------------------------


def verify_statement(t: Tokens) -> Verify:
    """`VERIFY subject artifact`"""
    start = t.at
    t.expect("VERIFY")
    subject = cast("VerifySubject", _phrase(t, get_args(VerifySubject), "VERIFY"))
    value = meta_value(t)
    return Verify(t.since(start), subject, value)


def validate_statement(t: Tokens) -> Validate:
    """`VALIDATE subject text [WITH {…}]`"""
    start = t.at
    t.expect("VALIDATE")
    subject = cast("ValidateSubject", _phrase(t, get_args(ValidateSubject), "VALIDATE"))
    value = meta_value(t)
    options = object_literal(t) if t.take("WITH") else None
    return Validate(t.since(start), subject, value, options)


def preview_statement(t: Tokens) -> Preview:
    """`PREVIEW KML text` or `PREVIEW IMPORT CAPSULE c INTO space`"""
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


def history_statement(t: Tokens) -> History:
    """`HISTORY ELEMENT id` or `HISTORY SPACE`, then `[FROM SEQ a] [TO SEQ b]` and a page."""
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


def changes_statement(t: Tokens) -> Changes:
    """`CHANGES SINCE cursor` or `CHANGES AFTER SEQ n`, then `[LIMIT n]`."""
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


def export_capsule_statement(t: Tokens) -> ExportCapsule:
    """`EXPORT CAPSULE target WHERE {…} [WITH {…}] [AS OF SEQ n]`"""
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
        raise t.unexpected(f"this is nothing {verb} knows", hint=near(one, phrases) or _LOOKING)
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
