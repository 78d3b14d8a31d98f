"""How large a query may be. Its steps run inside each other and the members of a pattern are tested in one expression,
so that their number is a depth."""

from __future__ import annotations

from brain import errors
from brain.kip.algebra import Block, Not, Optional, Scan, Step, Union
from brain.kip.context import Limits


def check_steps(block: Block, limits: Limits) -> None:
    """ResourceExhausted for more patterns, members in them and filters than the engine runs; inner ones count."""
    found = _steps(block)
    if found > limits.plan_steps:
        raise errors.ResourceExhausted(
            f"The query has {found} patterns, members in patterns and filters, and {limits.plan_steps} are the most.",
            hint="Ask in several queries; IN takes many values in one filter.",
            details={"plan_steps": limits.plan_steps, "found": found},
        )


def _steps(block: Block) -> int:
    return sum(map(_size, block.steps))


def _size(step: Step) -> int:
    match step:
        case Not(block=inner) | Optional(block=inner) | Union(block=inner):
            return 1 + _steps(inner)
        case Scan(conditions=conditions, matches=matches):
            return 1 + len(conditions.members) + len(matches)
    return 1
