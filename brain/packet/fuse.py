"""Rankings made one by reciprocal ranks: scores of different sources have no common measure, places have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from brain.store.base import ElementId, element_number

SMOOTHING = 60
"""What is added to every place: how much less the second counts than the first."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one way of looking found, best first.

    weight  of the whole ranking beside others
    """

    name: str
    ids: Sequence[ElementId]
    weight: float = 1.0


def fused(rankings: Sequence[Ranking]) -> list[ElementId]:
    """All ids once, best first. Equal sums stand by kind and number, so the same rankings give the same order."""
    sums = scores(rankings)
    return sorted(sums, key=lambda i: (-sums[i], i[0], element_number(i)))


def scores(rankings: Sequence[Ranking]) -> Mapping[ElementId, float]:
    """The sum of `weight / (60 + place)` over the rankings an id stands in; an id counts once in each."""
    sums: dict[ElementId, float] = {}
    for ranking in rankings:
        for place, element_id in enumerate(dict.fromkeys(ranking.ids), start=1):
            sums[element_id] = sums.get(element_id, 0.0) + ranking.weight / (SMOOTHING + place)
    return sums
