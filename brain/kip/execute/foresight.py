"""What is asked of the elements that a step finds, told to the store before they are looked for.

Where one element is found by its key, a store to which every question is a journey brings the rest with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from brain.kip.algebra import BeliefSlot, Reach, Scan, Step, Var
from brain.kip.execute.frame import Frame
from brain.kip.schema import PredicateType
from brain.store.base import TupleScan


def foresee(step: Step, following: Sequence[Step], frame: Frame) -> None:
    """Say what the step behind a scan by text will ask, where that is a slot or a path from what was found."""
    if not isinstance(step, Scan) or not following or step.ids is not None:
        return
    conditions, snapshot = step.conditions, frame.graph.snapshot
    if conditions.key is conditions.name is conditions.canonical_id is None:
        return
    match following[0]:
        case BeliefSlot(subject=Var(name=name), predicate=PredicateType() as predicate) if name == step.variable:
            environment = frame.graph.run.environment
            lineage = environment.canonical_lineage("predicate", predicate.symbol.lineage)
            slot = TupleScan(predicates=environment.group("predicate", lineage))
            snapshot.expect(slot, claims=True, of_next_scan=True)
        case Reach(subject=Var(name=name), alternatives=(path,)) if name == step.variable:
            hops = frame.graph.run.limits.hops if path.most is None else path.most
            snapshot.expect(TupleScan(predicates=path.predicate.lineages), hops=hops, of_next_scan=True)
