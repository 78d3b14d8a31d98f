"""What a Chinese speaker wants forgotten: a task for the owner, or their own words taken back."""

from __future__ import annotations

from brain.agents.builtin.facts import Erase, Takeback, Thing
from brain.agents.builtin.secrets import looks_secret
from brain.agents.builtin.text import pattern

_ASKS = (
    r"^(?P<asks>(?:你好|您好|请问|请|麻烦|劳驾|帮我?|帮忙|能不能|能否|可否|可不可以|可以|你能不能|你能|你可以|我(?:想|要|希望|要求|申请|想要)(?:让|请)?(?:你们?|您)?|"
    r"你们?|您|立即|马上|立刻|现在|把|将|[，, ])*)"
)
_POLITE = r"(?:[，, ]*(?:吧|吗|么|好吗|可以吗|行吗|谢谢你?|拜托|了|掉))*$"
_FORGET = r"(?:忘掉|忘记|忘了|删除|删掉|删了|清除|清空|清掉|抹掉|抹除|移除|擦除|销毁)"
_OWN = (
    r"(?:你(?:们)?(?:所)?(?:知道|记得|记住|保存|存|记录)的?)?(?:所有|全部|一切)?(?:的)?(?:关于|有关)?"
    r"我(?:们)?(?:自己)?的?"
)
_ERASE = (
    pattern(rf"{_ASKS}{_FORGET}(?P<what>{_OWN}.*?){_POLITE}"),
    pattern(rf"{_ASKS}(?P<what>{_OWN}.+?)(?:都|全部?|全都|彻底|永久|统统|从[^，,]{{1,8}})*{_FORGET}{_POLITE}"),
)
_SELF = pattern(r"我(?:想|要|希望|申请|想要)(?:$|[^让请你您])")
_PERSONAL = pattern(r"数据|信息|资料|记录|一切|所有|全部|内容|隐私|记忆")
_SAID = (
    r"我(?:们)?(?:之前|刚才|刚刚|上次|以前|昨天|前面|前几天|早些时候)?(?:跟你|对你|和你)?(?:说|讲|提|告诉你|聊)(?:过|到)?的?"
    r"(?:关于|有关)?(?P<topic>[^，,。]{1,20}?)(?:的(?:那些|那个)?(?:事情?|话|内容|信息|消息))?"
)
_UNSAY = r"(?:忘掉|忘记|忘了|不算数?|不作数|收回|撤回|作废|当我没说过?|别记了?|不要记了?|别当真)"
_TAKEN_BACK = (
    pattern(rf"^(?:请|麻烦|帮我?|就|把|[，, ])*{_UNSAY}{_SAID}{_POLITE}"),
    pattern(rf"^(?:请|麻烦|帮我?|你|就|把|[，, ])*{_SAID}[，,]?(?:请|就|都|你|全)*{_UNSAY}{_POLITE}"),
)
_NO_TOPIC = frozenset(("话", "那句", "那句话", "这些", "那些", "内容", "东西", "一切", "所有"))


def taken_back(text: str, msg: int, speaker: Thing) -> Takeback | None:
    """`我之前说的门禁码忘掉吧`: the speaker's own words on something, and nobody else's."""
    for shape in _TAKEN_BACK:
        match = shape.match(text)
        if match and match["topic"].strip("的") not in _NO_TOPIC:
            return Takeback(msg, speaker, None, topic=match["topic"])
    return None


def erasure_of(text: str, msg: int, speaker: Thing) -> list[Erase] | None:
    """`请删除我的所有数据`: a wish, recorded; None when the sentence is about something else."""
    for number, shape in enumerate(_ERASE):
        match = shape.match(text)
        if match is None or (number == 1 and not _is_order(text, match["asks"])):
            continue
        what = match["what"].strip("的，, 请")
        is_own_doing = _SELF.search(match["asks"]) is not None and not _PERSONAL.search(what)
        if what and not is_own_doing and not looks_secret(what):
            return [Erase(msg, speaker, what)]
    return None


def _is_order(text: str, asks: str) -> bool:
    """Whether words with the thing before the verb are a wish: `把我的数据删了`, `我的数据请全部删除`."""
    return "把" in asks or "将" in asks or "请" in text or text.endswith(("吧", "掉"))
