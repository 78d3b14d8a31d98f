"""An English question as tokens, and whose relative it speaks of."""

from __future__ import annotations

from brain.agents.builtin.english.owned import link_of
from brain.agents.builtin.english.tokens import Token, tokens_of
from brain.agents.builtin.lexicon.people import PETS, RELATIVES
from brain.agents.builtin.recall.ask import Analysis
from brain.agents.builtin.recall.english_forms import LEADS, OCCASIONS, PROFILE, SELF
from brain.agents.builtin.recall.relations import OF_PETS, Relation, of_kin
from brain.agents.builtin.text import Language
from brain.agents.turns import RecallTurn, Ref
from brain.names import fold


def one(noun: str) -> str:
    """A word for relatives as the word for one of them."""
    return noun if noun in RELATIVES else noun.removesuffix("s")


_TASTES = frozenset(("likes", "dislikes", "prefers"))


class EnglishKin(Analysis):
    """An English question against its turn, with what it says of relatives and pets."""

    language: Language = "en"

    def __init__(self, turn: RecallTurn, text: str) -> None:
        lead = None if PROFILE.match(text) else LEADS.match(text)
        super().__init__(turn, text[lead.end() :] if lead and lead.end() < len(text) else text)
        self.tokens: list[Token] = [token for token in tokens_of(self.text, self.times) if token.kind != "time"]
        self.lows = [token.low for token in self.tokens]
        self.asks_self = bool(SELF & set(self.lows[2:] if self.lows[1:2] == ["me"] else self.lows))
        self.spoken = " ".join(self.lows).replace(" 's", "'s")

    def kin(self) -> tuple[Ref | None, str, Relation] | None:
        """`my sister`, `Ana's boss`, `the wife of Marc`: whose, the noun, and its relation."""
        for index, token in enumerate(self.tokens):
            for length in (2, 1):
                noun = " ".join(self.lows[index : index + length])
                bare = noun if noun in RELATIVES or noun in PETS else noun.removesuffix("s")
                if (bare not in RELATIVES and bare not in PETS) or (token.is_capital and index):
                    continue
                if self.lows[index + length : index + length + 1] and self.lows[index + length] in OCCASIONS:
                    continue
                owner = self._owner(index, index + length)
                if owner is False:
                    continue
                relation = self._kin_relation(bare)
                if relation is not None:
                    return (owner if isinstance(owner, Ref) else None), noun, relation
        return None

    def is_kind_liked(self, wanted: list[Relation]) -> bool:
        """Whether an animal in the question is what somebody likes, and nobody's pet: `does Ana like dogs`."""
        if not _TASTES & {relation.predicate for relation in wanted}:
            return False
        at = [index for index, low in enumerate(self.lows) if low in PETS or low.removesuffix("s") in PETS]
        return bool(at) and all(self.lows[index - 1 : index] not in (["'s"], ["my"], ["our"]) for index in at)

    def is_had(self, noun: str) -> bool:
        """Whether the question is whether there is such a relative: `does Ana have a sister`."""
        first = noun.split(" ")[0]
        before = self.lows[max(0, self.lows.index(first) - 3) : self.lows.index(first)] if first in self.lows else []
        return bool({"have", "has", "had", "got"} & set(before))

    def _kin_relation(self, noun: str) -> Relation | None:
        return OF_PETS if noun in PETS else of_kin(link_of(noun))

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
