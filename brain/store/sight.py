"""What a search shows a caller who may not see everything: the same for every store.

What is hidden moves no score, rank or hit of the rest. So texts are weighed here, by what the caller sees alone, in a
corpus of a supposed size: rarity and length must not tell of texts that are hidden.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from brain.store.base import Element, ElementId, Hit, Kind, SearchQuery, element_number
from brain.store.search import LENGTH_WEIGHT, SATURATION, SUPPOSED_TEXTS, rarity, score

Load = Callable[[Collection[ElementId]], Mapping[ElementId, Element]]
Claims = Callable[[Collection[ElementId]], Iterable[tuple[ElementId, ElementId]]]
"""The active Assertions about some Propositions, each with its Proposition."""

_READ = 500
"""Elements read at a time to ask whether a caller sees them."""


class Sight:
    """What one caller sees; each element is read and judged once."""

    def __init__(self, load: Load, visible: Callable[[Element], bool]) -> None:
        self._load = load
        self._visible = visible
        self._verdicts: dict[ElementId, bool] = {}

    def of(self, ids: Collection[ElementId]) -> set[ElementId]:
        """Those of these elements that are visible."""
        unread = [element_id for element_id in ids if element_id not in self._verdicts]
        for start in range(0, len(unread), _READ):
            part = unread[start : start + _READ]
            elements = self._load(part)
            for element_id in part:
                self._verdicts[element_id] = element_id in elements and self._visible(elements[element_id])
        return {element_id for element_id in ids if self._verdicts[element_id]}


def seen_by_words(
    sight: Sight, found: Sequence[tuple[ElementId, int, int, int]], threshold: float
) -> list[tuple[ElementId, float]]:
    """Owners of texts with their scores, the best first.

    found  per owner, all of one kind, and word: the word's place among those searched for, how often it is there, and
           how many terms the text has
    """
    sizes = {element_id: size for element_id, _, _, size in found}
    seen = sight.of(sizes)
    held = [(element_number(element_id), place, times, element_id) for element_id, place, times, _ in found]
    held = sorted(one for one in held if one[3] in seen)
    holders = Counter(place for _, place, _, _ in held)
    mean = sum(sizes[element_id] for element_id in seen) / max(len(seen), 1)
    worth: dict[ElementId, float] = defaultdict(float)
    for _, place, times, element_id in held:
        weight = (SATURATION + 1) * rarity(max(SUPPOSED_TEXTS, len(seen)), holders[place])
        length = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * sizes[element_id] / mean
        worth[element_id] += weight * times / (times + SATURATION * length)
    ranked = [(element_id, score(sum_)) for element_id, sum_ in worth.items()]
    ranked.sort(key=lambda one: (-one[1], element_number(one[0])))
    return [one for one in ranked if one[1] >= threshold]


def visible_hits(
    sight: Sight, query: SearchQuery, found: Sequence[tuple[ElementId, float]], claims_about: Claims
) -> list[Hit]:
    """The best hits a caller sees, out of every owner of a text that was found, with its score, the best first."""
    hits: list[Hit] = []
    for start in range(0, len(found), _READ):
        end = start + _READ
        part = dict(found[start:end])
        scores = {element_id: part[element_id] for element_id in sight.of(part)}
        if query.kind is Kind.ASSERTION:
            about = list(claims_about(scores))
            claims = sight.of([claim for claim, _ in about])
            scores = {claim: scores[owner] for claim, owner in about if claim in claims}
        hits += [Hit(element_id, score_) for element_id, score_ in scores.items()]
        # Equal scores may still follow; what scores less comes before nothing that is here.
        if len(hits) >= query.limit and end < len(found) and found[end][1] < found[end - 1][1]:
            break
    return sorted(hits, key=lambda hit: (-hit.score, element_number(hit.id)))[: query.limit]
