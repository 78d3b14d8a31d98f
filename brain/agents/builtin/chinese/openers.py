"""What may stand before a Chinese statement, and which sentences are left alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.chinese.slots import is_name
from brain.agents.builtin.facts import Mark, Thing
from brain.agents.builtin.text import pattern

_QUESTION = pattern(
    r"[吗呢么]$|什么|哪[里儿个些天位年]|谁|怎么|怎样|为什么|为何|多少|几[点个岁号月时年次位]|是不是|有没有|能不能|可不可以|要不要|"
    r"好不好|对不对|会不会|知不知道|难道"
)
_CONDITION = pattern(r"如果|假如|要是|假设|倘若|万一|[^说过才讲前面]的话|除非|比如|例如|譬如|比方说|想象|假装")
_HEDGE = pattern(
    r"可能|也许|大概|好像|似乎|估计|恐怕|说不定|应该会|我觉得|我想|我猜|我认为|我怀疑|据说|传说|有人说|人们说|大家说|网上说|听说有人|"
    r"我看到|我读到|新闻|报道|差点|考虑|希望|但愿|真想|想要|想去|想住|想当|想搬|宁愿|恨不得|最好|^(?:我|他|她|[\p{Han}]{2,3})(?:住|是|在|喜欢|有|会).*吧$"
)
_FICTION = pattern(r"小说|电影里|故事里|书里|梦里|梦见|做梦|游戏里|剧里|歌词|主角|角色")
_KIDDING = pattern(r"开玩笑|逗你|骗你的|才怪|说笑|愚人节")
"""Words that take back, when they stand alone, what was said before them."""
_JOKE = pattern(r"哈哈|嘿嘿|呵呵|[🙄😜🤪😏]")
_SHORT = 10
_ASK_KEEP = pattern(
    r"^(?:请|麻烦|帮我?|能不能|可以|你)*(?:记住|记一下|记下|记得|别忘了|不要忘了|保存一下|记录一下)[，,：: ]*(?:一下)?"
)
_SKIP = pattern(
    r"^(?:你好|您好|大家好|嗨|哈喽|早上好|下午好|晚上好|对了|另外|顺便说一下|顺便|话说|告诉你|跟你说|说一下|介绍一下|自我介绍一下|"
    r"首先|然后|而且|并且|还有|所以|不过|但是?|可是|因为|因此|嗯|哦|啊|好的?|是的|没错|谢谢|谢啦|多谢|提醒一下|补充一下|"
    r"好消息|坏消息|更新一下|事实上|老实说|说实话|坦白说|对我来说|至于我)[，,。！!：: ]*"
)
_RETRACT = pattern(
    r"^(?:刚才(?:说)?的?)?(?:那句话?)?"
    r"(?:不算|不作数|(?:我)?收回(?:刚才|前面)?(?:说)?的?话?|当我没说|就当我没说)[，,：:。 ]+"
)
_CORRECT = pattern(
    r"^(?:不对|不是的?|其实|更正(?:一下)?|(?:我?(?:刚才|刚刚|上面|前面|之前|昨天)?我?)(?:说|写|打|记|讲|弄|搞|发)错了|"
    r"口误|打错字了|抱歉|对不起|不好意思|纠正一下|等等|等一下)[，,：: ]*"
)
_TOLD = pattern(
    r"^(?P<who>[\p{Han}\p{Latin} ·]{1,20}?)(?:刚才|昨天|之前)?(?:跟我|对我|和我)?(?:说|告诉我|提到|表示|讲)(?:过|"
    r"了)?[，,：: ]*(?P<rest>.{4,})$"
)
_HEARD = pattern(r"^(?:我)?(?:听|据)(?P<who>[\p{Han}\p{Latin} ·]{1,20}?)(?:说|讲|称)[，,：: ]*(?P<rest>.{4,})$")


@dataclass(frozen=True, slots=True)
class Opened:
    """A sentence without its opener; `shift` is how many characters were taken off its head.

    retracts  whether it calls off what was said just before
    """

    text: str
    shift: int = 0
    marks: frozenset[Mark] = frozenset()
    source: Thing | None = None
    retracts: bool = False
    stop: Literal["", "question", "condition", "joke", "fiction", "hedge"] = ""


def opened(text: str, end: str, cast: Cast) -> Opened:
    """Take the opener off a sentence, or say why it is left alone."""
    retract = _RETRACT.match(text)
    result = Opened(text[retract.end() :], retract.end(), retracts=True) if retract else Opened(text)
    if _KIDDING.search(text):
        return replace(result, stop="joke", retracts=len(text) <= _SHORT)
    if _JOKE.search(text):
        return replace(result, stop="joke")
    if _FICTION.search(text):
        return replace(result, stop="fiction")
    if _CONDITION.search(result.text):
        return replace(result, stop="condition")
    result = _stripped(result)
    if "asked_to_keep" not in result.marks and (end == "?" or _QUESTION.search(result.text)):
        return replace(result, stop="question")
    if _HEDGE.search(result.text):
        return replace(result, stop="hedge")
    return _reported(result, cast)


def _stripped(result: Opened) -> Opened:
    text, shift, marks = result.text, result.shift, set(result.marks)
    for _ in range(6):
        for compiled, mark in ((_ASK_KEEP, "asked_to_keep"), (_CORRECT, "correction"), (_SKIP, "")):
            match = compiled.match(text)
            if match and match.end() and not (mark == "correction" and _is_plain_denial(text, match.end())):
                text, shift = text[match.end() :], shift + match.end()
                if mark:
                    marks.add(mark)  # type: ignore[arg-type]
                break
        else:
            break
    return replace(result, text=text, shift=shift, marks=frozenset(marks))


def _is_plain_denial(text: str, end: int) -> bool:
    """Whether `不是` begins a denial of its own (`不是里斯本，是波尔图`) and is no opener."""
    return text.startswith("不是") and text[end - 1 : end] not in "，,：: 的" and end < len(text)


def _reported(result: Opened, cast: Cast) -> Opened:
    match = _HEARD.match(result.text) or _TOLD.match(result.text)
    if match is None:
        return result
    who = match["who"].strip()
    if not is_name(who, cast) or who in ("我", "你", "他", "她"):
        return replace(result, stop="hedge") if _HEARD.match(result.text) else result
    person = cast.person(who)
    if person is None:
        return replace(result, stop="hedge")
    start = len(result.text) - len(match["rest"])
    return replace(
        result, text=match["rest"], shift=result.shift + start, marks=result.marks | {"hearsay"}, source=person
    )
