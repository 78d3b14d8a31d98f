"""From the names a model writes to the things they mean: a known Concept, or a new one with a key of its own.

A name is never identity. It is matched, within the types its place admits, against the people who spoke, the entries
of the dossier and then all of memory; when two things fit, nothing is guessed. A first name means the one person who
has it. Somebody known by that name alone is meant before people who have it as first name, and that is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from brain.agents.remember.faults import Wrong
from brain.agents.turns import Vocabulary
from brain.ids import is_element_id
from brain.names import are_alike, called_first, fold, key_for, words
from brain.store.base import ElementId

SELVES = frozenset({"i", "me", "my", "mine", "myself", "我", "我自己", "本人", "俺"})
"""Spellings of "the speaker of this message"."""

PERSON = "Person"
_TYPE_NAME = re.compile(r"[A-Z][A-Za-z0-9]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Thing:
    """What a name means.

    id   None for a thing that is to be created under `type` and `key`
    """

    id: ElementId | None
    type: str
    key: str | None
    name: str
    aliases: tuple[str, ...] = ()

    @property
    def identity(self) -> tuple[str, ...]:
        """Equal for equal things, stored or not."""
        return (self.id,) if self.id else (self.type, self.key or "")

    @property
    def stable(self) -> tuple[str, ...]:
        """The same before and after the thing is stored; for client keys."""
        return (self.type, self.key) if self.key else (self.id or "",)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in (self.name, *self.aliases) if name)

    def called(self, name: str) -> bool:
        """Whether the folded name is exactly one of its names."""
        return name in {fold(known) for known in (self.name, *self.aliases, self.key or "") if known}

    def to_choice(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name, "type": self.type}


class Lookup(Protocol):
    """What the resolver may ask of memory."""

    def by_id(self, element_id: ElementId) -> Thing | None:
        """The active Concept of this id."""
        ...

    def called(self, name: str) -> Sequence[Thing]:
        """Active Concepts of exactly this name, alias or key, folded."""
        ...

    def called_first(self, name: str) -> Sequence[Thing]:
        """Active Persons of whose names this is the first word."""
        ...

    def by_key(self, type_name: str, key: str) -> Thing | None:
        """The Concept that holds a key within a type."""
        ...


class Resolver:
    """Resolves the names of one document; equal names of new things become one thing."""

    def __init__(self, known: Sequence[Thing], vocabulary: Vocabulary, lookup: Lookup) -> None:
        self._known = list(known)
        self._vocabulary = vocabulary
        self._lookup = lookup
        self._new: dict[tuple[str, str], Thing] = {}
        self.drafted_types: dict[str, None] = {}
        self.warnings: list[str] = []

    def resolve(
        self, name: str, *, speaker: Thing, admitted: Sequence[str], hint: str | None, default: str | None, place: str
    ) -> Thing:
        """The thing a name means.

        admitted  local type names the place takes; empty for any
        hint      the type the document gives it
        default   the type of a new thing when neither the place nor the document says; None to insist on a hint
        place     for messages: `subject`, `object`, `who`
        raises    Wrong with what it could mean
        """
        if fold(name) in SELVES:
            return self._fitting(speaker, admitted, place, speaker.name)
        if is_element_id(name):
            found = self._by_id(name)
            if found is None:
                raise Wrong(f"There is no {name}.", f"Give {place} as a name, or as an id of the dossier.")
            return self._fitting(found, admitted, place, name)
        matches = self._matches(name, admitted, hint)
        if len(matches) > 1:
            raise Wrong(
                f"{name!r} fits {len(matches)} known things.",
                f"Give {place} by the id of the one that is meant; leave the item out when the text does not tell.",
                tuple(thing.to_choice() for thing in matches),
            )
        return matches[0] if matches else self._create(name, admitted, hint, default, place)

    def _fitting(self, thing: Thing, admitted: Sequence[str], place: str, called: str) -> Thing:
        """The thing, unless its type does not fit; it is told of as it was called, whose name may not be known."""
        if admitted and thing.type not in admitted:
            raise Wrong(
                f"{called} is a {thing.type}; {place} takes {' or '.join(admitted)}.",
                "Choose a predicate that fits, or say which other thing is meant.",
            )
        return thing

    def _by_id(self, element_id: ElementId) -> Thing | None:
        for thing in self._known:
            if thing.id == element_id:
                return thing
        return self._lookup.by_id(element_id)

    def _matches(self, name: str, admitted: Sequence[str], hint: str | None) -> list[Thing]:
        """Known things a name may mean, exact names before first names, near ones before all of memory."""
        folded = fold(name)
        types = [hint] if hint and (not admitted or hint in admitted) else list(admitted)
        near = [thing for thing in [*self._known, *self._new.values()] if not types or thing.type in types]
        exact = _distinct(thing for thing in near if thing.called(folded))
        exact = exact or _distinct(thing for thing in self._lookup.called(name) if (not types or thing.type in types))
        if (types and PERSON not in types) or (exact and exact[0].type != PERSON):
            return exact
        first = self._called_first(name)
        others = [thing for thing in first if thing not in exact]
        if len(exact) == 1 and others:
            told = ", ".join(f"{other.name} ({other.id})" for other in others)
            self._warn(f"{name!r} was taken for {exact[0].name} ({exact[0].id}), not for {told}")
        return exact or first

    def _called_first(self, name: str) -> list[Thing]:
        """Everybody of a first name, in the dossier or not: one who was cut from it may be meant as well."""
        if len(words(name)) != 1:
            return []
        near = [thing for thing in self._known if thing.type == PERSON and called_first(name, thing.names)]
        return _distinct([*near, *self._lookup.called_first(name)])

    def _warn(self, warning: str) -> None:
        if warning not in self.warnings:
            self.warnings.append(warning)

    def _create(self, name: str, admitted: Sequence[str], hint: str | None, default: str | None, place: str) -> Thing:
        type_name = self._new_type(name, admitted, hint, default, place)
        again = self._new.get((type_name, fold(name)))
        if again is not None:
            return again
        taken = [thing.key or "" for thing in self._new.values() if thing.type == type_name]
        while (key := key_for(name, taken)) and self._lookup.by_key(type_name, key) is not None:
            taken.append(key)
        thing = Thing(None, type_name, key, name)
        self._new[type_name, fold(name)] = thing
        alike = [known for known in self._known if known.type == type_name and are_alike(known.name, name)]
        if alike and type_name == PERSON:
            others = ", ".join(f"{known.name} ({known.id})" for known in alike)
            self._warn(f"{name} is new and kept apart from {others}")
        return thing

    def _new_type(self, name: str, admitted: Sequence[str], hint: str | None, default: str | None, place: str) -> str:
        known = {fold(word.name): word.name for word in self._vocabulary.types}
        named = known.get(fold(hint), hint) if hint else None
        if named and admitted and named not in admitted:
            named = None
        if named is None and len(admitted) == 1:
            named = admitted[0]
        named = named or default
        if named is None:
            choices = admitted or [word.name for word in self._vocabulary.types]
            raise Wrong(
                f"{name!r} is new, and its type is not said.", f"Set {place}_type to one of {', '.join(choices[:12])}."
            )
        if fold(named) not in known:
            if not _TYPE_NAME.fullmatch(named):
                raise Wrong(f"{named!r} is no type.", "Use a type of the vocabulary, or a new UpperCamelCase name.")
            self.drafted_types[named] = None
        return named


def _distinct(things: Any) -> list[Thing]:
    unique: Mapping[tuple[str, ...], Thing] = {thing.identity: thing for thing in things}
    return list(unique.values())
