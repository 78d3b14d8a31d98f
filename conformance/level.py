"""Which conformance level the published vectors let this engine claim (KIP 2.0 §89).

A claim rests on the engine suite and on the vectors that apply, run against the engine itself. A vector applies when it
is of the level, is a MUST, and asks for no capability beyond those offered. Vectors of Validated Learning apply where
Skills are graded; where they are not, a Skill stays proposed (Profile §14), which has tests of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from brain.kip.capabilities import is_held
from conformance.report import CaseResult

CORE, MEMORY = "KIP-Core", "KIP-CognitiveMemory"
_AREAS = ("Epistemic", "Governance", "KML", "KQL", "META", "Runtime", "Schema", "Transactions")
_CORE_AREAS = frozenset({CORE, *(f"KIP-{area}" for area in _AREAS)})
_LEARNING = "brain/KIP-2.0-Validated-Learning.md"


def claimable(vectors: Iterable[Mapping[str, Any]], results: Iterable[CaseResult]) -> tuple[str | None, dict[str, str]]:
    """The highest level the results allow, None when not even KIP-Core; and why not more, by vector id."""
    outcomes = {result.case: result for result in results}
    waiting: dict[str, dict[str, str]] = {CORE: {}, MEMORY: {}}
    for vector in vectors:
        found = outcomes.get(vector["id"])
        if applies(vector) and (found is None or found.outcome != "passed"):
            level = MEMORY if MEMORY in vector["profiles"] else CORE
            waiting[level][vector["id"]] = "not run" if found is None else f"{found.outcome}: {found.detail}"
    if waiting[CORE]:
        return None, waiting[CORE]
    return (CORE, waiting[MEMORY]) if waiting[MEMORY] else (MEMORY, {})


def applies(vector: Mapping[str, Any]) -> bool:
    """Whether a vector binds an engine with our capabilities at its level."""
    if vector.get("level") != "MUST" or not _CORE_AREAS.union({MEMORY}).intersection(vector.get("profiles", ())):
        return False
    if any(ref.startswith(_LEARNING) for ref in vector.get("spec_refs", ())):
        return False
    return all(is_held(name) for name in vector.get("capabilities") or ())
