"""The ends of tuples and references in a row: what is given, what may be stored for it, what a stored end binds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from brain.kip.algebra import Known, Term, Var
from brain.kip.execute.bindings import Binding, Row, end_key
from brain.kip.execute.frame import Frame
from brain.kip.execute.graph import element_keys
from brain.store.base import Kind, Scan


@dataclass(slots=True)
class End:
    """One end of a step.

    place  the cell of its variable; None when the end is fixed
    keys   of a fixed end: every spelling that agrees with it, merges resolved
    """

    frame: Frame
    place: int | None
    keys: frozenset[str]

    @classmethod
    def of(cls, term: Term, frame: Frame) -> End:
        if isinstance(term, Var):
            return cls(frame, frame.cells[term.name], frozenset())
        return cls(frame, None, frozenset(frame.graph.canonical(key) for key in _spellings(term, frame)))

    def given(self, row: Row) -> frozenset[str] | None:
        """The keys that agree with this end in a row, merges resolved; None when it is free.

        Empty when the variable holds what can be no end.
        """
        if self.place is None:
            return self.keys
        cell = row[self.place]
        if cell is None:
            return None
        key = end_key(cell)
        return frozenset() if key is None else frozenset((self.frame.graph.canonical(key),))

    def bind(self, row: Row, binding: Binding) -> Row | None:
        """The row with this end bound to what was found, its own variable kept when it was bound; None when it does
        not agree."""
        key = end_key(binding)
        if key is None:
            return None
        given = self.given(row)
        if given is not None:
            return row if self.frame.graph.canonical(key) in given else None
        assert self.place is not None  # noqa: S101 - a fixed end is always given
        extended = row.copy()
        extended[self.place] = self.frame.graph.resolved(binding) if isinstance(binding, str) else binding
        return extended


def stored(keys: Iterable[str], frame: Frame) -> frozenset[str]:
    """Every spelling under which ends that resolve to one of these may be stored."""
    return frozenset(frame.graph.same(keys))


def _spellings(term: Known, frame: Frame) -> frozenset[str]:
    if term.canonical_id is None:
        return term.keys
    carriers = frame.graph.scan(Scan(Kind.CONCEPT, canonical_id=term.canonical_id))
    return term.keys | element_keys(element.id for element in carriers)
