"""What an English speaker wants forgotten: a task for the owner, or one's own words taken back."""

from __future__ import annotations

from collections.abc import Sequence

from brain.agents.builtin.english.slots import Scene
from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.facts import Erase, Statement, Takeback
from brain.agents.builtin.lexicon import words
from brain.agents.builtin.secrets import looks_secret
from brain.agents.builtin.text import pattern

_ABOUT = pattern(
    r"^(?:(?:sorry|please|actually|ok|okay|oh|wait|hey|no|just|and|can you|could you|would you|you can|"
    r"you should|i want to|"
    r"i would like to|i'd like to|let me),? )*"
    r"(?:forget|disregard|ignore|scratch|strike|never ?mind|(?:i )?(?:take back|retract|withdraw))"
    r"(?: about)? (?:everything |anything |all |the (?:thing|part|bit)s? |whatever )?(?:what |that )?"
    r"i(?:'ve| have| had)?(?: just| ever)? (?:said|told you|wrote|mentioned|claimed|shared)(?: to you)?"
    r"(?: (?:earlier|before|yesterday|today|just now|last week|last time|above))?"
    r" (?:about|on|regarding|concerning) (?P<topic>[^,.;]{2,60})$"
)
"""One's own words on something, taken back."""
_THAT = pattern(
    r"^(?:(?:sorry|please|actually|ok|okay|just),? )*(?:forget|disregard|ignore) that "
    r"(?P<topic>(?:i(?:'m|'ve|'d)?|my|we|our) [^,.;]{2,60})$"
)
_TOPIC_TAIL = pattern(
    r"(?:,? (?:please|thanks|thank you|earlier|before|yesterday|again|though|too|then|now|ok|okay|for now))+$"
)
_WISHES = pattern(
    r"^(?:i want|i need|i would like|i'd like) (?:you )?(?:to )?(?:have )?"
    r"(?P<what>(?:all (?:of )?)?my .{2,80}?) (?:to be )?"
    r"(?:deleted|erased|removed|wiped|forgotten|purged|cleared)(?: please)?$"
    r"|^(?:i|we) (?:hereby )?(?:request|demand|ask for|am requesting|am asking for) (?:the |a )?"
    r"(?:full |complete |permanent )?"
    r"(?:deletion|erasure|removal) of (?P<of>.{2,80})$"
)
_VERBS = words("forget delete erase remove wipe purge clear")
_ORDERING = (
    ("i", "want", "you", "to"),
    ("i", "would", "like", "you", "to"),
    ("i", "'d", "like", "you", "to"),
    ("i", "need", "you", "to"),
    ("i", "ask", "you", "to"),
    ("you", "should"),
    ("go", "ahead", "and"),
)
_WISHING = (("i", "want", "to"), ("i", "would", "like", "to"), ("i", "'d", "like", "to"))
_PERSONAL = words("data information info everything records history details")
_FORGETTABLE = frozenset(("my", "our", "me", "what", "everything", "anything", "all", "the", "any"))
_RECORDS = words(
    """
    memory memories records record everything address email number phone birthday name data information info details
    history profile messages conversations anything
    """
)
_OWNERS = words("my our me us myself mine i")


def taken_back(scene: Scene, msg: int) -> Takeback | None:
    """`Forget what I said about the door code`: the speaker's own words on something, and nobody else's."""
    for shape in (_ABOUT, _THAT):
        match = shape.match(scene.text)
        if match:
            topic = match["topic"]
            tail = _TOPIC_TAIL.search(topic)
            return Takeback(msg, scene.cast.speaker, None, topic=topic[: tail.start()] if tail else topic)
    return None


def erasure_of(tokens: Sequence[Token], scene: Scene, msg: int) -> list[Statement] | None:
    """`Please delete all my data`: a wish, recorded; None when the sentence is about something else."""
    wished = _wished(tokens, scene, msg)
    if wished is not None:
        return wished
    lows = [token.low for token in tokens]
    opener = next((len(phrase) for phrase in (*_ORDERING, *_WISHING) if tuple(lows[: len(phrase)]) == phrase), 0)
    if tuple(lows[:opener]) in _WISHING and not _PERSONAL & set(lows):
        return None
    while opener < len(lows) and lows[opener] in ("please", "just", "kindly"):
        opener += 1
    if len(lows) < opener + 2 or lows[opener] not in _VERBS:
        return None
    rest, verb = list(tokens[opener + 1 :]), lows[opener]
    if verb != "forget" and not _about_memory(rest):
        return None
    if rest[0].low in ("it", "that") and len(rest) == 1:
        return [Takeback(msg, scene.cast.speaker, None)] if rest[0].low == "that" else []
    if rest[0].low == "about" and verb == "forget":
        rest = rest[1:]
    if not rest or rest[0].low not in _FORGETTABLE or (rest[0].low == "the" and not _about_memory(rest)):
        return []
    return _wish(_said(_without_place(rest), scene), scene, msg)


def _wished(tokens: Sequence[Token], scene: Scene, msg: int) -> list[Statement] | None:
    """`I want my data deleted`, `I request the deletion of my data`."""
    match = _WISHES.match(_said(tokens, scene))
    return _wish(match["what"] or match["of"], scene, msg) if match else None


def _wish(what: str, scene: Scene, msg: int) -> list[Statement]:
    return [Erase(msg, scene.cast.speaker, what)] if what and not looks_secret(what) else []


def _said(tokens: Sequence[Token], scene: Scene) -> str:
    kept = list(tokens)
    while kept and (kept[-1].low in ("please", "thanks", "now", "immediately") or kept[-1].kind == "mark"):
        kept = kept[:-1]
    return scene.text[kept[0].start : kept[-1].end].strip() if kept else ""


def _without_place(rest: list[Token]) -> list[Token]:
    lows = [token.low for token in rest]
    for index in range(1, len(lows) - 1):
        if lows[index : index + 2] in (["from", "your"], ["in", "your"]):
            return rest[:index]
    return rest


def _about_memory(rest: Sequence[Token]) -> bool:
    """Whether "delete …" is about what is remembered of the speaker, not about a file or a meeting."""
    lows = [token.low for token in rest]
    if lows[:1] == ["what"] or lows[:2] == ["all", "you"]:
        return True
    is_record = bool(_RECORDS & set(lows))
    if "from" in lows[:-1] and lows[lows.index("from") + 1] not in ("your", "memory"):
        return False
    about = next((index for index, low in enumerate(lows[:-1]) if low in ("about", "on", "of")), -1)
    return is_record and (bool(_OWNERS & set(lows)) or about > 0)
