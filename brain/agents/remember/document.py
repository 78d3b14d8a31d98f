"""The `remember` document: what a model says it understood, before the host makes KIP of it.

`RememberDocument.to_json()` is the tool call's arguments; `parse.py` reads them back. Every list may be empty.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

Change: TypeAlias = Literal["stated", "new", "ended", "correction", "withdrawn", "denied", "hearsay", "inferred"]
"""What a claim does to what is already known.

stated      the speaker says it is so, nothing about a change
new         the world changed: it is so from `since` (or from the message) on; for a one-value predicate an earlier
            value ends there
ended       it was so and is no longer, from `until` (or the message) on
correction  the speaker was wrong before: this takes the place of their earlier claim, for the same world time
withdrawn   the speaker takes an earlier claim back and puts nothing in its place
denied      the speaker says that it is not so, whether or not anybody claims it
hearsay     the speaker passes on what somebody else said
inferred    nobody said it; it follows from what was said (claimed by this Brain itself)
"""

Values: TypeAlias = Literal["one", "many", "one_per_type"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One attributed statement.

    msg           the number of the message that says it
    subject       a name, an id of the dossier (`C-7`), or `I` / `me` for the speaker
    object, text  exactly one: the thing meant (like `subject`), or a plain value
    by            who claims it, when that is not the speaker (needs a policy that allows it)
    since, until  world time at the precision said: 2024, 2024-03, 2024-03-20, or a full instant
    """

    msg: int
    subject: str
    predicate: str
    object: str | None = None
    text: str | float | bool | None = None
    subject_type: str | None = None
    object_type: str | None = None
    by: str | None = None
    change: Change = "stated"
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class Happening:
    """`events[]`: something that took place; `on` at the precision said, `who` names or ids of those involved."""

    msg: int
    what: str
    on: str | None = None
    who: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Promise:
    """`commitments[]`: something owed.

    who     who owes it; `to` whom, None when nobody in particular
    status  pending for a new one; fulfilled, cancelled or blocked when a message says so of a known one
    """

    msg: int
    what: str
    who: str
    to: str | None = None
    due: str | None = None
    status: Literal["pending", "fulfilled", "cancelled", "blocked"] = "pending"


@dataclass(frozen=True, slots=True)
class Rule:
    """`rules[]`: a standing instruction about how to serve somebody, kept as a constraint."""

    msg: int
    rule: str


@dataclass(frozen=True, slots=True)
class Wish:
    """`requests[]`: a wish about memory itself; it becomes work for the owner's review and deletes nothing.

    kind  erase: forget something; correct_identity: two entries are one person, or one is two; other
    what  the thing meant, in the speaker's words
    """

    msg: int
    kind: Literal["erase", "correct_identity", "other"]
    what: str


@dataclass(frozen=True, slots=True)
class NewPredicate:
    """`new_predicates[]`: a relation no existing one can say.

    subject, object  local type names; `object` may be `text` for plain values
    """

    name: str
    meaning: str
    subject: str
    object: str
    values: Values


@dataclass(frozen=True, slots=True)
class RememberDocument:
    """One pass's worth of memory. `done` ends the pass without another model call."""

    claims: tuple[Claim, ...] = ()
    events: tuple[Happening, ...] = ()
    commitments: tuple[Promise, ...] = ()
    rules: tuple[Rule, ...] = ()
    requests: tuple[Wish, ...] = ()
    new_predicates: tuple[NewPredicate, ...] = ()
    done: bool = True
    summary: str = ""

    def to_json(self) -> dict[str, Any]:
        """The arguments of the tool call: empty lists and unset members are left out."""
        document = {name: [_plain(item) for item in getattr(self, name)] for name in LISTS if getattr(self, name)}
        return {**document, "done": self.done, "summary": self.summary}


LISTS = ("claims", "events", "commitments", "rules", "requests", "new_predicates")


def _plain(item: Any) -> dict[str, Any]:
    members = {field.name: getattr(item, field.name) for field in fields(item)}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in members.items()
        if value is not None and value != ()
    }
