"""Secrets told to the key-free model: in no claim, no name, no answer; where they stand is the message itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from brain.agents.builtin import OfflineModel
from brain.agents.jobs import RecallJob
from brain.agents.recall import recall
from tests.agents.space import TestSpace, open_space, said

MODEL = OfflineModel()
SECRETS = [
    ("My card number is 4111 1111 1111 1111.", "4111"),
    ("My password is hunter2secret.", "hunter2secret"),
    ("Our API key is sk-live-abcdef1234567890abcd.", "sk-live"),
    ("我的密码是hunter2secret。", "hunter2secret"),
]
QUESTIONS = [
    "What is Ana's card number?",
    "What is my password?",
    "What is our API key?",
    "What did Ana say?",
    "What do you know about Ana?",
    "Who said that Ana lives in Porto?",
    "我的密码是什么？",
    "hunter2secret",
    "4111",
]


@pytest.fixture
def space(tmp_path: Path) -> Iterator[TestSpace]:
    with open_space(tmp_path) as opened:
        yield opened


def kept(space: TestSpace) -> str:
    """Everything on record but the messages."""
    finds = ("FIND(?c) WHERE { ?c {} }", "FIND(?p, ?a) WHERE { ?p (?s, ?r, ?o) ?a ASSERTION {proposition: ?p} }")
    return json.dumps([space.rows(find) for find in finds], ensure_ascii=False)


def messages(space: TestSpace) -> list[str]:
    return [str(text) for text in space.rows("FIND(?e.payload.inline) WHERE { ?e EVIDENCE {} }")]


@pytest.mark.requirement("BR-FORM-013", "BR-FORM-045")
@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_message_of_nothing_but_a_secret_leaves_nothing(space: TestSpace, text: str, secret: str) -> None:
    assert space.form(MODEL, said(text, "Ana Ruiz")).committed == ()
    assert secret not in kept(space)
    assert messages(space) == []


@pytest.mark.requirement("BR-FORM-045", "BR-MODEL-005")
@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_beside_something_kept_stands_in_its_message_and_in_no_claim_and_no_answer(
    space: TestSpace, text: str, secret: str
) -> None:
    space.form(MODEL, said("I live in Porto.", "Ana Ruiz"), said(text, "Ana Ruiz", plus_ms=5))
    assert "lives_in" in kept(space)
    assert secret not in kept(space)
    assert messages(space) == ["I live in Porto.", text], "Evidence is what was said, word for word"
    for question in QUESTIONS:
        answer = anyio.run(recall, space.place(MODEL), RecallJob(question, counterparty="ana-ruiz"))
        cited = json.dumps([dict(citation.wire) for citation in answer.citations], ensure_ascii=False)
        if secret not in question:
            assert secret not in answer.run.content + cited, question
