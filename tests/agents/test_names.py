"""Names in text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.agents.prompts import estimated_tokens
from brain.agents.telling import entry_lines, fitted
from brain.agents.texts import clean, one_line
from brain.agents.turns import DossierEntry, Ref
from brain.names import are_alike, fold, key_for, occurs, spelled_alike, words, worth_searching


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Marc Xenakis", "Mark Xenakis", True),
        ("Marc", "Mark Twain", True),
        ("Sofia", "Sophia", True),
        ("José", "jose", True),
        ("Jon", "John", True),
        ("Alice Chen", "Alice Wong", True),
        ("Alice", "Bob", False),
        ("Szeged", "Seged", True),
        ("Paris", "London", False),
        ("小明", "小红", False),
        ("", "x", False),
    ],
)
def test_who_may_be_taken_for_whom(one: str, other: str, alike: bool) -> None:
    assert are_alike(one, other) is alike
    assert are_alike(other, one) is alike


@pytest.mark.parametrize(
    ("name", "text", "stands"),
    [
        ("Ann", "I met Ann today", True),
        ("Ann", "Annual review", False),
        ("José", "jose called", True),
        ("小明", "我和小明去了北京", True),
        ("Acme Corp", "the ACME corp. office", True),
        ("", "anything", False),
        ("C++", "I like C++ a lot", True),
        ("Vim", "谁用Vim？", True),
        ("Vim", "谁用Vimeo", False),
        ("Vim", "Vim和Helix", True),
    ],
)
def test_a_name_stands_in_a_text_as_whole_words(name: str, text: str, stands: bool) -> None:
    assert occurs(name, fold(text)) is stands


@given(name=st.text("ab_1. é", max_size=4), text=st.text("ab_1. é", max_size=30))
def test_a_name_stands_where_no_letter_goes_on(name: str, text: str) -> None:
    pattern = rf"(?<!\w){re.escape(fold(name))}(?!\w)"
    assert occurs(name, fold(text)) is bool(fold(name) and re.search(pattern, fold(text)))


@given(text=st.text("ab \t\n\x00é\u200d\u3000", max_size=30), most=st.integers(1, 20))
def test_a_text_on_one_line_is_clean_and_short(text: str, most: int) -> None:
    assert one_line(text, most) == clean(" ".join(clean(text, most * 4).split()), most)


@given(lengths=st.lists(st.integers(0, 60), min_size=1, max_size=12), tokens=st.integers(1, 100))
def test_as_many_names_are_told_as_fit(lengths: list[int], tokens: int) -> None:
    entries = tuple(
        DossierEntry(Ref(f"C-{n}", "é" * length, "Topic"), None, (), False, (), ()) for n, length in enumerate(lengths)
    )
    kept, cut = fitted(entries, tokens)

    def fits(count: int) -> bool:
        return estimated_tokens("\n".join(entry_lines(entries[:count]))) <= tokens

    assert kept == entries[: len(kept)]
    assert len(kept) == 1 or fits(len(kept))
    assert len(kept) == len(entries) or not fits(len(kept) + 1)
    assert bool(cut) is (len(kept) < len(entries))


def test_words_keep_runs_of_unspaced_script() -> None:
    assert words("我住在Berlin，Anna's dog") == ["我住在", "berlin", "anna's", "dog"]


def test_likely_names_come_first_and_common_words_not_at_all() -> None:
    assert worth_searching("where does the dog of Anna live, room B12?") == ["anna", "b12", "dog", "live", "room"]


def test_other_spellings_are_few() -> None:
    assert "mark" in spelled_alike("marc")
    assert spelled_alike("c3po77") == []
    assert all(len(spelled_alike(word)) <= 6 for word in ("sophia", "mississippi", "christopher"))


def test_keys_are_made_of_names_and_numbered_when_taken() -> None:
    assert key_for("Marc Xenakis") == "marc-xenakis"
    assert key_for("  Ünïted--Works ") == "united-works"
    assert key_for("小明") == "小明"
    assert key_for("Ann", {"ann", "ann-2"}) == "ann-3"
    assert key_for("!!!") == "unnamed"
