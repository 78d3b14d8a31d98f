"""A predicate with how it is asked for and told."""

from __future__ import annotations

from dataclasses import dataclass

from brain.agents.builtin.text import Language, Pattern, pattern


@dataclass(frozen=True, slots=True)
class Telling:
    """How a claim is said: `{s}` its subject, `{o}` its value.

    now, was  of a claim that holds, and of one that held
    topic     what it is about, for "no record of …"
    """

    now: str
    was: str
    topic: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A predicate.

    asks     by language, what in a question asks for it
    reverse  by language, what asks for the subject by the value (`who lives in Rome`)
    by_value whether the person a question names is the claim's object (`who are Ana's parents`)
    types    Concept Types the answer is limited to (`which editor …`)
    """

    predicate: str
    telling: dict[Language, Telling]
    asks: dict[Language, Pattern]
    reverse: dict[Language, Pattern | None]
    by_value: bool = False


def relation(
    predicate: str,
    english: tuple[str, str, str],
    chinese: tuple[str, str, str],
    asks: str,
    asks_zh: str,
    *,
    reverse: str = "",
    reverse_zh: str = "",
    by_value: bool = False,
) -> Relation:
    """A predicate with its English and Chinese telling (now, was, topic) and the patterns that ask for it."""
    return Relation(
        predicate,
        {"en": Telling(*english), "zh": Telling(*chinese)},
        {"en": pattern(asks), "zh": pattern(asks_zh)},
        {
            "en": pattern(reverse) if reverse else None,
            "zh": pattern(reverse_zh) if reverse_zh else None,
        },
        by_value,
    )
