"""The words of a Space, as agents are shown them: short names, one meaning each, how many values hold at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

from brain.agents.reading import Query, Reading
from brain.agents.texts import one_line
from brain.agents.turns import PredicateWord, TypeWord, Vocabulary
from brain.names import words

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
    """The words that can be written, with how many Concepts of each type there are."""
    types, predicates = (
        [row for row in rows if row.get("status", "active") == "active"][:MAX_WORDS]
        for rows in reading.ask_all([("LIST TYPES LIMIT 100", {}), ("LIST PREDICATES LIMIT 100", {})])
    )
    types = [row for row in types if row["local_name"] not in _MACHINERY]
    predicates = [row for row in predicates if row["local_name"] not in _INNER]
    queries: list[Query] = [("DESCRIBE TYPE :ref", {"ref": row["ref"]}) for row in types]
    queries += [("FIND(COUNT(?c)) WHERE { ?c {type: :ref} }", {"ref": row["ref"]}) for row in types]
    queries += [("DESCRIBE PREDICATE :ref", {"ref": row["ref"]}) for row in predicates]
    answers = reading.ask_all(queries)
    described, counts = answers[: len(types)], answers[len(types) : 2 * len(types)]
    return Vocabulary(
        tuple(
            TypeWord(row["local_name"], _meaning(answer), count[0] if count else 0)
            for row, answer, count in zip(types, described, counts, strict=True)
        ),
        tuple(
            _predicate(row["local_name"], answer)
            for row, answer in zip(predicates, answers[2 * len(types) :], strict=True)
        ),
    )


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


def nearest(vocabulary: Vocabulary, name: str, count: int = 3) -> tuple[PredicateWord, ...]:
    """The predicates most alike to a name, by spelling and by the words of their meaning, best first."""
    asked = set(words(name.replace("_", " ")))

    def score(word: PredicateWord) -> float:
        shared = asked & set(words(f"{word.name.replace('_', ' ')} {word.meaning}"))
        return SequenceMatcher(None, name.lower(), word.name).ratio() + len(shared) / max(1, len(asked))

    return tuple(sorted(vocabulary.predicates, key=lambda word: (-score(word), word.name))[:count])


def vocabulary_lines(vocabulary: Vocabulary) -> list[str]:
    """One line per word, types in use first: what stands in a prompt."""
    used = sorted(vocabulary.types, key=lambda word: (-(word.count or 0), word.name))
    lines = ["types: " + ", ".join(f"{word.name} {word.count}" if word.count else word.name for word in used)]
    for word in vocabulary.predicates:
        ends = "|".join(word.subject) or "any"
        takes = "|".join([*word.object, *(("text",) if word.literals else ())]) or "any"
        lines.append(f"{word.name} {ends} -> {takes}, {word.values}: {word.meaning}")
    return lines
