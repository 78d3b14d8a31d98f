"""Merged Concepts read as one: every comparison of belief happens on what a reference resolves to (§11.4, §25.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from brain.ids import object_key
from brain.store.base import ElementId, Json


class Identity:
    """The merges of one snapshot."""

    def __init__(self, merges: Mapping[ElementId, ElementId]) -> None:
        self._merges = merges
        self._names: dict[ElementId, set[ElementId]] | None = None

    def __len__(self) -> int:
        """How many Concepts have been merged away."""
        return len(self._merges)

    def resolve(self, element_id: ElementId) -> ElementId:
        """The Concept a reference stands for today; itself when it was never merged."""
        while (target := self._merges.get(element_id)) is not None:
            element_id = target
        return element_id

    def label(self, value: Json) -> str:
        """How a Proposition's object compares: the resolved id of an element, the canonical text of a Literal."""
        return self.resolve(value["id"]) if isinstance(value, dict) and "id" in value else object_key(value)

    def names(self, labels: Iterable[str]) -> frozenset[str]:
        """Every stored spelling of these subjects or objects: themselves and what was merged into them."""
        labels = frozenset(labels)
        if not self._merges:
            return labels
        if self._names is None:
            self._names = defaultdict(set)
            for merged in self._merges:
                self._names[self.resolve(merged)].add(merged)
        return labels.union(*(self._names.get(label, ()) for label in labels))
