"""From command text to syntax tree: what `parse` returns has passed the grammar and the static rules."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal as OneOf
from typing import cast, get_args

from brain.errors import InvalidSyntax, ResourceExhausted
from brain.kip.ast import Find, KmlStatement, MetaStatement, Statement
from brain.kip.check import Check, check_query
from brain.kip.check_kml import check_kml
from brain.kip.check_meta import check_meta
from brain.kip.faults import fault, misplaced, near
from brain.kip.habits import STARTS
from brain.kip.kml import KML_STATEMENTS, kml_statement
from brain.kip.kql import query
from brain.kip.lexer import Tokens, tokens_of
from brain.kip.meta import META_STATEMENTS, meta_statement
from brain.kip.tokens import COMMAND_BYTES, END, Look, unhurried
from brain.kip.walk import parameters_of

__all__ = ["Language", "Parsed", "language_of", "parameters_of", "parse", "parse_uncached", "parsed", "statement_of"]

Language = OneOf["KQL", "KML", "META"]

CACHED_CHARACTERS = 8192
LONG_CHARACTERS = 65_536
"""Few texts longer than the first are remembered, and none longer than the second: a tree is many times its text."""

_META = get_args(MetaStatement)


def parse(text: str, look: Look = unhurried) -> Statement:
    """The statement a command text states. Equal texts give one tree.

    raises  InvalidSyntax with line, column and snippet in its details; DuplicateLocalHandle and ReferenceError for
            handles; ResourceExhausted for a text that is too long or nested too deep; ExecutionTimeout by `look`
    """
    return parsed(text, look).statement


@dataclass(frozen=True, slots=True)
class Parsed:
    """A statement, and what everybody asks of it.

    parameters  the names it uses without their colon, each once, in the order of the text
    """

    statement: Statement
    language: Language
    parameters: tuple[str, ...]


def parsed(text: str, look: Look = unhurried) -> Parsed:
    """`parse`, with what was found out about the statement."""
    if len(text) <= CACHED_CHARACTERS:
        return _cached(text)
    found = _long.get(text)
    if found is None:
        found = _parsed(text, look)
        if len(text) <= LONG_CHARACTERS:
            with _long_lock:
                while len(_long) >= _LONG_TEXTS:
                    del _long[next(iter(_long))]
                _long[text] = found
    return found


def parse_uncached(text: str, look: Look = unhurried) -> Statement:
    """`parse` without its cache."""
    return _parsed(text, look).statement


def statement_of(text: str, look: Look = unhurried) -> Statement:
    """What the grammar alone makes of a text, before the static rules."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise fault(
            InvalidSyntax, text, error.start, "half of a surrogate pair stands here", hint="Remove it."
        ) from None
    if size > COMMAND_BYTES:
        raise ResourceExhausted(
            f"The text has {size} bytes; {COMMAND_BYTES} is the most one statement may have.",
            hint="Bind long values as parameters, or split the statement.",
        )
    t = tokens_of(text)
    t.look = look
    look()
    statement: Statement
    if t.head == "FIND":
        statement = query(t)
    elif t.head in META_STATEMENTS:
        statement = meta_statement(t)
    elif t.head in KML_STATEMENTS:
        statement = kml_statement(t)
    else:
        raise t.unexpected("no statement begins like this", hint=_beginning(t))
    if t.head != END:
        raise t.unexpected("the statement ends before this", hint=misplaced(t))
    return statement


def _beginning(t: Tokens) -> str:
    known = STARTS.get(t.head) or near(t.head, ("FIND", *META_STATEMENTS, *KML_STATEMENTS))
    return known or "Begin with FIND to read, ASSERT to record a claim, DESCRIBE PRIMER to look around."


def _parsed(text: str, look: Look = unhurried) -> Parsed:
    statement = statement_of(text, look)
    check = Check(text, look)
    check.tree(statement)
    language = language_of(statement)
    match language:
        case "KQL":
            check_query(check, cast("Find", statement))
        case "META":
            check_meta(check, cast("MetaStatement", statement))
        case "KML":
            check_kml(check, cast("KmlStatement", statement))
    return Parsed(statement, language, check.parameters)


_cached = lru_cache(maxsize=2048)(_parsed)
_long: dict[str, Parsed] = {}
_long_lock = threading.Lock()
_LONG_TEXTS = 16


def language_of(statement: Statement) -> Language:
    """Which of the three languages a statement belongs to."""
    if isinstance(statement, Find):
        return "KQL"
    return "META" if isinstance(statement, _META) else "KML"
