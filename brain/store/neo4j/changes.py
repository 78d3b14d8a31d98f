"""What new versions of elements change in the graph, as rows for the statements of `flush`."""

from __future__ import annotations

from collections import Counter
from typing import Any

from brain.store import rows
from brain.store.base import Edge, Element
from brain.store.neo4j import passages, versions
from brain.store.neo4j.keys import FOREVER, indexed
from brain.store.neo4j.schema import RELATIONSHIPS, STRUCTURAL
from brain.times import Seq

Rows = list[dict[str, Any]]


class Changes:
    """The rows that commit `seq` of a Space adds and ends."""

    def __init__(self, space: str, seq: Seq) -> None:
        self._space = space
        self._seq = seq
        self._tally: Counter[tuple[str, str, str]] = Counter()
        self._new: dict[str, Rows] = {"elements": [], "edges": [], "nodes": []}
        self.ends: dict[str, Rows] = {"retired": [], "shown": [], "gone_edges": []}
        self.texts: dict[str, Rows] = {"gone_passages": [], "gone_postings": []}
        self.replaced: Rows = []

    @property
    def new(self) -> dict[str, Rows]:
        """The lists of `flush.NEW`."""
        tallies = [
            {"kind": kind, "type": type_, "state": state, "change": change}
            for (kind, type_, state), change in self._tally.items()
            if change
        ]
        return {**self._new, "tallies": tallies}

    def add(self, element: Element, before: Element | None, *, since: Seq | None, is_sent: bool) -> None:
        """An element as it is now.

        before   as it was sent last, in this commit (`is_sent`) or an earlier one
        since    the sequence of the version that an earlier commit wrote, None when there is none to end
        """
        version, shown = versions.version(element, self._space, self._seq), versions.shown(element)
        if is_sent:
            self.replaced.append({"id": element.id, "properties": version})
            self.ends["shown"].append({"id": element.id, "properties": shown})
        else:
            if since is not None:
                self.ends["retired"].append({"id": element.id, "since": since})
            label = element.kind.value.capitalize()
            self._new["elements"].append({"label": label, "shown": shown, "version": version})
        self._relate(before, element)
        self._follow(before, element)
        for one, change in ((before, -1), (element, 1)):
            if one is not None:
                columns = rows.columns(one)
                self._tally[one.kind.value, indexed(columns.type) or "", columns.state] += change

    def _relate(self, before: Element | None, after: Element) -> None:
        """End the references that are gone and add the new ones; what stays is not touched."""
        old, new = [] if before is None else rows.edges(before), rows.edges(after)
        kept = set(old) & set(new)
        self.ends["gone_edges"] += [
            {"id": edge.source, "field": edge.field, "position": edge.position} for edge in old if edge not in kept
        ]
        self._new["edges"] += [relationship(edge, self._space, self._seq) for edge in new if edge not in kept]

    def _follow(self, before: Element | None, after: Element) -> None:
        """Let what the element is found by follow it."""
        old, new = passages.found_by(before), passages.found_by(after)
        if old == new:
            return
        if old is not None:
            self.texts["gone_passages"].append(passages.place(after.id))
            self.texts["gone_postings"] += passages.gone(after.id, old)
        if new is not None:
            passage, postings = passages.added(self._space, after.id, new, self._seq)
            self._new["nodes"].append({"labels": ["Passage", "Waiting"], "properties": passage})
            self._new["nodes"] += [{"labels": ["Posting"], "properties": posting} for posting in postings]


def relationship(edge: Edge, space: str, since: Seq) -> dict[str, Any]:
    """A reference as a row that holds from a sequence on."""
    return {
        "source": edge.source,
        "type": RELATIONSHIPS.get(edge.field, STRUCTURAL),
        "properties": {
            "space": space,
            "target": edge.target,
            "field": edge.field,
            "position": edge.position,
            "role": edge.role,
            "from_seq": since,
            "to_seq": FOREVER,
        },
    }
