"""Taking a Chinese question apart."""

from __future__ import annotations

from brain.agents.builtin.chinese.subjects import link_of
from brain.agents.builtin.lexicon.people import CHINESE_PETS, CHINESE_RELATIVES
from brain.agents.builtin.lexicon.things import CHINESE_FAVOURITE_KINDS
from brain.agents.builtin.recall.ask import BY_THING, KINSHIP, Analysis, Ask, Form
from brain.agents.builtin.recall.relations import RELATIONS, Relation
from brain.agents.builtin.text import Language, pattern
from brain.agents.turns import RecallTurn, Ref

_LEADS = pattern(r"^(?:你好|请问|请告诉我|告诉我|你知道|你还?记得|麻烦问一下|想问一下|我想知道|那么?|那)[，,：: ]*")
_CHECK = pattern(r"[吗么]\s*$|是不是|有没有|会不会|是否|喜不喜欢|在不在")
_TIME = pattern(r"什么时候|何时|哪[年天月日]|几[月号点]|多久|哪一[年天]")
_COUNT = pattern(r"几[个只条匹位种门]|多少[个只条位种]")
_PAST = pattern(r"以前|之前|曾经?|过去|原来|原先|从前")
_PROFILE = pattern(r"是谁|(?:知道|记得|了解)(?:关于)?.*(?:什么|哪些|多少)|介绍一下|说说|的情况")
_EVENTS = pattern(r"发生|做了|干了|去了|见了|买了|见过|买过|去过|参加|完成|提交|什么时候")
_DEEDS = pattern(
    r"发生|做了|干了|去了|见了|买了|见过|买过|去过|参加|完成|提交|(?:什么时候|何时).*(?:见|买|去|参加|完成|提交|签|吃)"
)
_FUTURE = pattern(r"将会?|打算|计划|会(?:住|搬|去)")
_COMMITMENTS = pattern(r"答应|承诺|保证|计划|打算|安排|提醒|预约|待办|要做|任务|日程|准备做")
_RULES = pattern(r"规则|规矩|应该怎么回答|怎么回复|用什么语言回答")
_RELATIVES = sorted(CHINESE_RELATIVES, key=len, reverse=True)
_STRANGER = pattern(
    r"^(?P<name>[\p{Han}]{2,4}?|\p{Lu}[\p{L} '-]*)(?:的|住|在|喜|叫|是|会|做|对|有|养|负|什|更|现|以|曾|今|多|几|"
    r"哪|说)",
    ignore_case=False,
)
_QUESTION_WORDS = pattern(r"什么|哪|谁|怎|多少|几|现在|目前|今年|去年|有没有|是不是")


class Chinese(Analysis):
    """A Chinese question."""

    language: Language = "zh"

    def __init__(self, turn: RecallTurn, text: str) -> None:
        lead = _LEADS.match(text)
        super().__init__(turn, text[lead.end() :] if lead and lead.end() < len(text) else text)
        self.check = text.rstrip("?？。 ")

    def ask(self) -> Ask:
        """The question, taken apart."""
        if "为什么" in self.text or "为何" in self.text:
            return self._made("value", (), "", [])
        wanted = self.relations()
        reverse = self._reversed(wanted)
        if reverse is not None:
            return self._made("reverse", (), "", [reverse])
        kin = self._kin()
        if kin is not None:
            owner, noun, relation = kin
            others = [r for r in wanted if r.predicate not in KINSHIP and r.predicate != "also_known_as"]
            if owner is None:
                return self._made("value", (), "你", others or [relation])
            if others:
                relatives = self.related(owner, relation.predicate, by_value=relation.by_value)
                unknown = "" if relatives else f"{owner.name}的{noun}"
                return self._made("value", tuple(relatives), unknown, others)
            return self._made("value", (owner,), "", [relation])
        subjects, unknown = self._subjects(wanted)
        fitting = [relation for relation in wanted if unknown or any(self.admits(relation, ref) for ref in subjects)]
        return self._made(self._form(fitting), subjects, unknown, fitting)

    def _form(self, relations: list[Relation]) -> Form:
        if _RULES.search(self.text):
            return "rules"
        if _COMMITMENTS.search(self.text):
            return "commitments"
        if relations:
            return "value"
        if _PROFILE.search(self.text):
            return "profile"
        return "events" if _EVENTS.search(self.text) else "value"

    def _made(self, form: Form, subjects: tuple[Ref, ...], unknown: str, relations: list[Relation]) -> Ask:
        time, is_before = self.time()
        about = {ref.id or ref.name for ref in subjects}
        return Ask(
            "zh",
            self.text,
            form,
            subjects,
            unknown,
            tuple(relations),
            tuple(m.ref for m in self.mentions if (m.ref.id or m.ref.name) not in about),
            is_check=_CHECK.search(self.check) is not None,
            wants_time=_TIME.search(self.text) is not None and "birthday" not in {r.predicate for r in relations},
            wants_count=_COUNT.search(self.text) is not None,
            wants_past=_PAST.search(self.text) is not None,
            wants_future=_FUTURE.search(self.text) is not None,
            is_deed=_DEEDS.search(self.text) is not None,
            time=time,
            is_before=is_before,
            kinds=self._kinds(relations),
        )

    def _kinds(self, relations: list[Relation]) -> frozenset[str]:
        predicates = {relation.predicate for relation in relations}
        if predicates & {"prefers", "likes", "dislikes"}:
            return frozenset(
                kind for word, kind in CHINESE_FAVOURITE_KINDS.items() if word in self.text and len(word) > 1
            )
        if "has_pet" in predicates:
            return frozenset(species for word, species in CHINESE_PETS.items() if word in self.text) - {"宠物"}
        return frozenset()

    def _kin(self) -> tuple[Ref | None, str, Relation] | None:
        for noun in (*_RELATIVES, *CHINESE_PETS):
            at = self.text.find(noun)
            if at < 1:
                continue
            head = self.text[:at].removesuffix("的")
            owner: Ref | None
            if head.endswith("我"):
                owner = self.turn.asked_by
            else:
                found = [
                    m.ref for m in self.mentions if m.ref.type == "Person" and head.endswith(self.text[m.at : m.end])
                ]
                if not found:
                    continue
                owner = found[-1]
            relation = self._kin_relation(noun)
            if relation is not None:
                return owner, noun, relation
        return None

    def _kin_relation(self, noun: str) -> Relation | None:
        if noun in CHINESE_PETS:
            return next(relation for relation in RELATIONS if relation.predicate == "has_pet")
        link = link_of(noun)
        if link is None:
            return None
        return next(
            (
                r
                for r in RELATIONS
                if r.predicate == link.relation and (r.by_value == link.flip or link.relation != "parent_of")
            ),
            None,
        )

    def _subjects(self, wanted: list[Relation]) -> tuple[tuple[Ref, ...], str]:
        if any(relation.predicate in BY_THING for relation in wanted):
            things = [m.ref for m in self.mentions if m.ref.type == "Thing"]
            if things:
                return tuple(things[:1]), ""
        if self.text.startswith(("我", "本人")) or "我的" in self.text:
            return ((self.turn.asked_by,), "") if self.turn.asked_by else ((), "你")
        fitting = [m for m in self.mentions if m.ref.id and any(self.admits(relation, m.ref) for relation in wanted)]
        chosen = (fitting or [m for m in self.mentions if m.ref.id])[:1]
        stranger = _STRANGER.match(self.text)
        if stranger and not _QUESTION_WORDS.search(stranger["name"]) and (not chosen or chosen[0].at > 0):
            return (), stranger["name"].strip()
        return tuple(mention.ref for mention in chosen), ""

    def _reversed(self, wanted: list[Relation]) -> Relation | None:
        for relation in wanted:
            asked = relation.reverse["zh"]
            if asked is not None and asked.search(self.text) and self.mentions:
                return relation
        return None
