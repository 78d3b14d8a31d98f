"""What is kept in words alone: found where no claim answers, and told beside a claim that it says is over."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from brain.agents.builtin.english.verbs import FORMS
from brain.agents.builtin.lexicon.people import CHINESE_RELATIVES
from brain.agents.builtin.recall.answering import Answering, Reply, relation_of
from brain.agents.builtin.recall.ask import Ask
from brain.agents.builtin.recall.told import Told
from brain.agents.builtin.recall.wording import event_date
from brain.agents.builtin.text import language_of, pattern
from brain.agents.turns import KnownClaim, KnownEvent, Ref
from brain.names import fold, occurs, words

_MOST = 3
_NUMBER = pattern(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twins?|triplets?|no|an?)\b|[一二两三四五六七八九十]"
)
_PLACE = pattern(r"\b(?:in|at|to|from|near|on|for)\b|[在到住去]")
_ENDS = pattern(
    r"\b(?:sold|sells?|selling|gave (?:up|away)|given (?:up|away)|giv(?:es?|ing) up|quits?|quitting|stop(?:s|ped)?|"
    r"lost|no longer|any ?more|not .* now|died|dead|broke|broken|split up|separated|divorced|cancell?ed|got rid|"
    r"threw|ended|finished|resigned|retired|fired|switched|replaced|traded|given notice)\b|"
    r"不再|没再|(?:不|没|卖|戒|辞|丢|扔|换|送|分|离|取消|去世|死|停).{0,8}了|去世|离婚|分手|取消"
)
"""Words that say that something is over."""
_LEAVES = pattern(r"\b(?:left|leav(?:es?|ing)|moved out)\b|离开|搬走")
_LEFT = frozenset(("works_for", "lives_in", "member_of", "studies_at", "works_on", "partner_of", "client_of"))
"""What is left when it ends; other things are left somewhere."""
_CHANGES = pattern(
    r"\b(?:changed?|moved?|postponed|delayed|extended|pushed|brought forward|no longer|cancell?ed)\b|"
    r"推迟|延期|提前|改|变|取消"
)
"""Words that say that a date, a number or an address is another now."""
_OWNED = pattern(r"['’]s (\p{L}+)")
_SHORT = 3


def noted_reply(a: Answering) -> Reply | None:
    """What was said in words no claim holds, when every word of the question stands in it; quoted, as it was said."""
    ask = a.ask
    if ask.form not in ("value", "events") or ask.unknown in ("you", "你") or ask.several:
        return None
    wanted = _wanted(ask)
    if not wanted:
        return None
    about = {ref.id for ref in ask.subjects if ref.id} | ({ask.owner.id} if ask.owner else set())
    named = [ref for ref in ask.values if ref.id not in about]
    found = [
        event
        for event in a.turn.events
        if (not about or about & {ref.id for ref in event.who})
        and all(_is_in(ref, event) for ref in named)
        and _holds(ask, wanted, event)
        and (ask.time is None or ask.is_check)
    ]
    return a.reply([_quoted(a, event) for event in found[:_MOST]], 0.3) if found else None


def _quoted(a: Answering, event: KnownEvent) -> Told:
    return as_said(a.words.noted, a, event)


def as_said(shape: str, a: Answering, event: KnownEvent) -> Told:
    """An event's words with when they were said, and its day where they do not have it."""
    day, said = event_date(event), (event.said_at or "")[:10]
    text = shape.format(what=event.summary.rstrip("。."), date=said)
    return Told(text if not day or day in event.summary else f"{text}{a.words.open}{day}{a.words.close}", (event.id,))


def _is_in(ref: Ref, event: KnownEvent) -> bool:
    """Whether an event speaks of one the question names."""
    name = fold(ref.name)
    first = name.split(" ")[0] if ref.type == "Person" else name
    return ref.id in {who.id for who in event.who} or any(occurs(part, fold(event.summary)) for part in (name, first))


def _wanted(ask: Ask) -> frozenset[str]:
    """The words of the question that what is kept has to say, names of its people aside."""
    people = [*ask.subjects, *(ref for ref in ask.values if ref.type == "Person")]
    people += [ask.owner] if ask.owner else []
    if ask.language == "zh":
        said = set(ask.left) | ({ask.kin.noun} if ask.kin and ask.kin.noun in ask.text else set())
        for relation in ask.relations:
            said |= {match.group() for match in relation.asks["zh"].finditer(ask.text)}
        said |= {word for word in ask.content if any("\u4e00" <= char <= "\u9fff" for char in word)}
        called = "".join(ref.name for ref in people)
        return frozenset(part for word in said for part in word.split() if part and part not in called)
    names = {stemmed(part) for ref in people for part in fold(ref.name).split()}
    return frozenset(stemmed(word) for word in ask.content) - names - {"many", "s"}


def _holds(ask: Ask, wanted: frozenset[str], event: KnownEvent) -> bool:
    """Whether an event says all the question names, and has something of the kind it asks for."""
    summary = event.summary
    if is_of_another(ask, wanted, summary):
        return False
    if ask.language == "zh":
        if not all(word in summary for word in wanted):
            return False
        return not (any(word in ask.text for word in ("哪里", "哪儿", "什么地方")) and not _PLACE.search(summary))
    if language_of(summary) != "en" or not wanted <= {stemmed(word) for word in words(summary)}:
        return False
    asked = fold(ask.text).split(" ")[0]
    if ask.wants_time and asked == "when":
        return bool(event_date(event))
    if ask.wants_count:
        return _NUMBER.search(summary) is not None
    if asked in ("who", "whose", "whom", "which", "why", "how"):
        return False
    return asked != "where" or _PLACE.search(summary) is not None


def is_of_another(ask: Ask, wanted: Collection[str], summary: str) -> bool:
    """Whether an event tells of a relative or thing of somebody's that the question does not name."""
    if any(noun in summary and noun not in ask.text for noun in CHINESE_RELATIVES):
        return True
    return any(stemmed(owned) not in wanted for owned in _OWNED.findall(summary))


def stemmed(word: str) -> str:
    """A word as its verb's or noun's plain form."""
    folded = fold(word)
    verbs = FORMS.get(folded)
    if verbs:
        return verbs[0].lemma
    return folded.removesuffix("s") if len(folded) > _SHORT and not folded.endswith("ss") else folded


def endings(a: Answering, claims: Iterable[KnownClaim]) -> list[Told]:
    """What was said later, in words alone, about the end or change of what claims hold: each told beside them."""
    found: dict[str, Told] = {}
    for claim in claims:
        for event in a.turn.events:
            if _ends(claim, event):
                found.setdefault(event.id, as_said(a.words.but_later, a, event))
    return list(found.values())[:_MOST]


def _ends(claim: KnownClaim, event: KnownEvent) -> bool:
    """Whether an event tells, after a claim was made, that what it holds is over or otherwise."""
    summary = fold(event.summary)
    is_left = claim.predicate in _LEFT and _LEAVES.search(event.summary) is not None
    says_so = _CHANGES if claim.object.id is None else _ENDS
    if not (is_left or says_so.search(event.summary)) or (event.said_at or "") <= (claim.said_at or ""):
        return False
    subject = claim.subject
    names = {part for part in words(fold(subject.name)) if len(part) > _SHORT or not part.isascii()}
    is_about = subject.id in {ref.id for ref in event.who} or bool(names & set(words(summary)))
    if not is_about:
        return False
    if claim.object.id is None:
        asks = relation_of(claim.predicate).asks[language_of(event.summary)]
        return asks is not None and asks.search(event.summary) is not None
    value = fold(claim.object.name)
    if not value.isascii():
        return value in summary
    head = stemmed(value.split(" ")[-1])
    return head in {stemmed(word) for word in words(summary)}
