"""An export of KIP 1.x as rows: `UPSERT { CONCEPT … PROPOSITION … }` scripts, which is what its `EXPORT` wrote.

Nothing is resolved or judged here but the form. A row says where in the file it stands, so that whatever is wrong with
it can be told by that.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

_DEEPEST = 64
_LONGEST_NAME = 512

_OF_THE_TELLING = frozenset({"author", "confidence", "created_at", "observed_at", "source"})
"""Metadata of a Concept that holds for the links told with it; the rest is the Concept's own."""

_TOKEN = re.compile(
    r"""(?P<space>[\s,]+|//[^\n]*)
      | (?P<text>"(?:[^"\\\n]|\\.)*")
      | (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
      | (?P<handle>\?[A-Za-z_][A-Za-z0-9_]*)
      | (?P<word>[A-Za-z_$][A-Za-z0-9_$]*)
      | (?P<mark>[{}()\[\]:])""",
    re.VERBOSE,
)


class Malformed(Exception):
    """The export is none; `line` says where, counted from 1."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(f"line {line}: {text}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Named:
    """A Concept by its type and name."""

    type: str
    name: str


@dataclass(frozen=True, slots=True)
class Linked:
    """A Proposition by its ends."""

    subject: Ref
    predicate: str
    object: Ref


Ref: TypeAlias = Named | Linked
Values: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ConceptRow:
    """One statement about a Concept; the same one may be told of in several."""

    line: int
    what: Named
    attributes: Values
    metadata: Values


@dataclass(frozen=True, slots=True)
class LinkRow:
    """One statement of a Proposition."""

    line: int
    what: Linked
    attributes: Values
    metadata: Values


Row: TypeAlias = ConceptRow | LinkRow


def rows_of(text: str) -> list[Row]:
    """The rows of a file of scripts, in their order.

    raises  Malformed for the first that is none; nothing of such a file is to be used
    """
    reader = _Reader(text)
    rows: list[Row] = []
    while not reader.is_over:
        reader.words("UPSERT")
        rows += reader.block()
    if not rows:
        raise Malformed(1, "there is no UPSERT in the file")
    return rows


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._depth = 0
        self._handles: dict[str, Ref] = {}

    @property
    def is_over(self) -> bool:
        return self._at >= len(self._tokens)

    @property
    def _line(self) -> int:
        return self._tokens[min(self._at, len(self._tokens) - 1)].line if self._tokens else 1

    def words(self, *words: str) -> None:
        for word in words:
            if not self._takes("word", word):
                self._refuse(f"{word} is missing")

    def block(self) -> list[Row]:
        """What stands after UPSERT; handles are good within it."""
        self._handles = {}
        rows: list[Row] = []
        self._mark("{")
        while not self._takes("mark", "}"):
            if self._takes("word", "CONCEPT"):
                rows += self._concept()
            elif self._takes("word", "PROPOSITION"):
                rows += self._proposition()
            else:
                self._refuse("CONCEPT, PROPOSITION or } is missing")
        shared = self._metadata()
        return [type(row)(row.line, row.what, row.attributes, {**shared, **row.metadata}) for row in rows]  # type: ignore[arg-type]

    def _concept(self) -> list[Row]:
        line, handle = self._line, self._handle()
        self._mark("{")
        what = self._end()
        if not isinstance(what, Named):
            self._refuse("a CONCEPT is known by its type and name")
        self._keep(handle, what)
        attributes, links = self._body(what)
        metadata = self._metadata()
        told = {name: value for name, value in metadata.items() if name in _OF_THE_TELLING}
        return [
            ConceptRow(line, what, attributes, metadata),
            *(LinkRow(link.line, link.what, {}, {**told, **link.metadata}) for link in links),
        ]

    def _proposition(self) -> list[Row]:
        line, handle = self._line, self._handle()
        self._mark("{")
        what = self._end()
        if not isinstance(what, Linked):
            self._refuse("a PROPOSITION is known by its subject, predicate and object")
        self._keep(handle, what)
        attributes, links = self._body(what)
        metadata = self._metadata()
        return [LinkRow(line, what, attributes, metadata), *links]

    def _body(self, subject: Ref) -> tuple[Values, list[LinkRow]]:
        attributes: dict[str, Any] = {}
        links: list[LinkRow] = []
        while not self._takes("mark", "}"):
            self.words("SET")
            if self._takes("word", "ATTRIBUTES"):
                attributes |= self._object()
                continue
            self.words("PROPOSITIONS")
            self._mark("{")
            while not self._takes("mark", "}"):
                line = self._line
                self._mark("(")
                linked = Linked(subject, self._name("predicate"), self._end())
                self._mark(")")
                links.append(LinkRow(line, linked, {}, self._metadata()))
        return attributes, links

    def _metadata(self) -> Values:
        if not self._takes("word", "WITH"):
            return {}
        self.words("METADATA")
        return self._object()

    # --- ends ---------------------------------------------------------------------------------------------------------

    def _end(self) -> Ref:
        """`?handle`, `{type: …, name: …}` or `(subject, predicate, object)`."""
        with_depth = self._deeper()
        try:
            token = self._next("an end of a link")
            if token.kind == "handle":
                if token.text not in self._handles:
                    self._refuse(f"{token.text} stands for nothing yet", token)
                return self._handles[token.text]
            if token.text == "(" and token.kind == "mark":
                linked = Linked(self._end(), self._name("predicate"), self._end())
                self._mark(")")
                return linked
            if token.text != "{" or token.kind != "mark":
                self._refuse("an end of a link is missing", token)
            self._at -= 1
            return self._named(self._object(), token)
        finally:
            self._depth = with_depth

    def _named(self, members: Values, token: _Token) -> Named:
        if set(members) != {"type", "name"}:
            self._refuse("a Concept of an export is known by type and name: ids mean nothing elsewhere", token)
        for member in members.values():
            if not isinstance(member, str) or not member.strip() or len(member) > _LONGEST_NAME:
                self._refuse(f"type and name are texts of 1 to {_LONGEST_NAME} characters", token)
        return Named(members["type"], members["name"])

    def _handle(self) -> str | None:
        token = self._tokens[self._at] if not self.is_over else None
        if token is None or token.kind != "handle":
            return None
        self._at += 1
        return token.text

    def _keep(self, handle: str | None, what: Ref) -> None:
        if handle is not None:
            self._handles[handle] = what

    def _name(self, role: str) -> str:
        token = self._next(role)
        if token.kind != "text":
            self._refuse(f"the {role} is missing", token)
        name = str(self._value_of(token))
        if not name.strip() or len(name) > _LONGEST_NAME:
            self._refuse(f"a {role} is a text of 1 to {_LONGEST_NAME} characters", token)
        return name

    # --- values -------------------------------------------------------------------------------------------------------

    def _object(self) -> dict[str, Any]:
        self._mark("{")
        with_depth = self._deeper()
        members: dict[str, Any] = {}
        while not self._takes("mark", "}"):
            token = self._next("the name of a member")
            if token.kind not in ("word", "text"):
                self._refuse("the name of a member is missing", token)
            name = token.text if token.kind == "word" else str(self._value_of(token))
            self._mark(":")
            members[name] = self._value()
        self._depth = with_depth
        return members

    def _value(self) -> Any:
        token = self._next("a value")
        if token.kind in ("text", "number"):
            return self._value_of(token)
        if token.kind == "word" and token.text in ("true", "false", "null"):
            return {"true": True, "false": False, "null": None}[token.text]
        if token.kind == "mark" and token.text == "{":
            self._at -= 1
            return self._object()
        if token.kind != "mark" or token.text != "[":
            self._refuse("a value is missing", token)
        with_depth = self._deeper()
        values = []
        while not self._takes("mark", "]"):
            values.append(self._value())
        self._depth = with_depth
        return values

    def _value_of(self, token: _Token) -> Any:
        try:
            value = json.loads(token.text)
        except ValueError:
            self._refuse("a value cannot be read", token)
        if isinstance(value, float) and not math.isfinite(value):
            self._refuse("a number is too large", token)
        return value

    # --- tokens -------------------------------------------------------------------------------------------------------

    def _deeper(self) -> int:
        """One level down; the depth to go back to."""
        self._depth += 1
        if self._depth > _DEEPEST:
            self._refuse(f"it is nested more than {_DEEPEST} deep")
        return self._depth - 1

    def _next(self, what: str) -> _Token:
        if self.is_over:
            self._refuse(f"the file ends where {what} should be")
        self._at += 1
        return self._tokens[self._at - 1]

    def _takes(self, kind: str, text: str) -> bool:
        if self.is_over:
            return False
        token = self._tokens[self._at]
        is_it = token.kind == kind and (token.text.upper() if kind == "word" else token.text) == text
        self._at += is_it
        return is_it

    def _mark(self, mark: str) -> None:
        if not self._takes("mark", mark):
            self._refuse(f"{mark} is missing")

    def _refuse(self, text: str, token: _Token | None = None) -> NoReturn:
        raise Malformed(self._line if token is None else token.line, text)


def _tokens(text: str) -> Iterator[_Token]:
    at, line = 0, 1
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise Malformed(line, f"{text[at]!r} has no place here")
        kind, token = str(found.lastgroup), found.group()
        if kind != "space":
            yield _Token(kind, token, line)
        line += token.count("\n")
        at = found.end()
