"""What every clause of a mutation goes through, and how its targets are found (KIP 2.0 §52.7, §53, §58.4).

The clauses of a block are one declarative plan: each phase runs over all of them before the next begins. New elements
get their ids first, so that handles may be used before they are declared; every WHERE reads the state before the block;
then values are filled in, and only the final state is checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from brain import errors
from brain.ids import Symbol, is_element_id
from brain.kip import ast
from brain.kip.walk import children
from brain.kip.write import refs
from brain.kip.write.select import Row, rows_of
from brain.kip.write.values import Values
from brain.kip.write.work import Draft, Workspace, by_number
from brain.store.base import Element, ElementId

Clause = TypeVar("Clause", bound=ast.Node)


class Step(Generic[Clause]):
    """One clause on its way through the phases; a phase it has no part in does nothing."""

    def __init__(self, work: Workspace, clause: Clause, position: int) -> None:
        self.work = work
        self.clause = clause
        self.position = position

    @property
    def handles(self) -> tuple[str, ...]:
        """Names this clause declares."""
        handle = getattr(self.clause, "handle", None)
        return (handle.name,) if handle is not None else ()

    def declare(self) -> None:
        """Give ids to what the clause creates, and bind its handle."""

    def foresee(self) -> None:
        """Work out which tuples the clause will look up, as far as that needs no other clause."""

    def resolve(self) -> None:
        """Find or create the Proposition the clause is about."""

    def select(self) -> None:
        """Find the elements the clause changes."""

    def fill(self) -> None:
        """Write values into working copies."""

    def move(self) -> None:
        """Make lifecycle moves, merges and erasures, when all content is there."""

    def bind(self, name: str, element_id: ElementId) -> None:
        if name in self.work.handles:
            raise errors.DuplicateLocalHandle(f"?{name} is declared twice in one block.", details={"handle": name})
        self.work.handles[name] = element_id


class TargetStep(Step[Clause]):
    """A clause that changes elements that exist: named ones, or those its WHERE selects.

    permission    what the session must hold; None when the clause decides for itself
    reaches_stub  whether a purged element may be named; of its stub nothing changes any more
    """

    permission: ClassVar[str | None] = None
    reaches_stub: ClassVar[bool] = False

    targets: list[ElementId]
    rows: list[Row]

    def select(self) -> None:
        clause: Any = self.clause
        if self.permission is not None:
            self.work.permit(self.permission)
        where: ast.Where | None = clause.where
        limit = None
        if getattr(clause, "limit", None) is not None:
            limit = Values(self.work).count(clause.limit, "LIMIT")
        self.rows = rows_of(self.work, where) if where is not None else []
        target: ast.Target = clause.target
        if isinstance(target, ast.Variable) and self.is_swept(target):
            self.targets = by_number(bound_elements(self.rows, target.name))[:limit]
            self.work.swept = (self.work.swept or set()) | set(self.targets)
        else:
            guarded = where is not None and not self.rows
            element_id = self.name_target(target)
            self.targets = [] if guarded or limit == 0 else [element_id]
        self.work.find(self.targets)

    def is_swept(self, target: ast.Variable) -> bool:
        """Whether the clause's own WHERE binds the target."""
        where: ast.Where | None = getattr(self.clause, "where", None)
        return where is not None and target.name in variables_of(where)

    def name_target(self, target: ast.Target) -> ElementId:
        """The id of a target that is named: by handle, parameter or quoted id; it has to exist."""
        values = Values(self.work)
        if isinstance(target, ast.Variable):
            return values.handle(target.name)
        return named_target(self.work, values.scalar(target))

    def drafts(self) -> Iterator[Draft]:
        """The targets' working copies, guards checked."""
        for element_id in self.targets:
            draft = self.work.draft(element_id)
            if self.permission is not None and draft.before is not None:
                self.work.permit(self.permission, draft.before)
            check_guards(self.work, draft.before, draft.id, getattr(self.clause, "expect", ()))
            if not self.reaches_stub:
                refuse_stub(draft)
            yield draft


def refuse_stub(draft: Draft) -> None:
    """What is left of a purged element stays as it is (§60.6)."""
    if draft.state == "purged":
        raise errors.InvalidLifecycleTransition(
            f"{draft.id} was purged; the stub that is left of it does not change.",
            details={"element": draft.id, "from": "purged"},
        )


def named_target(work: Workspace, value: Any) -> ElementId:
    """The element a statement names as its target."""
    if isinstance(value, str) and not is_element_id(value):
        raise errors.InvalidIdentifier(
            f"{value!r} is no element id.", hint="Ids look like C-12; a key or name is found with FIND or SEARCH first."
        )
    element_id = refs.named(work, value, "the target")
    if work.body(element_id) is None:
        raise refs.missing(work, f"There is no element {element_id}.")
    return element_id


def check_guards(
    work: Workspace, before: Element | None, element_id: ElementId, guards: Sequence[ast.ExpectVersion]
) -> None:
    """Compare the `EXPECT VERSION` guards of a clause with the element as the transaction found it (§35.1).

    A bare 0 demands that the element did not exist; `0 OF plane` that the plane was never written.
    """
    values = Values(work)
    seen: set[str] = set()
    for guard in guards:
        expected = values.count(guard.version, "EXPECT VERSION")
        plane = _plane_name(work, guard.plane)
        if plane in seen:
            raise errors.InvalidSyntax("One plane is guarded twice.")
        seen.add(plane)
        work.guards[element_id].add(plane)
        found = _counter(work, before, guard.plane)
        if found != expected:
            raise errors.VersionConflict(
                f"{element_id} is at version {found} of its {plane}, not {expected}.",
                details={"element": element_id, "plane": plane, "expected": expected, "found": found},
            )


def _plane_name(work: Workspace, plane: ast.Plane | None) -> str:
    if plane is None:
        return "element"
    if plane.facet is not None:
        return f"facets.{work.environment.local_name(_facet_symbol(work, plane.facet).ref)}"
    return plane.name


def _facet_symbol(work: Workspace, node: ast.Scalar) -> Symbol:
    return work.environment.facet(Values(work).text(node, "The name of a Facet")).symbol


def _counter(work: Workspace, before: Element | None, plane: ast.Plane | None) -> int:
    if before is None:
        return 0
    if plane is None:
        return before.version
    counters = before.body["_system"]["plane_versions"]
    if plane.facet is not None:
        symbol = _facet_symbol(work, plane.facet)
        facets = counters.get("facets", {})
        spoken = (work.environment.local_name(symbol.ref), symbol.name, symbol.ref)
        return next((int(facets[name]) for name in spoken if name in facets), 0)
    return int(counters.get(plane.name, 0))


def bound_elements(rows: Sequence[Row], name: str) -> list[ElementId]:
    """The elements a variable is bound to over some rows; an unbound optional one changes nothing."""
    found = []
    for row in rows:
        value = row.get(name)
        if value is None:
            continue
        if not isinstance(value, str) or not is_element_id(value):
            raise errors.TypeMismatch(f"?{name} is bound to a value that is no element.")
        found.append(value)
    return found


def variables_of(where: ast.Where) -> frozenset[str]:
    """Variables that patterns of a WHERE may bind outside NOT."""
    found: set[str] = set()
    for clause in where.clauses:
        if isinstance(clause, (ast.Not, ast.Filter)):
            continue
        found |= {node.name for node in _nodes(clause) if isinstance(node, ast.Variable)}
    return frozenset(found)


def _nodes(node: ast.Node) -> Iterator[ast.Node]:
    if not isinstance(node, (ast.Not, ast.Filter)):
        yield node
        for below in children(node):
            yield from _nodes(below)
