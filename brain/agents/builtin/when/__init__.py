"""Times said in words, resolved against the time of the message, to the precision said.

`times_in` finds every time expression of a sentence. Nothing is guessed: what could mean two dates has none unless the
sentence's tense decides. Our own few rules rather than a date-parsing library: those read one date out of a string,
with their own idea of "next Friday", where this needs spans, prepositions, two languages and the precision said.
"""

from __future__ import annotations

from datetime import datetime

from brain.agents.builtin.text import Language
from brain.agents.builtin.when import chinese, english
from brain.agents.builtin.when.calendar import Direction, Role, Spot, When, moment_of

__all__ = ["Direction", "Role", "Spot", "When", "moment_of", "times_in"]


def times_in(text: str, at: datetime, language: Language) -> list[Spot]:
    """Every time expression of a sentence, in order, without overlaps.

    at  the moment the sentence was said
    """
    return chinese.times_in(text, at) if language == "zh" else english.times_in(text, at)
