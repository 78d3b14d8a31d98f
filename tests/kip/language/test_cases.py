"""Texts that are statements and texts that are none, as data in `cases/`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brain import errors
from brain.kip.parser import parse, statement_of
from brain.kip.printer import show

CASES = Path(__file__).parent / "cases"


def _texts(file: str) -> list[Any]:
    groups = json.loads((CASES / file).read_text(encoding="utf-8"))
    return [
        pytest.param(
            group, text, id=f"{group['name']}-{index}", marks=pytest.mark.requirement(*group.get("requirements", ()))
        )
        for group in groups
        for index, text in enumerate(group["texts"])
    ]


@pytest.mark.parametrize(("group", "text"), _texts("accept.json"))
def test_a_legal_text_parses_and_prints_as_the_same_tree(group: dict[str, Any], text: str) -> None:
    statement = statement_of(text) if group.get("grammar_only") else parse(text)
    assert statement_of(show(statement)) == statement


@pytest.mark.parametrize(("group", "text"), _texts("refuse.json"))
def test_an_illegal_text_is_refused_with_its_place(group: dict[str, Any], text: str) -> None:
    with pytest.raises(errors.KipError) as caught:
        parse(text)
    assert caught.value.code == group.get("code", "InvalidSyntax")
    assert caught.value.details.keys() >= {"line", "column", "snippet"}


@pytest.mark.requirement("KI-LEX-009")
@pytest.mark.parametrize("case", json.loads((CASES / "mend.json").read_text(encoding="utf-8")), ids=lambda c: c["text"])
def test_an_error_says_where_and_how_to_put_it_right(case: dict[str, Any]) -> None:
    with pytest.raises(errors.InvalidSyntax) as caught:
        parse(case["text"])
    error = caught.value
    assert (error.details["line"], error.details["column"]) == (case["line"], case["column"])
    assert error.hint == case["hint"]
    assert error.details.get("expected") == case.get("expected")
