"""KQL: the FIND statement and the patterns only it has."""

from __future__ import annotations

from typing import Literal as OneOf
from typing import cast

from brain.kip.ast import (
    Aggregate,
    BeliefPattern,
    BeliefSlotPattern,
    BeliefTriple,
    Find,
    ObjectLiteral,
    OrderItem,
    Projection,
    PropositionById,
    Scalar,
    SearchKind,
    SearchPattern,
    Variable,
    WhereClause,
)
from brain.kip.lexer import Tokens
from brain.kip.patterns import predicate_atom, proposition_by_id, raw_clause, term, where_block
from brain.kip.terms import expression, is_parameter, object_literal, scalar_value, variable
from brain.kip.tokens import STRING, VARIABLE

AGGREGATES = ("AVG", "COUNT", "MAX", "MIN", "SUM")
COMPARISONS = ("!=", "&&", "<", "<=", "==", ">", ">=", "||")
SEARCH_KINDS = ("ACTIVITY", "ASSERTION", "CONCEPT", "EVIDENCE", "PROPOSITION")


def query(t: Tokens) -> Find:
    """`FIND(…) WHERE {…}` and its closing clauses in their one order."""
    start = t.at
    t.raw_paths = True
    t.expect("FIND", "(")
    projections = projection_list(t)
    t.expect(")", "WHERE")
    where = where_block(t, kql_clause)
    as_of = as_of_clause(t)
    for_time = for_time_clause(t)
    epistemic = epistemic_clause(t)
    order_by = order_by_clause(t)
    limit = limit_clause(t)
    cursor = cursor_clause(t)
    return Find(t.since(start), projections, where, as_of, for_time, epistemic, order_by, limit, cursor)


def projection_list(t: Tokens) -> tuple[Projection, ...]:
    """What FIND returns, with commas between."""
    projections = [projection_expression(t)]
    while t.take(","):
        projections.append(projection_expression(t))
    return tuple(projections)


def projection_expression(t: Tokens) -> Projection:
    """An expression or an aggregate."""
    if t.head not in AGGREGATES or t.ahead() != "(":
        return expression(t)
    aggregate = aggregate_expression(t)
    if t.head in COMPARISONS:
        raise t.unexpected(f"{aggregate.function} stands by itself", hint="Return the number and compare it outside.")
    return aggregate


def aggregate_expression(t: Tokens) -> Aggregate:
    """`COUNT(DISTINCT ?x)`; an `aggregate_name` before a bracket is always one."""
    start = t.at
    function = cast("OneOf['COUNT', 'SUM', 'AVG', 'MIN', 'MAX']", t.head)
    t.at += 1
    t.expect("(")
    distinct = t.take("DISTINCT")
    argument = expression(t)
    t.expect(")")
    return Aggregate(t.since(start), function, distinct, argument)


def kql_clause(t: Tokens) -> WhereClause:
    """One clause of the WHERE of FIND: a shared one, or one of the three that read beliefs or search."""
    if t.head == VARIABLE:
        head = t.ahead()
        if head == "BELIEF":
            return belief_slot_pattern(t) if t.ahead(2) == "SLOT" else belief_pattern(t)
        if head == "SEARCH":
            return search_pattern(t)
    return raw_clause(t, kql_clause)


def belief_pattern(t: Tokens) -> BeliefPattern:
    """`?b BELIEF (?p)`, `?b BELIEF (id: :p)` or `?b BELIEF (s, "p", o)`"""
    start = t.at
    name = variable(t)
    t.expect("BELIEF")
    opening = t.at
    t.expect("(")
    target: Variable | PropositionById | BeliefTriple
    if t.head == VARIABLE and t.ahead() == ")":
        target = variable(t)
        t.expect(")")
    elif t.head == "ID" and t.text() == "id":
        target = proposition_by_id(t, opening)
    else:
        subject = term(t)
        t.expect(",")
        predicate = predicate_atom(t)
        if t.head in ("{", "|"):
            raise t.unexpected(
                "BELIEF takes one exact predicate", hint="Belief does not travel along hops or alternatives."
            )
        t.expect(",")
        object_ = term(t)
        t.expect(")")
        target = BeliefTriple(t.since(opening), subject, predicate, object_)
    return BeliefPattern(t.since(start), name, target)


def belief_slot_pattern(t: Tokens) -> BeliefSlotPattern:
    """`?b BELIEF SLOT (s, "p")`"""
    start = t.at
    name = variable(t)
    t.expect("BELIEF", "SLOT", "(")
    subject = term(t)
    t.expect(",")
    predicate = predicate_atom(t)
    t.expect(")")
    return BeliefSlotPattern(t.since(start), name, subject, predicate)


def search_pattern(t: Tokens) -> SearchPattern:
    """`?x SEARCH CONCEPT "text" […] LIMIT n`; the limit is required."""
    start = t.at
    name = variable(t)
    kind, text, type_, predicate, mode, threshold = search_request(t)
    if t.head != "LIMIT":
        raise t.unexpected("a SEARCH pattern needs its LIMIT here", expected="LIMIT")
    t.at += 1
    limit = scalar_value(t)
    return SearchPattern(t.since(start), name, kind, text, type_, predicate, mode, threshold, limit)


SearchRequest = tuple[SearchKind, Scalar, Scalar | None, Scalar | None, Scalar | None, Scalar | None]


def search_request(t: Tokens) -> SearchRequest:
    """The part that the SEARCH pattern and the SEARCH statement share: kind, text, type, predicate, mode, threshold."""
    t.expect("SEARCH")
    kind = search_kind(t)
    text = scalar_value(t, "the text to search for")
    type_ = with_clause(t, "TYPE")
    predicate = with_clause(t, "PREDICATE")
    mode = search_mode(t) if t.take("MODE") else None
    threshold = scalar_value(t) if t.take("THRESHOLD") else None
    return kind, text, type_, predicate, mode, threshold


def search_kind(t: Tokens) -> SearchKind:
    """`CONCEPT` and the other kinds of element."""
    head = t.head
    if head not in SEARCH_KINDS:
        raise t.unexpected(
            "the kind of element to search for has to stand here", hint="Write SEARCH CONCEPT, for instance."
        )
    t.at += 1
    return cast("SearchKind", head)


def with_clause(t: Tokens, word: str) -> Scalar | None:
    """`WITH TYPE x` or `WITH PREDICATE x`, when it stands here."""
    if t.head != "WITH" or t.ahead() != word:
        return None
    t.at += 2
    return scalar_value(t)


def search_mode(t: Tokens) -> Scalar:
    """A quoted mode or a parameter. Another word is refused when the search runs, as a bound one is."""
    if t.head != STRING and not is_parameter(t):
        raise t.unexpected("a search mode, quoted or bound as a parameter, has to stand here")
    return scalar_value(t)


def as_of_clause(t: Tokens) -> Scalar | None:
    """`AS OF SEQ n`"""
    if not t.take("AS"):
        return None
    t.expect("OF", "SEQ")
    return scalar_value(t, "a sequence number")


def for_time_clause(t: Tokens) -> Scalar | None:
    """`FOR TIME t`"""
    if not t.take("FOR"):
        return None
    t.expect("TIME")
    return scalar_value(t, "an instant")


def epistemic_clause(t: Tokens) -> ObjectLiteral | None:
    """`WITH EPISTEMIC {…}`"""
    if not t.take("WITH"):
        return None
    t.expect("EPISTEMIC")
    return object_literal(t)


def order_by_clause(t: Tokens) -> tuple[OrderItem, ...]:
    """`ORDER BY key, key`"""
    if not t.take("ORDER"):
        return ()
    t.expect("BY")
    items = [order_item(t)]
    while t.take(","):
        items.append(order_item(t))
    return tuple(items)


def order_item(t: Tokens) -> OrderItem:
    """`key [ASC or DESC]`"""
    start = t.at
    key = projection_expression(t)
    descending = t.take("DESC")
    if not descending:
        t.take("ASC")
    return OrderItem(t.since(start), key, descending)


def limit_clause(t: Tokens) -> Scalar | None:
    """`LIMIT n`"""
    return scalar_value(t, "a number of rows") if t.take("LIMIT") else None


def cursor_clause(t: Tokens) -> Scalar | None:
    """`CURSOR c`"""
    return scalar_value(t, "a cursor") if t.take("CURSOR") else None
