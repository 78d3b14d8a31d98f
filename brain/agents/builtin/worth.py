"""From a phrase to the value a relation takes: its Concept Type, or plain text."""

from __future__ import annotations

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.facts import Thing, Value
from brain.agents.builtin.lexicon import words
from brain.agents.builtin.lexicon.things import (
    ALLERGENS,
    CHINESE_KIND_OF,
    KIND_HEADS,
    KIND_OF,
)

_TASTES = frozenset(("likes", "dislikes"))
_NO_KIND = words(
    """
    thing things stuff one ones way time people person life lot it that this idea place places day days bit part
    """
)


def kind_of(phrase: str) -> str | None:
    """The kind of option a phrase names: by the tables, else by its last word (`window seats` are Seats)."""
    words = phrase.casefold().replace("-", " ").split()
    joined = "".join(words)
    if phrase in CHINESE_KIND_OF:
        return CHINESE_KIND_OF[phrase]
    for name in (" ".join(words), joined):
        if name in KIND_OF:
            return KIND_OF[name]
    if not words:
        return None
    if words[-1] in KIND_HEADS:
        return KIND_HEADS[words[-1]]
    if words[-1] in KIND_OF and len(words) > 1:
        return KIND_OF[words[-1]]
    return None


def kind_by_head(phrase: str) -> str | None:
    """A kind made of a phrase's head noun, `early flights` → Flight, when the phrase says more than the noun alone."""
    words = phrase.split()
    if len(words) < 2 or any(word.lower() in ("of", "with", "in", "on") for word in words):
        return None
    head = words[-1].lower()
    if not head.isascii() or not head.isalpha() or head in _NO_KIND or head.endswith("ing") or len(head) < 3:
        return None
    return _singular(head).capitalize()


def _singular(noun: str) -> str:
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("ses", "xes", "ches", "shes")):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun


def typed(relation: str, value: object, cast: Cast) -> Value | None:
    """The value as the relation takes it; None when it is nothing the relation can hold."""
    if isinstance(value, (Thing, int)):
        return value
    text = str(value).strip()
    if not text:
        return None
    if relation in _TASTES:
        return None if cast.is_person(text) else Thing(text, kind_of(text) or "Topic")
    if relation == "prefers":
        kind = kind_of(text) or kind_by_head(text)
        return Thing(text, kind) if kind else Thing(text, None)
    if relation == "interested_in":
        return Thing(text, "Topic")
    if relation == "allergic_to":
        lower = text.casefold()
        return Thing(lower, "Substance" if lower.split(" ")[-1] in ALLERGENS else "Food")
    return text
