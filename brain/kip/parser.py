"""From command text to syntax tree. `parse` is the one entry: what it returns has passed grammar and static rules."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal as OneOf
from typing import get_args

from brain.kip.ast import Find, MetaStatement, Statement
from brain.kip.kml import kml_statement
from brain.kip.kql import query
from brain.kip.lexer import END, tokens_of
from brain.kip.meta import META_STATEMENTS, meta_statement

Language = OneOf["KQL", "KML", "META"]


def parse(text: str) -> Statement:
    """The statement a command text states; trees are shared, since equal texts give one tree.

    raises  InvalidSyntax with line, column and snippet, DuplicateLocalHandle, ReferenceError
    """
    if len(text) > CACHED_CHARACTERS:
        return parse_uncached(text)
    return _cached(text)


def parse_uncached(text: str) -> Statement:
    """`parse` without its cache."""
    t = tokens_of(text)
    if t.head == "FIND":
        statement: Statement = query(t)
    elif t.head in META_STATEMENTS:
        statement = meta_statement(t)
    else:
        statement = kml_statement(t)
    if t.head != END:
        raise t.unexpected("the statement ends before this")
    return statement


CACHED_CHARACTERS = 8192
"""Longer texts are parsed every time, so that the cache stays small."""

_cached = lru_cache(maxsize=2048)(parse_uncached)


def language_of(statement: Statement) -> Language:
    """Which of the three languages a statement belongs to."""
    if isinstance(statement, Find):
        return "KQL"
    return "META" if isinstance(statement, get_args(MetaStatement)) else "KML"
