"""The words of a Space, as agents are shown them: short names, one meaning each, how many values hold at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, Literal
from weakref import WeakKeyDictionary

from brain.agents.reading import ReadFailed, Reading
from brain.agents.texts import one_line
from brain.agents.turns import PredicateWord, TypeWord, Vocabulary
from brain.kip.pipeline import Engine
from brain.names import words
from brain.store.search import query_terms

MEANING = 90
"""Characters of a meaning in a prompt."""

MAX_WORDS = 200
"""Predicates, and types, that a prompt can list."""

_MACHINERY = frozenset(
    {"Experience", "ExperienceStep", "SelfModel", "Skill", "SkillRevision", "SleepTask", "Watch", "WorkingState"}
)
"""Types of the profile that conversations never claim things of."""

_INNER = frozenset({"caused_by"})


def read_vocabulary(reading: Reading) -> Vocabulary:
    """The words that can be written now; definitions are read again only when the vocabulary changed."""
    version = reading.vocabulary_version()
    known = _KNOWN.get(reading.engine)
    if known is None or known[0] != version:
        known = (version, _read_words(reading))
        _KNOWN[reading.engine] = known
    return known[1]


_KNOWN: MutableMapping[Engine, tuple[int, Vocabulary]] = WeakKeyDictionary()
"""The words of open Spaces at the version they were read; each goes with its engine."""


def _read_words(reading: Reading) -> Vocabulary:
    types = [row for row in _all(reading, "LIST TYPES") if row["local_name"] not in _MACHINERY]
    predicates = [row for row in _all(reading, "LIST PREDICATES") if row["local_name"] not in _INNER]
    described = reading.ask_all(
        [
            *(("DESCRIBE TYPE :ref", {"ref": row["ref"]}) for row in types),
            *(("DESCRIBE PREDICATE :ref", {"ref": row["ref"]}) for row in predicates),
        ]
    )
    return Vocabulary(
        tuple(
            TypeWord(row["local_name"], _meaning(answer), None)
            for row, answer in zip(types, described[: len(types)], strict=True)
        ),
        tuple(
            _predicate(row["local_name"], answer)
            for row, answer in zip(predicates, described[len(types) :], strict=True)
        ),
    )


def _all(reading: Reading, command: str) -> list[Mapping[str, Any]]:
    """Active rows of a LIST, page by page, at most `MAX_WORDS`."""
    rows: list[Mapping[str, Any]] = []
    page = f"{command} LIMIT 100"
    parameters: dict[str, Any] = {}
    while True:
        [answer] = reading.try_all([(page, parameters)])
        if "error" in answer:
            raise ReadFailed(answer["error"]["code"])
        rows += [row for row in answer["result"] if row.get("status", "active") == "active"]
        if len(rows) >= MAX_WORDS or not answer.get("next_cursor"):
            return rows[:MAX_WORDS]
        page, parameters = f"{command} LIMIT 100 CURSOR :cursor", {"cursor": answer["next_cursor"]}


def _predicate(name: str, described: Mapping[str, Any]) -> PredicateWord:
    definition = described["definition"]
    ends = definition.get("object") or {}
    kinds = {str(kind).lower() for kind in ends.get("kinds") or ()}
    types = _local(ends.get("concept_types"))
    literals = tuple(ends.get("literal_types") or ())
    values: Literal["one", "many", "one_per_type"] = "one" if definition.get("functional") else "many"
    if definition.get("functional_by") == "object_type":
        values = "one_per_type"
    if not types and not literals and kinds and "concept" not in kinds:
        literals = ("string",)
    return PredicateWord(
        name,
        _meaning(described),
        _local((definition.get("subject") or {}).get("concept_types")),
        types,
        literals,
        values,
    )


def _local(refs: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(ref.rpartition("/")[2] for ref in refs or ())


def _meaning(described: Mapping[str, Any]) -> str:
    """The first sentence of a description."""
    text = one_line(str((described.get("definition") or described).get("description") or ""), 400)
    return one_line(text.split(". ")[0].split("; ")[0].rstrip("."), MEANING)


def terms_of_relations(names: Iterable[str]) -> frozenset[str]:
    """The terms by which predicates of these names, or references, are found."""
    return frozenset(term for name in names for term in terms_of_relation(name))


@lru_cache(maxsize=4096)
def terms_of_relation(name: str) -> tuple[str, ...]:
    """The terms by which a predicate of this name, or reference, is found."""
    return tuple(query_terms(name.rpartition("/")[2].replace("_", " ")))


def without_relations(question_words: Iterable[str], relations: frozenset[str]) -> str:
    """The words of a question that name no relation: all Propositions of a relation are found by its words, which costs
    much and tells nothing apart.

    relations  as of `terms_of_relations`
    """
    return " ".join(word for word in question_words if not relations.intersection(query_terms(word)))


def nearest(vocabulary: Vocabulary, name: str, count: int = 3) -> tuple[PredicateWord, ...]:
    """The predicates most alike to a name, by spelling and by the words of their meaning, best first."""
    asked = set(words(name.replace("_", " ")))

    def score(word: PredicateWord) -> float:
        shared = asked & set(words(f"{word.name.replace('_', ' ')} {word.meaning}"))
        return SequenceMatcher(None, name.lower(), word.name).ratio() + len(shared) / max(1, len(asked))

    return tuple(sorted(vocabulary.predicates, key=lambda word: (-score(word), word.name))[:count])


def vocabulary_lines(vocabulary: Vocabulary) -> list[str]:
    """One line per word. No counts: a Space's system text stays the same until its vocabulary changes."""
    lines = ["types: " + ", ".join(sorted(word.name for word in vocabulary.types))]
    for word in vocabulary.predicates:
        ends = "|".join(word.subject) or "any"
        takes = "|".join([*word.object, *(("text",) if word.literals else ())]) or "any"
        lines.append(f"{word.name} {ends} -> {takes}, {word.values}: {word.meaning}")
    return lines
