"""What stores that run plans themselves (`Snapshot.select`) need to know of one."""

from __future__ import annotations

from brain.kip.algebra import Distinct, Scan, Tuple, Var, variables


def determines(distinct: Distinct) -> bool:
    """Whether the visible variables leave no choice for the others, so that no two rows are one solution."""
    fixed = set(distinct.variables)
    left = [_binds(step) for step in distinct.source.steps if isinstance(step, (Scan, Tuple))]
    while left:
        following = [binds for binds in left if binds[0] not in fixed]
        if len(following) == len(left):
            return all(fixed.issuperset(binds) for binds in left)
        fixed.update(name for binds in left if binds[0] in fixed for name in binds)
        left = following
    return True


def _binds(step: Scan | Tuple) -> tuple[str, ...]:
    """The variables of a step, the one that fixes the others first."""
    if isinstance(step, Scan):
        return (step.variable, *variables(step)) if step.matches else (step.variable,)
    return (step.proposition, *(end.name for end in (step.subject, step.object) if isinstance(end, Var)))
