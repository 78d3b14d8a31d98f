"""Computed structural fields: derivation lineage, read from finished Activities (KIP 2.0 §18.2; Profile §7).

Nothing of it is stored. An Activity that names what went in and what came out is the one record; these fields are four
ways to read it, and whoever asks for a reference may ask for one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from brain.ids import lineage_of
from brain.kip.execute.graph import Graph
from brain.kip.schema.definitions import Endpoint, StructuralField
from brain.kip.validate import TERMINAL_ACTIVITY
from brain.store.base import Edge, EdgeScan, Element, ElementId, Kind

_PROFILE = "kip://profiles/cognitive-memory/"
_CONSOLIDATION = frozenset({"procedural_consolidation", "semantic_consolidation"})
_COMPILATION = frozenset({"skill_compilation"})


@dataclass(frozen=True, slots=True)
class _Rule:
    """How a field reads an Activity.

    classes         Activity classes that count, None for all
    source, target  which of the Activity's references the field's ends are; None for the Activity itself
    """

    classes: frozenset[str] | None
    source: str
    target: str | None


_RULES: Mapping[str, _Rule] = {
    f"{_PROFILE}compiled_by": _Rule(_COMPILATION, "outputs", None),
    f"{_PROFILE}compiled_from": _Rule(_COMPILATION, "outputs", "inputs"),
    f"{_PROFILE}consolidated_to": _Rule(_CONSOLIDATION, "inputs", "outputs"),
    f"{_PROFILE}derived_from": _Rule(None, "outputs", "inputs"),
}


def references(graph: Graph, query: EdgeScan) -> list[Edge]:
    """References by their ends, the computed ones among them; `query.fields` names the fields."""
    fields = query.fields or frozenset()
    computed = fields & _RULES.keys()
    if not computed:
        return graph.edges(query)
    stored = fields - computed
    found = graph.edges(replace(query, fields=stored)) if stored else []
    return [*found, *(edge for field in sorted(computed) for edge in _computed(graph, field, query))]


def _computed(graph: Graph, field: str, query: EdgeScan) -> Iterator[Edge]:
    rule = _RULES[field]
    definition = graph.run.environment.describe("structural_field", field.removeprefix(_PROFILE))
    if not isinstance(definition, StructuralField):
        return
    pairs = dict.fromkeys(_pairs(graph, rule, query))
    graph.load({end for pair in pairs for end in pair})
    for source, target in pairs:
        if _is_admitted(graph, definition, source, target):
            yield Edge(source, field, target, 0)


def _pairs(graph: Graph, rule: _Rule, query: EdgeScan) -> Iterator[tuple[ElementId, ElementId]]:
    """Source and target of every finished Activity that counts, within the ends asked for."""
    if rule.target is None:
        sources = _by_activity(graph, rule.source, query.sources, query.targets)
        for activity in _finished(graph, rule, sources):
            yield from ((source, activity) for source in sources[activity])
        return
    if query.sources is None and query.targets is not None:
        targets = _by_activity(graph, rule.target, query.targets, None)
        sources = _by_activity(graph, rule.source, None, frozenset(targets))
    else:
        sources = _by_activity(graph, rule.source, query.sources, None)
        targets = _by_activity(graph, rule.target, query.targets, frozenset(sources))
    for activity in _finished(graph, rule, sources.keys() & targets.keys()):
        yield from ((source, target) for source in sources[activity] for target in targets[activity])


def _by_activity(
    graph: Graph, field: str, ends: frozenset[ElementId] | None, activities: frozenset[ElementId] | None
) -> dict[ElementId, list[ElementId]]:
    found: dict[ElementId, list[ElementId]] = {}
    for edge in graph.edges(EdgeScan(sources=activities, fields=frozenset({field}), targets=ends)):
        found.setdefault(edge.source, []).append(edge.target)
    return found


def _finished(graph: Graph, rule: _Rule, activities: Iterable[ElementId]) -> list[ElementId]:
    wanted = sorted(activities)
    graph.load(wanted)
    return [found for found in wanted if (element := graph.element(found)) is not None and _counts(element, rule)]


def _counts(element: Element, rule: _Rule) -> bool:
    if element.kind is not Kind.ACTIVITY or element.body.get("status") not in TERMINAL_ACTIVITY:
        return False
    return rule.classes is None or element.body["activity_class"] in rule.classes


def _is_admitted(graph: Graph, definition: StructuralField, source: ElementId, target: ElementId) -> bool:
    """Whether both ends are of the kinds and types the field declares."""
    return _is(graph, source, definition.source) and _is(graph, target, definition.target)


def _is(graph: Graph, element_id: ElementId, end: Endpoint) -> bool:
    element = graph.element(element_id)
    if element is None or element.kind not in end.kinds:
        return False
    if end.type_lineages is None or element.kind is not Kind.CONCEPT:
        return True
    ref = element.body.get("schema_ref")
    environment = graph.run.environment
    admitted = {environment.canonical_lineage("concept_type", lineage) for lineage in end.type_lineages}
    return isinstance(ref, str) and environment.canonical_lineage("concept_type", lineage_of(ref)) in admitted
