"""Plain values: addresses, numbers, codes, zones, phases."""

from __future__ import annotations

from collections.abc import Sequence

from brain.agents.builtin.english.slots.phrases import STOPS, Found, Scene
from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.lexicon.things import PHASES
from brain.agents.builtin.text import pattern


def value(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """The rest of the clause as one value, as written."""
    if at < len(tokens):
        if len(tokens) == at + 1 and tokens[at].kind == "quote":
            yield tokens[at].said.strip(), len(tokens)
        elif all(token.kind != "quote" for token in tokens[at:]):
            yield scene.text[tokens[at].start : tokens[-1].end].strip(), len(tokens)


def email(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    if at < len(tokens) and tokens[at].kind == "address" and "@" in tokens[at].text:
        yield tokens[at].text.rstrip("."), at + 1


_PHONE = pattern(r"^\+?[\d(][\d ().\/-]{4,22}\d$")


def phone(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """A telephone number of six digits or more, as written."""
    end = at
    while end < len(tokens) and (tokens[end].text[:1] in "+(-)/." or tokens[end].text[:1].isdigit()):
        end += 1
    if end > at:
        number = scene.text[tokens[at].start : tokens[end - 1].end].strip(" .-")
        if _PHONE.match(number) and sum(char.isdigit() for char in number) >= 6:
            yield number, end


def code(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """A code as written: figures, capitals, a quotation, up to three groups."""
    end = at
    while end < len(tokens) and end - at < 6 and _is_code_part(tokens[end], end > at):
        end += 1
    while end > at and tokens[end - 1].kind == "mark":
        end -= 1
    if end == at:
        return
    if tokens[at].kind == "quote":
        yield tokens[at].said.strip(), at + 1
        return
    said = scene.text[tokens[at].start : tokens[end - 1].end]
    if any(char.isdigit() for char in said) or said.isupper():
        yield said, end


def _is_code_part(token: Token, inside: bool) -> bool:
    if token.kind in ("number", "quote"):
        return True
    if token.kind == "word":
        return token.text.isupper() or any(char.isdigit() for char in token.text)
    return token.text in ("#", "*") or (inside and token.text == "-")


def handle(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    """A name on a service: one word, `@` left out."""
    index = at + 1 if at < len(tokens) and tokens[at].text == "@" else at
    if index + 1 == len(tokens) and tokens[index].kind in ("word", "number", "quote"):
        yield (tokens[index].said or tokens[index].text), index + 1


_ZONE = pattern(
    r"^(?:[A-Z][A-Za-z]+(?:/[A-Za-z_]+)+|(?:UTC|GMT)(?:[+-]\d{1,2}(?::\d{2})?)?|[+-]\d{2}:\d{2})$", ignore_case=False
)


def timezone(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """An IANA name or a UTC offset."""
    if at < len(tokens):
        said = scene.text[tokens[at].start : tokens[-1].end].strip()
        if _ZONE.match(said):
            yield said, len(tokens)


def pronouns(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    if (
        at < len(tokens)
        and tokens[at].low in ("she", "he", "they", "ze", "xe")
        and "/" in scene.text[tokens[at].start :]
    ):
        yield scene.text[tokens[at].start : tokens[-1].end].replace(" ", ""), len(tokens)


def years(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    """An age in years; without the word "years" the number must end the clause."""
    ends = at + 1 == len(tokens) or (at + 1 < len(tokens) and tokens[at + 1].low in ("year", "years"))
    if ends and tokens[at].text.isdecimal() and 0 < int(tokens[at].text) < 130:
        yield int(tokens[at].text), at + 1


def phase(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    """A project's phase, one to three words."""
    words: list[str] = []
    for index in range(at, min(at + 3, len(tokens))):
        token = tokens[index]
        if (
            token.kind != "word"
            or token.low in ("phase", "stage", "from", "to", "into", "the", "a", "an")
            or token.low in STOPS
        ):
            return
        words.append(token.text)
        joined = " ".join(words).lower()
        ends = index + 1 == len(tokens)
        if joined in PHASES or (not ends and tokens[index + 1].low in ("phase", "stage")):
            yield joined, index + 1
