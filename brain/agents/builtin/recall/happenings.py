"""Which events and commitments a question asks for."""

from __future__ import annotations

from brain.agents.builtin.english.verbs import FORMS
from brain.agents.builtin.lexicon import ordered
from brain.agents.builtin.lexicon import words as table
from brain.agents.builtin.recall.answering import Answering, Reply
from brain.agents.builtin.recall.ask import Ask
from brain.agents.builtin.recall.noted import as_said, is_of_another, stemmed
from brain.agents.builtin.recall.told import Told
from brain.agents.builtin.recall.wording import Wording, commitment_text, event_date, event_text
from brain.agents.builtin.text import pattern
from brain.agents.turns import KnownCommitment, KnownEvent, RecallTurn, Ref
from brain.names import fold, occurs, words

_ASKING = table(
    """
    happen happened do did done up promise promised promises commit committed commitment commitments plan plans planned
    planning task tasks todo todos reminder reminders appointment appointments upcoming due owe owes owed need needs
    have has going supposed agenda schedule scheduled obligation obligations open pending make made outstanding anything
    list unfinished unkept left still remaining overdue late money team everyone everybody people person someone
    nobody each other get done items item action actions list show give us me tell keep kept owing debts debt
    """
)


_MONEY_WORDS = table("money cash debt debts")
_MONEY = pattern(
    r"[€$£¥]|\d ?(?:eur|usd|gbp|euros?|dollars?|pounds?|bucks|yuan|rmb|francs?|元|块|欧|美)|"
    r"\b(?:money|pay|repay|lend|loan|refund)\b|还钱|付款|借款"
)
_DEEDS_ZH = ordered(
    """
    见 买 去 参加 完成 提交 吃 看 卖 签 发布 离开 加入 入职 辞职 离职 毕业 结婚 离婚 出生 搬 开始 结束 取消 付 寄 送 打
    发给 发送 写 读 教 学 跑 飞 赢 输 修 换 生病 住院 到达 出发 回 开会 聊 谈 介绍 预订 订
    """
)
"""What a Chinese question may say was done; the event has to say it too."""
_KINDS = table("appointment meeting flight call interview")
"""What narrows a question for plans when one of that kind is on record."""


def events_reply(a: Answering) -> Reply | None:
    """What happened; None when nothing on record is what the question asks for."""
    events = events_for(a.ask, a.turn)
    if not events:
        return None
    if a.ask.wants_time and event_date(events[0]):
        return a.reply([Told(event_text(events[0], a.words), (events[0].id,))], 0.1)
    if a.ask.wants_time:  # when it happened nobody said, only when it was told
        return a.reply([as_said(a.words.noted, a, events[0])], 0.5)
    return a.reply([Told(event_text(event, a.words), (event.id,)) for event in events[:6]], 0.2)


def promise_told(known: KnownCommitment, words: Wording) -> Told:
    """One promise: whose, to whom, what, and when it is due."""
    return Told(commitment_text(known, words), (known.id,))


def promised_reply(a: Answering) -> Reply | None:
    """For when something is or whether it is done: promises and appointments that speak of all the question names."""
    ask = a.ask
    if not (ask.wants_time or ask.is_check) or not names_matter(ask):
        return None
    known = [
        item
        for item in a.turn.commitments
        if _is_of(item, ask) and _names_all(ask, item.summary) and (item.due or ask.is_check)
    ]
    return a.reply([promise_told(item, a.words) for item in known[:3]], 0.3) if known else None


def _names_all(ask: Ask, summary: str) -> bool:
    if ask.language == "zh":
        return all(word in summary for word in ask.content)
    people = [ref for ref in (*ask.subjects, *ask.values) if ref.type == "Person"]
    names = {part for ref in people for part in fold(ref.name).split()}
    wanted = {_lemma(word) for word in ask.content - _ASKING - names}
    return bool(wanted) and wanted <= {_lemma(word) for word in words(summary)}


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
        if any(not occurs(fold(ref.name), fold(event.summary)) for ref in ask.values if ref.type != "Person"):
            continue
        if ask.time is not None and not _overlaps(event, ask):
            continue
        named = {stemmed(word) for word in ask.content}
        if _says(ask, event.summary) and not is_of_another(ask, named, event.summary):
            found.append(event)
    if not ids and not others and ask.time is None and not ask.content - _ASKING and ask.language == "en":
        return []
    return found


def names_matter(ask: Ask) -> bool:
    """Whether a question for promises names a matter, not only whose they are."""
    people = [ref for ref in (*ask.subjects, *ask.values, *ask.creditors) if ref.type == "Person"]
    names = {part for ref in people for part in fold(ref.name).split()}
    return bool(ask.content - _ASKING - names)


def commitments_for(ask: Ask, turn: RecallTurn) -> list[KnownCommitment]:
    """Commitments of the question's people that speak of what it names; open ones unless it asks of the past."""
    found = []
    for known in turn.commitments:
        if not _is_of(known, ask) or (known.status not in ("pending", "blocked") and not ask.wants_past):
            continue
        if "overdue" in ask.content and not (known.due and known.due < turn.at):
            continue
        if (_MONEY_WORDS & ask.content or any(word in ask.text for word in "钱债款")) and not _MONEY.search(
            known.summary
        ):
            continue
        content = ask.content - _ASKING
        if content and not _shares(content, known.summary, ask):
            continue
        found.append(known)
    kinds = {_lemma(word) for word in ask.content} & _KINDS
    of_kind = [known for known in found if kinds & {_lemma(word) for word in words(known.summary)}]
    return of_kind or found


def _is_of(known: KnownCommitment, ask: Ask) -> bool:
    """Whether it is owed by and to those the question names; another it names stands to it or in its words."""
    to = {ref.id for ref in known.to}
    if ask.subjects and (known.who is None or known.who.id not in {ref.id for ref in ask.subjects}):
        return False
    if ask.creditors and not {ref.id for ref in ask.creditors} & to:
        return any(is_named(ref, known.summary) for ref in ask.creditors)
    others = [ref for ref in ask.values if ref.type == "Person"]
    return not others or any(ref.id in to or is_named(ref, known.summary) for ref in others)


def is_named(ref: Ref, summary: str) -> bool:
    """Whether the words of a commitment name somebody, in full or by first name."""
    names = {ref.name, ref.name.split(" ")[0]} if ref.name.strip() else set()
    return any(occurs(name, fold(summary)) for name in names)


def _shares(content: frozenset[str], summary: str, ask: Ask) -> bool:
    """Whether what the question names is what the commitment says; names of people do not count."""
    if ask.language == "zh":
        return all(word in summary for word in content)
    people = [ref for ref in (*ask.subjects, *ask.values, *ask.creditors) if ref.type == "Person"]
    names = {part for ref in people for part in fold(ref.name).split()}
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
    asked = [word for word in _DEEDS_ZH if word in ask.text]
    is_open = any(word in ask.text for word in ("发生", "做了", "干了", "做过", "什么事"))
    return all(word in summary for word in asked) and (bool(asked) or is_open)


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
