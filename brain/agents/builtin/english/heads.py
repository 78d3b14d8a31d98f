"""What a sentence may leave out before its subject or verb: `Mom lives …`, `Standup is at 9`, `The code: 5512`."""

from __future__ import annotations

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.english.nouns import noun_at
from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.lexicon import words
from brain.agents.builtin.lexicon.work import SCHEDULED


def with_head(tokens: tuple[Token, ...], cast: Cast) -> tuple[Token, ...]:
    """A sentence with the words put in that its subject or verb left out."""
    return _with_the(_with_is(_with_my(tokens), cast))


def _with_my(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """`Mom's birthday is in May` as `my mom's birthday …`: how one speaks of one's own."""
    if len(tokens) < 3 or tokens[0].low not in _OWN_KIN or tokens[1].text in (",", "!", ":"):
        return tokens
    return (Token("", "my", "word", tokens[0].start, tokens[0].start), *tokens)


def _with_the(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """`Standup is at 9` as `the standup is at 9`."""
    if not tokens or tokens[0].low not in SCHEDULED or len(tokens) < 3:
        return tokens
    if tokens[1].low not in ("is", "was", "starts", "begins", "for", "of", "with", "on"):
        return tokens
    return (Token("", "the", "word", tokens[0].start, tokens[0].start), *tokens)


def _with_is(tokens: tuple[Token, ...], cast: Cast) -> tuple[Token, ...]:
    """`The door code: 5512` as `the door code is 5512`."""
    noun = noun_at(tokens, 0, cast)
    if (
        noun is None
        or noun.sort not in ("owned", "the")
        or noun.end >= len(tokens)
        or tokens[noun.end].text not in ":="
    ):
        return tokens
    mark = tokens[noun.end]
    return (*tokens[: noun.end], Token(mark.text, "is", "word", mark.start, mark.end), *tokens[noun.end + 1 :])


_OWN_KIN = words("mom mum mommy dad daddy grandma grandpa granny nana")
