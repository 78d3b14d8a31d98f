"""Syntax tree to canonical text: upper-case keywords, one blank between words, quotes only where they are needed.

Parsing the text again gives an equal tree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from brain.kip import ast

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# How tightly an operator binds; an operand that binds less tightly stands in brackets.
_OR, _AND, _EQUALITY, _RELATION, _UNARY, _PRIMARY = range(6)
_LEVELS: Mapping[str, int] = {
    "||": _OR,
    "&&": _AND,
    "==": _EQUALITY,
    "!=": _EQUALITY,
    "<": _RELATION,
    ">": _RELATION,
    "<=": _RELATION,
    ">=": _RELATION,
}


def show(node: ast.Node) -> str:
    """The canonical text of any node, on one line."""
    return _PRINTERS[type(node)](node)


def _words(*parts: str | ast.Node | None) -> str:
    """Texts and nodes with blanks between them; what is absent or empty leaves no blank."""
    texts = (show(part) if isinstance(part, ast.Node) else part for part in parts)
    return " ".join(text for text in texts if text)


def _all(nodes: Iterable[ast.Node], between: str = ", ") -> str:
    return between.join(show(node) for node in nodes)


def _block(nodes: Iterable[ast.Node]) -> str:
    inner = _all(nodes, " ")
    return f"{{ {inner} }}" if inner else "{}"


def _maybe(word: str, node: ast.Node | None) -> str | None:
    return None if node is None else f"{word} {show(node)}"


def _name(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) else _string(name)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


# --- values and expressions -------------------------------------------------------------------------------------------


def _literal(node: ast.Literal) -> str:
    return _string(node.value) if isinstance(node.value, str) else json.dumps(node.value, allow_nan=False)


def _field_access(node: ast.FieldAccess) -> str:
    steps = (f".{step}" if _IDENTIFIER.fullmatch(step) else f"[{_string(step)}]" for step in node.steps)
    return show(node.root) + "".join(steps)


def _unary(node: ast.Unary) -> str:
    # A minus sign in front of a number would become part of it.
    number = isinstance(node.operand, ast.Literal) and not isinstance(node.operand.value, (str, bool, type(None)))
    return node.operator + (f"({show(node.operand)})" if number else _operand(node.operand, _PRIMARY))


def _binary(node: ast.Binary) -> str:
    level = _LEVELS[node.operator]
    left = _operand(node.left, level + (level == _RELATION))
    return f"{left} {node.operator} {_operand(node.right, level + 1)}"


def _operand(node: ast.Expression, least: int) -> str:
    if isinstance(node, ast.Binary):
        level = _LEVELS[node.operator]
    else:
        level = _UNARY if isinstance(node, ast.Unary) else _PRIMARY
    return show(node) if level >= least else f"({show(node)})"


def _aggregate(node: ast.Aggregate) -> str:
    return f"{node.function}({'DISTINCT ' * node.distinct}{show(node.argument)})"


# --- patterns ---------------------------------------------------------------------------------------------------------


def _hops(node: ast.Hops) -> str:
    if node.most is None:
        return f"{{{node.least},}}"
    return f"{{{node.least}}}" if node.most == node.least else f"{{{node.least},{node.most}}}"


def _path_atom(node: ast.PathAtom) -> str:
    return show(node.predicate) + (show(node.hops) if node.hops else "")


def _tuple(node: ast.PropositionTuple) -> str:
    return f"({show(node.subject)}, {_all(node.path, ' | ')}, {show(node.object)})"


def _belief(node: ast.BeliefPattern) -> str:
    target = f"({show(node.target)})" if isinstance(node.target, ast.Variable) else show(node.target)
    return f"{show(node.variable)} BELIEF {target}"


def _structural_pattern(node: ast.StructuralPattern) -> str:
    ends = f"({show(node.source)}, {show(node.field)}, {show(node.target)})"
    return _words(node.variable, "STRUCTURAL", ends)


def _search_request(node: ast.Search | ast.SearchPattern) -> str:
    return _words(
        "SEARCH",
        node.kind,
        node.text,
        _maybe("WITH TYPE", node.type),
        _maybe("WITH PREDICATE", node.predicate),
        _maybe("MODE", node.mode),
        _maybe("THRESHOLD", node.threshold),
    )


# --- statements -------------------------------------------------------------------------------------------------------


def _find(node: ast.Find) -> str:
    return _words(
        f"FIND({_all(node.projections)})",
        f"WHERE {show(node.where)}",
        _maybe("AS OF SEQ", node.as_of),
        _maybe("FOR TIME", node.for_time),
        _maybe("WITH EPISTEMIC", node.epistemic),
        f"ORDER BY {_all(node.order_by)}" if node.order_by else None,
        _page(node),
    )


def _page(node: ast.Find | ast.List | ast.Search | ast.History) -> str:
    return _words(_maybe("LIMIT", node.limit), _maybe("CURSOR", node.cursor))


def _order_item(node: ast.OrderItem) -> str:
    return show(node.key) + (" DESC" if node.descending else " ASC")


def _tail(node: ast.Update | ast.Transition | ast.SetRetention | ast.Purge | ast.PurgePayload) -> str:
    return _words(_maybe("WHERE", node.where), _maybe("LIMIT", node.limit), _all(node.expect, " "))


def _plane(node: ast.Plane) -> str:
    return _words(node.name.upper(), node.facet)


def _expect(node: ast.ExpectVersion) -> str:
    return _words("EXPECT VERSION", node.version, _maybe("OF", node.plane))


def _names(names: Iterable[str]) -> str:
    return "{" + ", ".join(_name(name) for name in names) + "}"


def _structural_entry(node: ast.StructuralEntry) -> str:
    return _words(f"({show(node.field)}, {show(node.target)})", node.options)


def _create(kind: str, node: ast.CreateConcept | ast.CreateRecord) -> str:
    return f"CREATE {kind.upper()} {show(node.handle)} {_block(node.clauses)}"


def _upsert(node: ast.UpsertConcept) -> str:
    return _words("UPSERT CONCEPT", node.handle, _block(node.clauses), _all(node.expect, " "))


def _ensure(node: ast.EnsureProposition) -> str:
    return _words("ENSURE PROPOSITION", node.handle, node.proposition, _all(node.expect, " "))


def _assert(node: ast.Assert) -> str:
    return _words(
        "ASSERT",
        node.handle,
        node.proposition,
        node.members,
        _maybe("SUPERSEDING", node.superseding),
    )


def _update(node: ast.Update) -> str:
    return _words("UPDATE", node.target, _all(node.actions, " "), _tail(node))


def _transition(node: ast.Transition) -> str:
    return _words(
        "TRANSITION",
        node.target,
        _maybe("TO", node.state),
        _maybe("BY", node.by),
        _all(node.finalize, " "),
        _tail(node),
    )


def _retention(node: ast.SetRetention) -> str:
    return _words("SET RETENTION", node.target, node.assignments, _tail(node))


def _purge(node: ast.Purge) -> str:
    policy = _maybe("REFERENCE POLICY", node.reference_policy)
    return _words("PURGE", node.target, _tail(node), policy, 'CONFIRM "PURGE"')


def _purge_payload(node: ast.PurgePayload) -> str:
    return _words("PURGE PAYLOAD", node.target, _tail(node), 'CONFIRM "PURGE"')


def _merge(node: ast.MergeConcept) -> str:
    return _words(
        "MERGE CONCEPT",
        node.source,
        _maybe("INTO", node.target),
        _maybe("WHERE", node.where),
        _all(node.expect, " "),
    )


def _define(node: ast.Define) -> str:
    kind = "PREDICATE" if node.kind == "predicate" else "CONCEPT TYPE"
    return _words("DEFINE", kind, node.name, node.definition)


def _describe(node: ast.Describe) -> str:
    value: str | ast.Node | None = node.value
    if node.subject == "COMPATIBILITY":
        value = _words(_maybe("FROM", node.value), _maybe("TO", node.to))
    return _words(
        "DESCRIBE",
        node.subject,
        "BY IDEMPOTENCY KEY" if node.by_idempotency_key else None,
        value,
        _maybe("MODE", node.mode),
        _maybe("AS OF SEQ", node.as_of),
        _maybe("AT TIME", node.at_time),
        _maybe("WITH", node.options),
    )


def _list(node: ast.List) -> str:
    return _words(
        "LIST",
        node.subject,
        node.of,
        _maybe("DEPTH", node.depth),
        _maybe("STATUS", node.status),
        _page(node),
    )


def _search(node: ast.Search) -> str:
    return _words(_search_request(node), _maybe("AS OF SEQ", node.as_of), _page(node))


def _validate(node: ast.Validate) -> str:
    return _words("VALIDATE", node.subject, node.value, _maybe("WITH", node.options))


def _preview(node: ast.Preview) -> str:
    return _words("PREVIEW", node.subject, node.value, _maybe("INTO", node.into))


def _history(node: ast.History) -> str:
    return _words(
        "HISTORY",
        _maybe("ELEMENT", node.element) or "SPACE",
        _maybe("FROM SEQ", node.from_seq),
        _maybe("TO SEQ", node.to_seq),
        _page(node),
    )


def _changes(node: ast.Changes) -> str:
    start = _maybe("SINCE", node.since) or _maybe("AFTER SEQ", node.after_seq)
    return _words("CHANGES", start, _maybe("LIMIT", node.limit))


def _export(node: ast.ExportCapsule) -> str:
    return _words(
        "EXPORT CAPSULE",
        node.target,
        _maybe("WHERE", node.where),
        _maybe("WITH", node.options),
        _maybe("AS OF SEQ", node.as_of),
    )


_PRINTERS: Mapping[type[ast.Node], Callable[[Any], str]] = {
    ast.ActivityPattern: lambda node: f"{show(node.variable)} ACTIVITY {show(node.match)}",
    ast.Aggregate: _aggregate,
    ast.ArrayLiteral: lambda node: f"[{_all(node.items)}]",
    ast.ArrayPattern: lambda node: f"[{_all(node.items)}]",
    ast.Assert: _assert,
    ast.AssertionPattern: lambda node: f"{show(node.variable)} ASSERTION {show(node.match)}",
    ast.BeliefPattern: _belief,
    ast.BeliefSlotPattern: lambda n: f"{show(n.variable)} BELIEF SLOT ({show(n.subject)}, {show(n.predicate)})",
    ast.BeliefTriple: lambda node: f"({show(node.subject)}, {show(node.predicate)}, {show(node.object)})",
    ast.Binary: _binary,
    ast.Changes: _changes,
    ast.ClientKey: lambda node: f"CLIENT KEY {show(node.key)}",
    ast.ConceptPattern: lambda node: f"{show(node.variable)} {show(node.match)}",
    ast.CreateConcept: lambda node: _create("CONCEPT", node),
    ast.CreateRecord: lambda node: _create(node.kind, node),
    ast.Define: _define,
    ast.Describe: _describe,
    ast.EnsureProposition: _ensure,
    ast.EvidencePattern: lambda node: f"{show(node.variable)} EVIDENCE {show(node.match)}",
    ast.ExpectVersion: _expect,
    ast.ExportCapsule: _export,
    ast.FieldAccess: _field_access,
    ast.Filter: lambda node: f"FILTER({show(node.expression)})",
    ast.Find: _find,
    ast.FunctionCall: lambda node: f"{node.name}({_all(node.arguments)})",
    ast.History: _history,
    ast.Hops: _hops,
    ast.List: _list,
    ast.Literal: _literal,
    ast.MatchClause: lambda node: f"MATCH {show(node.match)}",
    ast.Member: lambda node: f"{_name(node.name)}: {show(node.value)}",
    ast.MergeConcept: _merge,
    ast.Mutate: lambda node: f"MUTATE {_block(node.clauses)}",
    ast.NameClause: lambda node: f"NAME {show(node.name)}",
    ast.Not: lambda node: f"NOT {show(node.where)}",
    ast.ObjectLiteral: lambda node: f"{{{_all(node.members)}}}",
    ast.ObjectPattern: lambda node: f"{{{_all(node.members)}}}",
    ast.Optional: lambda node: f"OPTIONAL {show(node.where)}",
    ast.OrderItem: _order_item,
    ast.Parameter: lambda node: f":{node.name}",
    ast.PathAtom: _path_atom,
    ast.PatternMember: lambda node: f"{_name(node.name)}: {show(node.value)}",
    ast.Plane: _plane,
    ast.Preview: _preview,
    ast.PropositionById: lambda node: f"(id: {show(node.id)})",
    ast.PropositionPattern: lambda node: _words(node.variable, node.proposition),
    ast.PropositionTuple: _tuple,
    ast.Purge: _purge,
    ast.PurgePayload: _purge_payload,
    ast.Search: _search,
    ast.SearchPattern: lambda n: f"{show(n.variable)} {_search_request(n)} LIMIT {show(n.limit)}",
    ast.SetAttributes: lambda node: f"SET ATTRIBUTES {show(node.assignments)}",
    ast.SetFacet: lambda node: f"SET FACET {show(node.facet)} {show(node.assignments)}",
    ast.SetFields: lambda node: f"SET FIELDS {show(node.assignments)}",
    ast.SetRetention: _retention,
    ast.SetStructural: lambda node: f"SET STRUCTURAL {_block(node.entries)}",
    ast.StructuralEntry: _structural_entry,
    ast.StructuralPattern: _structural_pattern,
    ast.Transition: _transition,
    ast.TypeClause: lambda node: f"TYPE {show(node.type)}",
    ast.Unary: _unary,
    ast.Union: lambda node: f"UNION {show(node.where)}",
    ast.UnsetAttributes: lambda node: f"UNSET ATTRIBUTES {_names(node.names)}",
    ast.UnsetFacet: lambda node: f"UNSET FACET {show(node.facet)} {_names(node.names)}",
    ast.UnsetStructural: lambda node: f"UNSET STRUCTURAL {_block(node.entries)}",
    ast.Update: _update,
    ast.UpsertConcept: _upsert,
    ast.Validate: _validate,
    ast.Variable: lambda node: f"?{node.name}",
    ast.Verify: lambda node: f"VERIFY {node.subject} {show(node.value)}",
    ast.Where: lambda node: _block(node.clauses),
}
