"""English clauses: subject, verb group, the rest, and the times that belong to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.english.nouns import Noun, noun_at
from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.english.verbs import ADVERBS, FORMS, HEDGES, Group, verb_group
from brain.agents.builtin.lexicon import words
from brain.agents.builtin.when import Spot

MAX_TOKENS = 80
"""A longer sentence is left alone: it is rarely speech, and its clauses are rarely plain."""

_MARKS = frozenset(",;:—–()-")
_JOINS = words("and but so then or plus yet")
_REASONS = words("because as though although whereas while")
_ASIDES = words("when whenever if unless until after before since once where whether")


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause.

    subjects  one, or several joined by "and"
    rest      what follows the verb, times taken out
    verbs     the tokens of the verb group
    leading   adverbs that open the clause
    aside     a clause of condition, time or place (`when I was a child`): it states nothing by itself
    start     its first token's offset in the sentence; `end` likewise
    """

    subjects: tuple[Noun, ...]
    group: Group
    rest: tuple[Token, ...]
    times: tuple[Spot, ...]
    aside: bool
    start: int
    end: int
    verbs: tuple[Token, ...] = ()
    leading: frozenset[str] = frozenset()

    @property
    def adverbs(self) -> frozenset[str]:
        """Adverbs of the verb group and those that open the clause (`now I live …`)."""
        return self.group.adverbs | self.leading


@dataclass(slots=True)
class _Opening:
    """What stands before a clause's subject."""

    joint: int
    at: int
    words: frozenset[str]
    adverbs: frozenset[str]


def clauses_of(tokens: Sequence[Token], cast: Cast) -> list[Clause]:
    """The clauses of an English sentence, in order; none when its grammar is not plain enough."""
    if len(tokens) > MAX_TOKENS:
        return []
    return list(_Splitter(tokens, cast).clauses())


class _Splitter:
    """Reads one sentence from left to right."""

    def __init__(self, tokens: Sequence[Token], cast: Cast) -> None:
        self.plain = [token for token in tokens if token.kind != "time"]
        self.times: list[tuple[int, Spot]] = []
        index = 0
        for token in tokens:
            if token.spot is not None:
                self.times.append((index, token.spot))
            else:
                index += 1
        self.cast = cast

    def clauses(self) -> Iterator[Clause]:
        opening = self._opening(0)
        subjects: tuple[Noun, ...] = ()
        while opening.at < len(self.plain):
            found = self._clause_at(opening, subjects)
            if found is None:
                return
            subjects, group, relative = found
            if relative is not None:
                yield relative
            following = self._next_opening(group.end, subjects)
            yield self._clause(opening, subjects, group, following.joint)
            opening = following

    def _opening(self, at: int) -> _Opening:
        """Joining words, marks and adverbs from `at` on."""
        words, adverbs, index = set[str](), set[str](), at
        while index < len(self.plain):
            token = self.plain[index]
            if token.low in _JOINS or token.low in _REASONS or token.low in _ASIDES or token.text in _MARKS:
                words.add(token.low)
            elif token.low in ADVERBS:
                adverbs.add(token.low)
            else:
                break
            index += 1
        return _Opening(at, index, frozenset(words), frozenset(adverbs))

    def _clause_at(
        self, opening: _Opening, before: tuple[Noun, ...]
    ) -> tuple[tuple[Noun, ...], Group, Clause | None] | None:
        subjects = self._subjects(opening.at)
        if subjects:
            end = subjects[-1].end
            relative = self._inner_relative(subjects, end)
            if relative is not None:
                end = relative[1]
            group = verb_group(self.plain, end)
            if group is not None and _agree(subjects, group):
                return subjects, group, relative[0] if relative else None
        if before and opening.words & _JOINS:
            group = verb_group(self.plain, opening.at)
            if group is not None and _agree(before, group):
                return before, group, None
        if opening.at < len(self.plain) and self.plain[opening.at].low in ("who", "which"):
            group = verb_group(self.plain, opening.at + 1)
            noun = self._noun_ending_at(opening.joint)
            if group is not None and noun is not None and _agree((noun,), group):
                return (noun,), group, None
        return None

    def _subjects(self, at: int) -> tuple[Noun, ...]:
        found: list[Noun] = []
        index = at
        while len(found) < 4:
            noun = noun_at(self.plain, index, self.cast)
            if noun is None:
                break
            found.append(noun)
            index = noun.end
            if index < len(self.plain) and self.plain[index].low in ("and", ",", "&"):
                index += 1
                if index < len(self.plain) and self.plain[index].low == "and":
                    index += 1
                if noun_at(self.plain, index, self.cast) is not None:
                    continue
            break
        return tuple(found)

    def _inner_relative(self, subjects: tuple[Noun, ...], at: int) -> tuple[Clause, int] | None:
        """`Mia, who lives in Rome, …`: the inner clause and where the outer one goes on."""
        if not (at + 1 < len(self.plain) and self.plain[at].text == "," and self.plain[at + 1].low == "who"):
            return None
        group = verb_group(self.plain, at + 2)
        if group is None:
            return None
        for index in range(group.end, len(self.plain)):
            if self.plain[index].text == "," and verb_group(self.plain, index + 1) is not None:
                inner = self._clause(_Opening(at, at + 2, frozenset(), frozenset()), subjects[-1:], group, index)
                return inner, index + 1
        return None

    def _noun_ending_at(self, end: int) -> Noun | None:
        for start in range(max(0, end - 6), end):
            noun = noun_at(self.plain, start, self.cast)
            if noun is not None and noun.end == end and noun.sort in ("name", "owned"):
                return noun
        return None

    def _next_opening(self, at: int, subjects: tuple[Noun, ...]) -> _Opening:
        """Where the next clause opens, at or after `at`; the end of the sentence when there is none."""
        for index in range(at, len(self.plain)):
            token = self.plain[index]
            joins = token.low in _JOINS or token.low in _REASONS or token.low in _ASIDES
            if not joins and token.text not in _MARKS:
                continue
            opening = self._opening(index)
            if opening.at >= len(self.plain):
                continue
            if token.text == ";" or self._begins_clause(opening, subjects):
                return opening
        return _Opening(len(self.plain), len(self.plain), frozenset(), frozenset())

    def _begins_clause(self, opening: _Opening, subjects: tuple[Noun, ...]) -> bool:
        nouns = self._subjects(opening.at)
        if nouns:
            group = verb_group(self.plain, nouns[-1].end)
            if group is not None and _agree(nouns, group):
                return True
        low = self.plain[opening.at].low
        if low in ("who", "which") and self._noun_ending_at(opening.joint) is not None:
            return verb_group(self.plain, opening.at + 1) is not None
        if not opening.words & _JOINS:
            return False
        group = verb_group(self.plain, opening.at)
        return group is not None and _agree(subjects, group) and not self._may_be_noun(opening.at, group)

    def _may_be_noun(self, at: int, group: Group) -> bool:
        """Whether a bare verb after "and" ends the sentence, as a noun in a list would: `music and dance`."""
        return group.end >= len(self.plain) and at + 1 == group.end

    def _clause(self, opening: _Opening, subjects: tuple[Noun, ...], group: Group, end: int) -> Clause:
        first = opening.joint if opening.joint == 0 else opening.joint + 1
        times = tuple(spot for index, spot in self.times if first <= index <= end)
        last = self.plain[end - 1].end if end else 0
        begin = self.plain[opening.at].start if opening.at < len(self.plain) else last
        return Clause(
            subjects,
            group,
            tuple(self.plain[group.end : end]),
            tuple(spot for spot in times if spot.is_possible),
            bool(opening.words & _ASIDES) or bool(HEDGES & opening.adverbs),
            begin,
            max([last, *(spot.end for spot in times)]),
            tuple(self.plain[group.begin : group.end]),
            opening.adverbs,
        )


def _agree(subjects: Sequence[Noun], group: Group) -> bool:
    """Whether the verb's form fits the subject, as far as English shows it."""
    if group.agrees is None:
        return True
    if len(subjects) > 1:
        return not group.agrees
    noun = subjects[0]
    if noun.sort in ("i", "we", "you") or noun.words == "they":
        return not group.agrees
    if noun.sort in ("owned", "the"):
        return True
    return group.agrees


def is_finite_start(tokens: Sequence[Token], at: int) -> bool:
    """Whether an imperative begins at `tokens[at]`: a base form without a subject."""
    return at < len(tokens) and any(verb.form == "base" for verb in FORMS.get(tokens[at].low, ()))
