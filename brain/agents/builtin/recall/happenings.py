"""Which events and commitments a question asks for."""

from __future__ import annotations

from brain.agents.builtin.english.verbs import FORMS
from brain.agents.builtin.lexicon import words as table
from brain.agents.builtin.recall.ask import Ask
from brain.agents.turns import KnownCommitment, KnownEvent, RecallTurn
from brain.names import fold, words

_ASKING = table(
    """
    happen happened do did done up promise promised promises commit committed commitment commitments plan plans planned
    planning task tasks todo todos reminder reminders appointment appointments upcoming due owe owes owed need needs
    have has going supposed agenda schedule scheduled obligation obligations open pending make made outstanding anything
    list
    """
)


_KINDS = table("appointment meeting flight call interview")
"""What narrows a question for plans when one of that kind is on record."""


def events_for(ask: Ask, turn: RecallTurn) -> list[KnownEvent]:
    """Events of the question's people and time whose words are those of the question, newest first.

    Every word that says what happened must be in the event: one shared word is no answer.
    """
    ids = {ref.id for ref in ask.subjects if ref.id}
    others = {ref.id for ref in ask.values if ref.id and ref.type == "Person"}
    found = []
    for event in turn.events:
        people = {ref.id for ref in event.who}
        if (ids and not ids & people) or not others <= people:
            continue
        if ask.time is not None and not _overlaps(event, ask):
            continue
        if _says(ask, event.summary):
            found.append(event)
    if not ids and not others and ask.time is None and not ask.content - _ASKING and ask.language == "en":
        return []
    return found


def commitments_for(ask: Ask, turn: RecallTurn) -> list[KnownCommitment]:
    """Commitments of the question's people that speak of what it names; open ones unless it asks of the past."""
    ids = {ref.id for ref in ask.subjects if ref.id}
    if ask.unknown:
        return []
    found = []
    for known in turn.commitments:
        is_theirs = not ids or (known.who is not None and known.who.id in ids)
        others = {ref.id for ref in ask.values if ref.type == "Person"}
        if others and not others & {ref.id for ref in known.to}:
            continue
        if not is_theirs or (known.status not in ("pending", "blocked") and not ask.wants_past):
            continue
        content = ask.content - _ASKING
        if content and not _shares(content, known.summary, ask):
            continue
        found.append(known)
    kinds = {_lemma(word) for word in ask.content} & _KINDS
    of_kind = [known for known in found if kinds & {_lemma(word) for word in words(known.summary)}]
    return of_kind or found


def _shares(content: frozenset[str], summary: str, ask: Ask) -> bool:
    """Whether what the question names is what the commitment says; names of people do not count."""
    names = {part for ref in (*ask.subjects, *ask.values) if ref.type == "Person" for part in fold(ref.name).split()}
    wanted = {_lemma(word) for word in content} - {_lemma(name) for name in names}
    said = {_lemma(word) for word in words(summary)}
    return not wanted or len(wanted & said) * 2 >= len(wanted)


def _says(ask: Ask, summary: str) -> bool:
    if ask.language == "zh":
        return _says_chinese(ask, summary)
    names = {part for ref in (*ask.subjects, *ask.values) for part in fold(ref.name).split()}
    wanted = {_lemma(word) for word in ask.content - _ASKING} - {_lemma(name) for name in names}
    said = {_lemma(word) for word in words(summary)}
    return wanted <= said


def _says_chinese(ask: Ask, summary: str) -> bool:
    """Whether the verbs and nouns of a Chinese question stand in the event."""
    asked = [
        word for word in ("见", "买", "去", "参加", "完成", "提交", "吃", "看", "卖", "签", "发布") if word in ask.text
    ]
    return all(word in summary for word in asked) and (bool(asked) or ask.time is not None or bool(ask.subjects))


def _lemma(word: str) -> str:
    folded = fold(word)
    verbs = FORMS.get(folded)
    if verbs:
        return verbs[0].lemma
    return folded.removesuffix("s") if len(folded) > 3 and not folded.endswith("ss") else folded


def _overlaps(event: KnownEvent, ask: Ask) -> bool:
    if event.on is None or ask.time is None:
        return False
    first, last = event.on[:10], (event.until or event.on)[:10]
    start, end = ask.time.start, ask.time.last
    if ask.is_before:
        return first < start
    return last >= start[:10] and first[: len(end)] <= end
