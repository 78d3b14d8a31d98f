"""A sentence of an answer with what it rests on, and claims turned round."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from brain.agents.builtin.english.verbs import FORMS
from brain.agents.builtin.text import Language
from brain.agents.turns import KnownClaim
from brain.names import fold, words
from brain.store.base import ElementId


@dataclass(frozen=True, slots=True)
class Told:
    """One sentence, without its end mark; `ids` are the elements that carry it."""

    text: str
    ids: tuple[ElementId, ...] = ()

    def within(self, shape: str, **parts: Any) -> Told:
        """The sentence put into another, at `{what}`."""
        return Told(shape.format(what=self.text, **parts), self.ids)


def cited(claim: KnownClaim) -> tuple[ElementId, ...]:
    """What a claim rests on as it is told: its Assertion and, where it does not plainly hold, its end or denial."""
    return (claim.assertion_id,) if claim.standing == "accepted" else (claim.assertion_id, *claim.rests_on)


def is_contradicted(claim: KnownClaim) -> bool:
    """Whether a denied claim is held by one person and denied by others: its speaker then denies nothing."""
    return claim.by is not None and bool(claim.against) and claim.by.id not in {ref.id for ref in claim.against}


def ids_of(parts: Iterable[Told]) -> tuple[ElementId, ...]:
    """What several sentences rest on, once each."""
    return tuple(dict.fromkeys(i for part in parts for i in part.ids))


_NEGATED_ZH = (
    ("患有", "没有患"), ("养了", "没有养"), ("不喜欢", "并非不喜欢"), ("更喜欢", "并不更喜欢"), ("感兴趣", "不感兴趣"),
    ("过敏", "不过敏"), ("会说", "不会说"), ("参与", "不参与"), ("使用", "不使用"), ("服用", "不服用"),
    ("认识", "不认识"), ("来自", "并非来自"), ("住在", "不住在"), ("处于", "不处于"), ("放在", "没有放在"),
    ("喜欢", "不喜欢"), ("又名", "并不叫"), ("是", "不是"), ("由", "不由"), ("开", "不开"), ("有", "没有"),
    ("在", "不在"),
)  # fmt: skip


def negated(shape: str, language: Language) -> str:
    """The shape of a claim that holds, turned into that of one that does not.

    >>> negated("{s} lives in {o}", "en")
    '{s} does not live in {o}'
    >>> negated("{s}住在{o}", "zh")
    '{s}不住在{o}'
    """
    if language == "zh":
        found = next(((plain, turned) for plain, turned in _NEGATED_ZH if plain in shape), None)
        return shape.replace(*found, 1) if found else shape.replace("{o}", "不是{o}")
    words = shape.split(" ")
    for index, word in enumerate(words):
        if word in ("is", "are"):
            return " ".join([*words[: index + 1], "not", *words[index + 1 :]])
    verb = FORMS.get(words[1].lower()) if len(words) > 1 and words[0] == "{s}" else None
    lemma = "have" if words[1:2] == ["has"] else verb[0].lemma if verb else None
    if lemma is None:
        return f"it is not so that {shape}"
    return " ".join([words[0], "does", "not", lemma, *words[2:]])


def stem(word: str) -> str:
    """A word without its ending."""
    plain = fold(word)
    for ending in ("ing", "ed", "es", "s"):
        if plain.endswith(ending) and len(plain) > len(ending) + 2:
            return plain[: -len(ending)]
    return plain


def words_of(claim: KnownClaim) -> list[str]:
    """The words of a claim's two ends."""
    return words(f"{claim.subject.name} {claim.object.name}")
