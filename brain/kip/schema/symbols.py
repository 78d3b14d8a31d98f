"""The symbols of one kind in one environment, by local name, exact reference or lineage (KIP 2.0 §20.6, §20.14)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher

from brain import errors
from brain.ids import lineage_of, parse_symbol
from brain.kip.schema.definitions import SPOKEN, Definition, SymbolKind

_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")
_LISTING = {"concept_type": "LIST TYPES", "predicate": "LIST PREDICATES", "facet": "LIST FACETS"}
_ALIKE = 0.6
_MOST_NEAREST = 10
_REMEMBERED = 256
"""Wrong names whose nearest symbols are remembered: a block of many clauses has the same one in each."""


class SymbolTable:
    """The readable symbols of one kind.

    Lineages joined by a rename or a promotion form one population; the one that stands for it is the last successor.
    """

    def __init__(
        self,
        kind: SymbolKind,
        readable: Iterable[Definition],
        writable: Mapping[str, Definition],
        successors: Mapping[str, str],
        aliases: Mapping[str, str],
    ) -> None:
        """
        readable    every definition of every readable package version
        writable    lineage to the definition new elements bind to
        successors  lineage to the lineage it was renamed or promoted to
        aliases     further local names, each to a lineage
        """
        self.kind = kind
        self._writable = writable
        self._nearest: dict[str, tuple[Definition, ...]] = {}
        self._exact = {definition.symbol.ref: definition for definition in sorted(readable, key=_ref)}
        members: dict[str, set[str]] = {}
        self._canonical: dict[str, str] = {}
        for lineage in {*(definition.symbol.lineage for definition in self._exact.values()), *successors}:
            last = _last(lineage, successors)
            self._canonical[lineage] = last
            members.setdefault(last, {last}).add(lineage)
        self._members = {last: frozenset(group) for last, group in members.items()}
        names: dict[str, set[str]] = {}
        for lineage, last in self._canonical.items():
            names.setdefault(lineage.rsplit("/", 1)[1], set()).add(last)
        for alias, lineage in aliases.items():
            names.setdefault(alias, set()).add(self._canonical.get(lineage, lineage))
        self._names = {name: tuple(sorted(found)) for name, found in names.items()}

    def definitions(self) -> tuple[Definition, ...]:
        """All of them, sorted by reference."""
        return tuple(self._exact.values())

    def exact(self, ref: str) -> Definition:
        """The definition an exact reference names, whichever version; SchemaSymbolNotFound otherwise."""
        found = self._exact.get(ref)
        if found is None:
            raise self._missing(ref)
        return found

    def resolve(self, name: str) -> str:
        """The lineage that stands for what a local name or an exact reference names."""
        if "://" in name:
            if parse_symbol(name) is None:
                raise errors.InvalidIdentifier(f"{name!r} is not an exact symbol reference.")
            if name not in self._exact:
                raise self._missing(name)
            return self._canonical[lineage_of(name)]
        found = self._names.get(name, ())
        if not found:
            raise self._missing(name)
        if len(found) > 1:
            candidates = sorted(self._written(lineage) for lineage in found)
            raise errors.SchemaSymbolAmbiguous(
                f"More than one active package defines the {SPOKEN[self.kind]} {name}.",
                hint=f"Write one of {' or '.join(candidates)}.",
                details={"name": name, "kind": self.kind, "candidates": candidates},
            )
        return found[0]

    def write_version(self, name: str) -> Definition:
        """What a new element of this name binds to."""
        lineage = self.resolve(name)
        found = self._writable.get(lineage)
        if found is None:
            raise errors.SchemaSymbolNotFound(
                f"The {SPOKEN[self.kind]} {name} takes no new elements: it was retired or its package only reads.",
                details={"name": name, "kind": self.kind},
            )
        return found

    def lineages(self, name: str) -> frozenset[str]:
        """Every lineage that matches as one with the named symbol."""
        return self._members[self.resolve(name)]

    def group(self, lineage: str) -> frozenset[str]:
        """Every lineage that matches as one with this one; an unknown one stands alone."""
        return self._members.get(self._canonical.get(lineage, lineage), frozenset((lineage,)))

    def canonical(self, lineage: str) -> str:
        """The lineage that stands for all that match as one with this one."""
        return self._canonical.get(lineage, lineage)

    def names(self, name: str) -> tuple[str, ...]:
        """The lineages a local name could mean: none, one, or several when it is ambiguous."""
        return self._names.get(name, ())

    def nearest(self, name: str, count: int) -> tuple[Definition, ...]:
        """The writable symbols most alike to a name, best first; nothing when none is."""
        wanted = lineage_of(name).rsplit("/", 1)[-1][:_LONGEST_LIKENESS]
        found = self._nearest.get(wanted)
        if found is None:
            scored = [(_alikeness(wanted, definition), definition) for definition in self._writable.values()]
            scored.sort(key=lambda pair: (-pair[0], pair[1].symbol.ref))
            found = tuple(definition for score, definition in scored[:_MOST_NEAREST] if score >= _ALIKE)
            if len(self._nearest) < _REMEMBERED:
                self._nearest[wanted] = found
        return found[:count]

    def _written(self, lineage: str) -> str:
        found = self._writable.get(lineage)
        if found is not None:
            return found.symbol.ref
        return next(d.symbol.ref for d in self._exact.values() if self._canonical[d.symbol.lineage] == lineage)

    def _missing(self, name: str) -> errors.SchemaSymbolNotFound:
        near = [definition.symbol for definition in self.nearest(name, 3)]
        shown = [s.name if len(self.names(s.name)) == 1 else s.ref for s in near]
        advice = f"Did you mean {' or '.join(shown)}? " if shown else ""
        listing = _LISTING.get(self.kind, "LIST STRUCTURAL FIELDS")
        return errors.SchemaSymbolNotFound(
            f"No active package of this Space defines the {SPOKEN[self.kind]} {name!r}.",
            hint=f"{advice}{listing} shows every name"
            + ("." if self.kind in ("facet", "structural_field") else "; DEFINE adds a new one."),
            details={"name": name, "kind": self.kind, "nearest": [symbol.ref for symbol in near]},
        )


def _ref(definition: Definition) -> str:
    return definition.symbol.ref


def _last(lineage: str, successors: Mapping[str, str]) -> str:
    seen = {lineage}
    while (following := successors.get(lineage)) is not None and following not in seen:
        lineage = following
        seen.add(lineage)
    return lineage


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


_LONGEST_LIKENESS = 200
"""Characters of an unknown name that are compared; comparing takes time with the square of their number."""


def _alikeness(wanted: str, definition: Definition) -> float:
    """0 to 1: the best of spelling, shared words, and the names people also use for the symbol."""
    own = definition.symbol.name
    hints = definition.wire.get("model_hints") or {}
    also = hints.get("also_called", ())
    return max(
        _spelling(wanted, own),
        _shared(wanted, own),
        *(0.95 * max(_spelling(wanted, name), _shared(wanted, name)) for name in also),
    )


def _spelling(wanted: str, name: str) -> float:
    return SequenceMatcher(None, " ".join(_words(wanted)), " ".join(_words(name)), autojunk=False).ratio()


def _shared(wanted: str, name: str) -> float:
    ours, theirs = set(_words(name)), set(_words(wanted))
    small = {"has", "is", "of", "in", "for", "to", "a", "the", "at", "by", "on"}
    ours, theirs = ours - small or ours, theirs - small or theirs
    if not theirs:
        return 0.0
    common = len(ours & theirs)
    return 0.45 * (common / len(ours | theirs) + common / len(theirs))
