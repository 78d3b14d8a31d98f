"""KML: the end that statements which select have in common (KIP 2.0 §52.8)."""

from __future__ import annotations

from typing import Literal as OneOf
from typing import cast

from brain.kip.ast import ExpectVersion, Plane, Scalar, Where
from brain.kip.kql import limit_clause
from brain.kip.lexer import Tokens
from brain.kip.patterns import where_block, where_clause
from brain.kip.terms import scalar_value, schema_symbol


def selection(t: Tokens) -> tuple[Where | None, Scalar | None, tuple[ExpectVersion, ...]]:
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
