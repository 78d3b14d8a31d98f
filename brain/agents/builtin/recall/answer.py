"""An answer in words, from what the dossier holds; every value in it is one that memory returned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from brain.agents.builtin.recall.answering import Answering, Reply
from brain.agents.builtin.recall.ask import Analysis, Ask, Form
from brain.agents.builtin.recall.chinese import Chinese
from brain.agents.builtin.recall.english import English
from brain.agents.builtin.recall.evidence import with_ended
from brain.agents.builtin.recall.happenings import events_reply, promised_reply
from brain.agents.builtin.recall.kinship import with_kin
from brain.agents.builtin.recall.lookup import Looked
from brain.agents.builtin.recall.naming import with_given_names
from brain.agents.builtin.recall.noted import noted_reply
from brain.agents.builtin.recall.opposites import with_opposites
from brain.agents.builtin.recall.people import profile_reply, reverse_reply
from brain.agents.builtin.recall.promises import promises_reply
from brain.agents.builtin.recall.sources import sayings_reply, sources_reply
from brain.agents.builtin.recall.told import Told
from brain.agents.builtin.recall.values import value_reply, with_own_words
from brain.agents.builtin.recall.wording import WORDING, listed
from brain.agents.builtin.text import clean, language_of
from brain.agents.turns import RecallTurn

__all__ = ["Reply", "ask_of", "reply_to"]

_QUESTION = 2_000
_MOST_MEANT = 4


def ask_of(turn: RecallTurn) -> Ask:
    """The question of a turn, taken apart; once for each person a name in it may mean."""
    text = " ".join(clean(turn.question[:_QUESTION]).split())
    kind: type[Analysis] = Chinese if language_of(text) == "zh" else English
    analysis = kind(turn, text)
    ask = analysis.ask()
    shared = analysis.shared()
    if shared is None or ask.form == "rules":
        return ask
    others = [analysis.of(person.id).ask() for person in shared.people[1:_MOST_MEANT] if person.id]
    name = analysis.text[shared.at : shared.end]
    return replace(
        ask,
        name=name,
        others=tuple(others),
        are_more=len(shared.people) > _MOST_MEANT,
        people=shared.people[:_MOST_MEANT],
    )


def reply_to(ask: Ask, turn: RecallTurn, looked: Looked | None = None) -> Reply:
    """The answer to a question.

    looked  what was read beyond the dossier
    """
    read = looked or Looked()
    told_turn = with_opposites(with_ended(with_given_names(turn)))
    if not ask.others:
        return _one(ask, told_turn, read)
    return _for_each((ask, *ask.others), told_turn, read)


def _one(ask: Ask, turn: RecallTurn, looked: Looked) -> Reply:
    answers: dict[Form, Callable[[Answering], Reply]] = {
        "rules": _rules,
        "commitments": promises_reply,
        "reverse": reverse_reply,
        "profile": profile_reply,
        "events": _events,
        "value": value_reply,
        "sources": sources_reply,
        "sayings": sayings_reply,
    }
    names = {entry.who.id: entry.who for entry in turn.dossier}
    called = replace(ask, subjects=tuple(names.get(ref.id, ref) for ref in ask.subjects))
    called, turn = with_kin(called, turn, looked)
    answering = Answering(called, turn, looked)
    reply = answers[ask.form](answering)
    if not reply.found and not reply.is_definite:
        reply = noted_reply(answering) or reply
    if not (called.several and reply.found):
        return reply
    words = WORDING[ask.language]
    lead = words.which_meant.format(who=listed([ref.name for ref in called.several], words)) + words.stop
    return replace(reply, text=lead + reply.text, uncertainty=max(0.5, reply.uncertainty))


def _for_each(asks: tuple[Ask, ...], turn: RecallTurn, looked: Looked) -> Reply:
    """The answer for each person who may be meant, named apart; one answer when it is the same for all."""
    replies = [_one(ask, turn, looked) for ask in asks]
    if len({reply.text for reply in replies}) == 1:
        return replies[0]
    found = [reply for reply in replies if reply.found]
    names = {entry.who.id: entry.who.name for entry in turn.dossier}
    meant = [names.get(ref.id, ref.name) for ref in asks[0].people]
    words = WORDING[asks[0].language]
    texts = [reply.text for reply in (replies if _are_told_apart(replies, meant) else found or replies)]
    lead = (
        words.two_meant.format(name=asks[0].name, who=listed(meant, words, last=words.last_or)) + words.stop
        if len(meant) > 1
        else ""
    )
    texts += [words.not_shown + words.stop.rstrip()] if asks[0].are_more else []
    text = f"{lead}{words.gap.join(dict.fromkeys(texts))}"
    ids = tuple(dict.fromkeys(i for reply in found for i in reply.rests_on))
    doubt = max([0.5, *(reply.uncertainty for reply in found)]) if found else 0.9
    return Reply(text, bool(found), doubt, ids)


def _are_told_apart(replies: list[Reply], names: list[str]) -> bool:
    """Whether every answer says whom it is about."""
    return all(any(name in reply.text for name in names) for reply in replies)


def _events(a: Answering) -> Reply:
    """What happened; a deed that only a claim tells of (`when did Ana join Acme`) is answered from the claim."""
    happened = events_reply(a)
    if happened is not None:
        return happened
    promised = promised_reply(a)
    if promised is not None:
        return promised
    is_linked = (a.ask.wants_time or a.ask.is_check) and a.ask.subjects and a.ask.values
    if is_linked and with_own_words(a.ask, a.turn).relations:
        return value_reply(a)
    return a.silence()


def _rules(a: Answering) -> Reply:
    rules = [rule for rule in a.turn.rules if rule.is_constraint][:8]
    if not rules:
        return a.nothing(a.words.no_rules)
    what = "; ".join(rule.summary.rstrip("。.") for rule in rules)
    return a.reply([Told(what, tuple(rule.id for rule in rules)).within(a.words.rules)], 0.1)
