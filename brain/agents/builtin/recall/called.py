"""What values that are held under one name are called: languages, diets, conditions."""

from __future__ import annotations

from brain.agents.builtin.lexicon.things import CHINESE_DIETS, CHINESE_LANGUAGES, DIETS, LANGUAGES, OF_CONDITIONS
from brain.names import fold


def language_names(tag: str) -> tuple[str, ...]:
    """What a language with this tag is called, in English and Chinese."""
    return tuple(name for table in (LANGUAGES, CHINESE_LANGUAGES) for name, held in table.items() if held == tag)


def diet_names(diet: str) -> tuple[str, ...]:
    """How people say that they eat so, in English and Chinese."""
    return tuple(name for table in (DIETS, CHINESE_DIETS) for name, held in table.items() if held == diet)


def condition_names(condition: str) -> tuple[str, ...]:
    """What a condition is called, and what somebody with it is: diabetes, diabetic."""
    plain = fold(condition)
    return (condition, *(word for word, kept in OF_CONDITIONS.items() if kept in plain))
