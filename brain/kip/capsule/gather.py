"""What a Capsule is made of: the roots, what they lead to, and what stays outside (KIP 2.0 §40, §41.1, §63.4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from brain import errors
from brain.ids import is_element_id
from brain.kip import ast
from brain.kip.capsule.options import Options
from brain.kip.capsule.references import MEANING, ORIGIN, facet_references, references
from brain.kip.context import Run
from brain.kip.execute.graph import Graph
from brain.kip.execute.results import solutions
from brain.kip.govern import is_permitted
from brain.kip.governance.sight import Verdict
from brain.kip.plan import plan_of_where
from brain.kip.resolve import Binder, present_id
from brain.store.base import Document, EdgeScan, Element, ElementId, Kind, element_number

_KINDS = tuple(Kind)
_NO_SELECTION = (ast.Filter, ast.Not, ast.Optional)


@dataclass(frozen=True, slots=True)
class Omitted:
    """An element that is referred to and not exported: an ExternalRef's kind, and what is known of it."""

    kind: str
    locator: Document


@dataclass(slots=True)
class Gathered:
    """The elements of a Capsule by id, the roots among them, and what is referred to and stays outside."""

    roots: list[ElementId] = field(default_factory=list)
    records: dict[ElementId, Element] = field(default_factory=dict)
    omitted: dict[ElementId, Omitted] = field(default_factory=dict)


def in_order(ids: Iterable[ElementId]) -> list[ElementId]:
    """Ids by kind, then number: the order of records."""
    kinds = {kind.letter: place for place, kind in enumerate(_KINDS)}
    return sorted(ids, key=lambda element_id: (kinds[element_id[0]], element_number(element_id)))


def roots_of(statement: ast.ExportCapsule, run: Run) -> list[ElementId]:
    """The elements bound to the statement's target, or the one element it names when WHERE holds.

    raises  InvalidSyntax for a WHERE that selects nothing, TypeMismatch for a variable bound to anything but elements,
            InvalidIdentifier, NotFoundOrNotVisible for a named root
    """
    clauses = statement.where.clauses
    if all(isinstance(clause, _NO_SELECTION) for clause in clauses):
        raise errors.InvalidSyntax(
            "WHERE has no pattern that selects elements, and an export without bounds is no Capsule.",
            hint='Add a pattern, for example ?r {type: "Person", key: :key}.',
        )
    named = None if isinstance(statement.target, ast.Variable) else _named(statement.target, run)
    found = solutions(plan_of_where(statement.where, run), Graph(run))
    if isinstance(statement.target, ast.Variable):
        cells = {solution[statement.target.name] for solution in found} - {None}
        if not all(isinstance(cell, str) for cell in cells):
            raise errors.TypeMismatch(f"?{statement.target.name} is bound to values, and a root is an element.")
        return in_order({str(cell) for cell in cells})
    return [named] if found and named is not None else []


def gather(roots: list[ElementId], run: Run, options: Options) -> Gathered:
    """Everything a Capsule of these roots holds and names, from the one snapshot of the run.

    raises  ResultLimitExceeded when the records alone pass `limits.artifact_bytes`, ExecutionTimeout
    """
    walk = _Walk(run, options)
    walk.add(roots)
    for _ in range(options.provenance_depth):
        if not walk.add(walk.behind()):
            break
    walk.done.roots = [root for root in roots if root in walk.done.records]
    walk.name_omitted()
    return walk.done


class _Walk:
    """The closure as it grows."""

    def __init__(self, run: Run, options: Options) -> None:
        self.run = run
        self.graph = Graph(run)
        self.options = options
        self.done = Gathered()
        self._bytes = 0
        self._outside: set[ElementId] = set()

    def add(self, ids: Iterable[ElementId]) -> bool:
        """Take these and what they lead to; whether anything was new."""
        before = len(self.done.records)
        frontier = set(ids)
        while frontier := frontier - self.done.records.keys() - self.done.omitted.keys():
            self.graph.check_deadline()
            found = self.run.snapshot.elements(frontier)
            self._outside -= frontier
            following: set[ElementId] = set()
            for element_id in in_order(frontier):
                element = found.get(element_id)
                why = self._withheld(element_id, element)
                if element is None or why is not None:
                    self.done.omitted[element_id] = self._omission(element_id, element, why or "unavailable")
                else:
                    self._keep(element)
                    following |= self._following(element)
            frontier = following
        return len(self.done.records) > before

    def behind(self) -> set[ElementId]:
        """One step back: what the records cite and came out of, and what went into that."""
        here = self.done.records
        made = self.run.snapshot.edges(EdgeScan(fields=frozenset({"outputs"}), targets=frozenset(here)))
        found = {edge.source for edge in made}
        return found | {to for element in here.values() for member, to in references(element.body) if member in ORIGIN}

    def name_omitted(self) -> None:
        """Say of each element that is only referred to where it is, without reading further from there."""
        found = self.run.snapshot.elements(self._outside)
        for element_id in in_order(self._outside):
            element = found.get(element_id)
            why = self._withheld(element_id, element) or "source_element"
            self.done.omitted[element_id] = self._omission(element_id, element, why)

    # --- inside -------------------------------------------------------------------------------------------------------

    def _keep(self, element: Element) -> None:
        self._bytes += len(orjson.dumps(element.body))
        check_size(self.run, self._bytes)
        self.done.records[element.id] = element

    def _following(self, element: Element) -> set[ElementId]:
        """What an element makes part of the Capsule; what it refers to beyond that is kept in mind as outside."""
        direct = set(references(element.body))
        nested = {to for _, to in facet_references(self.run.environment, element.body) if is_element_id(to)}
        everything = {to for _, to in direct} | nested
        if self.options.closure == "closed":
            wanted = everything
        elif self.options.closure == "referential":
            wanted = {to for member, to in direct if member in MEANING}
        else:
            wanted = set()
        self._outside |= everything - wanted - self.done.records.keys() - self.done.omitted.keys()
        return wanted

    def _withheld(self, element_id: ElementId, element: Element | None) -> str | None:
        """Why an element cannot be given out; None when it can."""
        if element is None or element.state == "purged":
            return "unavailable"
        sight = self.run.sight
        if sight is not None and sight.of(element_id) is not Verdict.READ:
            return "redacted"
        return None if is_permitted(self.run.session, "export", element) else "redacted"

    def _omission(self, element_id: ElementId, element: Element | None, kind: str) -> Omitted:
        locator: dict[str, Any] = {"space_id": self.run.space_uri, "element_id": element_id}
        if element is None or kind == "redacted":
            return Omitted(kind, locator)
        canonical_id = element.body.get("canonical_id")
        if kind == "source_element" and isinstance(canonical_id, str):
            return Omitted("canonical_identity", locator | {"canonical_id": canonical_id})
        return Omitted(kind, locator | {"version": element.version})


def check_size(run: Run, size: int) -> None:
    """ResultLimitExceeded for a Capsule that nobody here would take back."""
    if size > run.limits.artifact_bytes:
        raise errors.ResultLimitExceeded(
            f"The Capsule would pass {run.limits.artifact_bytes} bytes.",
            hint='Select fewer roots, or export with closure "selective".',
            details={"limit": run.limits.artifact_bytes},
        )


def _named(target: ast.Scalar, run: Run) -> ElementId:
    value = Binder.of(run).scalar(target)
    if isinstance(value, dict) and value.keys() == {"id"}:
        value = value["id"]
    if not isinstance(value, str):
        raise errors.TypeMismatch("EXPORT CAPSULE takes the id of an element, or a variable.")
    return present_id(run, value, "The root of EXPORT CAPSULE")
