"""When a Chinese statement holds: its aspect words, negation and times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brain.agents.builtin.chinese.frames import Say
from brain.agents.builtin.english.courses import Course
from brain.agents.builtin.text import pattern
from brain.agents.builtin.when import Spot, When

_ADVERBS = pattern(
    r"^(?:现在|目前|如今|眼下|已经|刚刚?|最近|一直|其实|也|都|还|仍然?|就|又|正式|平时|通常|主要|确实|真的|终于|后来|于是|当时|那时|"
    r"直接|经常|总|只|便|本来就|依然|一般|自己|，)"
)
_NEW = ("现在", "如今", "最近", "刚", "终于", "后来")
_BEFORE = pattern(r"^(?:以前|曾经?|过去|之前|从前|原来|原先|小时候)")
_NO_LONGER = pattern(r"^(?:不再|早就不|早已不)")
_NOT = pattern(r"^(?:从来没有|从来没|从来不|从没有?|从不|并没有|并不|没有|没|不)")
_ONCE = pattern(
    r"(?P<verb>做|当|担任|任|住|待|工作|上班|用|学|读)过(?:(?:[一二两三四五六七八九十几0-9]+|半)(?:个半)?多?(?:年|个月|天|周|个星期)多?的?)?"
)
"""What was done at some time, for so long: over, unless it is denied."""
_INSIDE = pattern(
    r"^(?P<head>(?:对|跟|和|与|在|为).{1,16}?)(?P<not>从来没有|从来没|从来不|从不|并没有|并不|没有|没|不|毫不|一点都不|一点也不)"
    r"(?P<rest>(?:严重)?过敏|感兴趣|有兴趣|结婚|工作|上班|任职|住|生活|居住)$"
)
"""A negation behind the phrase that its verb governs: `对花生不过敏`."""
_PLAN = pattern(r"^(?:将会|将要|将|会|要|打算|计划|准备|得|必须|需要|答应|保证)")
_VOWS = ("答应", "保证")
_TAIL = pattern(r"(?:了|啦|哦|啊|呀|呢|嘛|喔|的哦|~|～)+$")
_FELT = pattern(r"^(?P<verb>喜欢|喜爱|讨厌|厌恶|爱)过")
"""A taste there never was, when it is denied: `没有讨厌过数学`."""
_TIMELESS = frozenset(("likes", "dislikes", "prefers"))


@dataclass(frozen=True, slots=True)
class Mood:
    """A predicate and what stood around it.

    text   without adverbs, negation, plan words and particles; `whole` still with negation and plan words
    now    the sentence says it is so now; `over` that it was so before; `ended` that it is no longer so
    """

    text: str
    whole: str
    now: bool = False
    over: bool = False
    negated: bool = False
    never: bool = False
    ended: bool = False
    planned: bool = False
    done: bool = False


def mood_of(rest: str) -> Mood:
    """Take a predicate apart."""
    text = rest.strip()
    now = over = negated = never = ended = planned = False
    tail = _TAIL.search(text)
    done = bool(tail and tail.group().startswith("了")) or text.endswith("过")
    if tail:
        text = text[: tail.start()]
    text, now, over = _without_adverbs(text, now, over)
    if (match := _ONCE.search(text)) and not _NOT.match(text):
        over, text = True, text[: match.end(1)] + text[match.end() :]
    if text.endswith("过") and over:
        text = text.removesuffix("过")
    whole = text
    if match := _NO_LONGER.match(text):
        ended, text = True, text[match.end() :]
    elif (match := _NOT.match(text)) and len(text) > match.end():
        negated, text = True, text[match.end() :]
        text = text[1:] if text.startswith("是对") else text
        never = match.group().startswith("从") or text.endswith("过") or _FELT.match(text) is not None
        text = _FELT.sub(r"\g<verb>", text)
        if done and not never:
            ended, negated = True, False
    elif match := _INSIDE.match(text):
        negated, never, text = True, match["not"].startswith("从"), match["head"] + match["rest"]
        if done and not never:
            ended, negated = True, False
    elif (match := _PLAN.match(text)) and len(text) > match.end() + (match.group() not in _VOWS):
        planned, text = True, text[match.end() :]
    if negated and len(text) > 3:
        text = text.removesuffix("过")
    text, now, over = _without_adverbs(text, now, over)
    return Mood(text, whole, now, over, negated, never, ended, planned, done)


def _without_adverbs(text: str, now: bool, over: bool) -> tuple[str, bool, bool]:
    for _ in range(8):
        if match := _BEFORE.match(text):
            over = True
        elif match := _ADVERBS.match(text):
            now = now or match.group().startswith(_NEW)
        else:
            break
        text = text[match.end() :]
    return text, now, over


def course_of(say: Say, mood: Mood, times: Sequence[Spot]) -> Course | None:
    """The course of what a frame says; None when the clause does not state it."""
    if mood.planned or any(spot.ahead for spot in times if spot.role in ("at", "since", "by", "range")):
        return None
    at, since = _first(times, ("at", "since", "by")), _first(times, ("since", "for"))
    span, until = _first(times, ("range",)), _first(times, ("until",))
    if say.effect == "fact":
        if mood.negated and say.relation == "comes_from" and not times and not mood.text.startswith(("出", "生", "在")):
            return Course("denied")
        return None if mood.negated or mood.ended else Course("holds")
    if say.effect == "start":
        if mood.negated or mood.ended or mood.over:
            return None
        return Course("holds", at.since if at else None, changed=True)
    if say.effect in ("end", "former"):
        return None if mood.negated or mood.ended else Course("ended", until=at.on if at else None)
    if mood.ended:
        return Course("ended", until=(until or at).on if (until or at) else None)  # type: ignore[union-attr]
    if mood.negated:
        if say.effect == "taste" and not mood.never:
            return Course("holds", denied_taste=True)
        return None if times else Course("denied", never=mood.never)
    if span is not None:
        return Course("holds", span.start, span.last)
    if mood.over:
        return _was(say, at, until)
    if say.relation in _TIMELESS and any(spot.role == "at" for spot in times):
        return None
    soon = next((spot for spot in times if spot.role == "since" and spot.is_soon), None)
    if soon is not None and (begins := soon.when("future")) is not None:
        return Course("holds", begins.start, changed=True)
    return Course("holds", since.since if since else None, until.last if until else None, changed=mood.now)


def _was(say: Say, at: When | None, until: When | None) -> Course | None:
    if say.relation in _TIMELESS:
        return None
    if until is not None:
        return Course("ended", until=until.last)
    if at is not None and len(at.start) <= 7:
        return Course("holds", at.start, at.last)
    return Course("ended")


def _first(times: Sequence[Spot], roles: Sequence[str]) -> When | None:
    return next((when for spot in times if spot.role in roles and (when := spot.when("past"))), None)
