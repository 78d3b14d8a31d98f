"""Taking an English question apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from brain.agents.builtin.english.nouns import name_at
from brain.agents.builtin.lexicon.people import GIVEN_NAMES, PETS, RELATIVES
from brain.agents.builtin.lexicon.things import FAVOURITE_KINDS
from brain.agents.builtin.recall.ask import BY_THING, IDIOMS, KINSHIP, USED_TO, Ask, Form, is_narrower, kin_of, married
from brain.agents.builtin.recall.english_forms import (
    ADVICE,
    CHANGE,
    CHECK,
    COMMITMENTS,
    COUNT,
    END,
    EVENTS,
    FORMER,
    FUTURE,
    GENERIC,
    GROUP,
    HARMLESS,
    OWING,
    PAST,
    PET_WORDS,
    PROFILE,
    RULES,
    SAYINGS,
    SELF,
    SOURCES,
    TIME,
    VALUES,
    WHO,
)
from brain.agents.builtin.recall.english_kin import EnglishKin, one
from brain.agents.builtin.recall.relations import RELATIONS, Relation
from brain.agents.turns import Ref
from brain.names import fold


class English(EnglishKin):
    """An English question."""

    def ask(self) -> Ask:
        """The question, taken apart."""
        if SOURCES.search(self.spoken):
            return self._made("sources", (), "", self.relations(), tuple(mention.ref for mention in self.mentions))
        named = self.bare()
        if named is not None:
            return self._made("profile", (named,), "", [])
        if PROFILE.match(self.spoken):
            return self._profile()
        if self.lows[:1] in (["why"], ["should"]) or ADVICE.search(self.spoken):
            return self._made("value", (), "", [])
        saying = SAYINGS.search(self.spoken)
        if saying is not None:
            return self._saying(saying)
        wanted = self._of_question_word(self.relations())
        kin = None if self.is_kind_liked(wanted) else self.kin()
        reverse = self._reversed()
        if reverse is not None:
            return self._made("reverse", (), "", [reverse], tuple(mention.ref for mention in self.mentions))
        if kin is not None:
            owner, noun, relation = kin
            others = [other for other in wanted if other.predicate not in (relation.predicate, "also_known_as")]
            others = [other for other in others if other.predicate not in KINSHIP and not self.is_had(noun)]
            plain = self.text.casefold().replace(noun, " ")  # a best friend is no preference
            others = [other for other in others if other.asks["en"].search(plain)]
            if others and owner is not None:
                relatives = self.related(owner, relation.predicate, by_value=relation.by_value)
                if not relatives:
                    return replace(self._made("value", (), f"{owner.name}'s {noun}", others), owner=owner)
                asked = self._made("value", tuple(relatives), "", others)
                is_one = len(relatives) > 1 and noun in RELATIVES and not noun.endswith("s")
                several = tuple(relatives) if is_one else ()
                return replace(asked, several=several, kin=kin_of(owner, one(noun), relation), owner=owner)
            if owner is None:
                return self._made("value", (), "you", [relation])
            asked = self._made("value", (owner,), "", [relation])
            left = asked.left - set(noun.split(" "))
            kin_said = kin_of(owner, one(noun), relation)
            return replace(asked, is_narrower=is_narrower(noun, relation), kin=kin_said, owner=owner, left=left)
        subjects, unknown = self._subjects(wanted)
        fitting = [relation for relation in wanted if unknown or any(self.admits(relation, ref) for ref in subjects)]
        return married(self._made(self._form(fitting), subjects, unknown, fitting))

    def _saying(self, saying: Any) -> Ask:
        """`what did Tom say about Ana`: the speaker is the subject, what it is about a value."""
        speakers = [m.ref for m in self.mentions if m.ref.type == "Person" and m.at < len(saying.group())]
        if not speakers and saying["who"] == "i":
            speakers = [self.turn.asked_by] if self.turn.asked_by else []
        if speakers:
            return self._made("sayings", tuple(speakers[:1]), "", self.relations())
        return self._made("sayings", (), "you" if saying["who"] == "i" else saying["who"].title(), [])

    def _profile(self) -> Ask:
        """`tell me about Ana`; with an attribute (`about Ana's job`) it asks for that."""
        wanted = [relation for relation in self.relations() if relation.predicate not in ("knows", "has_account")]
        if "'s" in self.lows and wanted:
            subjects, unknown = self._subjects(wanted)
            fitting = [relation for relation in wanted if any(self.admits(relation, ref) for ref in subjects)]
            if fitting:
                return self._made("value", subjects, unknown, fitting)
        about = next((index for index, low in enumerate(self.lows) if low in ("about", "of", "on", "for")), 1)
        named = [
            m.ref for m in self.mentions if m.ref.id and m.at >= self.tokens[min(about, len(self.tokens) - 1)].start
        ]
        stranger = self._stranger()
        if named and (stranger is None or self.mentions[0].at <= stranger[0]):
            return self._made("profile", (named[0],), "", [])
        if stranger is not None:
            return self._made("profile", (), stranger[1], [])
        is_self = any(low in SELF for low in self.lows[about + 1 :])
        if is_self and self.turn.asked_by:
            return self._made("profile", (self.turn.asked_by,), "", [])
        rest = " ".join(token.text for token in self.tokens[about + 1 :] if token.low not in GENERIC)
        return self._made("profile", (), "you" if is_self else rest, [])

    def _of_question_word(self, relations: list[Relation]) -> list[Relation]:
        """`Where was Ana born` asks for a place, `when` for a day."""
        unfit = {"where": "birthday", "when": "comes_from"}.get(self.lows[0] if self.lows else "")
        return [relation for relation in relations if relation.predicate != unfit]

    def _form(self, relations: list[Relation]) -> Form:
        if RULES.search(self.spoken):
            return "rules"
        if COMMITMENTS.search(self.text) and not (relations and relations[0].predicate == "deadline"):
            return "commitments"
        if relations:
            return "value"
        if self.spoken == "who am i":
            return "profile"
        if self.spoken.startswith(("who is", "who are", "who was", "what is", "what are", "who's", "what's")):
            return "profile" if self._is_bare() else "value"
        return "events" if EVENTS.search(self.spoken) else "value"

    def _is_bare(self) -> bool:
        """Whether nothing but a name follows "who is"."""
        names = {index for m in self.mentions for index, t in enumerate(self.tokens) if m.at <= t.start < m.end}
        return all(
            index < 2 or index in names or low in GENERIC or low == "project" for index, low in enumerate(self.lows)
        )

    def _made(
        self,
        form: Form,
        subjects: tuple[Ref, ...],
        unknown: str,
        relations: list[Relation],
        values: tuple[Ref, ...] | None = None,
    ) -> Ask:
        time, is_before = self.time()
        about = {ref.id or ref.name for ref in subjects}
        if values is None:
            values = tuple(
                mention.ref for mention in self.mentions if (mention.ref.id or mention.ref.name) not in about
            )
        creditors = self._creditors() if form == "commitments" else ()
        if creditors:
            owed = {ref.id for ref in creditors}
            values = tuple(ref for ref in values if ref.id not in owed)
            subjects = tuple(ref for ref in subjects if ref.id not in owed)
        names = {part for ref in subjects for part in fold(ref.name).split()}
        called = [mention for mention in self.mentions if (mention.ref.id or mention.ref.name) in about]
        names |= {part for mention in called for part in self.folded[mention.at : mention.end].split()}
        content = frozenset(word for token in self.tokens if (word := fold(token.text)) and token.low not in GENERIC)
        return Ask(
            "en",
            self.text,
            form,
            subjects,
            unknown,
            tuple(relations),
            values,
            is_check=CHECK.match(self.spoken) is not None,
            wants_time=TIME.match(self.spoken) is not None,
            wants_end=END.search(self.spoken) is not None,
            wants_count=COUNT.search(self.spoken) is not None,
            wants_past=PAST.search(self.spoken) is not None,
            wants_former=FORMER.search(self.spoken) is not None,
            wants_future=FUTURE.search(self.spoken) is not None,
            is_deed=EVENTS.search(self.spoken) is not None,
            asks_change=bool(relations) and CHANGE.search(self.spoken) is not None,
            time=time,
            is_before=is_before,
            window=self.window(),
            content=content - names,
            left=self._left(relations) - names,
            kinds=self._kinds(relations),
            is_group=bool(GROUP & set(self.lows)),
            creditors=creditors,
        )

    def _left(self, relations: list[Relation]) -> frozenset[str]:
        """Words that neither a name, a relation nor a kind in the question accounts for."""
        spans = [(mention.at, mention.end) for mention in self.mentions]
        for relation in relations:
            spans += [match.span() for match in relation.asks["en"].finditer(self.text)]
        spans += [match.span() for idiom in (IDIOMS, USED_TO) for match in idiom.finditer(self.text)]
        has_kinds = bool(self._kinds(relations))
        left = set()
        for token in self.tokens:
            word = fold(token.text)
            is_plain = token.low in GENERIC or token.low in HARMLESS or token.kind == "mark" or not word
            is_kin = any(form in RELATIVES or form in PETS for form in (word, word.removesuffix("s")))
            is_kind = has_kinds and (word in FAVOURITE_KINDS or word.removesuffix("s") in FAVOURITE_KINDS)
            if not (is_plain or is_kin or is_kind or any(a <= token.start and token.end <= b for a, b in spans)):
                left.add(word)
        return frozenset(left)

    def _creditors(self) -> tuple[Ref, ...]:
        """To whom something is owed: `what does Tom owe me`, `who owes Ana money`; not `what is owed by Tom`."""
        owing = OWING.search(self.text)
        if owing is None:
            return ()
        after = [token for token in self.tokens if token.start >= owing.end()]
        if any(token.low == "by" for token in after[:2]):
            return ()
        found = [m.ref for m in self.mentions if m.at >= owing.end() and m.ref.type == "Person"]
        if any(token.low in SELF - {"i", "we"} for token in after) and self.turn.asked_by:
            found.append(self.turn.asked_by)
        return tuple(found)

    def _kinds(self, relations: list[Relation]) -> frozenset[str]:
        """Types the answer is limited to: `which editor`, `favourite color`, `dog`."""
        predicates = {relation.predicate for relation in relations}
        if predicates & {"prefers", "likes", "dislikes"}:
            found = set()
            for length in (2, 1):
                for index in range(len(self.lows) - length + 1):
                    words_said = " ".join(self.lows[index : index + length])
                    kind = FAVOURITE_KINDS.get(words_said) or FAVOURITE_KINDS.get(words_said.removesuffix("s"))
                    if kind:
                        found.add(kind)
            return frozenset(found)
        if "has_pet" in predicates:
            return frozenset(low.removesuffix("s") for low in self.lows if low in PET_WORDS) - {"pet"}
        return frozenset()

    def _subjects(self, wanted: list[Relation]) -> tuple[tuple[Ref, ...], str]:
        """Whom the question is about, or the name in it that memory does not know."""
        if any(relation.predicate in BY_THING for relation in wanted):
            content = frozenset(fold(token.text) for token in self.tokens if token.low not in GENERIC)
            things = self.described(content)
            if things:
                return tuple(things), ""
        stranger = self._stranger()
        if self.asks_self:
            first = min((self.tokens[i].start for i, low in enumerate(self.lows) if low in SELF), default=0)
            if not any(m.at < first and m.ref.type in ("Person", "Project", "Pet") for m in self.mentions):
                if self.turn.asked_by is None:
                    return (), "you"
                is_group = bool(GROUP & set(self.lows)) and "our" not in self.lows
                return self.group() if is_group else (self.turn.asked_by,), ""
        fitting = [m for m in self.mentions if any(self.admits(relation, m.ref) for relation in wanted) and m.ref.id]
        chosen = self.listed(fitting or [m for m in self.mentions if m.ref.id and m.ref.type not in VALUES])
        if stranger is not None and (not chosen or stranger[0] < chosen[0].at):
            return (), stranger[1]
        return tuple(mention.ref for mention in chosen), ""

    def _stranger(self) -> tuple[int, str] | None:
        """The first name in the question that memory does not know."""
        index = 0
        while index < len(self.tokens):
            named = name_at(self.tokens, index, first=index == 0)
            if named is None:
                index += 1
                continue
            start, end = self.tokens[index].start, self.tokens[named[1] - 1].end
            known = any(m.at < end and start < m.end for m in self.mentions)
            if not known and (index > 0 or named[0].split(" ")[0].lower() in GIVEN_NAMES):
                return start, named[0]
            index = named[1]
        return None

    def _reversed(self) -> Relation | None:
        """The relation of a question for the subject: `who lives in Rome`."""
        things = [m.ref for m in self.mentions]
        if not things or self.asks_self:
            return None
        spoken = WHO.sub("who ", self.spoken)
        matched = self.relations()
        is_open = any(ref.id is None for ref in things)
        held = {claim.predicate for entry in self.turn.dossier for claim in entry.claims}
        for relation in (*matched, *(other for other in RELATIONS if other not in matched)):
            asked = relation.reverse["en"]
            if asked is None or not (is_open or relation.predicate in held) or not asked.search(spoken):
                continue
            if is_open or any(self.admits_value(relation, ref) for ref in things):
                return relation
        return None

    def admits_value(self, relation: Relation, ref: Ref) -> bool:
        """Whether the thing can be the relation's value, and is in a claim the dossier holds."""
        return any(
            claim.predicate == relation.predicate and (claim.object.id or claim.object.name) == (ref.id or ref.name)
            for entry in self.turn.dossier
            for claim in entry.claims
        )
