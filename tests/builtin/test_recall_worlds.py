"""Small worlds told to the key-free model and asked about: real Spaces, from the messages to the cited answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest

from brain.agents.builtin import OfflineModel
from brain.agents.jobs import RecallJob, RecallResult
from brain.agents.recall import recall
from tests.agents.space import TestSpace, open_space, said
from tests.builtin.cases import cases

MODEL = OfflineModel()
WORLDS: list[dict[str, Any]] = [*cases("worlds"), *cases("sides")]
QUESTIONS = [(world["name"], case) for world in WORLDS for case in world["ask"]]


@pytest.fixture(scope="module")
def spaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, TestSpace]]:
    """A Space for each world, with everything said in it."""
    with ExitStack() as opened:
        told = {}
        for world in WORLDS:
            folder: Path = tmp_path_factory.mktemp("world")
            space = opened.enter_context(open_space(folder))
            for name, day, text, *key in world["say"]:
                message = said(text, name, at=f"{day}T09:00:00.000Z")
                result = space.form(MODEL, message, counterparty=key[0] if key else None)
                assert result.failed_reason is None, text
            told[world["name"]] = space
        yield told


def ask(space: TestSpace, case: dict[str, Any]) -> RecallResult:
    return anyio.run(recall, space.place(MODEL), RecallJob(case["ask"], counterparty=case.get("as")))


@pytest.mark.requirement("BR-RECALL-008", "BR-RECALL-018", "BR-RECALL-020")
@pytest.mark.parametrize(
    ("world", "case"), QUESTIONS, ids=[f"{name}: {case['ask']} {case.get('as', '')}" for name, case in QUESTIONS]
)
def test_an_answer_is_about_what_was_asked_as_it_stands_with_what_carries_it(
    spaces: dict[str, TestSpace], world: str, case: dict[str, Any]
) -> None:
    answer = ask(spaces[world], case)
    text = answer.run.content
    assert answer.found is case["found"], text
    assert [part for part in case.get("says", []) if part not in text] == [], text
    assert [part for part in case.get("never", []) if part in text] == [], text
    assert bool(answer.citations) is case["found"], text
    if "cites" in case:
        assert [citation.wire.get("name") for citation in answer.citations] == case["cites"]
