"""Questions to a small memory: what is answered, what must not be, and which silence is meant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brain.agents.builtin.recall.answer import ask_of, reply_to
from brain.agents.turns import PredicateWord, Vocabulary
from tests.builtin.cases import cases
from tests.builtin.memory import recall_turn
from tests.builtin.turns import PEOPLE

CELLO = PredicateWord("plays_instrument", "An instrument somebody plays", ("Person",), ("Topic",), (), "many")


@pytest.mark.requirement("BR-RECALL-003", "BR-RECALL-008", "BR-RECALL-020")
@pytest.mark.parametrize("case", cases("recall"), ids=lambda case: case["ask"])
def test_a_question_is_answered_from_memory_or_not_at_all(vocabulary: Vocabulary, case: dict[str, Any]) -> None:
    words = replace(vocabulary, predicates=(*vocabulary.predicates, CELLO))
    turn = recall_turn(case["ask"], words, PEOPLE.get(case.get("as", "")))
    reply = reply_to(ask_of(turn), turn)
    assert reply.found is case["found"], reply
    assert [part for part in case.get("says", []) if part not in reply.text] == []
    assert [part for part in case.get("never", []) if part in reply.text] == []
    assert 0 <= reply.uncertainty <= 1
