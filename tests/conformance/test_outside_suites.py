"""The published suites beside the checkout, where there are any: all of it passes or is decided.

They are data of others and no part of this project; a checkout without them runs our own cases only.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brain.kip.capabilities import CONFORMANCE_LEVEL
from conformance import oracle, vectors
from conformance.engine import EngineAdapter
from conformance.fixtures import fixtures_of, run_fixture
from conformance.level import claimable
from conformance.played import OurPlayer, differences, recorded
from conformance.report import CaseResult

SHARED = Path(__file__).resolve().parents[3] / "shared"
SUITES = SHARED / "conformance"
RECORDINGS = SHARED / "tools" / "kip-oracle" / "cases"

pytestmark = pytest.mark.skipif(
    not SUITES.is_dir(), reason="the published suites are not beside this checkout (../shared/conformance)"
)


def files(folder: Path, pattern: str) -> list[Any]:
    """The files of a suite; the folder itself stands for a suite that is not here, so that its test says so."""
    return [pytest.param(file, id=file.stem) for file in sorted(folder.glob(pattern)) or [folder]]


@pytest.mark.requirement("KI-CAP-002")
@pytest.mark.parametrize("file", files(SUITES / "engine-suite", "*.json"))
def test_every_case_of_the_engine_suite_passes(file: Path) -> None:
    with EngineAdapter() as engine:
        found = [result for fixture in fixtures_of(file) for result in run_fixture(engine, fixture, file.stem)]
    assert found
    assert [(result.case, result.outcome, result.detail) for result in found if result.outcome != "passed"] == []


@pytest.fixture(scope="module")
def played() -> list[CaseResult]:
    return list(vectors.run_folder(SUITES / "vectors"))


def test_every_vector_that_can_be_decided_passes(played: list[CaseResult]) -> None:
    assert [(result.case, result.detail) for result in played if result.outcome == "failed"] == []
    assert any(result.outcome == "passed" for result in played)


@pytest.mark.requirement("KI-CAP-002")
def test_the_level_claimed_is_the_one_the_vectors_allow_neither_more_nor_less(played: list[CaseResult]) -> None:
    level, waiting = claimable(vectors.vectors_of(SUITES / "vectors"), played)
    assert (level, bool(waiting)) == (CONFORMANCE_LEVEL, CONFORMANCE_LEVEL != "KIP-CognitiveMemory")
    assert all(why.startswith("not decided: needs ") for why in waiting.values())


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason="no recordings of the reference engine beside this checkout")
@pytest.mark.parametrize("file", files(RECORDINGS, "*.jsonl"))
def test_every_difference_from_a_recording_is_decided(file: Path) -> None:
    listed = oracle.listing(oracle.LISTING.read_text("utf-8"))
    ours = OurPlayer()
    undecided = []
    for line in file.read_text("utf-8").splitlines():
        case = json.loads(line)
        problems = differences(ours, case, recorded(case))
        result = oracle.judged(case, file.stem, problems, listed)
        if result.outcome == "differs":
            undecided.append((result.case, result.detail))
        undecided += [
            (result.case, f"listed without need: step {step}") for step in oracle.needless(case, problems, listed)
        ]
    ours.close()
    assert undecided == []
