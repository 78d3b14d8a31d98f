"""What a statement would write, as the gate reads it: elements by id, their local type, facets, actors, citations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brain.kip.context import WriteSet
from brain.store.base import Element, ElementId, Kind, Transaction


class Written:
    """A write set inside its transaction. Merged Concepts count as the one they were merged into."""

    def __init__(self, write_set: WriteSet, tx: Transaction) -> None:
        self.write_set = write_set
        self._tx = tx
        self._new = {element.id: element for element in write_set.created}
        self._new |= {changed.after.id: changed.after for changed in write_set.changed}
        self._by_key = {
            (element.kind, write_set.client_keys[element.id]): element.id
            for element in write_set.created
            if element.id in write_set.client_keys
        }
        self._merges: Mapping[ElementId, ElementId] | None = None

    def created(self, kind: Kind) -> Iterator[Element]:
        return (element for element in self.write_set.created if element.kind is kind)

    def element(self, element_id: ElementId) -> Element | None:
        """The element as the write would leave it, None when there is none."""
        return self._new.get(element_id) or self._tx.elements([element_id]).get(element_id)

    def canonical(self, element_id: ElementId) -> ElementId:
        """The Concept an id stands for after merges."""
        if self._merges is None:
            self._merges = self._tx.merges()
        seen = {element_id}
        while element_id in self._merges and self._merges[element_id] not in seen:
            element_id = self._merges[element_id]
            seen.add(element_id)
        return element_id

    def evidence_under(self, client_key: str) -> ElementId | None:
        """The Evidence minted under a client key, in this write or an earlier one."""
        minted = self._by_key.get((Kind.EVIDENCE, client_key))
        if minted is not None:
            return minted
        stored = self._tx.by_client_key(Kind.EVIDENCE, client_key)
        return stored.id if stored else None


def type_of(element: Element) -> str:
    """The local name of a Concept's type; empty for what has none."""
    return str(element.body.get("schema_ref") or "").rpartition("/")[2]


def planes(element: Element, plane: str) -> dict[str, Any]:
    """Facets or structural fields of an element by local name."""
    return {name.rpartition("/")[2]: value for name, value in (element.body.get(plane) or {}).items()}


def ref(value: object) -> ElementId | None:
    """The id of a reference object."""
    return value.get("id") if isinstance(value, Mapping) else None


def refs(value: object) -> list[ElementId]:
    """The ids of a list of reference objects, or of one."""
    items = value if isinstance(value, (list, tuple)) else [value]
    return [i for i in (ref(item) for item in items) if i]


def cited(assertion: Element) -> list[ElementId]:
    """Evidence an Assertion rests on: citations in the role `support`."""
    return [
        citation["id"] for citation in assertion.body.get("evidence") or () if citation.get("role") in (None, "support")
    ]
