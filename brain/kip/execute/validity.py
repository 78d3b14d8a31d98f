"""The computed `_system.dependency_validity` of derivations, batch by batch (KIP 2.0 §57.6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from brain.ids import lineage_of
from brain.kip.belief import dependency_validity, is_derivation
from brain.kip.belief.request import BeliefRequest
from brain.kip.execute.graph import Graph
from brain.store.base import Document, Element, ElementId


def is_validity(steps: tuple[Any, ...]) -> bool:
    """Whether a path leads to the computed member."""
    return steps[:2] == ("_system", "dependency_validity")


class Validities:
    """What was worked out so far; elements that are no derivations have none.

    It is the validity at the engine clock, as every recall needs it: FOR TIME asks what was so, not what may be used.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._known: dict[ElementId, Document | None] = {}

    def load(self, ids: Iterable[ElementId]) -> None:
        """Work out all of these at once; the elements have to be at hand."""
        missing = set(ids) - self._known.keys()
        if not missing:
            return
        found = {element_id: self._graph.element(element_id) for element_id in missing}
        derived = [
            element_id for element_id, element in found.items() if element is not None and self._is_derived(element)
        ]
        self._known.update(dict.fromkeys(missing))
        if derived:
            run = self._graph.run
            self._known.update(dependency_validity(run, BeliefRequest.parse(run, None, None), derived))

    def of(self, element_id: ElementId) -> Document | None:
        """The validity of an element, None where there is none."""
        if element_id not in self._known:
            self._graph.load((element_id,))
            self.load((element_id,))
        return self._known[element_id]

    def _is_derived(self, element: Element) -> bool:
        ref = element.body.get("schema_ref")
        environment = self._graph.run.environment
        lineage = environment.canonical_lineage("concept_type", lineage_of(ref)) if isinstance(ref, str) else None
        return is_derivation(element, lineage)
