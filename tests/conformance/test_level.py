"""What may be claimed: the highest level whose every applicable vector passed (KIP 2.0 §89)."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.level import CORE, MEMORY, applies, claimable
from conformance.report import CaseResult

requirement = pytest.mark.requirement


def vector(name: str, profile: str, level: str = "MUST", refs: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    return {"id": name, "level": level, "profiles": [profile], "spec_refs": list(refs), **more}


def result(name: str, outcome: str) -> CaseResult:
    return CaseResult("group", name, outcome, "needs more")


@requirement("KI-CAP-002")
@pytest.mark.parametrize(
    ("core", "memory", "level"),
    [
        ("passed", "passed", MEMORY),
        ("passed", "not decided", CORE),
        ("passed", "failed", CORE),
        ("passed", None, CORE),
        ("not decided", "passed", None),
        (None, "passed", None),
    ],
)
def test_a_level_is_claimed_when_all_that_applies_has_passed(core: str | None, memory: str | None, level: str) -> None:
    vectors = [vector("one", "KIP-Epistemic"), vector("two", MEMORY)]
    results = [result(name, outcome) for name, outcome in (("one", core), ("two", memory)) if outcome]
    found, waiting = claimable(vectors, results)
    assert found == level
    assert (waiting == {}) is (level == MEMORY)


@requirement("KI-CAP-002")
@pytest.mark.parametrize(
    ("given", "binds"),
    [
        (vector("one", MEMORY), True),
        (vector("one", MEMORY, level="OPTIONAL"), False),
        (vector("one", MEMORY, capabilities=["recording_repair"]), True),
        (vector("one", MEMORY, capabilities=["identity_repair"]), False),
        (vector("one", MEMORY, capabilities=["a level of another binding"]), False),
        (vector("one", MEMORY, refs=("brain/KIP-2.0-Validated-Learning.md#3-outcomes",)), False),
        (vector("one", "KIP-Nothing"), False),
    ],
)
def test_what_applies_is_a_must_of_the_level_that_asks_for_nothing_we_do_not_offer(
    given: dict[str, Any], binds: bool
) -> None:
    assert applies(given) is binds
