"""What the readers of both languages hand to `compose`: things, facts, happenings, promises, wishes and rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Stance: TypeAlias = Literal["holds", "ended", "denied"]
"""holds: it is so; ended: it was so and is no longer; denied: it is not so, and nothing says it ever was."""

Mark: TypeAlias = Literal["new", "correction", "hearsay", "asked_to_keep", "if_known", "never", "former"]
"""new: the sentence says that this changed; correction: it says that something said before was wrong; hearsay: somebody
else's words passed on; asked_to_keep: the speaker asks to have it kept; if_known: an end that means something only when
what ended was said before (`I left Acme`); never: a denial for all the time there was; former: an
end by what the same sentence says began (`I moved from Porto to Lisbon`)."""


@dataclass(frozen=True, slots=True)
class Thing:
    """Something with a name.

    type  a Concept Type's local name, None when the sentence does not tell
    id    its element, when memory holds it
    """

    name: str
    type: str | None = None
    id: str | None = None

    @property
    def key(self) -> str:
        """What tells it from others: its element, else its name without case."""
        return self.id or self.name.casefold()


Value: TypeAlias = "Thing | str | int"


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement, before it meets the Space's vocabulary.

    relation  our own name of the relation, see `vocabulary.py`
    """

    msg: int
    speaker: Thing
    subject: Thing
    relation: str
    value: Value
    stance: Stance = "holds"
    marks: frozenset[Mark] = frozenset()
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class Took:
    """Something that took place; `verb` is the lemma of what was done.

    settles  it counts only as what becomes of a promise
    cancels  it is what will not be done after all
    """

    msg: int
    speaker: Thing
    what: str
    on: str | None
    who: tuple[Thing, ...]
    verb: str = ""
    settles: bool = False
    cancels: bool = False


@dataclass(frozen=True, slots=True)
class Owed:
    """Something promised, planned or to be reminded of."""

    msg: int
    speaker: Thing
    what: str
    who: Thing
    to: Thing | None
    due: str | None
    status: Literal["pending", "fulfilled", "cancelled"] = "pending"


@dataclass(frozen=True, slots=True)
class Erase:
    """A wish to have something forgotten; nothing here forgets."""

    msg: int
    speaker: Thing
    what: str


@dataclass(frozen=True, slots=True)
class Standing:
    """A standing instruction about how to serve the speaker."""

    msg: int
    speaker: Thing
    rule: str


@dataclass(frozen=True, slots=True)
class Takeback:
    """The speaker takes back what they said before.

    value     what the taken back statement was about, as written; None for the one just before
    instead   what should stand in its place; None for nothing
    topic     in words, what everything taken back was about; None when it is one statement
    """

    msg: int
    speaker: Thing
    value: str | None
    instead: str | None = None
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class Redate:
    """The speaker puts the day right of what they said last.

    past, future  the day meant, for what has been and for what is to come
    is_clock      a time of day alone was put right, and the day stays
    old           the days the wrong one can have been, when it was named
    """

    msg: int
    speaker: Thing
    past: str | None
    future: str | None
    is_clock: bool
    old: frozenset[str]


Statement: TypeAlias = Fact | Took | Owed | Erase | Standing | Takeback | Redate


@dataclass(slots=True)
class Reading:
    """What a conversation says, in order; and, for the summary, the messages that ordered something, held a credential
    or were too long to read to their end."""

    statements: list[Statement] = field(default_factory=list)
    ordered: list[int] = field(default_factory=list)
    secrets: list[int] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
