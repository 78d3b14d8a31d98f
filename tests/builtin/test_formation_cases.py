"""Single sentences and what is kept of them; most of what people say is not kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brain.agents.turns import Ref, Vocabulary
from tests.builtin.cases import cases
from tests.builtin.turns import FALCON, MARC, WANG, entry, formed, plain


def same(kept: dict[str, list[Any]]) -> dict[str, list[str]]:
    """A document's lists without their order."""
    return {name: sorted(json.dumps(item, sort_keys=True) for item in items) for name, items in kept.items()}


def check(vocabulary: Vocabulary, speaker: str, other: Ref, case: dict[str, Any]) -> None:
    kept = plain(formed(vocabulary, [(speaker, case["say"])], [entry(other), entry(FALCON)]))
    assert same(kept) == same(case["keeps"])


@pytest.mark.requirement("BR-AGENT-010", "BR-FORM-018")
@pytest.mark.parametrize("case", cases("english"), ids=lambda case: case["say"])
def test_what_ana_says_is_kept_as_meant(vocabulary: Vocabulary, case: dict[str, Any]) -> None:
    check(vocabulary, "Ana Ruiz", MARC, case)


@pytest.mark.requirement("BR-AGENT-010", "BR-FORM-018")
@pytest.mark.parametrize("case", cases("chinese"), ids=lambda case: case["say"])
def test_what_li_ming_says_in_chinese_is_kept_as_meant(vocabulary: Vocabulary, case: dict[str, Any]) -> None:
    check(vocabulary, "李明", WANG, case)


def test_the_cases_are_as_many_as_they_should_be() -> None:
    assert len(cases("english")) >= 150
    assert len(cases("chinese")) >= 60
    assert len(cases("recall")) >= 60
