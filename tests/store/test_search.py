"""Text analysis: what a text is found by. The store contract tests the same through a store."""

from __future__ import annotations

import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain.store.base import Kind
from brain.store.rows import SEARCHED
from brain.store.search import LONGEST_TERM, MOST_TERMS, counted, least_relevance, query_terms, rarity, score, terms


@pytest.mark.requirement("KI-META-024")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Running runs, run!", ["run", "run", "run"]),
        ("Café CAFÉ cafe\u0301", ["cafe", "cafe", "cafe"]),
        ("AB-1234", ["ab", "1234", "ab1234"]),
        ("works_for", ["work", "for", "worksfor"]),
        ("O'Brien's dog’s", ["o", "brien", "obrien", "dog"]),
        ("007 3.14", ["007", "3", "14", "314"]),
        ("記憶", ["記", "憶", "記憶"]),
        ("東京tower", ["東", "京", "東京", "tower"]),
        ('(a) -b* "c" AND:d', ["a", "b", "c", "and", "d", "andd"]),
        ("🎉 \ud800 \0 ・ 、", []),
    ],
)
def test_a_text_becomes_its_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_a_query_looks_for_single_characters_only_when_they_stand_alone() -> None:
    assert query_terms("記憶の 記") == ["記憶", "憶の", "記"]
    assert query_terms("tea tea Tea") == ["tea"]


def test_terms_and_queries_are_bounded() -> None:
    assert {len(term) for term in terms("x" * 1000 + " " + "-".join(["yy"] * 100))} == {LONGEST_TERM, 2}
    assert len(query_terms(" ".join(f"word{number}" for number in range(10_000)))) == MOST_TERMS


@given(st.text())
def test_every_text_finds_itself(text: str) -> None:
    assert set(query_terms(text)) <= set(terms(text))
    assert all(terms(text))


# As long as a request may be (`BODY_LIMIT_BYTES`).
LONG = {
    "words": "the quick brown fox " * 100_000,
    "one word": "y" * 2_000_000,
    "a compound": "ab-" * 700_000,
    "a run": "日本語" * 230_000,
    "many words": " ".join(f"{Random(n).getrandbits(40):x}" for n in range(100_000)),
}


@settings(deadline=None)
@given(st.lists(st.sampled_from(["tea", "Tea's", "AB-1234", "記憶の", "東京tower", "記憶の", ", ", " "])).map("".join))
def test_counting_finds_the_terms_as_often_as_they_occur(text: str) -> None:
    assert counted(text, lambda: None) == Counter(terms(text))


@pytest.mark.parametrize("name", LONG)
def test_a_long_text_is_counted_like_a_short_one_with_many_looks_at_the_clock(name: str) -> None:
    looks: list[float] = [time.thread_time()]
    found = counted(LONG[name], lambda: looks.append(time.thread_time()))
    assert found == Counter(terms(LONG[name]))
    assert len(looks) > 10 or name == "one word"
    assert max(later - earlier for earlier, later in pairwise(looks)) < 1
    assert set(query_terms(LONG[name])) <= set(found)


@given(st.text(alphabet=st.characters(categories=["L", "N", "M"])), st.text(alphabet=' \t\n,;!?()"*^~|'))
def test_punctuation_around_a_text_changes_nothing(text: str, around: str) -> None:
    assert terms(around + text + around) == terms(text)


@pytest.mark.requirement("KI-META-019")
@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_a_rarer_term_weighs_more_and_none_weighs_nothing(documents: int, holding: int) -> None:
    holding = min(documents, holding)
    assert rarity(documents, holding) > 0
    assert rarity(documents + 1, holding) > rarity(documents, holding)
    assert rarity(documents + 1, holding) > rarity(documents + 1, holding + 1)


@given(st.floats(0, 0.999))
def test_a_score_and_its_relevance_belong_together(threshold: float) -> None:
    assert score(least_relevance(threshold)) == pytest.approx(threshold)


@pytest.mark.requirement("KI-META-020")
def test_what_is_searched_is_told_for_every_kind() -> None:
    assert set(SEARCHED) == set(Kind)
    page = (Path(__file__).resolve().parents[2] / "docs" / "store.md").read_text("utf-8")
    for kind, members in SEARCHED.items():
        assert f"| {kind.value.capitalize()} | {members} |" in page
