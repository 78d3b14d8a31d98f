"""Whatever is written, the reader neither fails nor dawdles."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain.agents.builtin.recall.answer import ask_of, reply_to
from brain.agents.builtin.secrets import looks_secret
from brain.agents.remember.schema import MAX_ITEMS
from brain.agents.turns import Vocabulary
from tests.builtin.cases import cases
from tests.builtin.memory import recall_turn
from tests.builtin.turns import ANA, formed

_TEXT = """
    I my Ana Marc live lives in moved to Porto and , . ? ! : ; " ' ( ) not don't like love prefer over tea the of is
    was are will have sister called Mia last week since 2019 on Friday at 3pm Actually sorry meant remember that forget
    who which because if code 8841 a@b.c 我 喜欢 住在 北京 叫 妹妹 了 不 ， 。 's named
"""
_WORDS = st.sampled_from(["\n", *_TEXT.split()])
ANYTHING = st.one_of(
    st.text(max_size=400),
    st.text(st.characters(codec=None), max_size=200),
    st.lists(_WORDS, max_size=60).map(" ".join),
    st.lists(_WORDS, max_size=60).map("".join),
)


@settings(max_examples=300, deadline=None)
@given(text=ANYTHING)
def test_no_text_makes_it_fail(vocabulary: Vocabulary, text: str) -> None:
    kept = formed(vocabulary, [("Ana Ruiz", text), ("Marc Xenakis", text)])
    for claim in kept.claims:
        assert (claim.object is None) != (claim.text is None)
        assert claim.by is None
        assert not looks_secret(str(claim.object or "")) or claim.predicate == "has_code"


@settings(max_examples=200, deadline=None)
@given(text=ANYTHING)
def test_no_question_makes_it_fail(vocabulary: Vocabulary, text: str) -> None:
    turn = recall_turn(text, vocabulary, ANA)
    assert reply_to(ask_of(turn), turn).text


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "\x00" * 1_000_000,
        "I like tea and " * 70_000,
        "the code of the " * 60_000,
        "Ana Ruiz " * 110_000,
        "我的" * 500_000,
        '"' * 1_000_000,
        "\ud800" * 500_000,
        "12:30 on 5 May, " * 60_000,
        "my sister's " * 90_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_megabyte_is_read_within_two_seconds(vocabulary: Vocabulary, text: str) -> None:
    started = time.thread_time()
    kept = formed(vocabulary, [("Ana Ruiz", text)])
    assert time.thread_time() - started < 2
    assert all(len(items) <= MAX_ITEMS for items in (kept.claims, kept.events, kept.commitments))


def test_an_ordinary_conversation_takes_under_twenty_milliseconds(vocabulary: Vocabulary) -> None:
    said = [(message["name"], message["content"]) for message in cases("tour")["messages"]][:6]
    formed(vocabulary, said)
    took = []
    for _ in range(5):
        started = time.thread_time()
        formed(vocabulary, said)
        took.append(time.thread_time() - started)
    assert min(took) < 0.020


def test_twice_the_text_takes_about_twice_the_time(vocabulary: Vocabulary) -> None:
    def seconds(times: int) -> float:
        text = "I moved to Porto last week and I like tea, but Marc prefers coffee with milk. " * times
        best = float("inf")
        for _ in range(3):
            started = time.thread_time()
            formed(vocabulary, [("Ana Ruiz", text)])
            best = min(best, time.thread_time() - started)
        return best

    assert seconds(200) < 4 * seconds(100)
