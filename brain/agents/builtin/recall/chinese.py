"""Taking a Chinese question apart."""

from __future__ import annotations

from dataclasses import replace

from brain.agents.builtin.chinese.subjects import link_of
from brain.agents.builtin.lexicon.people import CHINESE_PETS
from brain.agents.builtin.lexicon.things import CHINESE_FAVOURITE_KINDS
from brain.agents.builtin.recall.ask import BY_THING, KINSHIP, Analysis, Ask, Form, is_narrower, kin_of, married
from brain.agents.builtin.recall.chinese_forms import (
    ASKED_KIND,
    CHANGE,
    CHECK,
    COMMITMENTS,
    COUNT,
    DEEDS,
    EATEN,
    END,
    EVENTS,
    FORMER,
    FUTURE,
    GENERIC,
    HAS,
    LEADS,
    OF_UNKNOWN,
    OWED_TO,
    OWING,
    PAST,
    PROFILE,
    QUESTION_WORDS,
    RELATIVES,
    RULES,
    SAYINGS,
    SELF,
    SOURCES,
    STRANGER,
    TIME,
    WHO,
)
from brain.agents.builtin.recall.relations import OF_PETS, RELATIONS, Relation, of_kin
from brain.agents.builtin.text import Language
from brain.agents.turns import RecallTurn, Ref
from brain.names import fold

_ROLE = next(relation for relation in RELATIONS if relation.predicate == "has_role")


class Chinese(Analysis):
    """A Chinese question."""

    language: Language = "zh"

    def __init__(self, turn: RecallTurn, text: str) -> None:
        plain = text.rstrip("?？。.!！ ")
        lead = None if PROFILE.search(plain) else LEADS.match(text)
        super().__init__(turn, text[lead.end() :] if lead and lead.end() < len(text) else text)
        self.check = text.rstrip("?？。 ")

    def ask(self) -> Ask:
        """The question, taken apart."""
        named = self.bare()
        if named is not None:
            return self._made("profile", (named,), "", [])
        if "为什么" in self.text or "为何" in self.text:
            return self._made("value", (), "", [])
        wanted = self.relations()
        speaks = any(relation.predicate == "speaks" for relation in wanted)
        if SOURCES.search(self.text) and not speaks and not self.text.endswith("语"):
            return self._made("sources", (), "", wanted, tuple(mention.ref for mention in self.mentions))
        saying = None if speaks else SAYINGS.search(self.text)
        if saying is not None:
            return self._saying(saying.start(), wanted)
        if PROFILE.search(self.text) and not [r for r in wanted if r.predicate not in ("knows", "works_for")]:
            return self._profile()
        reverse = self._reversed(wanted)
        if reverse is not None:
            return self._made("reverse", (), "", [reverse])
        kin = self._kin()
        if kin is not None:
            owner, noun, relation = kin
            others = [r for r in wanted if r.predicate not in (*KINSHIP, "also_known_as", "owns")]
            if owner is None:
                return self._made("value", (), "你", others or [relation])
            if others:
                relatives = self.related(owner, relation.predicate, by_value=relation.by_value)
                unknown = "" if relatives else f"{owner.name}的{noun}"
                asked = self._made("value", tuple(relatives), unknown, others)
                several = tuple(relatives) if len(relatives) > 1 else ()
                return replace(asked, several=several, kin=kin_of(owner, noun, relation), owner=owner)
            asked = self._made("value", (owner,), "", [relation])
            return replace(
                asked, is_narrower=is_narrower(noun, relation), kin=kin_of(owner, noun, relation), owner=owner
            )
        subjects, unknown = self._subjects(wanted)
        fitting = [relation for relation in wanted if unknown or any(self.admits(relation, ref) for ref in subjects)]
        return married(self._made(self._form(fitting), subjects, unknown, fitting))

    def _saying(self, at: int, wanted: list[Relation]) -> Ask:
        """`王芳说了什么`: the speaker is the subject, what it is about a value."""
        speakers = [m.ref for m in self.mentions if m.ref.type == "Person" and m.at < at]
        if not speakers and self.text.startswith("我"):
            return self._made("sayings", (self.turn.asked_by,) if self.turn.asked_by else (), "你", wanted)
        return self._made("sayings", tuple(speakers[:1]), "", wanted)

    def _profile(self) -> Ask:
        """`介绍一下刘洋`, `关于刘洋你知道什么`."""
        named = [m.ref for m in self.mentions if m.ref.id]
        if named and OF_UNKNOWN.search(self.text):
            return self._made("value", (named[0],), "", [])
        if named:
            return self._made("profile", (named[0],), "", [])
        if any(word in self.text for word in ("关于我", "知道我", "记得我", "了解我", "我的")) or self.text == "我是谁":
            asker = self.turn.asked_by
            return self._made("profile", (asker,) if asker else (), "" if asker else "你", [])
        stranger = STRANGER.match(self.text)
        is_name = stranger is not None and not QUESTION_WORDS.search(stranger["name"])
        return self._made("profile", (), stranger["name"].strip() if stranger and is_name else "", [])

    def _form(self, relations: list[Relation]) -> Form:
        if RULES.search(self.text):
            return "rules"
        if COMMITMENTS.search(self.text) and not (relations and relations[0].predicate == "deadline"):
            return "commitments"
        if relations:
            return "value"
        if PROFILE.search(self.text):
            return "profile"
        return "events" if EVENTS.search(self.text) else "value"

    def _made(
        self,
        form: Form,
        subjects: tuple[Ref, ...],
        unknown: str,
        relations: list[Relation],
        values: tuple[Ref, ...] | None = None,
    ) -> Ask:
        time, is_before = self.time()
        creditors = self._creditors() if form == "commitments" else ()
        owed = {ref.id for ref in creditors}
        subjects = tuple(ref for ref in subjects if ref.id not in owed)
        about = {ref.id or ref.name for ref in subjects}
        return Ask(
            "zh",
            self.text,
            form,
            subjects,
            unknown,
            tuple(relations),
            tuple(m.ref for m in self.mentions if (m.ref.id or m.ref.name) not in about and m.ref.id not in owed)
            if values is None
            else values,
            is_check=CHECK.search(self.check) is not None,
            wants_time=TIME.search(self.text) is not None and "birthday" not in {r.predicate for r in relations},
            wants_end=END.search(self.text) is not None,
            wants_count=COUNT.search(self.text) is not None,
            wants_past=PAST.search(self.text) is not None,
            wants_former=FORMER.search(self.text) is not None,
            wants_future=FUTURE.search(self.text) is not None,
            is_deed=DEEDS.search(self.text) is not None,
            asks_change=bool(relations) and CHANGE.search(self.text) is not None,
            time=time,
            is_before=is_before,
            window=self.window(),
            left=self._left(relations),
            content=self._left([]),
            kinds=self._kinds(relations),
            is_group="我们" in self.text or "咱们" in self.text,
            creditors=creditors,
        )

    def _left(self, relations: list[Relation]) -> frozenset[str]:
        """Words that neither a name, a relation nor a kind in the question accounts for."""
        covered = [(mention.at, mention.end) for mention in self.mentions]
        covered += [(spot.start, spot.end) for spot in self.times]
        for relation in relations:
            covered += [match.span() for match in relation.asks["zh"].finditer(self.text)]
        kinds = CHINESE_FAVOURITE_KINDS if self._kinds(relations) else ()
        for word in (*kinds, *CHINESE_PETS, *RELATIVES):
            at = self.text.find(word)
            covered += [(at, at + len(word))] if at >= 0 else []
        plain = "".join(
            " " if any(start <= at < end for start, end in covered) else char for at, char in enumerate(self.text)
        )
        pieces = [fold(piece.strip("，,、：:“”\"'")) for piece in GENERIC.sub(" ", plain).split()]
        # One character alone is mostly a particle; after "is it so that" it may be the value: 对虾过敏吗.
        least = 1 if CHECK.search(self.check) else 2
        return frozenset(piece for piece in pieces if len(piece) >= least)

    def _creditors(self) -> tuple[Ref, ...]:
        """To whom something is owed: `王芳欠我什么`, `谁答应了李明`."""
        owing = OWING.search(self.text)
        if owing is None:
            return ()
        found = [m.ref for m in self.mentions if m.ref.type == "Person" and OWED_TO.search(self.text[: m.at])]
        at = self.text.find("我", 1)
        if at > 0 and self.turn.asked_by and OWED_TO.search(self.text[:at]):
            found.append(self.turn.asked_by)
        return tuple(found)

    def _kinds(self, relations: list[Relation]) -> frozenset[str]:
        predicates = {relation.predicate for relation in relations}
        if predicates & {"prefers", "likes", "dislikes"}:
            return self._taste_kinds()
        if "has_pet" in predicates:
            return frozenset(species for word, species in CHINESE_PETS.items() if word in self.text) - {"宠物"}
        return frozenset()

    def _taste_kinds(self) -> frozenset[str]:
        """What kind of thing is liked: `什么饮料`, `喝什么`; one character has to stand right behind the question."""
        kinds = {
            kind
            for word, kind in CHINESE_FAVOURITE_KINDS.items()
            if (word in self.text and len(word) > 1) or ASKED_KIND.search(self.text[: max(0, self.text.find(word))])
        }
        eaten = EATEN.search(self.text)
        return frozenset(kinds | ({"Drink" if eaten.group(1) == "喝" else "Food"} if eaten and not kinds else set()))

    def _kin(self) -> tuple[Ref | None, str, Relation] | None:
        for noun in (*RELATIVES, *CHINESE_PETS):
            at = self.text.find(noun)
            if at < 1:
                continue
            head = self.text[:at].removesuffix("的")
            head = HAS.sub("", head) if noun in RELATIVES else head
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
        return OF_PETS if noun in CHINESE_PETS else of_kin(link_of(noun))

    def _subjects(self, wanted: list[Relation]) -> tuple[tuple[Ref, ...], str]:
        if any(relation.predicate in BY_THING for relation in wanted):
            things = [m.ref for m in self.mentions if m.ref.type == "Thing"]
            if things:
                return tuple(things[:1]), ""
        at = self._self_at()
        if at >= 0 and not any(m.at < at and m.ref.type in ("Person", "Project", "Pet") for m in self.mentions):
            if self.turn.asked_by is None:
                return (), "你"
            is_group = self.text[at:].startswith(("我们", "咱们"))
            return self.group() if is_group else (self.turn.asked_by,), ""
        fitting = [m for m in self.mentions if m.ref.id and any(self.admits(relation, m.ref) for relation in wanted)]
        chosen = self.listed(fitting or [m for m in self.mentions if m.ref.id])
        stranger = STRANGER.match(self.text)
        if stranger and any(spot.start < stranger.end(1) for spot in self.times):
            stranger = None
        if stranger and not QUESTION_WORDS.search(stranger["name"]) and (not chosen or chosen[0].at > 0):
            return (), stranger["name"].strip()
        return tuple(mention.ref for mention in chosen), ""

    def _self_at(self) -> int:
        """Where the asker speaks of themselves, -1 when they do not; `告诉我` and `欠我` speak to them."""
        found = SELF.search(self.text)
        return found.start(1) if found else -1

    def _reversed(self, wanted: list[Relation]) -> Relation | None:
        untimed = "".join(
            char for at, char in enumerate(self.text) if not any(spot.start <= at < spot.end for spot in self.times)
        )
        who = WHO.match(untimed)
        spoken = f"谁{untimed[who.end() :]}" if who else untimed
        for relation in wanted:
            asked = relation.reverse["zh"]
            if asked is not None and asked.search(spoken) and self.mentions:
                return relation
        if (
            _ROLE.reverse["zh"]
            and _ROLE.reverse["zh"].search(untimed)
            and any(m.ref.type == "Role" for m in self.mentions)
        ):
            return _ROLE
        return None
