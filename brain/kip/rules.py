"""The order a block's steps run in (KIP 2.0 §42.4).

Patterns and filters between two of OPTIONAL, NOT and UNION hold together in any order, so the cheapest that has
something to start from runs first: what fixes or tests rows, then what a bound end leads to, then scans. OPTIONAL, NOT
and UNION act on what stands before them and keep their places. A belief waits for its subject, a filter for its names,
if need be behind a NOT; both also wait for the patterns beside them that may still say what a name stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from brain import errors
from brain.kip.algebra import (
    Belief,
    BeliefSlot,
    BeliefTriple,
    Block,
    Filter,
    Known,
    Not,
    Optional,
    PathStep,
    Reach,
    Scan,
    Search,
    Step,
    Structural,
    Tuple,
    Union,
    Var,
    variables,
)
from brain.store.base import Kind

_Bound = frozenset[str]


@dataclass(slots=True)
class _Names:
    """What is known of the names at one place of a block.

    bound    a row may have them
    certain  every row has them
    settled  certain, and no pattern of this stretch can still make another element of one: where merges lead several to
             one survivor, it is the element pattern that says which of them is meant
    """

    bound: _Bound
    certain: _Bound
    settled: _Bound

    @classmethod
    def between_stretches(cls, bound: _Bound, certain: _Bound) -> _Names:
        return cls(bound, certain, certain)


def arrange(block: Block, look: Callable[[], None] = lambda: None) -> Block:
    """The block with its steps in the order they run, and so its inner blocks.

    look    called again and again, to raise when the time is up
    raises  ProjectionTargetUnbound and ProjectionTargetUnbounded for a belief whose subject nothing binds (§46.3)
    """
    return _arranged(block, _Names.between_stretches(frozenset(), frozenset()), look)[0]


def _arranged(block: Block, names: _Names, look: Callable[[], None]) -> tuple[Block, _Bound]:
    """The block arranged, and the names that each of its rows has; `names` of the rows coming in."""
    arranged: list[Step] = []
    waiting: list[_Waiting] = []
    for step in block.steps:
        if not isinstance(step, (Not, Optional, Union)):
            waiting.append(_Waiting(step))
            continue
        _settle(waiting, names, arranged, look)
        bound, certain = names.bound, names.certain
        match step:
            case Not(block=inner):
                arranged.append(Not(_arranged(inner, _Names.between_stretches(bound, certain), look)[0]))
            case Optional(block=inner):
                arranged.append(Optional(_arranged(inner, _Names.between_stretches(bound, certain), look)[0]))
                bound |= _names(inner)
            case Union(block=inner):
                branch, in_branch = _arranged(inner, _Names.between_stretches(frozenset(), frozenset()), look)
                arranged.append(Union(branch))
                bound |= _names(inner)
                certain &= in_branch
        names = _Names.between_stretches(bound, certain)
    _settle(waiting, names, arranged, look)
    for left in waiting:
        _refuse_unbound(left.step)
    return Block(tuple(arranged)), names.certain


@dataclass(slots=True)
class _Waiting:
    """A step that waits, with what is asked of it again and again worked out once.

    price  what it costs given what is bound; None when that has to be worked out anew
    """

    step: Step
    wanted: _Bound = field(init=False)
    variables: _Bound = field(init=False)
    price: float | None = None

    def __post_init__(self) -> None:
        self.wanted = needs(self.step)
        self.variables = frozenset(variables(self.step))


def _settle(waiting: list[_Waiting], names: _Names, arranged: list[Step], look: Callable[[], None]) -> None:
    """Move every step that can run from `waiting` to `arranged`, and note what it binds."""
    while waiting:
        look()
        for one in waiting:
            if one.price is None:
                one.price = cost(one.step, names.bound) * _crossing(one, names.bound)
        cheapest = sorted(range(len(waiting)), key=lambda index: waiting[index].price or 0.0)
        chosen = next((index for index in cheapest if _can_run(waiting[index], waiting, names)), None)
        if chosen is None:
            return
        one = waiting.pop(chosen)
        arranged.append(one.step)
        # Before anything is bound nothing crosses, so the first names bound change every price.
        for other in waiting:
            if not names.bound or not one.variables.isdisjoint(other.variables):
                other.price = None
        names.bound |= one.variables
        if not isinstance(one.step, Filter):
            names.certain |= one.variables
        if isinstance(one.step, (Scan, Search)):
            names.settled |= {one.step.variable}


def _can_run(one: _Waiting, waiting: list[_Waiting], names: _Names) -> bool:
    if not one.wanted <= names.bound:
        return False
    open_, unsettled = one.wanted - names.certain, one.wanted - names.settled
    if not unsettled:
        return True
    return not any(
        not open_.isdisjoint(other.variables)
        or (isinstance(other.step, (Scan, Search)) and other.step.variable in unsettled)
        for other in waiting
        if other is not one
        and (not other.wanted or (isinstance(one.step, Filter) and not isinstance(other.step, Filter)))
    )


def _crossing(one: _Waiting, known: _Bound) -> float:
    """A step that shares nothing with what is bound multiplies rows; one that a bound end leads to is better first."""
    return 3.0 if known and known.isdisjoint(one.variables) else 1.0


def needs(step: Step) -> _Bound:
    """The variables that have to be bound before a step can run."""
    match step:
        case Filter():
            return frozenset(variables(step))
        case Belief(target=target):
            return _names_in(target)
        case BeliefTriple(subject=subject, predicate=predicate, object=object_, grounded=grounded):
            wanted = _names_in(subject)
            return wanted | _names_in(object_) if grounded else wanted
        case BeliefSlot(subject=subject, predicate=predicate):
            return _names_in(subject, predicate)
    return frozenset()


def cost(step: Step, known: _Bound) -> float:
    """Roughly how many rows a step makes of one row, given what is bound; tests are below one."""
    match step:
        case Filter():
            return 0.1
        case Scan(variable=variable) if variable in known:
            return 0.5
        case Scan():
            return _scan_cost(step, known)
        case Tuple(proposition=proposition, subject=subject, object=object_, predicate=predicate):
            if proposition in known:
                return 0.6
            ends = (_fixed(subject, known), _fixed(object_, known))
            free = 5.0 if isinstance(predicate, Var) else 1.0
            return {(True, True): 0.7, (True, False): 8.0, (False, True): 20.0}.get(ends, 5_000.0) * free
        case Reach(subject=subject, object=object_):
            ends = (_fixed(subject, known), _fixed(object_, known))
            return {(True, True): 30.0, (True, False): 40.0, (False, True): 60.0}.get(ends, 100_000.0)
        case Structural(edge=edge, source=source, target=target):
            ends = (_fixed(source, known), _fixed(target, known))
            if edge in known:
                return 0.8
            return {(True, True): 0.8, (True, False): 5.0, (False, True): 12.0}.get(ends, 5_000.0)
        case Search(variable=variable, query=query):
            return 0.9 if variable in known else float(min(query.limit, 1_000))
        case BeliefTriple(grounded=False):
            return 50.0
        case _:
            return 20_000.0


def _scan_cost(step: Scan, known: _Bound) -> float:
    conditions = step.conditions
    if step.ids is not None:
        return 0.9
    if conditions.key is not None or conditions.canonical_id is not None:
        return 1.5
    reached = [
        _REFERENCE_COST.get(match.path, 15.0)
        for match in step.matches
        if match.edges and (isinstance(match.value, Known) or _fixed(match.value, known))
    ]
    if any(match.path == ("id",) and _fixed(match.value, known) for match in step.matches):
        reached.append(1.0)
    if reached:
        return min(reached)
    if conditions.name is not None:
        return 4.0
    narrowed = len(conditions.members) + len(step.matches)
    size = 1_000.0 if conditions.classes or conditions.statuses else 2_000.0
    if conditions.kind is Kind.CONCEPT and conditions.lineages is None:
        size = 4_000.0
    return size / (1 + narrowed)


_REFERENCE_COST: Mapping[tuple[PathStep, ...], float] = {("proposition",): 3.0, ("asserted_by",): 200.0}


def _fixed(term: object, known: _Bound) -> bool:
    return isinstance(term, Known) or (isinstance(term, Var) and term.name in known)


def _names_in(*terms: object) -> _Bound:
    return frozenset(term.name for term in terms if isinstance(term, Var))


def _names(block: Block) -> _Bound:
    return frozenset(name for step in block.steps if not isinstance(step, Not) for name in variables(step))


def _refuse_unbound(step: Step) -> None:
    match step:
        case Belief(target=Var(name=name)):
            raise errors.ProjectionTargetUnbound(
                f"Nothing binds ?{name} to a Proposition before BELIEF (?{name}).",
                hint=f'Match it first: ?{name} (?subject, "predicate", ?object).',
            )
        case BeliefSlot(subject=Var(name=name)):
            raise errors.ProjectionTargetUnbounded(
                f"Nothing binds ?{name}, so this would project that slot of every element.",
                hint=f"Bind ?{name} with a pattern or a parameter first.",
            )
        case BeliefTriple(subject=Var(name=name), predicate=predicate, object=object_):
            everything = isinstance(predicate, Var) and isinstance(object_, Var)
            refusal = errors.ProjectionTargetUnbounded if everything else errors.ProjectionTargetUnbound
            raise refusal(
                f"Nothing binds ?{name}, the subject of a BELIEF.",
                hint=f"Bind ?{name} with a pattern or a parameter first.",
            )
    raise errors.ProjectionTargetUnbound("Nothing binds what a BELIEF is about.")
