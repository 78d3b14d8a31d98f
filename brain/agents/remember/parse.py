"""The tool call's arguments as a typed document: what can be read is kept, every fault is named by its place."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, get_args

from brain.agents.remember.document import Change, Claim, Happening, NewPredicate, Promise, Rule, Values, Wish
from brain.agents.remember.faults import Fault, Wrong
from brain.agents.remember.schema import MAX_ITEMS
from brain.agents.texts import clean, one_line

Item = TypeVar("Item")

_NAME, _SENTENCE, _WORD = 200, 400, 64
_STATUSES = ("pending", "fulfilled", "cancelled", "blocked")
_WISHES = ("erase", "correct_identity", "other")


@dataclass(frozen=True, slots=True)
class Placed(Generic[Item]):
    """An item and where it stood."""

    at: str
    item: Item


@dataclass(slots=True)
class Parsed:
    """A document, item by item, with the faults found in reading it."""

    claims: list[Placed[Claim]] = field(default_factory=list)
    events: list[Placed[Happening]] = field(default_factory=list)
    commitments: list[Placed[Promise]] = field(default_factory=list)
    rules: list[Placed[Rule]] = field(default_factory=list)
    requests: list[Placed[Wish]] = field(default_factory=list)
    new_predicates: list[Placed[NewPredicate]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    done: bool = False
    summary: str = ""

    @property
    def is_empty(self) -> bool:
        """Nothing to write."""
        return not (
            self.claims or self.events or self.commitments or self.rules or self.requests or self.new_predicates
        )


def read_document(arguments: Mapping[str, Any]) -> Parsed:
    """Read the arguments of one call; never raises."""
    parsed = Parsed()
    parsed.done = arguments.get("done") is True
    summary = arguments.get("summary")
    parsed.summary = clean(summary, 600) if isinstance(summary, str) else ""
    parsed.claims = _list(arguments, "claims", _claim, parsed.faults)
    parsed.events = _list(arguments, "events", _event, parsed.faults)
    parsed.commitments = _list(arguments, "commitments", _commitment, parsed.faults)
    parsed.rules = _list(arguments, "rules", lambda i: Rule(_msg(i), _text(i, "rule", _SENTENCE)), parsed.faults)
    parsed.requests = _list(arguments, "requests", _request, parsed.faults)
    parsed.new_predicates = _list(arguments, "new_predicates", _predicate, parsed.faults)
    return parsed


def _list(
    arguments: Mapping[str, Any], name: str, read: Callable[[Mapping[str, Any]], Item], faults: list[Fault]
) -> list[Placed[Item]]:
    items = arguments.get(name)
    if items is None:
        return []
    if not isinstance(items, list):
        faults.append(Fault(name, f"{name} is not a list.", f"Send {name} as a list of objects, or leave it out."))
        return []
    placed = []
    for number, item in enumerate(items[:MAX_ITEMS]):
        at = f"{name}[{number}]"
        try:
            if not isinstance(item, Mapping):
                raise Wrong("This is not an object.", "Send an object with named members.")
            placed.append(Placed(at, read(item)))
        except Wrong as wrong:
            faults.append(wrong.at(at))
    if len(items) > MAX_ITEMS:
        faults.append(
            Fault(f"{name}[{MAX_ITEMS}]", f"Only the first {MAX_ITEMS} were read.", "Send the others in another call.")
        )
    return placed


def _claim(item: Mapping[str, Any]) -> Claim:
    change = _one_of(item, "change", get_args(Change), "stated")
    thing = _optional(item, "object", _NAME)
    text = _value(item.get("text"))
    if thing is not None and text is not None:
        raise Wrong("object and text are both set.", "Set object for a thing, or text for a plain value.")
    if thing is None and text is None and change not in ("ended", "withdrawn"):
        raise Wrong("Neither object nor text is set.", "Set object for a thing, or text for a plain value.")
    return Claim(
        msg=_msg(item),
        subject=_text(item, "subject", _NAME),
        predicate=_text(item, "predicate", _WORD),
        object=thing,
        text=text,
        subject_type=_optional(item, "subject_type", _WORD),
        object_type=_optional(item, "object_type", _WORD),
        by=_optional(item, "by", _NAME),
        change=change,
        since=_optional(item, "since", _WORD),
        until=_optional(item, "until", _WORD),
    )


def _event(item: Mapping[str, Any]) -> Happening:
    who = item.get("who") or []
    if not isinstance(who, list) or not all(isinstance(name, str) for name in who):
        raise Wrong("who is not a list of names.", "Send names or dossier ids.")
    return Happening(
        _msg(item),
        _text(item, "what", _SENTENCE),
        _optional(item, "on", _WORD),
        tuple(name for name in (one_line(name, _NAME) for name in who[:16]) if name),
    )


def _commitment(item: Mapping[str, Any]) -> Promise:
    return Promise(
        _msg(item),
        _text(item, "what", _SENTENCE),
        _text(item, "who", _NAME),
        _optional(item, "to", _NAME),
        _optional(item, "due", _WORD),
        _one_of(item, "status", _STATUSES, "pending"),
    )


def _request(item: Mapping[str, Any]) -> Wish:
    return Wish(_msg(item), _one_of(item, "kind", _WISHES, "other"), _text(item, "what", _SENTENCE))


def _predicate(item: Mapping[str, Any]) -> NewPredicate:
    return NewPredicate(
        _text(item, "name", _WORD),
        _text(item, "meaning", 200),
        _text(item, "subject", _WORD),
        _text(item, "object", _WORD),
        _one_of(item, "values", get_args(Values), "many"),
    )


def _msg(item: Mapping[str, Any]) -> int:
    number = item.get("msg")
    if not isinstance(number, int) or isinstance(number, bool):
        raise Wrong("msg is not the number of a message.", "Give the number in brackets before the message.")
    return number


def _text(item: Mapping[str, Any], name: str, most: int) -> str:
    value = _optional(item, name, most)
    if value is None:
        raise Wrong(f"{name} is missing.", f"Set {name}.")
    return value


def _optional(item: Mapping[str, Any], name: str, most: int) -> str | None:
    value = item.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise Wrong(f"{name} is not text.", f"Send {name} as text.")
    line = one_line(value, most + 1)
    if len(line) > most:
        raise Wrong(f"{name} is longer than {most} characters.", f"Say {name} more briefly.")
    return line or None


def _value(value: Any) -> str | float | bool | None:
    """A plain value: a scalar, text as one line."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        line = one_line(value, _SENTENCE + 1)
        if len(line) > _SENTENCE:
            raise Wrong(f"text is longer than {_SENTENCE} characters.", "Keep the value itself, not the passage.")
        return line or None
    if isinstance(value, (int, float)) and math.isfinite(value) and abs(value) <= 2**53 - 1:
        return value
    raise Wrong("text is not a plain value.", "Send text, a number, true or false.")


def _one_of(item: Mapping[str, Any], name: str, known: tuple[str, ...], default: str) -> Any:
    value = item.get(name)
    if value is None:
        return default
    if value not in known:
        raise Wrong(f"{name} is {str(value)[:40]!r}.", f"{name} is one of {', '.join(known)}.")
    return value
