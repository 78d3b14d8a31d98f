"""Which of somebody's relatives a word for one means, by the words in which they were told of.

A claim holds that Ruth is a parent of Lena; whether she is the mother stands only in the message it cites. So a
question for a father is answered from that message, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from brain.agents.builtin.lexicon.people import CHINESE_RELATIVES, RELATIVES
from brain.agents.builtin.recall.ask import SYMMETRIC, Ask, Kin
from brain.agents.builtin.recall.lookup import Looked
from brain.agents.builtin.text import Language, pattern
from brain.agents.turns import KnownClaim, RecallTurn, Ref
from brain.names import fold, occurs

_SAME: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split("/"))
    for group in (
        "mother/mom/mum/妈妈/母亲/妈",
        "father/dad/爸爸/父亲/爸",
        "child/kid/孩子/小孩",
        "grandmother/grandma/奶奶/外婆/祖母/外祖母",
        "grandfather/grandpa/爷爷/外公/祖父/外祖父",
        "wife/妻子/老婆/太太",
        "husband/丈夫/老公/先生",
        "fiance/fiancé/未婚夫",
        "fiancee/fiancée/未婚妻",
        "girlfriend/女朋友/女友",
        "boyfriend/男朋友/男友",
        "colleague/coworker/co-worker/workmate/同事",
        "neighbour/neighbor/邻居",
        "roommate/flatmate/housemate/室友",
        "doctor/医生",
        "lawyer/律师",
        "teacher/老师",
        "son/儿子",
        "daughter/女儿",
        "grandson/孙子/外孙",
        "granddaughter/孙女/外孙女",
    )
)
_SPOUSES = frozenset(("wife", "husband", "spouse", "妻子", "老婆", "太太", "丈夫", "老公", "先生", "配偶", "爱人"))
_MEANS = {"spouse": _SPOUSES, "配偶": _SPOUSES}
"""What the people a word covers are called."""
_HALVES = {"sister": ("姐姐", "妹妹"), "brother": ("哥哥", "弟弟")}
"""Words of one language that take two in the other."""
_LENIENT = frozenset(("partner_of", "friend_of", "reports_to"))
"""Relations that a word for them rarely narrows: only another word is a contradiction."""
_SENTENCE = pattern(r"[.!?;。！？；\n]+")
_PART = pattern(r"\s*(?:,|，|、|\band\b|\bbut\b|\bwhile\b|和|而|，?还有)\s*")
_NEW = frozenset(("孙子", "孙女", "外孙", "外孙女", "祖父", "祖母", "外祖父", "外祖母", "小孩"))
_NOUNS: dict[Language, list[str]] = {
    "en": sorted({*RELATIVES, "children", "grandchild"}, key=len, reverse=True),
    "zh": sorted({*CHINESE_RELATIVES, *_NEW}, key=len, reverse=True),
}


@dataclass(frozen=True, slots=True)
class _Spot:
    noun: str
    start: int
    end: int


def kin_claims(kin: Kin, turn: RecallTurn) -> list[KnownClaim]:
    """The claims that link the owner to a relative of the kind asked for."""
    unique = {claim.proposition_id: claim for entry in turn.dossier for claim in entry.claims}
    return [claim for claim in unique.values() if _relative(claim, kin) is not None]


def _relative(claim: KnownClaim, kin: Kin) -> Ref | None:
    if claim.predicate != kin.predicate:
        return None
    near, far = (claim.object, claim.subject) if kin.by_value else (claim.subject, claim.object)
    if near.id == kin.owner.id:
        return far
    return near if kin.predicate in SYMMETRIC and far.id == kin.owner.id else None


def with_kin(ask: Ask, turn: RecallTurn, looked: Looked) -> tuple[Ask, RecallTurn]:
    """The question and turn with those relatives alone that its word for one fits, once their messages were read."""
    kin = ask.kin
    if kin is None or not looked.messages:
        return ask, turn
    unfit = {}
    for claim in kin_claims(kin, turn):
        messages = looked.messages.get(claim.proposition_id, ())
        relative = _relative(claim, kin)
        if messages and relative is not None and not _fits(kin, relative, messages):
            unfit[claim.proposition_id] = relative.id
    if not unfit:
        return ask, turn
    entries = tuple(
        replace(entry, claims=tuple(claim for claim in entry.claims if claim.proposition_id not in unfit))
        for entry in turn.dossier
    )
    fit = replace(turn, dossier=entries)
    gone = set(unfit.values()) - {ref.id for c in kin_claims(kin, fit) if (ref := _relative(c, kin)) is not None}
    subjects = tuple(ref for ref in ask.subjects if ref.id not in gone)
    several = tuple(ref for ref in ask.several if ref.id not in gone)
    left = replace(ask, subjects=subjects, several=several if len(several) > 1 else ())
    if not subjects or not kin_claims(kin, fit):
        link = "的" if ask.language == "zh" else "'s "
        return replace(left, subjects=(), unknown=f"{kin.owner.name}{link}{kin.noun}"), fit
    return left, fit


def _fits(kin: Kin, relative: Ref, messages: Sequence[str]) -> bool:
    said = {noun for text in messages for noun in nouns_of(text, relative.name)}
    if said:
        return any(_entails(noun, kin.noun) for noun in said)
    return kin.predicate in _LENIENT


def _entails(said: str, asked: str) -> bool:
    """Whether who is called by one word is also what another says: a younger sister is a sister, a mom a mother.

    >>> _entails("younger sister", "sister"), _entails("sister", "younger sister"), _entails("mother", "father")
    (True, False, False)
    """
    if said == asked or any(said in group and asked in group for group in _SAME):
        return True
    if said in _MEANS.get(asked, ()):
        return True
    if said in _HALVES.get(asked, ()) or (said.endswith(asked) and said[: -len(asked)][-1:] in (" ", "大", "小")):
        return True
    base = said.rpartition(" ")[2]
    return base != said and base not in ("friend",) and _entails(base, asked)


def nouns_of(text: str, name: str) -> set[str]:
    """The words for a relative that a message uses of somebody it names.

    >>> sorted(nouns_of("My mother is Ruth and my brother Karl lives in Bonn.", "Karl"))
    ['brother']
    >>> sorted(nouns_of("I have a sister. Her name is Mia.", "Mia"))
    ['sister']
    >>> sorted(nouns_of("我妈妈叫王芳，我爸爸叫李强", "李强"))
    ['爸爸']
    """
    sentences = [fold(part) for part in _SENTENCE.split(text)]
    called = {fold(name), fold(name).split(" ")[0]} if name.strip() else set()
    found: set[str] = set()
    for index, sentence in enumerate(sentences):
        if not any(occurs(word, sentence) for word in called):
            continue
        near = _in_sentence(sentence, called)
        if not near and index:
            earlier = _spots(sentences[index - 1])
            near = {earlier[-1].noun} if earlier else set()
        found |= near
    return found


def _in_sentence(sentence: str, called: Iterable[str]) -> set[str]:
    """The nearest word in the part of the sentence that has the name, else in the one before or after it."""
    parts = _PART.split(sentence)
    spots = [_spots(part) for part in parts]
    found = set()
    for index, part in enumerate(parts):
        at = next((part.find(word) for word in sorted(called, key=len, reverse=True) if occurs(word, part)), -1)
        if at < 0:
            continue
        if spots[index]:
            found.add(min(spots[index], key=lambda spot: min(abs(spot.start - at), abs(at - spot.end))).noun)
            continue
        after = parts[index + 1] if index + 1 < len(parts) else ""
        if _is_apposition(after):
            found.add(spots[index + 1][0].noun)
            continue
        before = [spot for earlier in spots[:index] for spot in earlier]
        if before:
            found.add(before[-1].noun)
        elif index + 1 < len(parts) and spots[index + 1]:
            found.add(spots[index + 1][0].noun)
    return found


def _is_apposition(part: str) -> bool:
    """Whether a part is nothing but whose relative somebody is: `my sister`."""
    spots = _spots(part)
    if not spots or spots[0].end != len(part.rstrip()):
        return False
    return part[: spots[0].start].strip() in ("my", "our", "his", "her", "their", "我", "我的", "她的", "他的")


def _spots(part: str) -> list[_Spot]:
    """The words for relatives in folded text, in order; where two overlap, the longer."""
    found: list[_Spot] = []
    for language, nouns in _NOUNS.items():
        for noun in nouns:
            start = part.find(noun)
            while start >= 0:
                end = start + len(noun)
                if language == "en":
                    is_word = not part[max(0, start - 1) : start].isalnum() and not part[end : end + 1].isalpha()
                    is_plural = part[end : end + 1] == "s" and not part[end + 1 : end + 2].isalpha()
                    fits = is_word or (is_plural and not part[max(0, start - 1) : start].isalnum())
                else:
                    fits = True
                if fits and all(end <= other.start or other.end <= start for other in found):
                    found.append(_Spot("child" if noun == "children" else noun, start, end))
                start = part.find(noun, end)
    return sorted(found, key=lambda spot: spot.start)
