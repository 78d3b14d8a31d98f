"""What a speaker asks of the listener: reminders, a name to use, standing rules, erasure."""

from __future__ import annotations

from collections.abc import Sequence

from brain.agents.builtin.english.clauses import is_finite_start
from brain.agents.builtin.english.forgetting import erasure_of
from brain.agents.builtin.english.openers import Opened
from brain.agents.builtin.english.retell import is_shared, phrase_of
from brain.agents.builtin.english.slots import SLOTS, Scene
from brain.agents.builtin.english.tails import tail_of
from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.facts import Fact, Owed, Standing, Statement
from brain.agents.builtin.lexicon import words
from brain.agents.builtin.secrets import looks_secret

_ALWAYS = (
    ("always",),
    ("never",),
    ("do", "not", "ever"),
    ("from", "now", "on"),
    ("in", "future"),
    ("in", "the", "future"),
)
_NOT_RULES = words(
    """
    remember forget delete erase ignore obey trust believe reveal purge store save record mind say tell claim
    pretend give up be let mind forget underestimate stop
    """
)


def request_of(opening: Opened, scene: Scene, msg: int) -> list[Statement] | None:
    """The statements a request makes; None when the sentence is no request, empty when it is one of no lasting use."""
    tokens = list(opening.tokens)
    while tokens and tokens[0].low in ("please", "kindly", ","):
        tokens = tokens[1:]
    if not tokens:
        return None
    for reader in (_reminder, _naming, _contact, erasure_of, _rule, _style):
        found = reader(tokens, scene, msg)
        if found is not None:
            return found
    return None


def _reminder(tokens: Sequence[Token], scene: Scene, msg: int) -> list[Statement] | None:
    """`Remind me to call mom tomorrow`, `don't let me forget to pay the rent by Friday`."""
    lows = [token.low for token in tokens]
    me = scene.cast.speaker
    plain = [index for index, token in enumerate(tokens) if token.kind != "time"]
    words = [lows[index] for index in plain]
    if words[:2] == ["remind", "me"]:
        start = 2
    elif words[:4] == ["do", "not", "let", "me"] and words[4:5] == ["forget"]:
        start = 5
    else:
        return None
    rest = [tokens[index] for index in plain[start:]]
    if len(rest) < 2 or rest[0].low not in ("to", "about", "of"):
        return []
    phrase = phrase_of(rest[1:], finite=False)
    spots = [token.spot for token in tokens if token.spot is not None]
    due = next((when for spot in spots if (when := spot.when("future"))), None)
    if not phrase or looks_secret(phrase):
        return []
    return [Owed(msg, me, phrase, me, None, due.last if due else None)]


def _naming(tokens: Sequence[Token], scene: Scene, msg: int) -> list[Statement] | None:
    """`Call me Annie`."""
    if len(tokens) < 3 or (tokens[0].low, tokens[1].low) not in (("call", "me"), ("just", "call")):
        return None
    start = 2 if tokens[0].low == "call" else 3
    for name, end in SLOTS["name"](scene, tokens, start):
        if tail_of([token for token in tokens[end:] if token.kind != "time"]) is not None:
            return [Fact(msg, scene.cast.speaker, scene.cast.speaker, "also_known_as", name)]
    return None


def _contact(tokens: Sequence[Token], scene: Scene, msg: int) -> list[Statement] | None:
    """`You can reach me at ana@example.com`, `call me on +351 912 345 678`."""
    rest = list(tokens[2:] if [token.low for token in tokens[:2]] == ["you", "can"] else tokens)
    if len(rest) < 4 or rest[0].low not in _REACHING or rest[1].low != "me" or rest[2].low not in ("at", "on", "under"):
        return None
    me = scene.cast.speaker
    for slot in ("email", "phone"):
        for value, end in SLOTS[slot](scene, rest, 3):
            if tail_of(rest[end:]) is not None:
                return [Fact(msg, me, me, slot, value)]
    return []


_REACHING = frozenset(("reach", "contact", "email", "call", "text", "phone", "write"))


def _style(tokens: Sequence[Token], scene: Scene, msg: int) -> list[Statement] | None:
    """`Please keep your answers short`: how the listener is to write."""
    lows = [token.low for token in tokens]
    if lows[0] not in ("keep", "make", "write", "give") or "your" not in lows[:4] or len(lows) > 14:
        return None
    if not {"answers", "answer", "replies", "responses", "messages", "emails", "summaries"} & set(lows):
        return None
    rule = scene.text[tokens[0].start : tokens[-1].end].strip()
    return [Standing(msg, scene.cast.speaker, rule[:1].upper() + rule[1:])]


def _rule(tokens: Sequence[Token], scene: Scene, msg: int) -> list[Statement] | None:
    """`Always answer in English`, `from now on use metric units`."""
    lows = tuple(token.low for token in tokens)
    start = next((len(words) for words in _ALWAYS if lows[: len(words)] == words), 0)
    if not start:
        return None
    while start < len(lows) and lows[start] in (",", "please", "always", "never"):
        start += 1
    if start >= len(tokens) or not is_finite_start(tokens, start):
        return None
    if lows[start] in _NOT_RULES or is_shared([token for token in tokens if token.low not in ("it", "this", "that")]):
        return []
    rule = scene.text[tokens[0].start : tokens[-1].end].strip()
    return [Standing(msg, scene.cast.speaker, rule[:1].upper() + rule[1:])] if not looks_secret(rule) else []
