"""Plans made once and filled again: asked with other keys and ids, a statement keeps its plan (docs/decisions.md).

A template is a plan in which a `Given` stands wherever a parameter's text only fills a place, and `GivenIds` where it
lists elements. It serves every request whose other parameters have the very values it was made with; what a store works
out for it is kept with it.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, TypeAlias, cast

import orjson

from brain.kip import algebra, ast
from brain.kip.algebra import Block, Project, Step, cells_of
from brain.kip.belief import BeliefRequest
from brain.kip.context import Run
from brain.kip.given import Given, GivenIds, Uses, lists_ids, shape_of
from brain.kip.plan import asks_belief, belief_request, plan_of
from brain.kip.schema import Environment
from brain.store.base import Json, Repeated, Scan, SearchQuery

_STATEMENTS = 192
"""Statements of one Space whose plans are kept."""

_TEMPLATES = 8
"""Templates of one statement."""

_LONGEST = 4_096
"""Characters of a statement whose plans are kept: what writes longer ones hardly writes the same again."""

_VALUES = 1_024
"""Characters of the values a template is told by and of the texts it holds, and ids; larger ones are planned anew."""

_Fill: TypeAlias = Callable[[Mapping[str, Json], BeliefRequest | None], Any]
"""Makes a part of a plan anew for other values and another request."""

_Key: TypeAlias = tuple[bytes | str, ...]
"""Of each parameter its shape, or its value where that decides."""


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
    _of_store: dict[str | int, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Project, uses: Uses, *, believes: bool) -> Template | None:
        """The template of a plan; None when a given text was compared or is nowhere in it: the plan may depend on what
        it says."""
        found: set[int] = set()
        fill = _filling(plan, found)
        if not found.issuperset(map(id, uses.given)) or any(given.is_compared for given in uses.given):
            return None
        return cls(plan, believes, cells_of(plan.block), fill)

    def filled(self, values: Mapping[str, Json], request: BeliefRequest | None) -> Project:
        """The plan with these values."""
        return self.plan if self._fill is None else cast("Project", self._fill(values, request))

    def part(self, name: str | int, plan: Step, values: Mapping[str, Json]) -> Repeated:
        """A part of the template, with what the store keeps of it."""
        return Repeated(plan, values, self._of_store.setdefault(name, {}))


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
        return cls(_wide(plan), plan.source.limit, cells_of(plan.block))

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
class _Parameters:
    """What the parameters of one statement do, as far as it was seen, and the templates that are told apart so.

    decides  whether the value of a parameter decides, whatever it is
    lists    whether ids are listed where it stands
    """

    names: tuple[str, ...] = ()
    decides: tuple[bool, ...] = ()
    lists: tuple[bool, ...] = ()
    templates: dict[_Key, Template | None] = field(default_factory=dict)

    def key(self, values: Mapping[str, Json]) -> _Key | None:
        """What a template has to have been made for; None when nothing can be kept for these values."""
        key: list[bytes | str] = []
        size = 0
        for name, decides, lists in zip(self.names, self.decides, self.lists, strict=True):
            if name not in values:
                return None
            value = values[name]
            shape = None if decides else _listed(value) if lists else shape_of(value)
            if shape is None:
                try:
                    told = orjson.dumps(value)
                except TypeError:
                    return None
                size += len(told)
                key.append(told)
            else:
                size += _size(value)
                key.append(shape)
        return tuple(key) if size <= _VALUES else None

    def joined(self, uses: Uses) -> _Parameters:
        """The same, or another where a parameter turned out to do more than was known."""
        deciding, filling, listing = set(uses.deciding), set(uses.filling), set(uses.listing)
        for name, decides, lists in zip(self.names, self.decides, self.lists, strict=True):
            (deciding if decides else listing if lists else filling).add(name)
        deciding |= filling & listing
        names = tuple(sorted(deciding | filling | listing))
        joined = _Parameters(names, tuple(n in deciding for n in names), tuple(n in listing for n in names))
        return self if joined.does_what(self) else joined

    def does_what(self, other: _Parameters) -> bool:
        return (self.names, self.decides, self.lists) == (other.names, other.decides, other.lists)

    def keep(self, key: _Key, template: Template | None) -> None:
        while len(self.templates) >= _TEMPLATES:
            del self.templates[next(iter(self.templates))]
        self.templates[key] = template


@dataclass(slots=True)
class _Statement:
    """What was learnt of one statement in one vocabulary.

    parameters  None before the first look; replaced as a whole, so that whoever reads it sees what belongs together
    missed      times in a row that no template was there
    """

    statement: ast.Find
    environment: weakref.ref[Environment]
    parameters: _Parameters | None = None
    missed: int = 0


class Templates:
    """The templates of one Space. Thread-safe."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], _Statement] = {}
        self._lock = threading.Lock()

    def asked(self, statement: ast.Find, run: Run) -> Asked:
        """The plan of a statement, made or filled; it starts where the statement does.

        raises  what `plan_of` raises
        """
        if statement.span.end - statement.span.start > _LONGEST:
            return Asked.once(plan_of(statement, run))
        known = self._known.get((id(statement), run.environment.version))
        if known is None or known.statement is not statement or known.environment() is not run.environment:
            asked = Asked.once(plan_of(statement, run))
            self._note(_Statement(statement, weakref.ref(run.environment)), run.environment.version)
            return asked
        parameters = known.parameters
        if parameters is None:
            return self._learn(known, run)
        key = parameters.key(run.parameters)
        if key is None:
            return Asked.once(plan_of(statement, run))
        template = parameters.templates.get(key)
        if template is not None:
            known.missed = 0
            return _filled(template, statement, run)
        known.missed += 1
        if key in parameters.templates or known.missed > _TEMPLATES:
            return Asked.once(plan_of(statement, run))
        return self._learn(known, run)

    def _learn(self, known: _Statement, run: Run) -> Asked:
        """A plan that is made to be filled again, noting what became of the parameters."""
        uses = Uses()
        plan = _wide(plan_of(known.statement, run, uses=uses))
        template = Template.of(plan, uses, believes=asks_belief(known.statement))
        with self._lock:
            known.parameters = (known.parameters or _Parameters()).joined(uses)
            key = known.parameters.key(run.parameters)
            if key is not None:
                known.parameters.keep(key, template)
        if template is None:
            return Asked.once(plan_of(known.statement, run))
        return _filled(template, known.statement, run)

    def _note(self, known: _Statement, version: int) -> None:
        with self._lock:
            while len(self._known) >= _STATEMENTS:
                del self._known[next(iter(self._known))]
            self._known[id(known.statement), version] = known


def _listed(value: Json) -> str | None:
    return "[id]" if lists_ids(value) else None


def _size(value: Json) -> int:
    """Of what fills a place: characters, or how many ids."""
    return sum(map(len, value.values())) if isinstance(value, Mapping) else len(value)


def _filled(template: Template, statement: ast.Find, run: Run) -> Asked:
    request = belief_request(statement, run) if template.believes else None
    plan = template.filled(run.parameters, request)
    limit = plan.source.limit
    return Asked(plan, None if limit is None else limit - 1, template.cells, template, run.parameters)


def _wide(plan: Project) -> Project:
    limit = plan.source.limit
    return plan if limit is None else Project(replace(plan.source, limit=limit + 1), plan.outputs)


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
