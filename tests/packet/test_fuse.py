"""Reciprocal rank fusion: order by places alone, the same for the same rankings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from brain.packet.fuse import Ranking, fused
from tests.laws import law

ids = st.lists(st.integers(1, 30).map(lambda n: f"P-{n}"), unique=True, max_size=12)
rankings = st.lists(st.builds(Ranking, st.text(max_size=3), ids, st.sampled_from([0.5, 1.0, 2.0])), max_size=5)


def test_what_two_rankings_find_goes_before_what_one_finds_at_the_same_place() -> None:
    words, graph = Ranking("words", ["P-1", "P-2"]), Ranking("graph", ["P-2", "P-3"])
    assert fused([words, graph]) == ["P-2", "P-1", "P-3"]


def test_equal_sums_stand_by_kind_and_number() -> None:
    assert fused([Ranking("one", ["P-10"]), Ranking("other", ["P-9"]), Ranking("third", ["C-11"])]) == [
        "C-11",
        "P-9",
        "P-10",
    ]


@law(60)
@given(rankings)
def test_everything_found_is_there_once_whatever_the_order_of_the_rankings(given: list[Ranking]) -> None:
    order = fused(given)
    assert sorted(order) == sorted({i for ranking in given for i in ranking.ids})
    assert fused(given) == order


@law(60)
@given(ids)
def test_one_ranking_keeps_its_order(given: list[str]) -> None:
    assert fused([Ranking("only", given)]) == given
