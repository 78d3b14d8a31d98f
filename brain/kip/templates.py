"""Plans made once and filled again: asked with other keys and ids, a statement keeps its plan (docs/decisions.md).

A template is a plan in which a `Given` stands wherever a parameter's text only fills a place, and `GivenIds` where it
lists elements. It serves every request whose other parameters have the very values it was made with; what a store works
out for it is kept with it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, TypeAlias, cast

import orjson

from brain.kip import algebra, ast
from brain.kip.algebra import Block, Project, Step, variables
from brain.kip.belief import BeliefRequest
from brain.kip.context import Run
from brain.kip.given import Given, GivenIds, Uses, shape_of
from brain.kip.plan import asks_belief, belief_request, plan_of
from brain.kip.schema import Environment
from brain.store.base import Json, Repeated, Scan, SearchQuery

_STATEMENTS = 192
"""Statements of one Space whose plans are kept."""

_TEMPLATES = 8
"""Templates of one statement."""

_DECIDING_BYTES = 1_024
"""Most of the values a plan depends on; a plan for more of them is hardly asked twice."""

_Fill: TypeAlias = Callable[[Mapping[str, Json], BeliefRequest | None], Any]
"""Makes a part of a plan anew for other values and another request."""

_Key: TypeAlias = tuple[bytes, tuple[str, ...]]
"""The values that decide, and the shapes of those that fill."""


@dataclass(slots=True)
class Template:
    """A plan for all requests that differ in nothing but given texts.

    plan       with a `Given` for each of these
    believes   whether the statement says or asks anything about belief
    cells      every variable of the plan and its place in a row
    """

    plan: Project
    believes: bool
    cells: Mapping[str, int]
    _fill: _Fill | None
    _kept: dict[str | int, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Project, uses: Uses, *, believes: bool) -> Template | None:
        """The template of a plan; None when a given text is not in it as such: the plan may depend on what it says."""
        found: set[int] = set()
        fill = _filling(plan, found)
        if not found.issuperset(map(id, uses.given)):
            return None
        return cls(plan, believes, _cells(plan), fill)

    def filled(self, values: Mapping[str, Json], request: BeliefRequest | None) -> Project:
        """The plan with these values."""
        return self.plan if self._fill is None else cast("Project", self._fill(values, request))

    def part(self, name: str | int, plan: Step, values: Mapping[str, Json]) -> Repeated:
        """A part of the template, with what the store keeps of it."""
        return Repeated(plan, values, self._kept.setdefault(name, {}))


@dataclass(frozen=True, slots=True)
class Asked:
    """A plan that is about to be run: one row more than its page holds is asked for, to see whether more follow.

    limit     of the page
    cells     every variable and its place in a row
    template  what it was filled from; None for a plan made for this once
    """

    plan: Project
    limit: int | None
    cells: Mapping[str, int]
    template: Template | None = None
    values: Mapping[str, Json] = field(default_factory=dict)

    @classmethod
    def once(cls, plan: Project) -> Asked:
        """A plan that is run as it is."""
        return cls(_wide(plan), plan.source.limit, _cells(plan))

    def repeated(self, part: Step) -> Repeated | None:
        """The part of the template that this part of the plan was filled from."""
        template = self.template
        if template is None:
            return None
        if part is self.plan:
            return template.part("plan", template.plan, self.values)
        if part is self.plan.group:
            return template.part("group", cast("Step", template.plan.group), self.values)
        if isinstance(part, Block):
            mine, length = self.plan.block.steps, len(part.steps)
            if length <= len(mine) and all(one is other for one, other in zip(part.steps, mine, strict=False)):
                return template.part(length, Block(template.plan.block.steps[:length]), self.values)
        return None


@dataclass(frozen=True, slots=True)
class _Kept:
    """The templates of one statement that are told apart by the same parameters.

    deciding, filling  names of parameters
    """

    deciding: tuple[str, ...] = ()
    filling: tuple[str, ...] = ()
    templates: dict[_Key, Template | None] = field(default_factory=dict)

    def key(self, values: Mapping[str, Json]) -> _Key | None:
        """What a template has to have been made for; None when nothing can be kept for these values."""
        shapes = []
        for name in self.filling:
            shape = shape_of(values.get(name))
            if shape is None:
                return None
            shapes.append(shape)
        if not self.deciding:
            return b"", tuple(shapes)
        try:
            deciding = orjson.dumps([values[name] for name in self.deciding])
        except (KeyError, TypeError):
            return None
        return (deciding, tuple(shapes)) if len(deciding) <= _DECIDING_BYTES else None

    def with_parameters(self, uses: Uses) -> _Kept:
        """The same, or empty ones where further parameters turned out to matter."""
        deciding = uses.deciding.union(self.deciding)
        filling = {given.parameter for given in uses.given}.union(self.filling) - deciding
        found = tuple(sorted(deciding)), tuple(sorted(filling))
        return self if found == (self.deciding, self.filling) else _Kept(*found)

    def keep(self, key: _Key, template: Template | None) -> None:
        while len(self.templates) >= _TEMPLATES:
            del self.templates[next(iter(self.templates))]
        self.templates[key] = template


@dataclass(slots=True)
class _Statement:
    """What was learnt of one statement in one vocabulary.

    kept  replaced as a whole: whoever reads it sees parameters and templates that belong together
    """

    statement: ast.Find
    environment: Environment
    kept: _Kept = field(default_factory=_Kept)
    learnt: int = 0
    served: int = 0


class Templates:
    """The templates of one Space. Thread-safe."""

    def __init__(self) -> None:
        self._known: dict[int, _Statement] = {}
        self._lock = threading.Lock()

    def asked(self, statement: ast.Find, run: Run) -> Asked:
        """The plan of a statement, made or filled; it starts where the statement does.

        raises  what `plan_of` raises
        """
        known = self._known.get(id(statement))
        if known is None or known.statement is not statement or known.environment is not run.environment:
            asked = Asked.once(plan_of(statement, run))
            self._note(_Statement(statement, run.environment))
            return asked
        kept = known.kept
        key = kept.key(run.parameters) if known.learnt else None
        template = None if key is None else kept.templates.get(key)
        if template is not None:
            known.served += 1
            return _filled(template, statement, run)
        if (key is not None and key in kept.templates) or known.learnt > known.served + _TEMPLATES:
            return Asked.once(plan_of(statement, run))
        return self._learn(known, run)

    def _learn(self, known: _Statement, run: Run) -> Asked:
        """A plan that is made to be filled again, noting what became of the parameters."""
        uses = Uses()
        plan = _wide(plan_of(known.statement, run, uses=uses))
        template = Template.of(plan, uses, believes=asks_belief(known.statement))
        with self._lock:
            known.learnt += 1
            known.kept = known.kept.with_parameters(uses)
            key = known.kept.key(run.parameters)
            if key is not None:
                known.kept.keep(key, template)
        if template is None:
            return Asked.once(plan_of(known.statement, run))
        return _filled(template, known.statement, run)

    def _note(self, known: _Statement) -> None:
        with self._lock:
            while len(self._known) >= _STATEMENTS:
                del self._known[next(iter(self._known))]
            self._known[id(known.statement)] = known


def _filled(template: Template, statement: ast.Find, run: Run) -> Asked:
    request = belief_request(statement, run) if template.believes else None
    plan = template.filled(run.parameters, request)
    limit = plan.source.limit
    return Asked(plan, None if limit is None else limit - 1, template.cells, template, run.parameters)


def _wide(plan: Project) -> Project:
    limit = plan.source.limit
    return plan if limit is None else Project(replace(plan.source, limit=limit + 1), plan.outputs)


def _cells(plan: Project) -> Mapping[str, int]:
    return {name: place for place, name in enumerate(variables(plan.block))}


# --- filling ----------------------------------------------------------------------------------------------------------


def _filling(part: Any, found: set[int]) -> _Fill | None:
    """How a part of a plan is made anew; None for one in which nothing can be another. Given texts in it are noted."""
    kind: Any = type(part)
    if kind is Given or kind is GivenIds:
        found.add(id(part))
        given: Given | GivenIds = part
        return lambda values, _: given.of(values)
    if kind is BeliefRequest:
        return lambda _, request: request
    if kind is tuple or kind is frozenset:
        return _filling_of_items(part, found)
    names = _members(kind)
    fills = [_filling(getattr(part, name), found) for name in names]
    if not any(fills):
        return None
    kept = [getattr(part, name) for name in names]
    changing = [(place, fill) for place, fill in enumerate(fills) if fill is not None]

    def make(values: Mapping[str, Json], request: BeliefRequest | None) -> Any:
        made = kept.copy()
        for place, fill in changing:
            made[place] = fill(values, request)
        return kind(*made)

    return make


def _filling_of_items(part: tuple[Any, ...] | frozenset[Any], found: set[int]) -> _Fill | None:
    kind = type(part)
    items = list(part)
    changing = [(place, fill) for place, item in enumerate(items) if (fill := _filling(item, found)) is not None]
    if not changing:
        return None

    def make(values: Mapping[str, Json], request: BeliefRequest | None) -> Any:
        made = items.copy()
        for place, fill in changing:
            made[place] = fill(values, request)
        return kind(made)

    return make


@cache
def _members(kind: type[Any]) -> tuple[str, ...]:
    """The members of a plan's own classes; whatever else stands in a plan is left as it is."""
    if kind.__module__ == algebra.__name__ or kind in (Scan, SearchQuery):
        return tuple(member.name for member in fields(kind))
    return ()
