"""What can be told of a statement without running it: the names it uses, against the vocabulary (KIP 2.0 §69.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from brain import errors
from brain.kip import ast
from brain.kip.context import Run
from brain.kip.plan import plan_of
from brain.kip.resolve import CORE_STRUCTURAL, Binder
from brain.kip.schema import SymbolKind
from brain.kip.walk import parameters_of, walk
from brain.store.base import Document, Json

BASELINE_CLASSES = {
    "activity_class": frozenset(
        {"import", "inference", "belief_revision", "entity_merge", "extraction", "human_review", "tool_execution"}
        | {"schema_migration", "skill_compilation", "semantic_consolidation", "procedural_consolidation"}
        | {"experience_formation", "summarization"}
    ),
    "evidence_class": frozenset(
        {"outcome", "message", "measurement", "observation", "document", "derived_result", "human_feedback"}
        | {"external_assertion", "agent_statement", "user_statement", "tool_result", "web_resource"}
    ),
}
"""Classes the protocol names for Activities and Evidence (§15.2, §16.2); others are legal and worth a warning."""

Name = tuple[SymbolKind, str, bool]
"""Kind, name, and whether new elements would bind to it."""


def kql_faults(statement: ast.Find, run: Run) -> list[errors.KipError]:
    """What binding and planning the query would refuse; unbound parameters are left to the caller of the query."""
    unbound = parameters_of(statement) - run.parameters.keys()
    if not unbound:
        try:
            plan_of(replace(statement, cursor=None), run)
        except errors.KipError as error:
            return [error]
        return []
    return _names(statement, run)


def kml_faults(statement: ast.Node, run: Run) -> list[errors.KipError]:
    """Unknown and ambiguous names of a mutation, in the order of the text, and what a DEFINE may not declare."""
    if isinstance(statement, ast.Define):
        return _definition(statement, run)
    return _names(statement, run)


def kml_warnings(statement: ast.Node, run: Run) -> list[Document]:
    """Classes nobody registered: legal, but others may not know what they mean (decision D-20)."""
    known = BASELINE_CLASSES | {"activity_class": BASELINE_CLASSES["activity_class"] | run.environment.activity_classes}
    found: list[Document] = []
    for node in walk(statement):
        if not isinstance(node, ast.SetFields):
            continue
        for member in node.assignments.members:
            value = _value(member.value, run)
            registered = known.get(member.name)
            if registered is not None and isinstance(value, str) and value not in registered and ":" not in value:
                message = f"{member.name} {value!r} is registered by no package here."
                found.append({"code": "UnregisteredClass", "message": message})
    return found


def _definition(statement: ast.Define, run: Run) -> list[errors.KipError]:
    binder = Binder.of(run)
    if parameters_of(statement) - run.parameters.keys():
        return []
    try:
        definition = binder.data(statement.definition)
        run.environment.with_draft(statement.kind, binder.text(statement.name, "The name"), definition)
    except errors.KipError as error:
        return [error]
    return []


def _names(statement: ast.Node, run: Run) -> list[errors.KipError]:
    found: list[errors.KipError] = []
    for kind, name, is_written in dict.fromkeys(_named(statement, run)):
        try:
            if kind == "concept_type" and is_written:
                run.environment.concept_type(name)
            else:
                run.environment.lineages(kind, name)
        except errors.KipError as error:
            found.append(error)
    return found


def _named(statement: ast.Node, run: Run) -> Iterator[Name]:
    """Every symbol name of a statement that is known before it runs."""
    for node in walk(statement):
        match node:
            case ast.TypeClause():
                yield from _text("concept_type", node.type, run, is_written=True)
            case ast.ConceptPattern() | ast.MatchClause():
                yield from _typed(node.match, run)
            case ast.PropositionTuple():
                for atom in node.path:
                    yield from _text("predicate", atom.predicate, run)
                for end in (node.subject, node.object):
                    if isinstance(end, ast.ObjectPattern):
                        yield from _typed(end, run)
            case ast.BeliefTriple() | ast.BeliefSlotPattern():
                yield from _text("predicate", node.predicate, run)
            case ast.SearchPattern():
                yield from _text("concept_type", node.type, run)
                yield from _text("predicate", node.predicate, run)
            case ast.SetFacet() | ast.UnsetFacet() | ast.Plane():
                yield from _text("facet", node.facet, run)
            case ast.StructuralPattern() | ast.StructuralEntry():
                for kind, name, is_written in _text("structural_field", node.field, run):
                    if name not in CORE_STRUCTURAL:
                        yield kind, name, is_written


def _typed(pattern: ast.ObjectPattern, run: Run) -> Iterator[Name]:
    for member in pattern.members:
        if member.name == "type":
            yield from _text("concept_type", member.value, run)


def _text(kind: SymbolKind, node: ast.Node | None, run: Run, *, is_written: bool = False) -> Iterator[Name]:
    value = _value(node, run)
    if isinstance(value, str):
        yield kind, value, is_written


def _value(node: ast.Node | None, run: Run) -> Json:
    if isinstance(node, ast.Literal):
        return node.value
    if isinstance(node, ast.Parameter):
        return run.parameters.get(node.name)
    return None
