"""What may stand in a group of a Chinese frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from brain.agents.builtin.cast import Cast, Unclear
from brain.agents.builtin.facts import Thing
from brain.agents.builtin.lexicon import words
from brain.agents.builtin.lexicon.people import CHINESE_RELATIVES, DOUBLE_SURNAMES, SURNAMES
from brain.agents.builtin.lexicon.places import CHINESE_NO_PLACE, CHINESE_PLACES
from brain.agents.builtin.lexicon.things import (
    CHINESE_CONDITIONS,
    CHINESE_DIETS,
    CHINESE_FAVOURITE_KINDS,
    CHINESE_KIND_OF,
    CHINESE_LANGUAGES,
    CHINESE_ROLES,
    KIND_OF,
    TOOL_KINDS,
)
from brain.agents.builtin.text import pattern
from brain.agents.builtin.when.chinese import number

Slot: TypeAlias = Callable[[str, Cast], Any]
"""A phrase and the cast to a value; None when the phrase cannot stand in the slot."""

_PLAIN = pattern(r"^[\p{Han}\p{Latin}0-9·&.'\- +#]+$", ignore_case=False)
_LATIN_NAME = pattern(r"^\p{Lu}[\p{L}'-]*(?: \p{Lu}[\p{L}'-]*){0,3}$", ignore_case=False)
_FUNCTION = pattern(
    r"[我你他她它们的了着过吗呢吧这那哪谁什么怎么很最都也就不没是有在和跟与把被让给从到会要想能可所以因为但如果时候一起]"
)
_LIST = pattern(r"[、和跟与及]|以及|还有")
_EMAIL = pattern(r"^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$")
_PHONE = pattern(r"^\+?[0-9][0-9 -]{5,18}[0-9]$")
_TRIVIAL = words("你 我 他 她 它 你们 他们 这样 那样 这个 那个 这里 那里 自己 大家 人 事 东西 什么")


def is_chinese_name(text: str) -> bool:
    """Whether a word has the shape of a Chinese full name, or of a familiar one (小王, 老李, 阿美)."""
    if text.startswith(DOUBLE_SURNAMES):
        return 3 <= len(text) <= 4 and not _FUNCTION.search(text[2:])
    if len(text) == 2 and text[0] in "小老阿":
        return not _FUNCTION.search(text[1])
    return 2 <= len(text) <= 3 and text[0] in SURNAMES and not _FUNCTION.search(text[1:])


_VERB_PAIRS = words(
    """
    接手 接管 接替 接到 负责 参加 决定 离开 加入 完成 提交 喜欢 讨厌 搬到 搬去 搬进 住在 住进
    说她 说他 告诉 答应 保证 要去 要来 要把 打算 计划 准备 养了 买了 去了 来了 生了 有了 做了
    换了 升职 辞职 离职 退休 结婚 离婚 订婚 怀孕 生日 现在 已经 以前 昨天 今天 明天 上周 下周
    周末 去年 今年 明年 上个 下个 不在 不是 不吃 不喝 没有 也在 都在 还在 正在 在家 过敏 会说
    会来 会去 请假 出差 替我 帮我 带她 带他 同意 认为
    """
)
"""A character of a name and the one after it, which are no name together: `李雷接手…` is about 李雷."""


def ends_in_verb(text: str, length: int) -> bool:
    """Whether the last of so many characters begins a word with the next."""
    return length > 2 and text[length - 1 : length + 1] in _VERB_PAIRS


def is_name(text: str, cast: Cast) -> bool:
    """Whether a phrase names a person."""
    if not text or text in CHINESE_RELATIVES:
        return False
    return bool(cast.all(text)) or is_chinese_name(text) or _LATIN_NAME.match(text) is not None


def _place(text: str, cast: Cast) -> Any:
    text = text.removesuffix("市区")
    if len(text) > 2 and text.endswith("中"):
        return None  # in the middle of something: 恐惧中, 痛苦中
    if not 1 < len(text) <= 12 or text in CHINESE_NO_PLACE or not _PLAIN.match(text) or text in _TRIVIAL:
        return None
    if (
        any(text.endswith(word) for word in ("家", "里", "公司", "家里", "宿舍", "楼", "酒店"))
        or text[0] in "我你他她这那哪"
    ):
        return None
    held = cast.find(text)
    if isinstance(held, Unclear) or (held is not None and held.type not in ("Place", None)):
        return None
    return cast.thing(text, "Place")


def _organisation(text: str, cast: Cast) -> Any:
    text = text.removeprefix("一家").removesuffix("公司") if text not in ("公司", "一家公司") else ""
    if not 1 < len(text) <= 16 or not _PLAIN.match(text) or text[0] in "我你他她这那哪某" or text in _TRIVIAL:
        return None
    if text in (
        "学校",
        "医院",
        "银行",
        "政府",
        "工厂",
        "国企",
        "外企",
        "家里",
        "公司",
        "大厂",
        "办公室",
        "团队",
        "部门",
    ):
        return None
    if text in CHINESE_PLACES or (text.endswith(("市", "省", "县", "镇", "村")) and len(text) < 6):
        return None
    held = cast.find(text)
    if isinstance(held, Unclear) or (held is not None and held.type not in ("Organization", None)):
        return None
    return cast.thing(text, "Organization")


def _school(text: str, cast: Cast) -> Any:
    return _organisation(text, cast) if text.endswith(("大学", "学院", "中学", "小学", "高中", "大")) else None


def _role(text: str, cast: Cast) -> Any:  # noqa: ARG001 - every slot takes the cast
    if len(text) > 12 or not text.endswith(CHINESE_ROLES) or text[0] in "我你他她好坏不":
        return None
    return None if any(mark in text for mark in "的过了年月不没") else Thing(text, "Role")


def _person(text: str, cast: Cast) -> Any:
    return cast.person(text) if is_name(text, cast) else None


def _name(text: str, cast: Cast) -> Any:  # noqa: ARG001
    return text if 1 < len(text) <= 20 and _PLAIN.match(text) and not _FUNCTION.match(text) else None


def _own_name(text: str, cast: Cast) -> Any:
    known = cast.all(text)
    if any(thing.type not in ("Person", None) for thing in known) or text.endswith(CHINESE_ROLES):
        return None
    return text if is_chinese_name(text) or (_LATIN_NAME.match(text) and cast.is_person(text)) else None


def _phrase(text: str) -> str | None:
    """A short phrase that can be liked; verbs of eating, drinking and playing before it are part of how it is said."""
    text = text.strip("的 《》“”")
    if not 1 <= len(text) <= 14 or text in _TRIVIAL or not _PLAIN.match(text) or text[0] in "你他她它这那哪":
        return None
    for verb in ("吃", "喝", "听", "看", "玩", "用", "打", "踢"):
        if text.startswith(verb) and text[1:] in CHINESE_KIND_OF:
            return text[1:] if text not in CHINESE_KIND_OF else text
    for verb in ("吃", "喝"):
        if text.startswith(verb) and len(text) > 1:
            text = text[1:]
    if text.endswith(("不", "没", "没有", "都", "也")):
        return None
    return None if any(mark in text for mark in ("我", "你", "是", "因为", "但", "所以", "时候", "如果")) else text


def _option(text: str, cast: Cast) -> Any:
    phrase = _phrase(text)
    return None if phrase is None or cast.is_person(phrase) else phrase


def _things(text: str, cast: Cast) -> Any:
    """One liked thing or several."""
    parts = [part for part in _split(text) if part]
    found = [_phrase(part) for part in parts]
    if not found or None in found or any(cast.is_person(part) for part in parts):
        return None
    return tuple(part for part in found if part)


def _split(text: str) -> list[str]:
    parts, at = [], 0
    for match in _LIST.finditer(text):
        parts.append(text[at : match.start()])
        at = match.end()
    return [part.strip() for part in [*parts, text[at:]]]


def _allergens(text: str, cast: Cast) -> Any:
    found = _things(text, cast)
    if not found:
        return None
    return tuple(
        Thing(part, "Substance" if part.endswith(("粉", "素", "药", "毛", "尘", "螨", "林")) else "Food")
        for part in found
    )


def _condition(text: str, cast: Cast) -> Any:  # noqa: ARG001
    return Thing(text, "HealthCondition") if text in CHINESE_CONDITIONS else None


def _diet(text: str, cast: Cast) -> Any:  # noqa: ARG001
    return Thing(CHINESE_DIETS[text], "Diet") if text in CHINESE_DIETS else None


def _tool(text: str, cast: Cast) -> Any:
    known = KIND_OF.get(text.lower()) in TOOL_KINDS
    if not known and not _LATIN_NAME.match(text):
        return None
    return None if cast.is_person(text) else cast.thing(text, "Tool")


def _vehicle(text: str, cast: Cast) -> Any:  # noqa: ARG001
    return Thing(text, "Vehicle") if 1 < len(text) <= 12 and _PLAIN.match(text) and not _FUNCTION.match(text) else None


def _languages(text: str, cast: Cast) -> Any:  # noqa: ARG001
    tags = [CHINESE_LANGUAGES.get(part.removeprefix("一点").removeprefix("一些")) for part in _split(text)]
    return tuple(tags) if tags and all(tags) else None


def _years(text: str, cast: Cast) -> Any:  # noqa: ARG001
    if not all(char in "0123456789零一二两三四五六七八九十百" for char in text):
        return None
    value = number(text)
    return value if value and 0 < value < 130 else None


def _email(text: str, cast: Cast) -> Any:  # noqa: ARG001
    return text if _EMAIL.match(text) else None


def _phone(text: str, cast: Cast) -> Any:  # noqa: ARG001
    return text if _PHONE.match(text) else None


def _address(text: str, cast: Cast) -> Any:  # noqa: ARG001
    return text if 5 < len(text) < 80 and any(mark in text for mark in "路街号区市巷弄") else None


def _handle(text: str, cast: Cast) -> Any:  # noqa: ARG001
    return text.lstrip("@") if len(text) < 40 and " " not in text and text.isascii() else None


def _timezone(text: str, cast: Cast) -> Any:  # noqa: ARG001
    return text if "/" in text or text.upper().startswith(("UTC", "GMT", "+", "-")) else None


def _kind(text: str, cast: Cast) -> Any:  # noqa: ARG001
    return CHINESE_FAVOURITE_KINDS.get(text)


def _favourite(text: str, cast: Cast) -> Any:
    return _option(text, cast)


def _project(text: str, cast: Cast) -> Any:
    name = text.removesuffix("项目").removesuffix("这个").strip()
    if text.endswith("项目") and 1 < len(name) <= 16 and _PLAIN.match(name) and name[0] not in "我你他她这那哪本该":
        return cast.thing(name, "Project")
    held = cast.find(text)
    return held if isinstance(held, Thing) and held.type == "Project" else None


def _phase(text: str, cast: Cast) -> Any:  # noqa: ARG001
    return text if 1 < len(text) <= 6 and not _FUNCTION.search(text) else None


def _old(text: str, cast: Cast) -> Any:
    return _tool(text, cast) or _organisation(text, cast) or _place(text, cast)


def _as_it_is(text: str, cast: Cast) -> Any:  # noqa: ARG001
    return text


SLOTS: dict[str, Slot] = {
    "place": _place, "home": _place, "employer": _organisation, "before": _tool, "old": _old,
    "org": _organisation, "school": _school, "role": _role, "person": _person,
    "name": _name, "own_name": _own_name, "option": _option, "other": _option, "things": _things,
    "allergens": _allergens, "condition": _condition, "diet": _diet, "tool": _tool, "vehicle": _vehicle,
    "langs": _languages, "years": _years, "email": _email, "phone": _phone, "address": _address, "handle": _handle,
    "timezone": _timezone, "kind": _kind, "favourite": _favourite, "project": _project, "phase": _phase,
    "service": _as_it_is,
}  # fmt: skip
