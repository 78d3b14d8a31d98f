"""Match objects, tuples and the WHERE clauses that all three languages share.

The productions are the same everywhere but for two: a KQL tuple takes a predicate path (`Tokens.raw_paths`), and KQL
adds clauses of its own, which `kql.py` hands in.
"""

from __future__ import annotations

from collections.abc import Callable

from brain.kip.ast import (
    ActivityPattern,
    ArrayPattern,
    AssertionPattern,
    ConceptPattern,
    EvidencePattern,
    Filter,
    Hops,
    Literal,
    Not,
    ObjectPattern,
    Optional,
    PathAtom,
    PatternMember,
    PatternValue,
    PredicateAtom,
    PropositionById,
    PropositionPattern,
    PropositionTuple,
    StructuralPattern,
    Target,
    Term,
    Tuple,
    Union,
    Variable,
    Where,
    WhereClause,
)
from brain.kip.faults import NO_COMMAS, near
from brain.kip.lexer import Tokens
from brain.kip.terms import (
    braced,
    comma_list,
    expression,
    field_name,
    is_parameter,
    literal,
    parameter,
    scalar_value,
    schema_symbol,
    string_literal,
    variable,
)
from brain.kip.tokens import NUMBER, VARIABLE

# --- match objects ----------------------------------------------------------------------------------------------------


def object_pattern(t: Tokens) -> ObjectPattern:
    """`{type: "Person", attributes: {city: ?c}}`"""
    start = t.at
    members = comma_list(t, "{", pattern_member, "}")
    return ObjectPattern(t.since(start), members)


def pattern_member(t: Tokens) -> PatternMember:
    """`name: pattern`"""
    start = t.at
    name = field_name(t)
    t.expect(":")
    value = pattern_value(t)
    return PatternMember(t.since(start), name, value)


def pattern_value(t: Tokens) -> PatternValue:
    """What a member has to agree with: a term or a list."""
    return array_pattern(t) if t.head == "[" else term(t)


def array_pattern(t: Tokens) -> ArrayPattern:
    """`["x", ?y]`"""
    start = t.at
    items = comma_list(t, "[", pattern_value, "]")
    return ArrayPattern(t.since(start), items)


# --- tuples -----------------------------------------------------------------------------------------------------------


def term(t: Tokens) -> Term:
    """What a tuple can have at its ends."""
    head = t.head
    if head == VARIABLE:
        return variable(t)
    if head == "{":
        return object_pattern(t)
    if head == "(":
        return proposition_tuple(t)
    if is_parameter(t):
        return parameter(t)
    return literal(t, "a variable, a parameter or a value")


def proposition_tuple(t: Tokens) -> Tuple:
    """`(s, "p", o)` or `(id: :p)`; the middle is a path where `Tokens.raw_paths` says so."""
    start = t.at
    t.expect("(")
    if t.head == "ID" and t.text() == "id":
        return proposition_by_id(t, start)
    subject = term(t)
    t.expect(",")
    path = raw_predicate_expression(t) if t.raw_paths else _exact(t)
    t.expect(",")
    object_ = term(t)
    t.expect(")")
    return PropositionTuple(t.since(start), subject, path, object_)


def proposition_by_id(t: Tokens, start: int) -> PropositionById:
    """`id: …)`, whose opening bracket stands at token `start`."""
    t.at += 1
    t.expect(":")
    value = scalar_value(t, "the id of a Proposition")
    t.expect(")")
    return PropositionById(t.since(start), value)


def predicate_atom(t: Tokens) -> PredicateAtom:
    """`"name"`, `:name` or `?name`"""
    if t.head == VARIABLE:
        return variable(t)
    return schema_symbol(t, "a predicate")


def raw_predicate_expression(t: Tokens) -> tuple[PathAtom, ...]:
    """`"a"{1,3} | "b"`"""
    atoms = [predicate_path_atom(t)]
    while t.take("|"):
        atoms.append(predicate_path_atom(t))
    return tuple(atoms)


def predicate_path_atom(t: Tokens) -> PathAtom:
    """`"a"` or `"a"{2}`"""
    start = t.at
    atom = predicate_atom(t)
    hops = path_quantifier(t) if t.head == "{" else None
    return PathAtom(t.since(start), atom, hops)


def path_quantifier(t: Tokens) -> Hops:
    """`{n}`, `{m,n}` or `{m,}`"""
    start = t.at
    t.expect("{")
    least = unsigned_integer(t)
    most: int | None = least
    if t.take(","):
        most = None if t.head == "}" else unsigned_integer(t)
    t.expect("}")
    return Hops(t.since(start), least, most)


def unsigned_integer(t: Tokens) -> int:
    """Digits; leading zeros do no harm here."""
    digits = t.text()
    if t.head != NUMBER or not digits.isdecimal():
        raise t.unexpected("a number of hops, written in digits, has to stand here")
    if len(digits.lstrip("0")) > 9:
        raise t.unexpected("no path has that many hops", hint="Write {n,} for a path without an upper bound.")
    t.at += 1
    return int(digits)


def _exact(t: Tokens) -> tuple[PathAtom, ...]:
    start = t.at
    atom = predicate_atom(t)
    if t.head in ("{", "|"):
        raise t.unexpected(
            "one exact predicate has to stand here", hint="Only the tuples of a FIND take hops and alternatives."
        )
    return (PathAtom(t.since(start), atom, None),)


def target_ref(t: Tokens) -> Target:
    """`?x`, `:x` or `"C-1"`"""
    start = t.at
    if t.head == VARIABLE:
        return variable(t)
    if is_parameter(t):
        return parameter(t)
    value = string_literal(t, "a variable, a parameter or a quoted id", marks=":?")
    return Literal(t.since(start), value)


# --- WHERE ------------------------------------------------------------------------------------------------------------

_CLAUSES = ("FILTER", "NOT", "OPTIONAL", "PROPOSITION", "STRUCTURAL", "UNION")

Clause = Callable[[Tokens], WhereClause]
"""How one clause of a block is read; KQL hands in its own, which knows three patterns more."""


def where_block(t: Tokens, clause: Clause) -> Where:
    """`{ clause clause }`; META calls it `export_where_block`."""
    start = t.at
    clauses = braced(t, clause)
    return Where(t.since(start), clauses)


def where_clause(t: Tokens) -> WhereClause:
    """One clause as KML and META know them."""
    return raw_clause(t, where_clause)


def raw_clause(t: Tokens, clause: Clause) -> WhereClause:
    """One clause that reads stored state; `clause` reads those of a block inside it."""
    start = t.at
    head = t.head
    if head == VARIABLE:
        return _bound_pattern(t)
    if head in ("(", "PROPOSITION"):
        return proposition_pattern(t, start, None)
    if head == "STRUCTURAL":
        return structural_pattern(t, start, None)
    if head == "FILTER":
        return filter_clause(t)
    if head in ("NOT", "OPTIONAL", "UNION"):
        t.at += 1
        block = where_block(t, clause)
        span = t.since(start)
        return (
            Not(span, block) if head == "NOT" else Optional(span, block) if head == "OPTIONAL" else Union(span, block)
        )
    hint = NO_COMMAS if head == "," else near(head, _CLAUSES)
    raise t.unexpected("a pattern, FILTER, NOT, OPTIONAL or UNION has to stand here", hint=hint)


def _bound_pattern(t: Tokens) -> WhereClause:
    start = t.at
    name = variable(t)
    head = t.head
    if head in ("{", "CONCEPT"):
        return concept_pattern(t, start, name)
    if head in ("(", "PROPOSITION"):
        return proposition_pattern(t, start, name)
    if head == "STRUCTURAL":
        return structural_pattern(t, start, name)
    if head in ("ASSERTION", "EVIDENCE", "ACTIVITY"):
        return record_pattern(t, start, name)
    if head in ("BELIEF", "SEARCH"):
        raise t.unexpected(f"{head} reads only in the WHERE of a FIND", hint="Find the elements first, then name them.")
    raise t.unexpected(f"what ?{name.name} stands for has to follow it: a pattern in braces or a tuple")


def concept_pattern(t: Tokens, start: int, name: Variable) -> ConceptPattern:
    """`?x {…}` or `?x CONCEPT {…}`"""
    t.take("CONCEPT")
    match = object_pattern(t)
    return ConceptPattern(t.since(start), name, match)


def record_pattern(t: Tokens, start: int, name: Variable) -> AssertionPattern | EvidencePattern | ActivityPattern:
    """`?x ASSERTION {…}`, `?x EVIDENCE {…}` or `?x ACTIVITY {…}`: three productions of one shape."""
    kind = t.head
    t.at += 1
    match = object_pattern(t)
    span = t.since(start)
    if kind == "ASSERTION":
        return AssertionPattern(span, name, match)
    return EvidencePattern(span, name, match) if kind == "EVIDENCE" else ActivityPattern(span, name, match)


def proposition_pattern(t: Tokens, start: int, name: Variable | None) -> PropositionPattern:
    """`[?p] [PROPOSITION] (…)`"""
    t.take("PROPOSITION")
    proposition = proposition_tuple(t)
    return PropositionPattern(t.since(start), name, proposition)


def structural_pattern(t: Tokens, start: int, name: Variable | None) -> StructuralPattern:
    """`[?edge] STRUCTURAL (source, "field", target)`"""
    t.expect("STRUCTURAL", "(")
    source = term(t)
    t.expect(",")
    field = schema_symbol(t, "a structural field")
    t.expect(",")
    target = term(t)
    t.expect(")")
    return StructuralPattern(t.since(start), name, source, field, target)


def filter_clause(t: Tokens) -> Filter:
    """`FILTER(condition)`"""
    start = t.at
    t.expect("FILTER", "(")
    condition = expression(t)
    t.expect(")")
    return Filter(t.since(start), condition)
