"""Reading one Chinese sentence into statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.chinese import doings, notes
from brain.agents.builtin.chinese.courses import Mood, course_of, mood_of
from brain.agents.builtin.chinese.forgetting import erasure_of, taken_back
from brain.agents.builtin.chinese.frames import PERSON_FRAMES, PET_FRAMES, PROJECT_FRAMES, Frame
from brain.agents.builtin.chinese.openers import Opened, opened
from brain.agents.builtin.chinese.requests import other_day_of, request_of, takeback_of
from brain.agents.builtin.chinese.slots import SLOTS, is_name
from brain.agents.builtin.chinese.subjects import Subject, kin_fact, link_of, subjects_of
from brain.agents.builtin.english.attributes import calendar_date
from brain.agents.builtin.english.resolve import pet_facts
from brain.agents.builtin.facts import Fact, Mark, Statement, Thing, Took
from brain.agents.builtin.lexicon.people import CHINESE_PETS, CHINESE_RELATIVES
from brain.agents.builtin.text import Sentence, pattern
from brain.agents.builtin.when import Spot, times_in
from brain.agents.builtin.worth import typed

_BREAKS = pattern(r"[，,；;。！!：:]")
_KIN_NAME = pattern(r"^(?:的名字)?(?:名?叫做?|是)(?P<name>.+?)$")
_IS_KIN = pattern(rf"^是(?P<owner>.+?)的?(?P<noun>{'|'.join(sorted(CHINESE_RELATIVES, key=len, reverse=True))})$")
_PET_NAMES = "|".join(sorted(CHINESE_PETS, key=len, reverse=True))
_KEEPS = pattern(rf"^(?:养了?|有)(?:一|两|三|几|[0-9])?[只条匹个](?P<pet>{_PET_NAMES})$")
_KEEPS_NAMED = pattern(rf"^(?:养了?|有)(?:一)?[只条匹个]名?叫(?P<name>.+?)的(?P<pet>{_PET_NAMES})$")
_KEEPS_CALLED = pattern(
    rf"^(?:养了?|有)(?:一)?[只条匹个](?P<pet>{_PET_NAMES})，?(?:它|他|她)?(?:名字)?(?:叫做?|名叫)(?P<name>.+?)$"
)
_KIN_NAMES = "|".join(sorted(CHINESE_RELATIVES, key=len, reverse=True))
_HAS_KIN = pattern(rf"^有(?:一|两|三|几|[0-9])?[个位](?P<noun>{_KIN_NAMES})$")
_HAS_KIN_CALLED = pattern(rf"^有一?[个位](?P<noun>{_KIN_NAMES})，?(?:名字)?(?:叫做?|名叫)(?P<name>.+?)$")
_DEADLINE = pattern(
    r"^的?(?:截止日期|截止时间|期限)(?:是|在|(?P<moved>(?:已经?)?(?:改|推迟|延期|延后|延|提前|顺延|调整)(?:到|至|为)?了?))?$"
)
_NEW: frozenset[Mark] = frozenset(("new",))
_ITS_NAME = pattern(r"^[它他她]?(?:的?名字)?(?:叫做?|是)(?P<name>.+?)$")
_CODE = pattern(
    r"^(?P<of>[\p{Han}\p{Latin}0-9 -]{0,16}?)的?(?P<noun>门禁码|取件码|门锁码|暗号|密码|口令)(?:是|"
    r"为)(?P<code>[\w*#-]{3,24})$"
)
_BIRTHDAY = pattern(r"^的?生日(?:是|在)?$|^(?:出?生于|是?(?:出生|生)的)$")
_NOT = pattern(r"^(?:而)?不是(?P<value>[^是]{1,12})$")


_NOT_BUT = pattern(r"^(?P<head>[^，,]{1,16}?)不是(?P<old>[^，,对]{1,14})[，,](?:而)?是(?P<new>[^，,]{1,14})$")
_DOING = ("住", "在", "叫", "做", "用")


def _put_right(opening: Opened) -> Opened:
    """`我的上司不是王芳，是赵磊` as the correction it is: `我的上司是赵磊`."""
    match = _NOT_BUT.match(opening.text)
    if match is None:
        return opening
    joint = "" if match["new"].startswith(_DOING) else "是"
    corrected: frozenset[Mark] = frozenset(("correction",))
    return replace(opening, text=f"{match['head']}{joint}{match['new']}", marks=opening.marks | corrected)


@dataclass(slots=True)
class ChineseReader:
    """Reads the Chinese sentences of one message."""

    msg: int
    moment: datetime
    cast: Cast

    def read(self, sentence: Sentence) -> tuple[list[Statement], bool]:
        """What a sentence states, and whether it calls off the sentence before it."""
        taken = taken_back(sentence.text, self.msg, self.cast.speaker)
        if taken is not None:
            return [taken], False
        wishes = erasure_of(sentence.text, self.msg, self.cast.speaker)
        if wishes is not None:
            return list(wishes), False
        opening = opened(sentence.text, sentence.end, self.cast)
        if opening.stop:
            return [], opening.retracts
        opening = _put_right(opening)
        spots = [spot for spot in times_in(opening.text, self.moment, "zh") if spot.is_possible]
        day = other_day_of(opening, spots, self.msg, self.cast.speaker)
        if day is not None:
            return [day], False
        taken = takeback_of(opening, self.msg, self.cast.speaker)
        if taken is not None:
            return [taken], False
        asked = request_of(opening.text, times_in(opening.text, self.moment, "zh"), self.msg, self.cast)
        if asked is not None:
            return asked, False
        if opening.source is not None:
            self.cast.mention(opening.source)
        found = _Sentence(self, opening).statements()
        if "hearsay" in opening.marks:
            found = [item for item in found if isinstance(item, Fact) and item.subject.key != self.cast.speaker.key]
        return found, opening.retracts


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause without its times, and as it was said."""

    text: str
    times: tuple[Spot, ...]
    said: str


@dataclass(slots=True)
class _Sentence:
    reader: ChineseReader
    opening: Opened
    subject: Thing | None = None
    unnamed: tuple[Thing, str, Took | None] | None = None
    found: list[Statement] = field(default_factory=list)

    @property
    def cast(self) -> Cast:
        return self.reader.cast

    def statements(self) -> list[Statement]:
        for clause in self._clauses():
            denied = _NOT.match(clause.text)
            if denied and self.found:
                self.found = [_corrected(item) for item in self.found]
                continue
            self.found += self._of(clause)
        self._leave_unnamed()
        return self.found

    def _leave_unnamed(self) -> None:
        """Keep as told that somebody has a child or an animal whose name does not follow."""
        if self.unnamed is not None and self.unnamed[2] is not None and "hearsay" not in self.opening.marks:
            self.found.append(self.unnamed[2])

    def _clauses(self) -> Iterator[_Clause]:
        text = self.opening.text
        spots = times_in(text, self.reader.moment, "zh")
        at = 0
        for end in [*(match.start() for match in _BREAKS.finditer(text)), len(text)]:
            inside = [spot for spot in spots if at <= spot.start and spot.end <= end]
            words, start = [], at
            for spot in inside:
                words.append(text[start : spot.start])
                start = spot.end
            words.append(text[start:end])
            clause = "".join(words).strip(' ，,；;。！!：:、“”"')
            if clause or inside:
                said = text[at:end].strip(' ，,；;。！!：:、“”"')
                yield _Clause(clause, tuple(spot for spot in inside if spot.is_possible), said)
            at = end + 1

    def _of(self, clause: _Clause) -> list[Statement]:
        code = self._code(clause.text)
        if code:
            return code
        named = self._name_of_pending(clause.text)
        if named:
            return named
        readings = list(subjects_of(clause.text, self.cast, self.reader.msg))
        if not readings and self.subject is not None:
            is_name = clause.text.startswith(("叫", "名叫", "名字"))
            readings = [] if is_name else [Subject(self.subject, clause.text)]
        for reading in readings:
            said = self._about(reading, clause)
            if said is not None:
                unsure = all(isinstance(item, Fact) and "if_known" in item.marks for item in said)
                return [*said, *self._done(reading, clause)] if said and unsure else said
        if readings and readings[0].thing is None and readings[0].owner == self.cast.speaker:
            return self._of_unnamed(readings[0].noun, clause)
        for reading in readings:
            if reading.thing is not None:
                self.subject = reading.thing
                self.cast.mention(reading.thing)
                return [*reading.facts, *(self._done(reading, clause) or self._noted(clause, reading))]
        return self._noted(clause)

    def _of_unnamed(self, noun: str, clause: _Clause) -> list[Statement]:
        """`我妹妹六月结婚`: kept as told when nobody knows her name."""
        note = None if "hearsay" in self.opening.marks else notes.of_kin(noun, clause, self.cast, self.reader.msg)
        return [note] if note else []

    def _noted(self, clause: _Clause, reading: Subject | None = None) -> list[Statement]:
        """What no relation holds, kept as told."""
        if "hearsay" in self.opening.marks:
            return []
        msg = self.reader.msg
        note = notes.arranged(clause.text, clause.times, self.cast, msg)
        if note is None and reading is not None and reading.thing is not None and not clause.times:
            note = notes.state_of(reading.thing, reading.rest, self.cast, msg)
        note = note or notes.recurring(clause.said, self.cast, msg)
        return [note] if note else notes.of_group(clause.text, self.cast, msg)

    def _about(self, subject: Subject, clause: _Clause) -> list[Statement] | None:
        kin = self._kin_named(subject)
        if kin is not None:
            return kin
        if subject.thing is None:
            return None
        thing, msg, speaker = subject.thing, self.reader.msg, self.cast.speaker
        mood = mood_of(subject.rest)
        if _BIRTHDAY.match(mood.text) and clause.times:
            day = calendar_date(clause.times[0])
            if day is None or thing.type not in ("Person", "Pet", None):
                return None
            self.subject = thing
            return [*subject.facts, Fact(msg, speaker, thing, "birthday", day, marks=self.opening.marks)]
        deadline = _DEADLINE.match(mood.text)
        if deadline and clause.times and thing.type == "Project":
            due = clause.times[0].when("future")
            if due is not None and len(due.start) == 10:
                marks: frozenset[Mark] = self.opening.marks | (_NEW if deadline["moved"] else frozenset())
                return [*subject.facts, Fact(msg, speaker, thing, "deadline", due.start, marks=marks)]
        pet = self._pet(thing, mood)
        if pet is not None:
            self.subject = thing
            return [*subject.facts, *pet]
        is_kin = self._is_kin(thing, mood)
        if is_kin is not None:
            self.subject = thing
            return [*subject.facts, *is_kin]
        facts = self._framed(thing, mood, clause)
        if facts is None:
            return None
        self.subject = thing
        self.cast.mention(thing)
        return [*subject.facts, *facts]

    def _framed(self, thing: Thing, mood: Mood, clause: _Clause) -> list[Statement] | None:
        frames = {"Project": PROJECT_FRAMES, "Pet": PET_FRAMES}.get(thing.type or "", PERSON_FRAMES)
        if thing.type not in ("Person", "Project", "Pet", None):
            return None
        for frame in frames:
            having = f"有{mood.text}" if mood.whole.startswith(("没有", "并没有")) else mood.text
            for body in dict.fromkeys((mood.whole, mood.text, having)):
                held = self._held(frame, body)
                if held is None:
                    continue
                marked = replace(mood, planned=False) if body == mood.whole != mood.text else mood
                facts = list(self._said(frame, thing, held, marked, clause.times))
                if facts:
                    return list(facts)
        return None

    def _held(self, frame: Frame, body: str) -> dict[str, Any] | None:
        match = frame.pattern.match(body)
        if match is None:
            return None
        held = {}
        for group, text in match.groupdict().items():
            if text is None:
                continue
            value = SLOTS[group](text.strip(), self.cast)
            if value is None:
                return None
            held[group] = value
        return held

    def _said(
        self, frame: Frame, thing: Thing, held: dict[str, Any], mood: Mood, times: Sequence[Spot]
    ) -> Iterator[Statement]:
        msg, speaker = self.reader.msg, self.cast.speaker
        for say in frame.says:
            course = course_of(say, mood, times)
            if course is None or held.get(say.group) is None:
                continue
            relation = say.denied if course.denied_taste else say.relation
            marks: set[Mark] = set(self.opening.marks)
            if course.changed:
                marks.add("new")
            if say.effect == "end":
                marks.add("if_known")
            if course.never:
                marks.add("never")
            if say.effect == "former":
                marks.add("former")
            value = held[say.group]
            for one in value if isinstance(value, tuple) else (value,):
                subject, object_ = thing, self._object(relation, say.group, one, held)
                if object_ is None or (isinstance(object_, Thing) and object_.key == subject.key):
                    continue
                if say.group == "own_name" and subject.key != speaker.key:
                    continue
                if relation == "also_known_as" and str(object_).casefold() == thing.name.casefold():
                    continue
                if say.effect == "of":
                    if not isinstance(object_, Thing):
                        continue
                    subject, object_ = object_, thing
                yield Fact(
                    msg,
                    speaker,
                    subject,
                    relation,
                    object_,
                    course.stance,
                    frozenset(marks),
                    course.since,
                    course.until,
                )

    def _object(self, relation: str, group: str, value: Any, held: dict[str, Any]) -> Any:
        if group == "favourite":
            return Thing(value, held["kind"])
        if group == "handle":
            return f"{held['service']}:{value}"
        return typed(relation, value, self.cast)

    # kin, animals, codes

    def _kin_named(self, subject: Subject) -> list[Statement] | None:
        """`我妹妹叫小美`, `我的狗叫旺财`."""
        if subject.owner is None or not subject.noun:
            return None
        match = _KIN_NAME.match(subject.rest)
        if match is None:
            return None
        name = match["name"].strip()
        if subject.noun in CHINESE_PETS:
            return self._pet_named(subject.owner, subject.noun, name)
        link = link_of(subject.noun)
        person = self.cast.person(name) if is_name(name, self.cast) else None
        if link is None or person is None or person.key == subject.owner.key:
            return None
        self.cast.relate(subject.owner, subject.noun, link.key, person)
        self.cast.mention(person)
        self.subject = person
        return [kin_fact(subject.owner, link, person, self.reader.msg, self.cast.speaker)]

    def _pet_named(self, owner: Thing, noun: str, name: str) -> list[Statement] | None:
        if not 1 <= len(name) <= 12 or any(char in name for char in "的了是一只"):
            return None
        pet = self.cast.thing(name, "Pet")
        self.cast.relate(owner, noun, "has_pet", pet)
        species = "pet" if CHINESE_PETS[noun] == "宠物" else CHINESE_PETS[noun]
        return list(pet_facts(self.reader.msg, self.cast.speaker, owner, pet, species))

    def _pet(self, thing: Thing, mood: Mood) -> list[Statement] | None:
        if mood.negated or thing.type not in ("Person", None):
            return None
        named = _KEEPS_NAMED.match(mood.text) or _KEEPS_CALLED.match(mood.text)
        if named:
            return self._pet_named(thing, named["pet"], named["name"])
        called = _HAS_KIN_CALLED.match(mood.text)
        if called:
            return self._kin_named(Subject(None, f"叫{called['name']}", [], thing, called["noun"]))
        kept = _KEEPS.match(mood.text) or _HAS_KIN.match(mood.text)
        if kept is None:
            return None
        note = notes.state_of(
            thing, f"有{mood.text.removeprefix('养了').removeprefix('有')}", self.cast, self.reader.msg
        )
        self.unnamed = (thing, kept.groupdict().get("pet") or kept["noun"], note)
        return []

    def _name_of_pending(self, text: str) -> list[Statement] | None:
        """`我有一个妹妹，叫小雨`: the name of whom the clause before left unnamed."""
        if self.unnamed is None:
            return None
        match = _ITS_NAME.match(text)
        owner, noun, _ = self.unnamed
        if match is None:
            self._leave_unnamed()
        self.unnamed = None
        return self._kin_named(Subject(None, f"叫{match['name']}", [], owner, noun)) if match else None

    def _is_kin(self, thing: Thing, mood: Mood) -> list[Statement] | None:
        """`小美是我妹妹`."""
        match = _IS_KIN.match(mood.text)
        if match is None or mood.ended or thing.type not in ("Person", None):
            return None
        whose = match["owner"]
        owner = self.cast.speaker if whose == "我" else self.cast.person(whose) if is_name(whose, self.cast) else None
        link = link_of(match["noun"])
        if owner is None or link is None or owner.key == thing.key:
            return None
        self.cast.mention(thing)
        fact = kin_fact(owner, link, thing, self.reader.msg, self.cast.speaker)
        if mood.negated:
            return [replace(fact, stance="denied")] if link.relation not in ("knows", "relative_of") else []
        self.cast.relate(owner, match["noun"], link.key, thing)
        return [fact]

    def _code(self, text: str) -> list[Statement] | None:
        match = _CODE.match(text)
        if match is None or match["of"].startswith(("你", "他", "她")):
            return None
        of = match["of"].removeprefix("我").removeprefix("的").strip() or match["noun"].removesuffix("码")
        secret = match["noun"] in ("密码", "口令")
        if of in ("密", "口令", "暗号") or any(
            word in of for word in ("银行", "卡", "支付", "账号", "账户", "登录", "邮箱", "微信", "手机")
        ):
            return []
        if secret and "asked_to_keep" not in self.opening.marks:
            return []
        return [
            Fact(
                self.reader.msg,
                self.cast.speaker,
                Thing(of, "Thing"),
                "has_code",
                match["code"],
                marks=self.opening.marks,
            )
        ]

    def _done(self, subject: Subject, clause: _Clause) -> list[Statement]:
        if subject.thing is None or "hearsay" in self.opening.marks:
            return []
        return doings.of_clause(subject.thing, subject.rest, clause.times, self.cast, self.reader.msg)


def _corrected(item: Statement) -> Statement:
    return replace(item, marks=item.marks | {"correction"}) if isinstance(item, Fact) else item
