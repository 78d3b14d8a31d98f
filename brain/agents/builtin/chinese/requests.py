"""What a Chinese speaker asks of the listener, and what they take back."""

from __future__ import annotations

from collections.abc import Sequence

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.chinese.openers import Opened
from brain.agents.builtin.facts import Fact, Owed, Redate, Standing, Statement, Takeback, Thing
from brain.agents.builtin.redate import redate_of
from brain.agents.builtin.secrets import looks_secret
from brain.agents.builtin.text import pattern
from brain.agents.builtin.when import Spot

_REMIND = pattern(r"^(?:请|麻烦|记得|帮忙)?(?:提醒我|别让我忘了|别忘了提醒我)(?P<what>.+)$")
_CALL_ME = pattern(
    r"^(?:以后|今后)?(?:请|你们?|大家)?(?:可以|就)?叫我(?P<name>[\p{Han}\p{Latin}·]{1,12}?)(?:吧|就好|就行|好了|即可)?$"
)
_RULE = pattern(
    r"^(?:以后|今后|从现在起|从今以后|每次|永远|总是)(?:都|请|你|，)*(?P<rule>(?:用|不要|别|先|只|叫|回答|说|给|请).{2,40})$"
)
_TAKE_BACK = pattern(
    r"^(?:刚才|刚刚|前面)?(?:我)?(?:说的)?(?:那句话)?(?:不算|收回(?:刚才的话)?|当我没说|就当我没说|我收回)$|^收回(?:刚才|前面)(?:说)?的话$"
)
_INSTEAD = (
    pattern(r"^(?:应该)?不是(?P<old>[^，,是]{1,12})[，, ]*(?:而|应该)?是(?P<new>[^，,]{1,12})$"),
    pattern(r"^(?:我(?:是说|说的|想说的))?(?:应该)?是(?P<new>[^，,]{1,12})[，, ]*(?:而)?不是(?P<old>[^，,]{1,12})$"),
    pattern(r"^我(?:是说|想说的)(?:的)?(?:是)?(?P<new>[^，,]{1,12})$"),
)
_SHORT = pattern(r"^(?:应该)?是(?P<new>[^，,是]{1,12})$")


def takeback_of(opening: Opened, msg: int, speaker: Thing) -> Takeback | None:
    """A correction without a statement of its own: `不是里斯本，是波尔图`."""
    text = opening.text.strip("，, ")
    if _TAKE_BACK.match(text):
        return Takeback(msg, speaker, None)
    for compiled in _INSTEAD:
        match = compiled.match(text)
        if match:
            groups = match.groupdict()
            return Takeback(msg, speaker, _plain(groups.get("old")), _plain(match["new"]))
    short = _SHORT.match(text) if "correction" in opening.marks else None
    return Takeback(msg, speaker, None, _plain(short["new"])) if short else None


_DAY = "\ue001"
"""Stands where a time was; a private-use character, which cleaning removes from input."""
_OTHER_DAY = (
    pattern(
        rf"^(?:我(?:是说|说的|的意思是|想说的)?(?:应该)?是?)?(?:应该)?(?:是|在|改成)?{_DAY}(?P<not>[，,]?(?:而)?不是{_DAY})?$"
    ),
    pattern(rf"^(?:应该)?不是{_DAY}[，,]?(?:而|应该)?是(?P<last>{_DAY})$"),
)


def other_day_of(opening: Opened, spots: Sequence[Spot], msg: int, speaker: Thing) -> Redate | None:
    """A day put right: `是周四，不是周五`, after a correction also `周四` alone."""
    text, at = "", 0
    for spot in spots:
        text, at = text + opening.text[at : spot.start] + _DAY, spot.end
    text = (text + opening.text[at:]).strip("，, 的了啦啊哦")
    meant = "correction" in opening.marks or "不是" in text or text.startswith(("我是说", "我的意思", "我想说"))
    if not spots or not meant:
        return None
    for shape in _OTHER_DAY:
        match = shape.match(text)
        if match:
            groups = match.groupdict()
            if groups.get("last"):
                return redate_of(msg, speaker, spots[1], spots[0])
            return redate_of(msg, speaker, spots[0], spots[1] if groups.get("not") else None)
    return None


def _plain(value: str | None) -> str | None:
    if value is None:
        return None
    for word in ("住在", "搬到了", "搬到", "在"):
        value = value.removeprefix(word)
    return value.strip("了的 ") or None


def request_of(text: str, spots: Sequence[Spot], msg: int, cast: Cast) -> list[Statement] | None:
    """The statements a request makes; None when the sentence is no request."""
    me = cast.speaker
    remind = _REMIND.match(text)
    if remind:
        what = _without(text, len(text) - len(remind["what"]), spots)
        due = next((when for spot in spots if (when := spot.when("future"))), None)
        return (
            [Owed(msg, me, what, me, None, due.last if due else None)]
            if len(what) > 1 and not looks_secret(what)
            else []
        )
    called = _CALL_ME.match(text)
    if called:
        return [Fact(msg, me, me, "also_known_as", called["name"])]
    rule = _RULE.match(text)
    if rule and not any(word in text for word in ("记忆", "指令", "删除", "忘", "密码", "假装")):
        return [Standing(msg, me, text)]
    return None


def _without(text: str, start: int, spots: Sequence[Spot]) -> str:
    words, at = [], start
    for spot in spots:
        if spot.start >= at:
            words.append(text[at : spot.start])
            at = spot.end
    return "".join([*words, text[at:]]).strip("，, 要去")
