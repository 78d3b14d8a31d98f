"""Text as the offline model reads it: cleaned, cut into sentences, each with its language and how it ended.

Everything here is linear in its input: patterns over user text run on RE2, which never backtracks.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import re2

Language = Literal["en", "zh"]

READ_LIMIT = 24_000
"""Characters of one message that are read; what lies beyond is a pasted document, kept as Evidence alone."""

Pattern = Any
"""A compiled RE2 pattern; the binding carries no types."""


def pattern(source: str, *, ignore_case: bool = True) -> Pattern:
    """A compiled RE2 pattern over str, case-insensitive unless told otherwise."""
    return re2.compile(f"(?i){source}" if ignore_case else source)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence.

    text   without its end mark
    end    what closed it: `.`, `?`, `!`, `…`, or empty at the end of a line
    quotes what stood between quotation marks, in order; in `text` each is a mark (see `QUOTE`)
    """

    text: str
    end: str
    language: Language
    quotes: tuple[str, ...] = ()


QUOTE = "\ue000"
"""Stands in a sentence's text where a quotation was; a private-use character that cleaning removes from input."""

_SWAPS = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "´": "'", "`": "'", "\u00a0": " ", "\u3000": " ", "\t": " "})
_CJK = pattern(r"[\x{3400}-\x{4dbf}\x{4e00}-\x{9fff}\x{f900}-\x{faff}]")
_CJK_RUN = pattern(r"[\x{3400}-\x{4dbf}\x{4e00}-\x{9fff}\x{f900}-\x{faff}]+")
_LATIN_RUN = pattern(r"\pL+")
_QUOTED = pattern(r'"([^"]+)"|“([^”]+)”|「([^」]+)」|『([^』]+)』|«([^»]+)»')
_ENDS = pattern(r"[.!?…。！？]+[\"')\]”’」』]*")
_FENCE = pattern(r"(?:```|~~~)")
_ABBREVIATION = pattern(
    r"(?:^|[\s(])(?:dr|mr|mrs|ms|prof|st|sr|jr|vs|approx|vol|fig|tel|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec|"
    r"e\.g|i\.e|a\.m|p\.m|[a-hj-z]|[a-z]\.[a-z])$"
)


def clean(text: str) -> str:
    """NFC text without control, private-use or unpaired surrogate characters, typographic apostrophes made plain."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.encode("utf-8", "ignore").decode("utf-8"))
    if not text.isprintable():
        text = "".join(char if char == "\n" or unicodedata.category(char)[0] != "C" else " " for char in text)
    return text.translate(_SWAPS)


def language_of(text: str) -> Language:
    """`zh` when Han characters make up most of the words, counting a run of Latin letters as one."""
    if text.isascii() or not _CJK.search(text):
        return "en"
    han = sum(len(run) for run in _CJK_RUN.findall(text))
    latin = sum(1 for run in _LATIN_RUN.findall(text) if not _CJK.search(run))
    return "zh" if han >= latin else "en"


def spoken_lines(text: str) -> list[str]:
    """The lines somebody speaks: quoted lines of mail and fenced blocks of code left out."""
    kept, fenced = [], False
    for line in text.split("\n"):
        if _FENCE.match(line.strip()):
            fenced = not fenced
        elif not fenced and line.strip() and not line.lstrip().startswith(">"):
            kept.append(line.strip())
    return kept


def sentences(text: str, *, limit: int = READ_LIMIT) -> list[Sentence]:
    """The sentences of a message, at most `limit` characters of it."""
    found = []
    for line in spoken_lines(clean(text[:limit])):
        found.extend(_of_line(line))
    return found


def _of_line(line: str) -> list[Sentence]:
    quotes: list[str] = []
    line = _without_quotes(line, quotes)
    found, start = [], 0
    for match in _ENDS.finditer(line):
        if match.end() < len(line) and not _closes(line, start, match):
            continue
        found.append((line[start : match.start()], match.group()))
        start = match.end()
    found.append((line[start:], ""))
    sentences, used = [], 0
    for body, end in found:
        count = body.count(QUOTE)
        if body.strip(" -*•–—\"'()"):
            stripped = body.strip().lstrip("-*•–— ")
            sentences.append(Sentence(stripped, _end_mark(end), language_of(body), tuple(quotes[used : used + count])))
        used += count
    return sentences


def _without_quotes(line: str, quotes: list[str]) -> str:
    def keep(match: Any) -> str:
        quotes.append(next(group for group in match.groups() if group is not None))
        inner = quotes[-1].strip()
        return QUOTE + (inner[-1] if inner and inner[-1] in ".!?。！？" and match.end() == len(line) else "")

    return _replace(_QUOTED, keep, line)


def _closes(line: str, start: int, match: Any) -> bool:
    mark = match.group()
    if mark[0] in "。！？":
        return True
    after = line[match.end()]
    if after != " " and not _CJK.search(after):
        return False
    if mark != ".":
        return True
    return not _ABBREVIATION.search(line[max(start, match.start() - 12) : match.start()])


def _end_mark(end: str) -> str:
    if "?" in end or "？" in end:
        return "?"
    if "!" in end or "！" in end:
        return "!"
    if "…" in end or "..." in end:
        return "…"
    return "." if end else ""


def _replace(compiled: Pattern, change: Callable[[Any], str], text: str) -> str:
    parts, at = [], 0
    for match in compiled.finditer(text):
        parts += [text[at : match.start()], change(match)]
        at = match.end()
    return "".join([*parts, text[at:]])
