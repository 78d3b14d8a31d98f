"""Rules of the Cognitive Memory Profile that a definition alone cannot state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from brain import errors
from brain.kip.write.steps import Step
from brain.kip.write.work import Workspace


def profile_rules(work: Workspace, steps: Sequence[Step[Any]]) -> Iterator[errors.KipError]:
    """Every breach of them in the final state of a plan."""
    return iter(())
