"""What a query answers, worked out the slow and obvious way: nested loops over everything there is.

It reads the syntax tree, not a plan, and shares nothing with the engine but the parser. Patterns of one stretch between
OPTIONAL, NOT and UNION hold together; element patterns choose their elements first, the rest is tested on these.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from brain.ids import lineage_of, object_key
from brain.kip import ast
from brain.kip.schema import Environment
from brain.store.base import Kind, Scan, Snapshot

Bound: TypeAlias = tuple[str, Any]
"""("element", id), ("value", json), ("symbol", exact ref) or ("edge", (source, field, target, index))."""

Solution: TypeAlias = Mapping[str, Bound]

KINDS = {
    ast.ConceptPattern: Kind.CONCEPT,
    ast.AssertionPattern: Kind.ASSERTION,
    ast.EvidencePattern: Kind.EVIDENCE,
    ast.ActivityPattern: Kind.ACTIVITY,
}
ORDERED = {"has_step"}
REFERENCES = {"asserted_by", "proposition"}


class Oracle:
    def __init__(self, snapshot: Snapshot, environment: Environment) -> None:
        self.environment = environment
        self.bodies = {e.id: e.body for kind in Kind for e in snapshot.scan(Scan(kind, states=None))}
        self.tuples = [
            b for b in self.bodies.values() if b["kind"] == "proposition" and b["_system"]["state"] == "active"
        ]

    def rows(self, find: ast.Find) -> list[list[Any]]:
        """Every row of a FIND of plain variables, in the documented order, uncut."""
        names = visible(find.where)
        distinct: dict[str, Solution] = {}
        for solution in self.solve(find.where, {}):
            shown = {name: solution.get(name) for name in names}
            distinct.setdefault(json.dumps(shown, sort_keys=True), solution)
        ordered = sorted(distinct.values(), key=lambda s: [place(s.get(name)) for name in names])
        for item in reversed(find.order_by):
            ordered = self._sorted(ordered, item)
        return [[self.show(s.get(node.name)) for node in find.projections] for s in ordered]  # type: ignore[union-attr]

    def _sorted(self, solutions: list[Solution], item: ast.OrderItem) -> list[Solution]:
        valued = [(self.value(item.key, s), s) for s in solutions]
        known = [(v, s) for v, s in valued if v is not None]
        known.sort(key=lambda pair: (isinstance(pair[0], str), pair[0]), reverse=item.descending)
        return [s for _, s in known] + [s for v, s in valued if v is None]

    # --- blocks -------------------------------------------------------------------------------------------------------

    def solve(self, where: ast.Where, seed: Solution) -> list[Solution]:
        rows: list[Solution] = [seed]
        stretch: list[ast.WhereClause] = []
        for clause in where.clauses:
            if not isinstance(clause, (ast.Not, ast.Optional, ast.Union)):
                stretch.append(clause)
                continue
            rows, stretch = self._stretch(stretch, rows), []
            if isinstance(clause, ast.Not):
                rows = [row for row in rows if not self.solve(clause.where, row)]
            elif isinstance(clause, ast.Optional):
                rows = [found for row in rows for found in self.solve(clause.where, row) or [row]]
            else:
                right = self.solve(clause.where, {})
                rows = rows + [{**seed, **row} for row in right if self._agrees(seed, row)]
        return self._stretch(stretch, rows)

    def _agrees(self, left: Solution, right: Solution) -> bool:
        return all(left[n][0] == right[n][0] and _equal(left[n][1], right[n][1]) for n in left.keys() & right.keys())

    def _stretch(self, clauses: list[ast.WhereClause], rows: list[Solution]) -> list[Solution]:
        scans = [clause for clause in clauses if type(clause) in KINDS]
        for clause in scans:
            rows = [found for row in rows for found in self._choose(clause, row)]
        for clause in scans:
            rows = [found for row in rows for found in self._members(clause, row)]
        paths = [c for c in clauses if isinstance(c, ast.PropositionPattern) and _is_path(c)]
        for clause in clauses:
            if clause not in scans and clause not in paths and not isinstance(clause, ast.Filter):
                rows = [found for row in rows for found in self._pattern(clause, row)]
        for clause in paths:
            rows = [found for row in rows for found in self._path(clause, row)]
        filters = [clause for clause in clauses if isinstance(clause, ast.Filter)]
        return [row for row in rows if all(self.test(f.expression, row) is True for f in filters)]

    # --- patterns -----------------------------------------------------------------------------------------------------

    def _choose(self, clause: Any, row: Solution) -> Iterator[Solution]:
        """Every element a pattern's variable may be, by its fixed members."""
        for body in self.bodies.values():
            chosen = ("element", body["id"])
            if body["kind"] != KINDS[type(clause)] or row.get(clause.variable.name, chosen) != chosen:
                continue
            if self._fits(body, clause.match):
                yield {**row, clause.variable.name: chosen}

    def _fits(self, body: Any, match: ast.ObjectPattern) -> bool:
        named = {member.name: member.value for member in match.members}
        if "state" not in named and body["_system"]["state"] != "active":
            return False
        for name, value in named.items():
            if isinstance(value, ast.ObjectPattern):
                for member in value.members:
                    if isinstance(member.value, ast.Literal) and not _equal(
                        body.get(name, {}).get(member.name), member.value.value
                    ):
                        return False
            elif isinstance(value, ast.Literal) and not self._fits_member(body, name, value.value):
                return False
        return True

    def _fits_member(self, body: Any, name: str, wanted: Any) -> bool:
        if name == "type":
            return lineage_of(body["schema_ref"]) in self.environment.lineages("concept_type", wanted)
        if name == "state":
            return bool(body["_system"]["state"] == wanted)
        if name in REFERENCES:
            return self.canonical(body[name]["id"]) == self.canonical(wanted)
        return _equal(body.get(name), wanted)

    def _members(self, clause: Any, row: Solution) -> Iterator[Solution]:
        """What a pattern's variable members bind of the chosen element."""
        body = self.bodies[row[clause.variable.name][1]]
        found = dict(row)
        for member in clause.match.members:
            for name, path in _variables(member):
                bound = self._member(body, path)
                if bound is None or not self._same(found.get(name, bound), bound):
                    return
                found.setdefault(name, bound)
        yield found

    def _member(self, body: Any, path: tuple[str, ...]) -> Bound | None:
        if path == ("state",):
            return ("value", body["_system"]["state"])
        value = body
        for step in path:
            if not isinstance(value, dict) or step not in value:
                return None
            value = value[step]
        if path[0] in REFERENCES:
            return ("element", self.canonical(value["id"]))
        return ("value", value)

    def _pattern(self, clause: Any, row: Solution) -> Iterator[Solution]:
        if isinstance(clause, ast.PropositionPattern):
            assert isinstance(clause.proposition, ast.PropositionTuple)
            yield from self._tuple(clause.variable, clause.proposition, row)
        else:
            assert isinstance(clause, ast.StructuralPattern)
            yield from self._structural(clause, row)

    def _tuple(self, link: ast.Variable | None, pattern: ast.PropositionTuple, row: Solution) -> Iterator[Solution]:
        for body in self.tuples:
            found = dict(row)
            chosen = ("element", body["id"])
            if link is not None and found.setdefault(link.name, chosen) != chosen:
                continue
            if not any(self._predicate(atom.predicate, body["predicate_ref"], found) for atom in pattern.path):
                continue
            for one in self._end(pattern.subject, body["subject"], found):
                yield from self._end(pattern.object, body["object"], one)

    def _predicate(self, node: ast.PredicateAtom, ref: str, found: dict[str, Bound]) -> bool:
        if isinstance(node, ast.Variable):
            return found.setdefault(node.name, ("symbol", ref)) == ("symbol", ref)
        assert isinstance(node, ast.Literal)
        return lineage_of(ref) in self.environment.lineages("predicate", str(node.value))

    def _end(self, term: ast.Term, stored: Any, row: Solution) -> Iterator[Solution]:
        """The row, when a term agrees with a stored end."""
        key = self.canonical(object_key(stored))
        if isinstance(term, ast.Variable):
            bound = ("element", key) if isinstance(stored, dict) else ("value", stored)
            if self._same(row.get(term.name, bound), bound):
                yield {term.name: bound, **row}
        elif isinstance(term, ast.Literal):
            if key in (self.canonical(str(term.value)), object_key(term.value)):
                yield row
        else:
            assert isinstance(term, ast.ObjectPattern)
            for body in self.bodies.values():
                if body["kind"] == "concept" and self.canonical(body["id"]) == key and self._fits(body, term):
                    yield row

    def _structural(self, clause: ast.StructuralPattern, row: Solution) -> Iterator[Solution]:
        assert isinstance(clause.field, ast.Literal)
        name = str(clause.field.value)
        for body in self.bodies.values():
            for symbol, targets in body.get("structural", {}).items():
                if not symbol.endswith(f"/{name}"):
                    continue
                for index, target in enumerate(targets):
                    edge = ("edge", (body["id"], symbol, target["id"], index if name in ORDERED else None))
                    found = dict(row)
                    if clause.variable is not None and found.setdefault(clause.variable.name, edge) != edge:
                        continue
                    for one in self._end(clause.source, {"id": body["id"]}, found):
                        yield from self._end(clause.target, target, one)

    def _path(self, clause: ast.PropositionPattern, row: Solution) -> Iterator[Solution]:
        pattern = clause.proposition
        assert isinstance(pattern, ast.PropositionTuple)
        for start, end in sorted(self._pairs(pattern)):
            for one in self._end(pattern.subject, _stored(start), row):
                yield from self._end(pattern.object, _stored(end), one)

    def _pairs(self, pattern: ast.PropositionTuple) -> set[tuple[str, str]]:
        """All pairs of ends that some alternative joins, as keys."""
        pairs: set[tuple[str, str]] = set()
        for atom in pattern.path:
            assert isinstance(atom.predicate, ast.Literal)
            lineages = self.environment.lineages("predicate", str(atom.predicate.value))
            hop = {
                (self.canonical(b["subject"]["id"]), self.canonical(object_key(b["object"])))
                for b in self.tuples
                if lineage_of(b["predicate_ref"]) in lineages
            }
            least, most = (atom.hops.least, atom.hops.most) if atom.hops else (1, 1)
            reached = {(self.canonical(element_id),) * 2 for element_id in self.bodies}
            for hops in range(1 + (len(self.bodies) + least if most is None else most)):
                if hops >= least:
                    pairs |= reached
                reached = {(start, end) for start, middle in reached for one, end in hop if middle == one}
        return pairs

    # --- values -------------------------------------------------------------------------------------------------------

    def canonical(self, key: str) -> str:
        while key in self.bodies and "merged_into" in self.bodies[key]:
            key = self.bodies[key]["merged_into"]["id"]
        return key

    def _same(self, left: Bound, right: Bound) -> bool:
        if left[0] == right[0] == "element":
            return self.canonical(left[1]) == self.canonical(right[1])
        return left[0] == right[0] and _equal(left[1], right[1])

    def value(self, node: Any, row: Solution) -> Any:
        if isinstance(node, ast.Literal):
            return node.value
        name = node.name if isinstance(node, ast.Variable) else node.root.name
        bound = row.get(name)
        if bound is None:
            return None
        if isinstance(node, ast.Variable):
            return bound[1] if bound[0] != "edge" else str(bound)
        value = self.show(bound)
        for step in node.steps:
            value = value.get(step) if isinstance(value, dict) else None
        return value

    def test(self, node: Any, row: Solution) -> bool | None:
        if isinstance(node, ast.Unary):
            inner = self.test(node.operand, row)
            return None if inner is None else not inner
        if isinstance(node, ast.FunctionCall):
            first = self.value(node.arguments[0], row)
            if node.name == "IN":
                listed: Any = node.arguments[1]
                candidates = [item.value for item in listed.items]
                return None if first is None else any(_equal(first, candidate) for candidate in candidates)
            assert node.name == "IS_NULL"
            return first is None
        if node.operator in ("&&", "||"):
            parts = [self.test(node.left, row), self.test(node.right, row)]
            decisive = node.operator == "||"
            return decisive if decisive in parts else None if None in parts else not decisive
        left, right = self.value(node.left, row), self.value(node.right, row)
        if left is None or right is None:
            return None
        same = _equal(left, right)
        if node.operator in ("==", "!="):
            return same is (node.operator == "==")
        if isinstance(left, str) is not isinstance(right, str):
            return False
        return bool(left < right if node.operator == "<" else left > right)

    def show(self, bound: Bound | None) -> Any:
        if bound is None:
            return None
        kind, value = bound
        if kind == "element":
            return self.bodies[value]
        if kind == "edge":
            source, symbol, target, index = value
            return {"source": {"id": source}, "field": symbol, "target": {"id": target}, "index": index}
        return value


def visible(where: ast.Where) -> list[str]:
    """Names that a block hands on, edges behind the rest."""
    names: dict[str, None] = {}
    edges: dict[str, None] = {}
    for clause in where.clauses:
        if isinstance(clause, (ast.Optional, ast.Union)):
            names |= dict.fromkeys(visible(clause.where))
        elif not isinstance(clause, (ast.Not, ast.Filter)):
            names |= dict.fromkeys(_names(clause))
        edges |= dict.fromkeys(_edges(clause))
    return [name for name in names if name not in edges] + [name for name in names if name in edges]


def place(bound: Bound | None) -> list[Any]:
    """A binding's place in the order of rows: elements by kind and number, values, symbols, edges, unbound."""
    if bound is None:
        return [9]
    kind, value = bound
    if kind == "element":
        return [0, "CPAEX".index(value[0]), int(value[2:])]
    if kind == "value":
        return [1, isinstance(value, str), value]
    if kind == "symbol":
        return [2, value]
    source, symbol, target, index = value
    first, last = place(("element", source)), place(("element", target))
    return [3, *first[1:], lineage_of(symbol), -1 if index is None else index, *last[1:]]


def _edges(clause: Any) -> Iterator[str]:
    if isinstance(clause, (ast.Optional, ast.Union)):
        for inner in clause.where.clauses:
            yield from _edges(inner)
    elif isinstance(clause, ast.StructuralPattern) and clause.variable is not None:
        yield clause.variable.name


def _names(node: Any) -> Iterator[str]:
    """Variables of a pattern in the order of the text."""
    if isinstance(node, ast.Variable):
        yield node.name
    for name in getattr(node, "__dataclass_fields__", ()):
        value = getattr(node, name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, ast.Node):
                yield from _names(item)


def _variables(member: ast.PatternMember, above: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    path = (*above, member.name)
    if isinstance(member.value, ast.Variable):
        yield member.value.name, path
    elif isinstance(member.value, ast.ObjectPattern):
        for inner in member.value.members:
            yield from _variables(inner, path)


def _is_path(clause: ast.PropositionPattern) -> bool:
    return isinstance(clause.proposition, ast.PropositionTuple) and any(a.hops for a in clause.proposition.path)


def _stored(key: str) -> Any:
    return json.loads(key) if key.startswith('"') else {"id": key}


def _equal(left: Any, right: Any) -> bool:
    return isinstance(left, bool) is isinstance(right, bool) and bool(left == right)
