"""Elements that a filter names are looked up, not searched for: `FILTER(IN(?x.id, :ids))` beside what finds ?x."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from brain.kip.algebra import (
    Access,
    Block,
    Call,
    Comparison,
    Conjunction,
    Constant,
    Expression,
    Filter,
    Not,
    Optional,
    Scan,
    Step,
    Tuple,
    Union,
)
from brain.kip.given import ListedIds, in_both
from brain.store.base import ElementId, Kind
from brain.store.base import Scan as Conditions

_Named = dict[str, frozenset[ElementId]]


def narrowed(block: Block) -> Block:
    """The block with scans and tuples that filters beside them give ids to find, and so its inner blocks.

    Beside each other stand the steps between two of OPTIONAL, NOT and UNION, which hold together in any order. A
    condition that a scan then tests by itself is left out.
    """
    steps: list[Step] = []
    stretch: list[Step] = []
    for step in block.steps:
        if isinstance(step, (Not, Optional, Union)):
            steps += _stretch(stretch)
            steps.append(replace(step, block=narrowed(step.block)))
            stretch = []
        else:
            stretch.append(step)
    return Block((*steps, *_stretch(stretch)))


def _stretch(steps: Sequence[Step]) -> Sequence[Step]:
    if not any(isinstance(step, Filter) for step in steps):
        return steps
    scanned = {step.variable for step in steps if isinstance(step, Scan)}
    linked = {step.proposition for step in steps if isinstance(step, Tuple)} - scanned
    named: _Named = {}
    kept: list[Step] = []
    for step in steps:
        rest = _without_ids(step, scanned | linked, named) if isinstance(step, Filter) else step
        if rest is not None:
            kept.append(rest)
    # A tuple looks no further than at the Proposition that is bound already.
    lookups = [Scan(name, Conditions(Kind.PROPOSITION), ids) for name, ids in named.items() if name in linked]
    return [*lookups, *(_only(step, named) if isinstance(step, Scan) else step for step in kept)]


def _only(step: Scan, named: _Named) -> Scan:
    ids = named.get(step.variable)
    if ids is None:
        return step
    return replace(step, ids=ids if step.ids is None else in_both(step.ids, ids))


def _without_ids(step: Filter, findable: set[str], named: _Named) -> Filter | None:
    """What of a filter remains to be tested once the ids it names are noted; None for nothing."""
    condition = step.condition
    parts = condition.operands if isinstance(condition, Conjunction) else (condition,)
    rest = [part for part in parts if not _note(part, findable, named)]
    if len(rest) == len(parts):
        return step
    if not rest:
        return None
    return Filter(rest[0] if len(rest) == 1 else Conjunction(tuple(rest)))


def _note(part: Expression, findable: set[str], named: _Named) -> bool:
    """Whether a condition says nothing but which elements a variable may be; they are noted then."""
    match part:
        case Call(
            function="IN", arguments=(Access(variable=name, steps=("id",)), Constant(value=list() as candidates))
        ):
            pass
        case Comparison(operator="==", left=Access(variable=name, steps=("id",)), right=Constant(value=str() as one)):
            candidates = [one]
        case _:
            return False
    if name not in findable or not all(isinstance(one, str) for one in candidates):
        return False
    ids = candidates.ids if isinstance(candidates, ListedIds) else frozenset(candidates)
    named[name] = in_both(named[name], ids) if name in named else ids
    return True
