"""A snapshot that asks for nothing twice, and for what comes next together.

A question to Neo4j takes longest on its way. So a reader says what it is about to ask for (`Snapshot.expect`), all of
that is fetched in one statement, and the questions that follow are answered from what is at hand. What a snapshot has
read stays true as long as it is open; what is not at hand is asked for as ever.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from brain.ids import object_key
from brain.store.base import Edge, Element, ElementId, Json, Scan, TupleScan, element_number
from brain.store.neo4j.keys import ID_LETTERS, indexed_all
from brain.store.neo4j.scans import HOLDS, ScanPlan, plan_scan
from brain.store.neo4j.snapshot import PAGE, Neo4jSnapshot
from brain.store.neo4j.tuples import pattern_of
from brain.store.neo4j.versions import element_of
from brain.store.rows import indexed_object

if TYPE_CHECKING:
    from brain.store.neo4j import plans

KEPT = 8_000
"""Elements at hand from which on no more are kept."""

_MOST = 1_000
"""Propositions, or claims, up to which they are worth reading ahead."""

_FEW = 256
"""Ends of hops up to which they are read ahead as well."""

_FARTHEST = 4
"""Hops that are read ahead together."""

_OF_ID = (
    "MATCH (v:Version) USING INDEX SEEK v:Version(space, id, from_seq)"
    " WHERE v.space = $space AND v.id = id AND v.from_seq <= $at AND $at < v.to_seq"
)
_CLAIMS = (
    " WITH v LIMIT $most WITH collect(v.body) AS tuples, collect(v.id) AS about"
    " CALL (about) { UNWIND about AS id MATCH (v:Version) USING INDEX SEEK v:Version(space, proposition)"
    " WHERE v.space = $space AND v.proposition = id AND v.from_seq <= $at AND $at < v.to_seq"
    " WITH v LIMIT $most RETURN collect(v.body) AS claims, collect(v.id) AS made, collect(v.cites) AS lists }"
    " CALL (lists) { UNWIND lists AS list UNWIND list AS id RETURN collect(DISTINCT id) AS cited }"
    f" CALL (cited) {{ UNWIND cited AS id {_OF_ID} RETURN collect(v.body) AS evidence }}"
    " CALL (made, cited) { UNWIND made + cited AS id"
    " MATCH (e)-[r:PRODUCED]->() USING INDEX SEEK r:PRODUCED(space, target)"
    " WHERE r.space = $space AND r.target = id AND r.from_seq <= $at AND $at < r.to_seq"
    " RETURN collect([e.id, r.field, r.target, r.position, r.role]) AS makers }"
    " RETURN [tuples, claims, made + cited, evidence, makers]"
)

_Way = tuple[bool, frozenset[str] | None, frozenset[str] | None]
"""Whether Propositions are found by their objects, of which predicates, in which states."""


_ONE = "CASE WHEN size(starts) = 1 THEN [starts[0][2]] ELSE [] END"
"""The one element of a scan."""


@dataclass(frozen=True, slots=True)
class _Following:
    """What will be asked of the element that the next scan finds."""

    query: TupleScan
    hops: int
    is_of_claims: bool

    @property
    def text(self) -> str:
        if not self.is_of_claims:
            return _levels(_ONE, self.hops, is_backwards=False)
        return (
            f"UNWIND {_ONE} AS start MATCH (v:Version) USING INDEX SEEK v:Version(space, subject, type, object_key)"
            " WHERE v.space = $space AND v.subject = start AND v.type IN $along AND v.object_key IS NOT NULL"
            f" AND v.state IN $alive AND {HOLDS}{_CLAIMS}"
        )


class AheadSnapshot(Neo4jSnapshot):
    """The same answers as `Neo4jSnapshot`, in fewer round trips."""

    def __init__(self, *args: Any, **members: Any) -> None:
        super().__init__(*args, **members)
        self._elements: dict[ElementId, Element] = {}
        self._tuples: dict[TupleScan, list[Element]] = {}
        self._leading: dict[_Way, dict[str, list[Element]]] = {}
        self._claims: dict[ElementId, list[Element]] = {}
        self._makers: dict[ElementId, list[Edge]] = {}
        self._following: _Following | None = None

    def expect(self, query: TupleScan, *, hops: int = 1, claims: bool = False, of_next_scan: bool = False) -> None:
        if of_next_scan:
            self._following = _Following(query, min(hops, _FARTHEST), is_of_claims=claims)
        elif claims:
            self._expect_claims(query)
        elif hops > 1 and (query.subjects is None) is not (query.objects is None):
            self._expect_hops(query, min(hops, _FARTHEST))

    # --- reads --------------------------------------------------------------------------------------------------------

    def elements(self, ids: Collection[ElementId]) -> dict[ElementId, Element]:
        self._time_left()
        found = {element_id: element for element_id in ids if (element := self._elements.get(element_id)) is not None}
        missing = [element_id for element_id in ids if element_id not in found]
        if missing:
            found |= {element.id: element for element in self._keep(super().elements(missing).values())}
        return found

    def scan(self, query: Scan) -> Iterator[Element]:
        following, self._following = self._following, None
        plan = plan_scan(query)
        if following is None or plan is None or not plan.is_by_text or plan.members:
            return super().scan(query)
        return islice(self._found_with(plan, query, following), query.limit)

    def tuples(self, query: TupleScan) -> list[Element]:
        self._time_left()
        known = self._tuples.get(query)
        if known is None:
            known = self._led_to(query)
        return self._keep(super().tuples(query)) if known is None else list(known)

    def assertions(self, about: Collection[ElementId]) -> list[Element]:
        self._time_left()
        if not all(proposition in self._claims for proposition in about):
            return self._keep(super().assertions(about))
        return _in_order(claim for proposition in set(about) for claim in self._claims[proposition])

    def _edges_to(self, fields: Collection[str] | None, targets: Collection[ElementId] | None) -> list[Edge]:
        if fields != {"outputs"} or targets is None or not all(target in self._makers for target in targets):
            return super()._edges_to(fields, targets)
        return [edge for target in set(targets) for edge in self._makers[target]]

    def _run_plan(self, statement: plans.Statement) -> Iterator[tuple[Json, ...]]:
        for row in super()._run_plan(statement):
            self._keep(cell for cell in row if isinstance(cell, Element))
            yield row

    # --- what is fetched before it is asked for -----------------------------------------------------------------------

    def _expect_claims(self, query: TupleScan) -> None:
        pattern = pattern_of(query)
        if pattern is None or query in self._tuples:
            return
        match, parameters = pattern
        self._keep_claims(query, self._value(f"{match}{_CLAIMS} AS found", most=_MOST, **parameters))

    def _keep_claims(self, query: TupleScan, found: list[list[Any]]) -> None:
        tuples, claims, made, evidence, makers = found
        propositions = _in_order(map(element_of, tuples))
        if len(propositions) == _MOST or len(claims) == _MOST:
            return
        self._tuples[query] = self._keep(propositions)
        self._claims.update({proposition.id: [] for proposition in propositions})
        for claim in self._keep(map(element_of, claims)):
            self._claims[claim.body["proposition"]["id"]].append(claim)
        self._keep(map(element_of, evidence))
        self._makers.update({element_id: [] for element_id in made})
        for edge in makers:
            self._makers[edge[2]].append(Edge(*edge))

    def _expect_hops(self, query: TupleScan, hops: int) -> None:
        is_backwards = query.subjects is None
        leading = self._leading.setdefault((is_backwards, query.predicates, query.states), {})
        starts = {indexed_object(key) for key in query.objects or query.subjects or ()}
        if query.predicates is None or query.states is None or starts <= leading.keys():
            return
        ends = sorted(starts)
        found = self._value(
            f"{_levels('$ends', hops, is_backwards=is_backwards)} AS found",
            most=_MOST,
            few=_FEW,
            ends=ends,
            along=indexed_all(query.predicates),
            alive=sorted(query.states),
        )
        self._keep_hops(leading, ends, found, is_backwards=is_backwards)

    def _keep_hops(
        self, leading: dict[str, list[Element]], ends: list[str], found: list[list[Any]], *, is_backwards: bool
    ) -> None:
        at_ends, *levels = found
        self._keep(map(element_of, at_ends))
        for reached, bodies in zip([ends, *levels[1::2]], levels[::2], strict=False):
            if len(bodies) == _MOST:
                return
            leading.update({end: [] for end in reached})
            for proposition in self._keep(map(element_of, bodies)):
                leading[_near(proposition, is_backwards=is_backwards)].append(proposition)

    def _found_with(self, plan: ScanPlan, query: Scan, following: _Following) -> Iterator[Element]:
        """The elements of a scan, and what is asked of the one it finds."""
        wanted = following.query
        starts, ahead = self._value(
            f"{plan.found} WITH collect([v.number, v.body, v.id]) AS starts"
            f" CALL (starts) {{ {following.text} AS ahead }} RETURN [starts, ahead] AS found",
            after=query.after,
            limit=PAGE if query.limit is None else max(1, min(PAGE, query.limit)),
            most=_MOST,
            few=_FEW,
            along=indexed_all(wanted.predicates or ()),
            alive=sorted(wanted.states or ()),
            **plan.parameters,
        )
        if len(starts) == 1:
            start = starts[0][2]
            if following.is_of_claims:
                self._keep_claims(replace(wanted, subjects=frozenset((start,))), ahead)
            else:
                leading = self._leading.setdefault((False, wanted.predicates, wanted.states), {})
                self._keep_hops(leading, [start], ahead, is_backwards=False)
        yield from self._keep(element_of(body) for _, body, _ in starts)
        if len(starts) == PAGE:
            yield from self._matching(plan, starts[-1][0], None)

    def _led_to(self, query: TupleScan) -> list[Element] | None:
        """Propositions by one end, when those of every end asked for are at hand."""
        if query.pairs is not None or (query.subjects is None) is (query.objects is None):
            return None
        leading = self._leading.get((query.subjects is None, query.predicates, query.states))
        ends = {indexed_object(key) for key in query.objects or query.subjects or ()}
        if leading is None or not ends <= leading.keys():
            return None
        return _in_order(proposition for end in ends for proposition in leading[end])

    def _keep(self, elements: Iterable[Element]) -> list[Element]:
        found = list(elements)
        if len(self._elements) < KEPT:
            self._elements.update((element.id, element) for element in found)
        return found


def _levels(starts: str, hops: int, *, is_backwards: bool) -> str:
    """A statement of the Propositions that lead on from some ends, level by level, each with the ends it leads to."""
    near, far, index = ("object_key", "v.subject", "object_key, type")
    if not is_backwards:
        far = f"CASE WHEN left(v.object_key, 1) IN {ID_LETTERS} THEN v.object_key END"
        near, index = "subject", "subject, type, object_key"
    text = [f"WITH {starts} AS ends0"]
    for level in range(1, hops + 1):
        before = f"ends{level - 1}" + (f", level{level - 1}" if level > 1 else "")
        # Behind a level that is too large none is worth reading.
        ends = f"CASE WHEN size(level{level - 1}) < $most THEN ends{level - 1} ELSE [] END" if level > 1 else "ends0"
        text.append(
            f"CALL ({before}) {{ UNWIND {ends} AS end MATCH (v:Version) USING INDEX SEEK v:Version(space, {index})"
            f" WHERE v.space = $space AND v.{near} = end AND v.type IN $along AND v.object_key IS NOT NULL"
            f" AND v.state IN $alive AND {HOLDS}"
            f" WITH v LIMIT $most RETURN collect(v.body) AS level{level}, collect(DISTINCT {far}) AS ends{level} }}"
        )
    reached = " + ".join(f"ends{level}" for level in range(1, hops + 1))
    levels = ", ".join(f"level{level}, ends{level}" for level in range(1, hops + 1))
    text.append(
        f"WITH {levels}, CASE WHEN size({reached}) <= $few THEN {reached} ELSE [] END AS named"
        f" CALL (named) {{ UNWIND named AS id WITH DISTINCT id {_OF_ID} RETURN collect(v.body) AS bodies }}"
        f" RETURN [bodies, {levels}]"
    )
    return " ".join(text)


def _near(proposition: Element, *, is_backwards: bool) -> str:
    """The end by which a Proposition was found, as versions have it."""
    body = proposition.body
    return indexed_object(object_key(body["object"])) if is_backwards else str(body["subject"]["id"])


def _in_order(elements: Iterable[Element]) -> list[Element]:
    return sorted(elements, key=lambda element: element_number(element.id))
