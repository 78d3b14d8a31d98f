"""What Chinese clauses say was done, and what somebody will do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.chinese.courses import mood_of
from brain.agents.builtin.chinese.slots import ends_in_verb, is_chinese_name
from brain.agents.builtin.facts import Owed, Statement, Thing, Took
from brain.agents.builtin.lexicon.people import CHINESE_RELATIVES
from brain.agents.builtin.secrets import looks_secret
from brain.agents.builtin.text import pattern
from brain.agents.builtin.when import Spot

_DEED = pattern(
    r"(?:(?:和|跟|与|给|为|把|从|带|在).{1,10}?)?(?:一起)?(?:买|卖|去|见|发给|交给|发送|参加|完成|收到|提交|签|发布|拜访|看望|修好|换|取消|预订|订|毕业|搬|获得|赢|输|丢|租|举办|面试|体检|手术|出差|旅行|旅游|"
    r"开会|聚餐|聊|讨论|决定|访问|交付|上线|辞职|吃|看|读|写|跑|爬|飞|碰到|遇到|送|寄|生|安装|付|退|领养|离开|离职|退休|辞去|入职|升职|晋升|录用|丢|修|搬家|分手|吵架|订婚|离婚)[^不没]*"
)
_DONE = pattern(r"了|过|完$")
_APPOINTMENT = pattern(
    r"^有(?:一|两)?[个场次节]?(?P<what>(?:.{0,8}(?:的))?(?:面试|会议?|考试|约会|手术|航班|课|预约|聚会|婚礼|演讲|讲座|体检))$"
)
_PROMISE = pattern(r"^(?:打算|计划|准备|答应|保证)")
_LEAVE = pattern(r"^(?:请假|休假|调休|出差|请年假|休年假|请病假|值班|不在(?:公司|办公室)?)$")
_KIN = sorted(CHINESE_RELATIVES, key=len, reverse=True)
_DEEDS = frozenset("订写发买做寄送交改修看帮给打找办付")
"""What begins a deed after a name of two characters, and ends no name of three here."""
_IDLE = pattern(r"^(?:想|看看|试试|考虑|知道|等|睡|休息|走|是|在|有)")
_HARD = pattern(r"你|您|我们|咱|这|那")


def of_clause(subject: Thing, rest: str, times: Sequence[Spot], cast: Cast, msg: int) -> list[Statement]:
    """The Event or promise of a clause, if it tells of one."""
    if subject.type not in ("Person", None):
        return []
    mood = mood_of(rest)
    if mood.negated or mood.ended or mood.over:
        return []
    due = next((when for spot in times if (when := spot.when("future"))), None)
    ahead = any(spot.ahead for spot in times)
    meeting = _APPOINTMENT.match(mood.text)
    if meeting and due is not None and (ahead or any(spot.reading[0] != spot.reading[1] for spot in times)):
        return [Owed(msg, cast.speaker, meeting["what"], subject, None, due.start)]
    leave = _LEAVE.match(mood.text)
    if leave and due is not None and not _DONE.search(rest):
        return [Took(msg, cast.speaker, f"{cast.called(subject)}{leave.group()}", due.on, (subject,))]
    if mood.planned or ahead:
        return _promise(subject, rest, mood.text, due.last if due else None, cast, msg)
    if not _DEED.match(mood.text) or not (_DONE.search(rest) or times) or len(mood.text) < 3:
        return []
    if _HARD.search(mood.text):
        return []
    on = next((when for spot in times if spot.role == "at" and (when := spot.when("past"))), None)
    what = f"{cast.called(subject)}{_retold(rest)}"
    people = [thing for thing in cast.named_in(mood.text) if thing.type == "Person" and thing.key != subject.key]
    if looks_secret(what):
        return []
    return [Took(msg, cast.speaker, what, on.on if on else None, (subject, *people))]


def _promise(subject: Thing, rest: str, text: str, due: str | None, cast: Cast, msg: int) -> list[Statement]:
    is_vow = _PROMISE.match(mood_of(rest).whole) is not None
    if (due is None and not is_vow) or _IDLE.match(text) or not text or (len(text) < 2 and due is None):
        return []
    text = text.removeprefix("的")
    to, text = _promised_to(text.removeprefix("了"), cast) if is_vow else (None, text)
    for phrase in ("给你", "给您", "跟你", "和你"):
        if phrase in text:
            other = cast.addressee.name if cast.addressee else "对方"
            to, text = cast.addressee, text.replace(phrase, phrase[0] + other)
    if _HARD.search(text) or looks_secret(text):
        return []
    what = _retold(text) if len(text) > 1 else mood_of(rest).whole
    return [Owed(msg, cast.speaker, what, subject, to, due)]


def _promised_to(text: str, cast: Cast) -> tuple[Thing | None, str]:
    """`答应王芳…`: to whom, when the promise begins with a known name; `答应妈妈…给她打电话` is done for 妈妈."""
    for noun in _KIN:
        if text.startswith(noun) and len(text) > len(noun):
            return None, re.sub("[她他]", noun, text[len(noun) :], count=1)
    for length in (4, 3, 2):
        name = text[:length]
        is_deed = length == 3 and name[-1] in _DEEDS
        shaped = length < 4 and is_chinese_name(name) and not ends_in_verb(text, length) and not is_deed
        if (cast.is_person(name) or shaped) and len(text) > length:
            return cast.person(text[:length]), text[length:]
    return None, text


def _retold(text: str) -> str:
    """First-person words in the third person."""
    return text.strip("，, ").replace("我自己", "自己").replace("我", "自己")
