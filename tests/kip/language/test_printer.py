"""Printing a tree and parsing the text again gives the same tree."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from brain.kip import ast
from brain.kip.parser import statement_of
from brain.kip.printer import show
from tests.kip.language import strategies

LAWS = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


@LAWS
@given(strategies.finds())
def test_a_printed_find_parses_to_the_same_tree(statement: ast.Find) -> None:
    assert statement_of(show(statement)) == statement


@LAWS
@given(strategies.kml())
def test_a_printed_mutation_parses_to_the_same_tree(statement: ast.KmlStatement) -> None:
    assert statement_of(show(statement)) == statement


@LAWS
@given(strategies.meta())
def test_a_printed_meta_statement_parses_to_the_same_tree(statement: ast.MetaStatement) -> None:
    assert statement_of(show(statement)) == statement
