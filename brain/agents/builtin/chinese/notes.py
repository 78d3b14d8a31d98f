"""What Chinese clauses tell that no relation holds: arrangements, habits, what a team does; kept as told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.facts import Fact, Statement, Thing, Took
from brain.agents.builtin.lexicon.people import CHINESE_PETS, CHINESE_RELATIVES
from brain.agents.builtin.lexicon.work import CHINESE_SCHEDULED, WORK_TOOLS
from brain.agents.builtin.secrets import looks_secret
from brain.agents.builtin.text import pattern
from brain.agents.builtin.when import Spot, When

_ARRANGED = pattern(
    rf"^(?P<mine>我的)?(?:我们的?|咱们的?|这次的?|本次的?)?(?P<what>[\p{{Han}}A-Za-z0-9]{{0,12}}?(?:{CHINESE_SCHEDULED}))(?:的?时间)?"
    r"(?P<verb>定[在于]?|安排在?|改[到在成]?|推迟[到至]?|延期?[到至]?|提前[到至]?|将于|就在|会在|在|是|于|)"
    r"(?:举行|召开|开始|进行|开)?$"
)
_NO_NOUN = pattern(r"^(?:[我他她不]|取消)|[了过做去]|参加|举行")
_MOVED = ("改", "推迟", "延期", "延", "提前")
_RECURS = pattern(r"每(?:天|日|周|星期|个?月|年|个?工作日|逢|晚|早|隔)")
_OURS = pattern(
    r"^(?:我们|咱们)(?:的)?(?:团队|公司|部门|组|小组|项目组|这边|这里)?"
    r"(?P<rest>(?:都|主要|目前|现在|一直|一般|通常|不|也|会)*(?:在?用|使用|采用|部署|发布|开会|招聘|招|支持|维护|负责|做|提供|不用|轮流|值班|决定|商定|同意|选了|买了|签了|讨论了|取消了).{1,30})$"
)
_TOOLS = pattern(
    r"^(?:都|主要|目前|现在|一直)*(?:在?用|使用|采用)(?:的是)?"
    r"(?P<tools>[A-Za-z0-9+#., ]+(?:[、和与及][A-Za-z0-9+#. ]+)*)$"
)
_SPLIT = pattern(r"[A-Za-z0-9+#.]+")
_STATES = pattern(
    r"^(?:(?:还|已经|一直|目前|现在)*(?:没有?|未)(?:结过?婚|孩子|对象|兄弟姐妹|姐妹|兄弟|男朋友|女朋友|养宠物|小孩|车|房子?)|"
    r"(?:已经?|现在)*(?:结婚|离婚|退休|怀孕|订婚).{0,6}了?|(?:是|还是|目前|现在)*(?:单身|已婚|未婚|离异|左撇子|色盲|独生子女?)的?|"
    r"(?:从来?|都|也|已经)*(?:不|戒了?)(?:抽烟|喝酒|吃肉|吃辣|吃.{1,6}|喝.{1,6}|开车|烟|酒)了?|"
    rf"有(?:一|两|三|四|几|[0-9])?[个只条位匹](?:小孩|{'|'.join((*CHINESE_RELATIVES, *CHINESE_PETS))}))$"
)
_HARD = pattern(r"你|您|这个|那个|这些|那些")


def arranged(text: str, times: Sequence[Spot], cast: Cast, msg: int) -> Took | None:
    """`发布会定在3月5日`: what it is, and its day; `周会每周一九点` as it stands."""
    if _RECURS.search(text):
        return None
    match = _ARRANGED.match(text)
    when = next((when for spot in times if spot.role in ("at", "by", "until") and (when := spot.when("future"))), None)
    if match is None or when is None or _HARD.search(text) or _NO_NOUN.search(match["what"]):
        return None
    day = when.start[:16].replace("T", " ")
    mine = f"{cast.called(cast.speaker)}的" if match["mine"] else ""
    moved = match["verb"].rstrip("到至在成")
    what = f"{mine}{match['what']}{f'{moved}到' if moved in _MOVED else '定在'}{day}"
    return _took(msg, cast, what, when, ())


def recurring(text: str, cast: Cast, msg: int) -> Took | None:
    """`站会每天九点`, `我每周三打网球`: as told, whose it is said."""
    if not _RECURS.search(text) or _HARD.search(text) or not 4 <= len(text) <= 60 or text.startswith("每"):
        return None
    me = cast.called(cast.speaker)
    if text.startswith(("我们", "咱们")):
        return _took(msg, cast, f"{me}等人{text[2:]}", None, (cast.speaker,))
    if text.startswith("我"):
        return _took(msg, cast, f"{me}{text[1:].replace('我', '自己')}", None, (cast.speaker,))
    is_named = cast.named_in(text) or any(text.startswith(word) for word in _scheduled_heads(text))
    return _took(msg, cast, text, None, ()) if is_named else None


def of_group(text: str, cast: Cast, msg: int) -> list[Statement]:
    """`我们用Postgres`: of the team or employer when it is known, else as told; never of the speaker alone."""
    match = _OURS.match(text)
    if match is None or _HARD.search(text):
        return []
    tools = _TOOLS.match(match["rest"])
    group = cast.circle(cast.speaker)
    if tools and group is not None:
        names = [name.strip(" .") for name in _SPLIT.findall(tools["tools"])]
        if names and all(name.casefold() in WORK_TOOLS for name in names):
            return [Fact(msg, cast.speaker, group, "uses", cast.thing(name, "Tool")) for name in names]
    took = _took(msg, cast, f"{cast.called(cast.speaker)}等人{match['rest'].strip()}", None, (cast.speaker,))
    return [took] if took else []


def state_of(subject: Thing, rest: str, cast: Cast, msg: int) -> Took | None:
    """`我没有结婚`, `王芳不喝酒`: how somebody is or lives."""
    if subject.type not in ("Person", None) or not _STATES.match(rest.strip("。，, 的呢啊哦")):
        return None
    return _took(msg, cast, f"{cast.called(subject)}{rest.strip()}", None, (subject,))


class Said(Protocol):
    """A clause without its times, and as it was said."""

    @property
    def text(self) -> str: ...
    @property
    def times(self) -> tuple[Spot, ...]: ...
    @property
    def said(self) -> str: ...


_OF_KIN = pattern(
    r"^(?:的?生日[是在]?|也|都|还|已经|刚|现在|正式)*(?:住|搬|在.{1,10}(?:工作|上班|上学|读书)|结婚|离婚|订婚|怀孕|退休|生了|做了|买了|卖了|去了|得了|考上|"
    r"毕业|升职|辞职|喜欢|讨厌|不吃|不喝|对.{1,8}过敏|是.{1,8}[师员生人]$|$)"
)


def of_kin(noun: str, clause: Said, cast: Cast, msg: int) -> Took | None:
    """`妈妈的生日是3月3日`, `我妹妹六月结婚`: of a relative whose name is not known."""
    rest = clause.text.partition(noun)[2].strip("，, ")
    if _HARD.search(clause.said) or not _OF_KIN.match(rest) or not (rest or clause.times):
        return None
    on = next((when for spot in clause.times if spot.role == "at" and (when := _of_time(spot, rest))), None)
    what = f"{cast.called(cast.speaker)}的{noun}{clause.said.partition(noun)[2]}"
    return _took(msg, cast, what, on, (cast.speaker,))


def _of_time(spot: Spot, rest: str) -> When | None:
    return spot.when("past" if "了" in rest or "过" in rest else "future")


def _scheduled_heads(text: str) -> list[str]:
    match = _HEAD.match(text)
    return [match["what"]] if match else []


_HEAD = pattern(rf"^(?P<what>[\p{{Han}}A-Za-z0-9]{{0,8}}?(?:{CHINESE_SCHEDULED}))每")


def _took(msg: int, cast: Cast, what: str, on: When | None, people: Sequence[Thing]) -> Took | None:
    return None if looks_secret(what) else Took(msg, cast.speaker, what, on.on if on else None, tuple(people))
