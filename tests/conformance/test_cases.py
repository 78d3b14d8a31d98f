"""Our own cases: `conformance/cases/*.json`, each run as a test that carries the rows its data names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conformance import fixtures
from conformance.engine import EngineAdapter
from conformance.fixtures import fixtures_of, run_fixture
from conformance.report import CaseResult

FOLDER = Path(fixtures.__file__).with_name("cases")


def listed() -> Iterator[Any]:
    for file in sorted(FOLDER.glob("*.json")):
        for place, fixture in enumerate(fixtures_of(file)):
            for case in fixture["cases"]:
                name = f"{file.stem}: {fixture['name']}: {case['name']}"
                yield pytest.param(
                    file, place, case["name"], id=name, marks=pytest.mark.requirement(*case["requirements"])
                )


@cache
def results(file: Path, place: int) -> dict[str, CaseResult]:
    """The cases of a fixture share one Space, so that it is played once, whole."""
    with EngineAdapter() as engine:
        found = list(run_fixture(engine, fixtures_of(file)[place], file.stem))
    return {result.case: result for result in found}


@pytest.mark.parametrize(("file", "place", "case"), list(listed()))
def test_a_case_is_answered_as_its_data_says(file: Path, place: int, case: str) -> None:
    found = results(file, place)
    assert case in found, [result.detail for result in found.values()]
    assert (found[case].outcome, found[case].detail) == ("passed", "")


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.json")), ids=lambda file: file.stem)
def test_every_case_names_its_rows_and_has_a_name_of_its_own(file: Path) -> None:
    for fixture in fixtures_of(file):
        names = [case["name"] for case in fixture["cases"]]
        assert len(set(names)) == len(names)
        assert all(case["requirements"] for case in fixture["cases"])
        assert fixture["description"]
