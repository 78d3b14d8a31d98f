"""Names in text."""

from __future__ import annotations

import pytest

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
    ],
)
def test_a_name_stands_in_a_text_as_whole_words(name: str, text: str, stands: bool) -> None:
    assert occurs(name, fold(text)) is stands


def test_words_keep_runs_of_unspaced_script() -> None:
    assert words("我住在Berlin，Anna's dog") == ["我住在", "berlin", "anna's", "dog"]


def test_likely_names_come_first_and_common_words_not_at_all() -> None:
    assert worth_searching("where does the dog of Anna live, room B12?") == ["anna", "b12", "dog", "live", "room"]


def test_other_spellings_are_few() -> None:
    assert "mark" in spelled_alike("marc")
    assert all(len(spelled_alike(word)) <= 6 for word in ("sophia", "mississippi", "christopher"))


def test_keys_are_made_of_names_and_numbered_when_taken() -> None:
    assert key_for("Marc Xenakis") == "marc-xenakis"
    assert key_for("  Ünïted--Works ") == "united-works"
    assert key_for("小明") == "小明"
    assert key_for("Ann", {"ann", "ann-2"}) == "ann-3"
    assert key_for("!!!") == "unnamed"
