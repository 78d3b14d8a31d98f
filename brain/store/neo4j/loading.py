"""A Space from rows: what they say as it is, and what follows from them made anew.

It is made under a key of its own, where nobody looks, and gets its node, and so its name, in the last step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

from brain.ids import is_element_id
from brain.store import rows as derived
from brain.store.base import Commit, Element, Kind, Passage, Work
from brain.store.dump import (
    NAMES,
    WORK_COUNTER,
    ClientKeyRow,
    ControlRow,
    CounterRow,
    DamagedDump,
    DocumentRow,
    LeaseRow,
    Row,
    VectorRow,
    VersionRow,
    batches,
)
from brain.store.neo4j import flush, passages, vectors, versions
from brain.store.neo4j.changes import relationship
from brain.store.neo4j.connection import Database
from brain.store.neo4j.keys import FOREVER, indexed
from brain.store.neo4j.state import json_text
from brain.store.neo4j.writing_state import stored
from brain.times import Seq

_BATCH = 2_000
"""Nodes and relationships sent together."""

_FILL = " ".join(
    (
        flush.part(
            "elements",
            "MERGE (e:Element {space: $space, id: row.id}) SET e:$(row.label), e += row.shown"
            " WITH e, row UNWIND row.versions AS version CREATE (v:Version)-[:OF]->(e) SET v = version",
        ),
        flush.EDGES,
        flush.part("nodes", "CREATE (n:$(row.labels)) SET n = row.properties"),
        "FINISH",
    )
)


class Loader:
    """Fills what a key stands for; afterwards it knows what the Space's own node has to say.

    last_numbers  as properties of that node
    totals        as in `Head`
    """

    def __init__(self, database: Database, space: str) -> None:
        self._database = database
        self._space = space
        self._lists: dict[str, list[Any]] = {"elements": [], "edges": [], "nodes": []}
        self._waiting = 0
        self._tally: Counter[tuple[str, str, str]] = Counter()
        self.last_numbers = {"last_work": 0}
        self.totals: dict[str, Counter[str]] = {"active": Counter(), "texts": Counter(), "terms": Counter()}

    def take(self, rows: Iterable[Row]) -> None:
        """Write all rows after the first; DamagedDump for one that no Space could hold."""
        for section, group in groupby(rows, type):
            if section is VersionRow:
                self._versions(group)
            elif section is VectorRow:
                self.send()
                self._vectors(group)
            else:
                for row in group:
                    self._row(row)
        self.send()

    @property
    def numbers(self) -> dict[str, int]:
        """The last numbers by what they count."""
        return {name.removeprefix("last_"): last for name, last in self.last_numbers.items()}

    # --- how ----------------------------------------------------------------------------------------------------------

    def _row(self, row: Row) -> None:
        space = self._space
        match row:
            case ControlRow():
                self._node("Control", name=row.name, from_seq=row.since, body=json_text(row.document))
            case Commit():
                record, envelope = json_text(row.record), json_text(row.envelope)
                moment = row.committed_at
                self._node(
                    "Commit", seq=row.seq, tx_id=row.tx_id, committed_at=moment, record=record, envelope=envelope
                )
            case CounterRow():
                name = "work" if row.name == WORK_COUNTER else Kind(row.name).letter
                self.last_numbers[f"last_{name}"] = row.last
            case ClientKeyRow():
                if not is_element_id(row.element_id):
                    raise DamagedDump(f"there is a {NAMES[ClientKeyRow]} row no Space could hold")
                self._add("nodes", passages.client_key(space, row.element_id, row.client_key, row.kind))
            case DocumentRow():
                body = json_text(row.document)
                self._node("Document", namespace=row.namespace, key=row.key, expires_ms=row.expires_ms, body=body)
            case Work():
                entry = stored(row)
                labels = ["Work", "Open"] if entry["is_open"] else ["Work"]
                properties = {"space": space, "id": row.id, **entry["properties"]}
                self._add("nodes", {"labels": labels, "properties": properties})
            case LeaseRow():
                self._node("Lease", name=row.name, holder=None, token=row.token, expires_ms=0)

    def _versions(self, rows: Iterator[Any]) -> None:
        for element_id, group in groupby(rows, lambda row: row.element.id):
            history = [(row.since, row.element) for row in group]
            try:
                self._element(history)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise DamagedDump(f"{element_id} is no element") from error
        for (kind, type_, state), elements in self._tally.items():
            self._node("Tally", kind=kind, type=type_, state=state, value=[0, elements, 0, elements])

    def _element(self, history: list[tuple[Seq, Element]]) -> None:
        """All versions of one element, its references and texts over them, and what it counts for."""
        ends = [since for since, _ in history[1:]] + [FOREVER]
        last = history[-1][1]
        kept = [
            versions.version(element, self._space, since) | {"to_seq": until}
            for (since, element), until in zip(history, ends, strict=True)
        ]
        label = last.kind.value.capitalize()
        self._add(
            "elements", {"id": last.id, "label": label, "shown": versions.shown(last), "versions": kept}, len(kept)
        )
        self._edges(history)
        self.texts(history)
        columns = derived.columns(last)
        self._tally[last.kind.value, indexed(columns.type) or "", columns.state] += 1
        if last.state == "active":
            self.totals["active"][last.id[0]] += 1

    def _edges(self, history: list[tuple[Seq, Element]]) -> None:
        for edge, since, until in derived.spells(history):
            row = relationship(edge, self._space, since)
            row["properties"]["to_seq"] = FOREVER if until is None else until
            self._add("edges", row)

    def texts(self, history: list[tuple[Seq, Element]]) -> None:
        """One passage for each stretch of commits over which the element was found by one text."""
        element_id = history[-1][1].id
        ends = [since for since, _ in history[1:]] + [FOREVER]
        found = [passages.found_by(element) for _, element in history]
        starts = [0, *(place for place, (old, new) in enumerate(pairwise(found), 1) if old != new)]
        for start, end in zip(starts, [*starts[1:], len(history)], strict=True):
            by = found[start]
            if by is None:
                continue
            passage, postings = passages.added(self._space, element_id, by, history[start][0])
            until = {"to_seq": ends[end - 1]}
            self._add("nodes", {"labels": ["Passage", "Waiting"], "properties": passage | until})
            for posting in postings:
                self._add("nodes", {"labels": ["Posting"], "properties": posting | until})
        if (last := found[-1]) is not None:
            self.totals["texts"][element_id[0]] += 1
            self.totals["terms"][element_id[0]] += passages.size(last)

    def _vectors(self, rows: Iterator[Any]) -> None:
        def run(statement: str, **parameters: Any) -> Any:
            return self._database.run(statement, {"space": self._space, **parameters})

        for embedder, group in groupby(rows, lambda row: row.embedder):
            for batch in batches(group, _BATCH // 10):
                self._index(run, embedder, [(Passage(row.element_id, row.since, ""), row.vector) for row in batch])

    @staticmethod
    def _index(run: Any, embedder: str, batch: list[tuple[Passage, Sequence[float] | None]]) -> None:
        try:
            vectors.index(run, embedder, batch)
        except ValueError as error:
            raise DamagedDump(f"there are vectors of {embedder} that are none") from error

    def _node(self, label: str, **properties: Any) -> None:
        self._add("nodes", {"labels": [label], "properties": {"space": self._space, **properties}})

    def _add(self, name: str, row: Mapping[str, Any], weight: int = 1) -> None:
        self._lists[name].append(row)
        self._waiting += weight
        if self._waiting >= _BATCH:
            self.send()

    def send(self) -> None:
        """Write what waits to be written with more."""
        if self._waiting:
            self._database.run_once(_FILL, {"space": self._space, "seq": 0, **self._lists})
        self._lists = {name: [] for name in self._lists}
        self._waiting = 0
