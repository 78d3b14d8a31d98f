"""What an InvalidSyntax says: the place, what stands there, and how to put it right."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeVar

from brain.errors import InvalidSyntax, KipError, ResourceExhausted
from brain.kip.habits import CHARACTERS, CLAUSES, INFIX, ORDER, WORDS
from brain.kip.tokens import END, FAULT, NESTING, NUMBER, STRING, VARIABLE

if TYPE_CHECKING:
    from brain.kip.lexer import Tokens

SNIPPET = 60
"""Most characters of source that an error quotes."""

NO_COMMAS = "The clauses of a block follow one another without commas."

Error = TypeVar("Error", bound=KipError)

_SPOKEN = {VARIABLE: "a variable", STRING: "a string", NUMBER: "a number", END: "the end of the text"}
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(_PAIRS.values())
_RELATIONS = frozenset({"<", "<=", ">", ">="})
_SINGLE_QUOTED = re.compile(r"'((?:[^'\\\n]|\\.){0,80})'|‘([^’\n]{0,80})’|“([^”\n]{0,80})”")
_STRING_BREAK = re.compile(r'(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*+(.?)', re.DOTALL)


def place(source: str, offset: int) -> dict[str, object]:
    """Where an offset is: line and column from 1, and the piece of that line around it."""
    line = source.count("\n", 0, offset) + 1
    begin = source.rfind("\n", 0, offset) + 1
    end = source.find("\n", offset)
    end = len(source) if end < 0 else end
    left = max(begin, min(offset - SNIPPET // 3, end - SNIPPET))
    right = min(end, left + SNIPPET)
    snippet = ("…" if left > begin else "") + source[left:right].strip("\r") + ("…" if right < end else "")
    return {"line": line, "column": offset - begin + 1, "snippet": snippet}


def fault(
    error: type[Error], source: str, offset: int, message: str, *, hint: str | None = None, expected: str | None = None
) -> Error:
    """An error about one place of a text; `expected` is the one thing that can stand there, when there is only one."""
    details = place(source, offset)
    if expected is not None:
        details["expected"] = expected
    return error(f"Line {details['line']}, column {details['column']}: {message}.", hint=hint, details=details)


def unexpected(t: Tokens, message: str, *, hint: str | None, expected: str | None) -> KipError:
    """The error about the next token: that it is no token at all, or that it stands in the wrong place."""
    offset = t.starts[t.at]
    if t.head != FAULT:
        hint = hint or _repair(t, expected)
        return fault(InvalidSyntax, t.source, offset, f"{message}; found {_found(t)}", hint=hint, expected=expected)
    if t.text() in _PAIRS:
        message = f"brackets stand more than {NESTING} deep"
        return fault(ResourceExhausted, t.source, offset, message, hint="Flatten the statement or split it in two.")
    message, hint = _no_token(t, expected)
    return fault(InvalidSyntax, t.source, offset, message, hint=hint)


def spoken(head: str) -> str:
    """A head as a sentence names it."""
    return _SPOKEN.get(head, head)


def near(word: str, known: Iterable[str]) -> str | None:
    """A hint with the known phrase closest to a word, when one is close."""
    if len(word) > SNIPPET:
        return None
    phrases = sorted(known)
    begun = [phrase for phrase in phrases if len(word) > 2 and phrase.upper().startswith(word.upper())]
    by_upper = {phrase.upper(): phrase for phrase in phrases}
    close = begun or [by_upper[phrase] for phrase in get_close_matches(word.upper(), by_upper, n=1, cutoff=0.7)]
    return f"Did you mean {close[0]}?" if close else None


def _found(t: Tokens) -> str:
    if t.head == END:
        return spoken(END)
    return _short(t.text()) if t.head == STRING else f'"{_short(t.text())}"'


# --- tokens in the wrong place ----------------------------------------------------------------------------------------


def _repair(t: Tokens, expected: str | None) -> str | None:
    head, before = t.head, t.heads[t.at - 1] if t.at else END
    if head == END:
        return _unclosed(t) or (f"Add {expected}." if expected else "The text ends too early.")
    if before == "," and head in _CLOSING:
        return f"Remove the comma before {head}."
    if head == ":" and t.ahead().isidentifier():
        return f"Write :{t.text(t.at + 1)} without a blank in it."
    return _repair_word(t, expected) if head.isidentifier() else _repair_mark(t, before, expected)


def _repair_mark(t: Tokens, before: str, expected: str | None) -> str | None:
    head = t.head
    if expected == ":" and head in (STRING, NUMBER, VARIABLE, "{", "["):
        return f"Write {_short(t.text(t.at - 1))}: {_short(t.text())}."
    if expected == "(" and head == VARIABLE:
        return f"Put it in brackets: {t.text(t.at - 1)}(…)."
    if before == "<" and head == ">":
        return "Write != for unequal."
    if before in _RELATIONS or head in _RELATIONS:
        return "A comparison has two sides; write a < b && b < c for a chain."
    if head == "|":
        return "Write || for or."
    if head in ("-", "<"):
        return 'A relation is a tuple: (?a, "predicate", ?b).'
    return f"Write {expected} before {_short(t.text())}." if expected else None


def _repair_word(t: Tokens, expected: str | None) -> str | None:
    word, upper = t.text(), t.head
    if t.at and t.heads[t.at - 1] == NUMBER and t.starts[t.at] == t.ends[t.at - 1]:
        return "A number is written in digits, with a point and an exponent at most."
    if upper == "EXPECT":
        return "A guard stands at the end of its statement, behind WHERE and LIMIT."
    if expected is not None and len(word) < SNIPPET and get_close_matches(upper, [expected], cutoff=0.7):
        return f"Write {expected} for {_short(word)}."
    if upper in INFIX and expected != "{":
        return INFIX[upper]
    if upper in WORDS and word != WORDS[upper]:
        return f"Write {WORDS[upper]}."
    return CLAUSES.get(upper) or (f"Write {expected} before {_short(word)}." if expected else None)


def misplaced(t: Tokens) -> str | None:
    """A hint about what stands behind the end of a statement: before which clause it belongs."""
    if t.head in _CLOSING:
        return f"Remove this {t.head}."
    rank = ORDER.get(t.head)
    if rank is None:
        return None
    depth = 0
    for head in t.heads[: t.at]:
        depth += (head in _PAIRS) - (head in _CLOSING)
        if depth == 0 and ORDER.get(head, -1) >= rank:
            return f"{t.head} stands twice." if head == t.head else f"Put {t.head} before {head}."
    return None


def bare_word(t: Tokens, marks: str) -> str | None:
    """A hint when a bare word stands where a value belongs; `marks` are those that can precede a name there."""
    word = t.text()
    if not t.head.isidentifier() or t.head in INFIX or t.head in WORDS or t.head in CLAUSES or len(word) > SNIPPET:
        return None
    ways = {"": f'"{word}" in quotes', ":": f":{word} for a parameter", "?": f"?{word} for a variable"}
    if marks == "?":
        return f"Write ?{word}."
    return f"Write {' or '.join(ways[mark] for mark in ('', *marks))}."


def missing_comma(t: Tokens, opening: str) -> str | None:
    """A hint when the next item of a list follows without its comma."""
    if t.starts[t.at] == t.ends[t.at - 1]:
        return None
    named = t.head.isidentifier() and opening == "{"
    begins = t.head in (STRING, NUMBER, VARIABLE) or (t.head == ":" and t.ahead().isidentifier())
    return f"Put a comma before {_short(t.text())}." if named or begins else None


def _unclosed(t: Tokens) -> str | None:
    opened: list[int] = []
    for index, head in enumerate(t.heads):
        if head in _PAIRS:
            opened.append(index)
        elif head in _CLOSING and opened:
            opened.pop()
    if not opened:
        return None
    where = place(t.source, t.starts[opened[-1]])
    opening = t.heads[opened[-1]]
    return f"Close the {opening} of line {where['line']}, column {where['column']} with {_PAIRS[opening]}."


def _short(text: str) -> str:
    return text if len(text) <= SNIPPET // 2 else text[: SNIPPET // 2] + "…"


# --- text that is no token --------------------------------------------------------------------------------------------


def _no_token(t: Tokens, expected: str | None) -> tuple[str, str | None]:
    offset = t.starts[t.at]
    character = t.source[offset]
    if character == '"':
        return _broken_string(t.source, offset)
    quoted = _SINGLE_QUOTED.match(t.source, offset)
    if quoted:
        inner = next(part for part in quoted.groups() if part is not None).replace("\\'", "'").replace('"', '\\"')
        return "strings stand in straight double quotes", f'Write "{inner}".'
    if character == "=" and expected == ":":
        return "a colon stands between a name and its value", f"Write {_short(t.text(t.at - 1))}: …"
    if character in CHARACTERS:
        return f"{character} begins nothing that could stand here", CHARACTERS[character]
    if character in "'‘’“”":
        return "strings stand in straight double quotes", 'Write "…".'
    if character.isprintable():
        return f"{character} begins nothing that could stand here", "Names are ASCII; put other text in double quotes."
    name = unicodedata.name(character, "")
    return f"the invisible character U+{ord(character):04X} {name}".rstrip() + " stands here", "Remove it."


def _broken_string(source: str, offset: int) -> tuple[str, str]:
    match = _STRING_BREAK.match(source, offset + 1)
    end = match[1] if match else ""
    if end in ("\n", "\r"):
        return "a string ends on the line it begins on", 'Close it with ", or write \\n for a line break.'
    if end and end != "\\":
        return f"a string holds the control character U+{ord(end):04X}", f"Write it as \\u{ord(end):04x}."
    return "this string is never closed", 'Close it with ".'
