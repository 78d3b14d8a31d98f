"""What a few words are about: `the door code`, `my sister's job`, `门禁码` against claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brain.agents.builtin.lexicon import words
from brain.agents.builtin.lexicon.people import CHINESE_PETS, CHINESE_RELATIVES, PETS, RELATIVES
from brain.names import fold
from brain.names import words as words_of


@dataclass(frozen=True, slots=True)
class Told:
    """A claim as a topic meets it: names for the words, keys for who is who."""

    subject: str
    relation: str
    value: str
    subject_key: str
    value_key: str


_CALLED: dict[str, str] = {
    "lives_in": "live living lived home residence city town moving move moved, 住 住处 住址 搬家 家 城市",
    "works_for": "work working job employer company workplace career, 工作 公司 单位 雇主 上班",
    "has_role": "job role title position profession work occupation, 职位 职业 岗位 工作 职务",
    "works_on": "project projects, 项目",
    "comes_from": "hometown origin birthplace from, 老家 家乡 出生地",
    "studies_at": "studies school university college, 学校 大学 学业",
    "partner_of": "partner marriage relationship wedding, 婚姻 结婚 感情 伴侣",
    "has_pet": "pet pets animal animals, 宠物",
    "allergic_to": "allergy allergies allergic, 过敏",
    "has_condition": "condition illness health disease, 病 健康 病情",
    "takes_medication": "medication medicine medicines pills, 药",
    "follows_diet": "diet, 饮食",
    "likes": "likes taste tastes liking, 喜好 爱好 喜欢",
    "dislikes": "dislikes taste tastes, 喜好 讨厌",
    "prefers": "preference preferences favourite favorite, 喜好 偏好 喜欢",
    "interested_in": "interests interest hobby hobbies, 兴趣 爱好",
    "owns": "possession, 财产",
    "drives": "car vehicle, 车",
    "uses": "tool tools, 工具",
    "speaks": "languages language, 语言",
    "age": "age, 年龄 岁数",
    "birthday": "birthday birthdate birth date, 生日",
    "anniversary": "anniversary, 纪念日",
    "email": "email e-mail mail address, 邮箱 邮件",
    "phone": "phone number telephone mobile cell, 电话 手机 号码 手机号 电话号码",
    "address": "address home, 地址 住址",
    "timezone": "timezone zone, 时区",
    "pronouns": "pronouns, 代词",
    "also_known_as": "name nickname, 名字 昵称 外号",
    "has_account": "account username handle, 账号",
    "has_code": "code codes pin password passcode combination, 码 密码 口令 门禁码 暗号",
    "kept_in": "place spot location, 地方 位置",
    "project_lead": "lead leader owner, 负责人",
    "project_phase": "phase stage, 阶段",
    "deadline": "deadline due date, 截止日期 期限",
    "reports_to": "boss manager supervisor, 老板 上司 经理 领导",
    "client_of": "doctor dentist therapist lawyer accountant trainer, 医生 律师",
    "knows": "colleague coworker friend, 同事",
    "member_of": "team club membership, 团队 俱乐部",
}
_KIN = {"sibling": "sibling_of", "parent": "parent_of", "child": "parent_of", "spouse": "partner_of",
        "partner": "partner_of", "relative": "relative_of", "friend": "friend_of", "colleague": "knows",
        "manager": "reports_to", "acquaintance": "knows"}  # fmt: skip
_LEADS = frozenset((*_KIN.values(), "has_pet"))
"""Relations whose other end a noun like "sister" stands for."""


def _relation_words() -> dict[str, frozenset[str]]:
    found = {relation: set(text.replace(",", " ").split()) for relation, text in _CALLED.items()}
    for noun, kind in (*RELATIVES.items(), *CHINESE_RELATIVES.items()):
        found.setdefault(_KIN[kind], set()).update(noun.split(" "))
    return {relation: frozenset(held) for relation, held in found.items()}


_WORDS = _relation_words()
_SPECIES = {**PETS, **CHINESE_PETS}
_EMPTY = words(
    "the a an my our his her their its of about on to in at for where that this what i we me us s is am new old "
    "i'm i've i'd have had"
)
_EMPTY_HAN = ("我们", "我的", "我", "关于", "那个", "这个", "的", "事情", "事", "情况", "信息", "话")


def on_topic(topic: str, claims: Sequence[Told], speaker: str) -> list[int]:
    """The indexes of the claims a topic is about, none when it is about none of them.

    speaker  the key of whom "my" means
    """
    is_han = any("\u3400" <= char <= "\u9fff" for char in topic)
    fits = _fits_han if is_han else _fits
    named = _nouns(claims, speaker)
    found = [index for index, told in enumerate(claims) if fits(topic, told, named, speaker)]
    led = {_other_end(claims[index], speaker) for index in found if claims[index].relation in _LEADS}
    return [index for index, told in enumerate(claims) if index in found or told.subject_key in led]


def _nouns(claims: Iterable[Told], speaker: str) -> dict[str, set[str]]:
    """What else things are called, by what they are to the speaker: Mia `sister`, Rex `dog`."""
    nouns: dict[str, set[str]] = {}
    for told in claims:
        if told.relation == "species":
            same = [noun for noun, species in _SPECIES.items() if species == _SPECIES.get(told.value, told.value)]
            nouns.setdefault(told.subject_key, set()).update(word for noun in same for word in noun.split(" "))
        elif told.relation in _LEADS and speaker in (told.subject_key, told.value_key):
            nouns.setdefault(_other_end(told, speaker), set()).update(_WORDS.get(told.relation, ()))
    return nouns


def _other_end(told: Told, speaker: str) -> str:
    return told.subject_key if told.value_key == speaker else told.value_key


def _called(told: Told, named: dict[str, set[str]], speaker: str) -> tuple[set[str], set[str]]:
    """Words for what a claim is about, and words for what it says."""
    subject = set() if told.subject_key == speaker else {*words_of(told.subject), *named.get(told.subject_key, ())}
    value = set() if told.value_key == speaker else {*words_of(told.value), *named.get(told.value_key, ())}
    return subject, value | _WORDS.get(told.relation, frozenset()) | set(told.relation.split("_"))


def _fits(topic: str, told: Told, named: dict[str, set[str]], speaker: str) -> bool:
    wanted = {word.removesuffix("'s") for word in words_of(topic)} - _EMPTY
    subject, said = _called(told, named, speaker)
    return bool(wanted) and all(_held(word, subject | said) for word in wanted)


def _held(word: str, known: set[str]) -> bool:
    return word in known or word.removesuffix("s") in known or f"{word}s" in known


def _fits_han(topic: str, told: Told, named: dict[str, set[str]], speaker: str) -> bool:
    left, hit = fold(topic), False
    names = [fold(told.subject)] if told.subject_key != speaker else []
    names += [fold(told.value)] if told.value_key != speaker else []
    for name in (*names, *named.get(told.subject_key, ()), *named.get(told.value_key, ())):
        if name and name in left:
            left, hit = left.replace(name, "", 1), True
    for word in sorted(_WORDS.get(told.relation, ()), key=len, reverse=True):
        if word in left:
            left, hit = left.replace(word, "", 1), True
    for word in _EMPTY_HAN:
        left = left.replace(word, "")
    return hit and not left.strip()
