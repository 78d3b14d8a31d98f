"""Hypothesis strategies for the whole syntax tree. Every tree they make can be printed and parsed again.

`statements()` makes any statement that the grammar takes; the static rules (scope, handles, arity) are not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from brain.ids import MAX_SAFE_INTEGER
from brain.kip import ast
from brain.kip.ast import NOWHERE

Strategy = SearchStrategy[Any]

# Aggregates and DISTINCT would be read as what they are, not as functions.
_NO_FUNCTIONS = frozenset({"AVG", "COUNT", "DISTINCT", "MAX", "MIN", "SUM"})

identifiers = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True) | st.sampled_from(
    ("where", "FIND", "id", "type", "SET", "limit", "null", "true", "STRUCTURAL")
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
field_names = identifiers | texts
function_names = identifiers.filter(lambda name: name.upper() not in _NO_FUNCTIONS)

integers = st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
fractions = st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer())
scalars_of_json = st.none() | st.booleans() | integers | fractions | texts


def node(kind: type[ast.Node], *parts: Strategy) -> Strategy:
    """A node made of these parts, standing nowhere."""
    return st.builds(lambda *values: kind(NOWHERE, *values), *parts)


def several(part: Strategy, least: int = 0, most: int = 3) -> Strategy:
    return st.lists(part, min_size=least, max_size=most).map(tuple)


def maybe(part: Strategy) -> Strategy:
    return st.none() | part


variables = node(ast.Variable, identifiers)
parameters = node(ast.Parameter, identifiers)
literals = node(ast.Literal, scalars_of_json)
strings = node(ast.Literal, texts)
scalars = parameters | literals
symbols = parameters | strings
targets = variables | parameters | strings
accesses = node(ast.FieldAccess, variables, several(field_names, least=1))


# --- values, expressions, patterns ------------------------------------------------------------------------------------


def objects(values: Strategy) -> Strategy:
    return node(ast.ObjectLiteral, several(node(ast.Member, field_names, values)))


def _data_over(inner: Strategy) -> Strategy:
    return node(ast.ArrayLiteral, several(inner)) | objects(inner) | calls(_expression_over(inner))


def calls(arguments: Strategy) -> Strategy:
    return node(ast.FunctionCall, function_names, several(arguments))


def _expression_over(inner: Strategy) -> Strategy:
    operators = st.sampled_from(("||", "&&", "==", "!=", "<", ">", "<=", ">="))
    return inner | node(ast.Unary, st.sampled_from("!-"), inner) | node(ast.Binary, operators, inner, inner)


plain_values = parameters | variables | literals | accesses
data_values = st.recursive(plain_values, _data_over, max_leaves=6)
# Operators stand in expressions only, so what an array or object holds is a value again.
expressions = st.recursive(data_values, _expression_over, max_leaves=8)
object_literals = objects(data_values)
predicates = variables | symbols

aggregates = node(ast.Aggregate, st.sampled_from(("AVG", "COUNT", "MAX", "MIN", "SUM")), st.booleans(), expressions)
projections = expressions | aggregates


@cache
def terms(paths: bool) -> Strategy:
    """Ends of tuples; `paths` for KQL, whose tuples take hops and alternatives."""
    return st.recursive(
        variables | parameters | literals,
        lambda inner: tuples_over(inner, paths) | _object_patterns_over(inner),
        max_leaves=5,
    )


def tuples_over(ends: Strategy, paths: bool) -> Strategy:
    hops = st.builds(
        lambda least, more: ast.Hops(NOWHERE, least, None if more is None else least + more),
        st.integers(0, 9),
        maybe(st.integers(0, 9)),
    )
    atoms = node(ast.PathAtom, predicates, maybe(hops) if paths else st.none())
    path = several(atoms, least=1, most=3 if paths else 1)
    return node(ast.PropositionTuple, ends, path, ends) | node(ast.PropositionById, scalars)


def _object_patterns_over(inner: Strategy) -> Strategy:
    values = inner | node(ast.ArrayPattern, several(inner))
    return node(ast.ObjectPattern, several(node(ast.PatternMember, field_names, values)))


@cache
def tuples(paths: bool) -> Strategy:
    return tuples_over(terms(paths), paths)


@cache
def object_patterns(paths: bool) -> Strategy:
    return _object_patterns_over(terms(paths))


# --- WHERE ------------------------------------------------------------------------------------------------------------


@cache
def blocks(kql: bool) -> Strategy:
    """WHERE blocks: of FIND, or of the languages that match stored state only."""
    match = object_patterns(kql)
    ends = terms(kql)
    single = st.one_of(
        *(
            node(kind, variables, match)
            for kind in (ast.ConceptPattern, ast.AssertionPattern, ast.EvidencePattern, ast.ActivityPattern)
        ),
        node(ast.PropositionPattern, maybe(variables), tuples(kql)),
        node(ast.StructuralPattern, maybe(variables), ends, symbols, ends),
        node(ast.Filter, expressions),
        *((_beliefs(), _slots(), _search_patterns()) if kql else ()),
    )
    return st.recursive(
        node(ast.Where, several(single)),
        lambda inner: node(
            ast.Where,
            several(single | node(ast.Not, inner) | node(ast.Optional, inner) | node(ast.Union, inner), least=1),
        ),
        max_leaves=3,
    )


def _beliefs() -> Strategy:
    triple = node(ast.BeliefTriple, terms(True), predicates, terms(True))
    return node(ast.BeliefPattern, variables, variables | node(ast.PropositionById, scalars) | triple)


def _slots() -> Strategy:
    return node(ast.BeliefSlotPattern, variables, terms(True), predicates)


def _search(kind: type[ast.Node], *more: Strategy, head: tuple[Strategy, ...] = ()) -> Strategy:
    return node(
        kind,
        *head,
        st.sampled_from(get_args(ast.SearchKind)),
        scalars,
        maybe(scalars),
        maybe(scalars),
        maybe(symbols),
        maybe(scalars),
        *more,
    )


def _search_patterns() -> Strategy:
    return _search(ast.SearchPattern, scalars, head=(variables,))


# --- statements -------------------------------------------------------------------------------------------------------


@cache
def finds() -> Strategy:
    return node(
        ast.Find,
        several(projections, least=1),
        blocks(True),
        maybe(scalars),
        maybe(scalars),
        maybe(object_literals),
        several(node(ast.OrderItem, projections, st.booleans())),
        maybe(scalars),
        maybe(scalars),
    )


planes = node(ast.Plane, st.sampled_from(("attributes", "structural", "retention"))) | st.builds(
    lambda facet: ast.Plane(NOWHERE, "facet", facet), symbols
)
guards = several(node(ast.ExpectVersion, scalars, maybe(planes)), most=2)
set_fields = node(ast.SetFields, object_literals)
set_attributes = node(ast.SetAttributes, object_literals)
set_facet = node(ast.SetFacet, symbols, object_literals)
set_structural = node(
    ast.SetStructural, several(node(ast.StructuralEntry, symbols, data_values, maybe(object_literals)))
)
unset_structural = node(ast.UnsetStructural, several(node(ast.StructuralEntry, symbols, data_values, st.none())))
unset_attributes = node(ast.UnsetAttributes, several(field_names))
unset_facet = node(ast.UnsetFacet, symbols, several(field_names))
client_key = node(ast.ClientKey, scalars)
actions = set_fields | set_attributes | set_facet | unset_attributes | unset_facet | set_structural | unset_structural


@cache
def mutation_clauses() -> Strategy:
    where = maybe(blocks(False))
    limit = maybe(scalars)
    concept = node(ast.TypeClause, symbols) | node(ast.NameClause, scalars) | client_key
    record_kinds = st.sampled_from(("evidence", "assertion", "activity"))
    return st.one_of(
        node(ast.CreateConcept, variables, several(concept | set_fields | set_attributes | set_facet | set_structural)),
        node(ast.UpsertConcept, variables, several(node(ast.MatchClause, object_patterns(False)) | actions), guards),
        node(ast.EnsureProposition, maybe(variables), tuples(False), guards),
        node(ast.Assert, maybe(variables), tuples(False), object_literals, maybe(targets)),
        node(
            ast.CreateRecord,
            record_kinds,
            variables,
            several(client_key | set_fields | set_facet | set_structural),
        ),
        node(ast.Update, targets, several(actions, least=1), where, limit, guards),
        node(
            ast.Transition, targets, scalars, maybe(targets), several(set_fields | set_structural), where, limit, guards
        ),
        node(ast.SetRetention, targets, object_literals, where, limit, guards),
        node(ast.Purge, targets, where, limit, guards, maybe(scalars)),
        node(ast.PurgePayload, targets, where, limit, guards),
        node(ast.MergeConcept, targets, targets, where, guards),
    )


@cache
def kml() -> Strategy:
    return (
        mutation_clauses()
        | node(ast.Mutate, several(mutation_clauses()))
        | node(ast.Define, st.sampled_from(("predicate", "concept_type")), symbols, object_literals)
    )


def _describe(subjects: tuple[str, ...], **members: Strategy) -> Strategy:
    return st.builds(
        lambda subject, **values: ast.Describe(NOWHERE, subject, **values), st.sampled_from(subjects), **members
    )


@cache
def describes() -> Strategy:
    return st.one_of(
        _describe(("CAPABILITIES", "PROTOCOL", "SNAPSHOT", "PRIMER", "ACCESS", "SCHEMA ENVIRONMENT")),
        _describe(
            ("CAPSULE", "ERROR", "FACET", "PACKAGE", "PREDICATE", "STRUCTURAL FIELD", "TRANSACTION", "TYPE"),
            value=scalars,
        ),
        _describe(("EPISTEMIC POLICY", "SPACE", "TRUST"), value=maybe(scalars)),
        _describe(("PRIMER",), mode=parameters | st.sampled_from(("compact", "full")).map(_string)),
        _describe(("COMPATIBILITY",), value=scalars, to=scalars),
        _describe(("TRANSACTION",), value=scalars, by_idempotency_key=st.just(True)),
        _describe(("SCHEMA ENVIRONMENT", "SNAPSHOT"), as_of=scalars),
        _describe(("SNAPSHOT",), at_time=scalars),
        _describe(("ACCESS",), options=object_literals),
    )


def _string(text: str) -> ast.Literal:
    return ast.Literal(NOWHERE, text)


@cache
def meta() -> Strategy:
    page = (maybe(scalars), maybe(scalars))
    listed = tuple(word for word in get_args(ast.ListSubject) if word not in ("DEPENDENTS", "SCHEMA PACKAGES"))
    made: Callable[..., Strategy] = node
    return st.one_of(
        describes(),
        made(ast.List, st.sampled_from(listed), st.none(), st.none(), st.none(), *page),
        made(ast.List, st.just("DEPENDENTS"), scalars, maybe(scalars), st.none(), *page),
        made(ast.List, st.just("SCHEMA PACKAGES"), st.none(), st.none(), maybe(scalars), *page),
        _search(ast.Search, maybe(scalars), *page),
        made(ast.Verify, st.sampled_from(("CAPSULE", "RECEIPT", "SCHEMA PACKAGE")), scalars),
        made(
            ast.Validate,
            st.sampled_from(("CAPSULE", "IMPORT PLAN", "KML", "KQL", "SCHEMA PACKAGE")),
            scalars,
            maybe(object_literals),
        ),
        made(ast.Preview, st.just("KML"), scalars),
        made(ast.Preview, st.just("IMPORT CAPSULE"), scalars, scalars),
        made(ast.History, maybe(scalars), maybe(scalars), maybe(scalars), *page),
        made(ast.Changes, scalars, st.none(), maybe(scalars)),
        made(ast.Changes, st.none(), scalars, maybe(scalars)),
        made(ast.ExportCapsule, targets, blocks(False), maybe(object_literals), maybe(scalars)),
    )


def statements() -> Strategy:
    """Any statement, each language as often as the others."""
    return st.sampled_from((finds, kml, meta)).flatmap(lambda make: make())
