"""The Space as one caller sees it: a Snapshot of which nothing comes out that the caller may not know.

Everything that reads for a restricted caller reads through this, queries, projections, search, history and the change
stream alike, so that what is hidden is absent for all of them and no code beyond has to think of it. A caller from whom
nothing is hidden never meets it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from brain.kip.execute.matches import meets
from brain.kip.governance.sight import Sight, Verdict, identity_only, mentioned, without, without_fields
from brain.store.base import (
    Commit,
    Document,
    Edge,
    EdgeScan,
    Element,
    ElementId,
    Freshness,
    Hit,
    Kind,
    Lease,
    Passage,
    Scan,
    SearchQuery,
    Snapshot,
    TupleScan,
    Work,
    WorkStatus,
)
from brain.times import Seq, Timestamp

REDACTED: Document = {
    "code": "Redacted",
    "message": "Some elements this read met are not yours to read whole; what is withheld shows as absent.",
}
"""What an answer says when parts of elements were withheld (§29.2, §49.2); never that elements are hidden."""

_BATCH = 256
_WAITING = 1_000
"""Texts without a vector that are looked through for those the caller may know of."""


class View:
    """A Snapshot of another one.

    sight       what is hidden
    is_head     whether the Snapshot underneath shows the Space as it stands now
    projects    elements are given for weighing, not for showing: whole, also where they may not be read
    redacted    whether something was given of which parts are withheld
    """

    def __init__(self, inner: Snapshot, sight: Sight, *, is_head: bool, projects: bool = False) -> None:
        self._inner = inner
        self.sight = sight
        self._is_head = is_head
        self._projects = projects
        self.space_id = inner.space_id
        self.seq = inner.seq
        self.redacted = False

    # --- elements -----------------------------------------------------------------------------------------------------

    def elements(self, ids: Collection[ElementId]) -> dict[ElementId, Element]:
        found = self._inner.elements(ids)
        return {element.id: element for element in self._shown(found.values())}

    def scan(self, query: Scan) -> Iterator[Element]:
        return islice(self._scan(query), query.limit)

    def count(self, query: Scan) -> int:
        return sum(1 for _ in self.scan(query))

    def tuples(self, query: TupleScan) -> list[Element]:
        return [element for element in self._shown(self._inner.tuples(query)) if "subject" in element.body]

    def expect(self, query: TupleScan, *, hops: int = 1, claims: bool = False, of_next_scan: bool = False) -> None:
        self._inner.expect(query, hops=hops, claims=claims, of_next_scan=of_next_scan)

    def assertions(self, about: Collection[ElementId]) -> list[Element]:
        return [element for element in self._shown(self._inner.assertions(about)) if "proposition" in element.body]

    def by_client_key(self, kind: Kind, client_key: str) -> Element | None:
        found = self._inner.by_client_key(kind, client_key)
        return None if found is None else next(iter(self._shown([found])), None)

    def versions(self, element_id: ElementId) -> list[tuple[Seq, Element]]:
        if not self.sight.sees(element_id):
            return []
        found = self._inner.versions(element_id)
        shown = self._shown([element for _, element in found])
        return [(seq, element) for (seq, _), element in zip(found, shown, strict=True)]

    def counts(self) -> Mapping[Kind, int]:
        return {kind: self.count(Scan(kind)) for kind in Kind}

    # --- references ---------------------------------------------------------------------------------------------------

    def edges(self, query: EdgeScan) -> list[Edge]:
        """Places are counted anew where a reference before is hidden, so that no gap tells of it."""
        found = self._inner.edges(query)
        if query.targets is not None and found:
            sources = frozenset(edge.source for edge in found)
            fields = frozenset(edge.field for edge in found)
            beside = self._inner.edges(EdgeScan(sources=sources, fields=fields))
        else:
            beside = found
        self.sight.judge({end for edge in beside for end in (edge.source, edge.target)})
        places: Counter[tuple[ElementId, str]] = Counter()
        shown = []
        for edge in beside:
            if not self._gives(edge.source) or not self.sight.sees(edge.target):
                continue
            place = places[edge.source, edge.field]
            places[edge.source, edge.field] += 1
            if query.targets is None or edge.target in query.targets:
                shown.append(replace(edge, position=place))
        return shown

    def merges(self) -> Mapping[ElementId, ElementId]:
        found = self._inner.merges()
        self.sight.judge({end for step in found.items() for end in step})
        return {source: target for source, target in found.items() if self._gives(source) and self.sight.sees(target)}

    # --- search -------------------------------------------------------------------------------------------------------

    def search(self, query: SearchQuery) -> list[Hit]:
        def visible(element: Element) -> bool:
            if self._is_head:
                self.sight.judge_one(element)
            return self.sight.searches(element.id)

        return self._inner.search(replace(query, visible=_both(query.visible, visible)))

    def freshness(self, embedder: str, kind: Kind | None = None) -> Freshness:
        """How far vectors follow the texts the caller may know of."""
        fresh = self._inner.freshness(embedder, kind)
        waiting = self.unindexed(embedder, _WAITING) if fresh.pending else []
        waiting = [passage for passage in waiting if kind is None or passage.id[0] == kind.letter]
        index_seq = min((passage.since - 1 for passage in waiting), default=self.seq)
        return replace(fresh, pending=len(waiting), index_seq=min(index_seq, self.seq))

    def unindexed(self, embedder: str, limit: int) -> list[Passage]:
        found = self._inner.unindexed(embedder, limit)
        self.sight.judge(passage.id for passage in found)
        return [passage for passage in found if self._gives(passage.id)]

    def select(self, plan: Any, repeated: Any = None) -> None:  # noqa: ARG002
        """A plan that runs in the database would meet what is hidden; here it runs step by step."""
        return

    def explain(self, plan: Any) -> None:  # noqa: ARG002
        return

    # --- commits ------------------------------------------------------------------------------------------------------

    def control(self, name: str) -> Document | None:
        found = self._inner.control(name)
        if found is None or name != "identity":
            return found
        decisions: Mapping[str, Any] = found.get("decisions", {})
        hidden = {end for end in _ends(found) if not self.sight.sees(end)}
        if not hidden:
            return found
        kept = {
            source: decision
            for source, decision in decisions.items()
            if source not in hidden and decision.get("target") not in hidden
        }
        shows_self = found.get("self") not in hidden
        # Every decision raised the version by one, and so did naming the self: hidden ones are not counted either.
        unseen = len(decisions) - len(kept) + (not shows_self)
        return {
            **found,
            "self": found.get("self") if shows_self else None,
            "decisions": kept,
            "version": found.get("version", unseen) - unseen,
        }

    def commit(self, seq: Seq) -> Commit | None:
        return self._narrowed(self._inner.commit(seq))

    def commit_by_tx(self, tx_id: str) -> Commit | None:
        return self._narrowed(self._inner.commit_by_tx(tx_id))

    def commits(self, *, after: Seq = 0, until: Seq | None = None, limit: int | None = None) -> list[Commit]:
        kept: list[Commit] = []
        while limit is None or len(kept) < limit:
            found = self._inner.commits(after=after, until=until, limit=None if limit is None else limit)
            kept += [commit for commit in map(self._narrowed, found) if commit is not None]
            if limit is None or len(found) < limit:
                break
            after = found[-1].seq
        return kept[:limit]

    def commit_at(self, moment: Timestamp) -> Commit | None:
        """The last commit before it that the caller may know of."""
        found = self._inner.commit_at(moment)
        while found is not None:
            shown = self._narrowed(found)
            if shown is not None:
                return shown
            found = self._inner.commit(found.seq - 1)
        return None

    # --- state beside the graph, which holds nothing of it ------------------------------------------------------------

    def get(self, namespace: str, key: str) -> Document | None:
        return self._inner.get(namespace, key)

    def scan_state(
        self,
        namespace: str,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> list[tuple[str, Document]]:
        return self._inner.scan_state(namespace, prefix=prefix, after=after, limit=limit, reverse=reverse)

    def work(
        self, queue: str, *, statuses: Collection[WorkStatus] | None = None, limit: int | None = None
    ) -> list[Work]:
        return self._inner.work(queue, statuses=statuses, limit=limit)

    def due_work(self, queue: str, now_ms: int, *, limit: int | None = None) -> list[Work]:
        return self._inner.due_work(queue, now_ms, limit=limit)

    def work_by_id(self, work_id: int) -> Work | None:
        return self._inner.work_by_id(work_id)

    def lease(self, name: str) -> Lease | None:
        return self._inner.lease(name)

    # --- inside -------------------------------------------------------------------------------------------------------

    def _gives(self, element_id: ElementId) -> bool:
        """Whether the content of an element is given."""
        return self.sight.of(element_id) is Verdict.READ

    def _scan(self, query: Scan) -> Iterator[Element]:
        if "discover" not in self.sight.authority.permissions:
            return
        found = self._inner.scan(replace(query, limit=None))
        while batch := list(islice(found, _BATCH)):
            stored = {element.id: element for element in batch}
            for element in self._shown(batch):
                # A condition that holds for what is withheld would tell of it.
                if element is stored[element.id] or meets(element, query):
                    yield element

    def _shown(self, found: Iterable[Element]) -> list[Element]:
        """Those that are not hidden, with what is withheld of them left out."""
        elements = list(found)
        self.sight.judge((element.id for element in elements), elements if self._is_head else ())
        seen = [element for element in elements if self.sight.sees(element.id)]
        facets = not self._projects
        references = {element.id: mentioned(element.body, facets=facets) - {element.id} for element in seen}
        named = set().union(*references.values())
        if named:
            self.sight.judge(named)
        return [self._element(element, references[element.id]) for element in seen]

    def _element(self, element: Element, references: set[ElementId]) -> Element:
        body = element.body
        if not self._gives(element.id):
            self.redacted = True
            return Element(element.id, element.kind, identity_only(body))
        hidden = {one for one in references if not self.sight.sees(one)} if references else references
        shown = without(body, hidden, facets=not self._projects) if hidden else body
        withheld = self.sight.withheld(element.id)
        if withheld:
            shown, before = without_fields(shown, withheld), shown
            self.redacted = self.redacted or shown != before
        return element if shown is body else Element(element.id, element.kind, shown)

    def _narrowed(self, commit: Commit | None) -> Commit | None:
        """A commit without the entries of hidden elements; none at all when it changed nothing else."""
        if commit is None:
            return None
        entries: Sequence[Document] = commit.envelope["changes"]
        self.sight.judge({entry["id"] for entry in entries})
        shown = [self._entry(entry) for entry in entries if self.sight.sees(entry["id"])]
        if entries and not shown and not commit.envelope.get("control_changes"):
            return None
        if shown == list(entries):
            return commit
        record = {name: value for name, value in commit.record.items() if name not in _TELLING}
        if "change_summary" in record:
            record["change_summary"] = dict(Counter(str(entry["op"]) for entry in shown))
        return replace(commit, record=record, envelope={**commit.envelope, "changes": shown})

    def _entry(self, entry: Document) -> Document:
        if not self._gives(entry["id"]):
            return {name: value for name, value in entry.items() if name in _IDENTITY}
        refs = entry.get("refs")
        if not refs:
            return entry
        kept = {name: value for name, value in refs.items() if name == "predicate_ref" or self.sight.sees(value)}
        if kept == refs:
            return entry
        return {name: value for name, value in entry.items() if name != "refs"} | ({"refs": kept} if kept else {})


_TELLING = frozenset({"result_digest", "semantic_plan_digest"})
"""Digests over all of a commit: of a guess they would tell whether it is right."""

_IDENTITY = frozenset({"id", "kind", "new_version", "old_version", "op", "schema_ref", "state"})


def _ends(identity: Document) -> Iterator[ElementId]:
    if isinstance(identity.get("self"), str):
        yield identity["self"]
    for source, decision in identity.get("decisions", {}).items():
        yield source
        if isinstance(decision.get("target"), str):
            yield decision["target"]


def _both(first: Callable[[Element], bool] | None, second: Callable[[Element], bool]) -> Callable[[Element], bool]:
    if first is None:
        return second
    return lambda element: first(element) and second(element)
