"""Taking an English question apart."""

from __future__ import annotations

from brain.agents.builtin.english.nouns import name_at
from brain.agents.builtin.english.owned import link_of
from brain.agents.builtin.english.tokens import Token, tokens_of
from brain.agents.builtin.english.verbs import FORMS
from brain.agents.builtin.lexicon import words
from brain.agents.builtin.lexicon.people import GIVEN_NAMES, PETS, RELATIVES
from brain.agents.builtin.lexicon.things import FAVOURITE_KINDS
from brain.agents.builtin.recall.ask import BY_THING, KINSHIP, Analysis, Ask, Form, Mention
from brain.agents.builtin.recall.relations import RELATIONS, Relation
from brain.agents.builtin.text import Language, pattern
from brain.agents.turns import RecallTurn, Ref
from brain.names import fold

_LEADS = pattern(
    r"^(?:(?:hi|hello|hey|please|ok|okay|so|and|well|quick question|tell me|remind me|i want to know|i wonder|"
    r"i would like to know|do you (?:know|remember)|can you tell me|could you tell me|can you remind me|any idea|"
    r"please tell me)[,:]? )+(?:again )?(?:if |whether )?"
)
_CHECK = pattern(r"^(?:do|does|did|is|are|was|were|has|have|had|can|will)\b")
_TIME = pattern(r"^(?:when|since when|how long|(?:on |in |by |until )?(?:what|which) (?:date|day|year|month|time))\b")
_COUNT = pattern(r"\bhow many\b")
_PAST = pattern(
    r"\b(?:used to|before|previous(?:ly)?|former(?:ly)?|originally|earlier|in the past|back then)\b|^(?:where|who|"
    r"what) (?:did|was)\b"
)
_PROFILE = pattern(
    r"^(?:what (?:do|can) (?:you|we) (?:know|tell me|remember)|what is known about|"
    r"tell me (?:everything |all )?about|(?:give me )?(?:a )?(?:summary|profile) of|describe|everything about)\b"
)
_EVENTS = pattern(
    r"\bwhat happened\b|^(?:did|has|have|when did|when was|where did|who did|whom did|what did|what has|what have|"
    r"who)\b"
)
_COMMITMENTS = pattern(
    r"\b(?:promis(?:e|ed|es)|commit(?:ment|ments|ted)?|owe[sd]?|to-?dos?|tasks?|plan(?:s|ned|ning)?|reminders?|appointments?|"
    r"upcoming|supposed to|going to|need(?:s)? to|have to|has to|due|agenda|schedule[d]?|obligations?)\b|^(?:will|"
    r"when will|what will)\b"
)
_FUTURE = pattern(r"\bwill\b|\bgoing to\b|\bplan(?:s|ning)? to\b")
_RULES = pattern(
    r"\b(?:standing (?:rules?|instructions?)|house rules|how should (?:you|i|we) (?:answer|reply|respond|talk|"
    r"write|address)|"
    r"(?:any|what|which) (?:rules?|constraints?|guidelines?))\b"
)
_GENERIC = words(
    """
    what where when who whom whose which why how do does did is are was were has have had can could will would should
    may might the a an of to in on at for from with about by and or not no any some all every this that these those it
    its there here i me my mine we us our you your he him his she her they them their now currently today still ever
    again already else also please know tell remember record memory much many long since time date day year month last
    next week ago first than then
    anything something everything happened happen be been so if 's got get really as into before after
    """
)
_OCCASIONS = words("appointment appointments visit meeting party wedding birthday checkup lesson")
_ADVICE = pattern(
    r"^(?:what|where|how|which|who|when) (?:should|could|would|can|may|might)\b|^(?:can|may|could|should) (?:i|we)\b"
)
_SELF = words("i me my mine we our us myself")
_PETS = frozenset(PETS) | {f"{name}s" for name in PETS}


class English(Analysis):
    """An English question."""

    language: Language = "en"

    def __init__(self, turn: RecallTurn, text: str) -> None:
        lead = None if _PROFILE.match(text) else _LEADS.match(text)
        super().__init__(turn, text[lead.end() :] if lead and lead.end() < len(text) else text)
        self.tokens: list[Token] = [token for token in tokens_of(self.text, self.times) if token.kind != "time"]
        self.lows = [token.low for token in self.tokens]
        self.asks_self = bool(_SELF & set(self.lows[2:] if self.lows[1:2] == ["me"] else self.lows))
        self.spoken = " ".join(self.lows).replace(" 's", "'s")

    def ask(self) -> Ask:
        """The question, taken apart."""
        if self.lows[:1] in (["why"], ["should"]) or _ADVICE.search(self.spoken):
            return self._made("value", (), "", [])
        wanted = self._of_question_word(self.relations())
        kin = self._kin()
        reverse = self._reversed()
        if reverse is not None:
            return self._made("reverse", (), "", [reverse], tuple(mention.ref for mention in self.mentions))
        if kin is not None:
            owner, noun, relation = kin
            others = [other for other in wanted if other.predicate not in (relation.predicate, "also_known_as")]
            others = [other for other in others if other.predicate not in KINSHIP]
            if others and owner is not None:
                relatives = self.related(owner, relation.predicate, by_value=relation.by_value)
                if not relatives:
                    return self._made("value", (), f"{owner.name}'s {noun}", others)
                return self._made("value", tuple(relatives), "", others)
            if owner is None:
                return self._made("value", (), "you", [relation])
            return self._made("value", (owner,), "", [relation])
        subjects, unknown = self._subjects(wanted)
        fitting = [relation for relation in wanted if unknown or any(self.admits(relation, ref) for ref in subjects)]
        return self._made(self._form(fitting), subjects, unknown, fitting)

    def _of_question_word(self, relations: list[Relation]) -> list[Relation]:
        """`Where was Ana born` asks for a place, `when` for a day."""
        unfit = {"where": "birthday", "when": "comes_from"}.get(self.lows[0] if self.lows else "")
        return [relation for relation in relations if relation.predicate != unfit]

    def _form(self, relations: list[Relation]) -> Form:
        if _RULES.search(self.spoken):
            return "rules"
        if _COMMITMENTS.search(self.text) and not (relations and relations[0].predicate == "deadline"):
            return "commitments"
        if _PROFILE.match(self.spoken):
            return "profile"
        if relations:
            return "value"
        if self.spoken == "who am i":
            return "profile"
        if self.spoken.startswith(("who is", "who are", "who was", "what is", "what are", "who's", "what's")):
            return "profile" if self._is_bare() else "value"
        return "events" if _EVENTS.search(self.spoken) else "value"

    def _is_bare(self) -> bool:
        """Whether nothing but a name follows "who is"."""
        names = {index for m in self.mentions for index, t in enumerate(self.tokens) if m.at <= t.start < m.end}
        return all(
            index < 2 or index in names or low in _GENERIC or low == "project" for index, low in enumerate(self.lows)
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
        names = {part for ref in subjects for part in fold(ref.name).split()}
        content = frozenset(word for token in self.tokens if (word := fold(token.text)) and token.low not in _GENERIC)
        return Ask(
            "en",
            self.text,
            form,
            subjects,
            unknown,
            tuple(relations),
            values,
            is_check=_CHECK.match(self.spoken) is not None,
            wants_time=_TIME.match(self.spoken) is not None,
            wants_count=_COUNT.search(self.spoken) is not None,
            wants_past=_PAST.search(self.spoken) is not None,
            wants_future=_FUTURE.search(self.spoken) is not None,
            is_deed=_EVENTS.search(self.spoken) is not None,
            time=time,
            is_before=is_before,
            content=content - names,
            kinds=self._kinds(relations),
        )

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
            return frozenset(low.removesuffix("s") for low in self.lows if low in _PETS) - {"pet"}
        return frozenset()

    # who is meant

    def _kin(self) -> tuple[Ref | None, str, Relation] | None:
        """`my sister`, `Ana's boss`, `the wife of Marc`: whose, the noun, and its relation."""
        for index, token in enumerate(self.tokens):
            for length in (2, 1):
                noun = " ".join(self.lows[index : index + length])
                bare = noun if noun in RELATIVES or noun in PETS else noun.removesuffix("s")
                if (bare not in RELATIVES and bare not in PETS) or (token.is_capital and index):
                    continue
                if self.lows[index + length : index + length + 1] and self.lows[index + length] in _OCCASIONS:
                    continue
                owner = self._owner(index, index + length)
                if owner is False:
                    continue
                relation = self._kin_relation(bare)
                if relation is not None:
                    return (owner if isinstance(owner, Ref) else None), noun, relation
        return None

    def _kin_relation(self, noun: str) -> Relation | None:
        if noun in PETS:
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

    def _owner(self, start: int, end: int) -> Ref | bool | None:
        """Whose: a Ref, None for a speaker nobody knows, False when nobody is named."""
        before = self.lows[max(0, start - 2) : start]
        if before and before[-1] in ("my", "our"):
            return self.turn.asked_by
        if before and before[-1] == "'s":
            return self._named_before(self.tokens[start - 1].start)
        after = self.lows[end : end + 1]
        if (after and after[0] in ("of", "does", "do", "did", "is", "has", "called", "named")) or not after:
            owner = self._person_after(end) or self._person_before(start)
            if owner is not None:
                return owner
            if self.asks_self:
                return self.turn.asked_by
        if self.asks_self and before[-1:] != ["the"]:
            return self.turn.asked_by
        return self._person_after(end) or self._person_before(start) or False

    def _named_before(self, offset: int) -> Ref | bool:
        head = fold(self.text[:offset].rstrip("'"))
        found = [mention for mention in self.mentions if mention.end <= len(head) and mention.ref.type == "Person"]
        return found[-1].ref if found else False

    def _person_after(self, index: int) -> Ref | None:
        offset = self.tokens[index].start if index < len(self.tokens) else len(self.text)
        return next((m.ref for m in self.mentions if m.at >= offset and m.ref.type == "Person"), None)

    def _person_before(self, index: int) -> Ref | None:
        offset = self.tokens[index].start
        found = [m.ref for m in self.mentions if m.end <= offset and m.ref.type == "Person"]
        return found[-1] if found else None

    def _subjects(self, wanted: list[Relation]) -> tuple[tuple[Ref, ...], str]:
        """Whom the question is about, or the name in it that memory does not know."""
        if any(relation.predicate in BY_THING for relation in wanted):
            content = frozenset(fold(token.text) for token in self.tokens if token.low not in _GENERIC)
            things = self.described(content)
            if things:
                return tuple(things), ""
        stranger = self._stranger()
        if self.asks_self:
            first = min((self.tokens[i].start for i, low in enumerate(self.lows) if low in _SELF), default=0)
            if not any(m.at < first and m.ref.type in ("Person", "Project", "Pet") for m in self.mentions):
                return ((self.turn.asked_by,), "") if self.turn.asked_by else ((), "you")
        fitting = [m for m in self.mentions if any(self.admits(relation, m.ref) for relation in wanted) and m.ref.id]
        chosen = (fitting or [m for m in self.mentions if m.ref.id and m.ref.type not in _VALUES])[:1]
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
        for relation in self.relations():
            asked = relation.reverse["en"]
            if asked is None or not asked.search(self.spoken):
                continue
            if any(self.admits_value(relation, ref) for ref in things):
                return relation
        return None

    def admits_value(self, relation: Relation, ref: Ref) -> bool:
        """Whether the thing can be the relation's value, and is in a claim the dossier holds."""
        return any(
            claim.predicate == relation.predicate and (claim.object.id or claim.object.name) == (ref.id or ref.name)
            for entry in self.turn.dossier
            for claim in entry.claims
        )


_VALUES = words("Place Topic Food Drink Role Diet HealthCondition Substance Tool")
"""Types a question is seldom about."""


def lemma_of(word: str) -> str:
    """A verb's lemma, or the word without its plural."""
    verbs = FORMS.get(word)
    return verbs[0].lemma if verbs else word.removesuffix("s") if len(word) > 3 else word


__all__ = ["English", "Mention", "lemma_of"]
