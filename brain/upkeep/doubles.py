"""People of one name under several ids: to be looked at by maintenance, never merged on their names alone.

Everybody is read once; a later look in the same process reads whoever has changed since. What is kept in between are
digests of names, so that nothing of somebody who was erased stays in memory, and what they point to is read again.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

from brain.kip.pipeline import Engine
from brain.names import fold
from brain.store.base import ElementId, element_number
from brain.times import Seq
from brain.upkeep.parts import Work

_PEOPLE = 5_000
"""That are read at a time: everybody at first, those who have changed later."""

_KEPT = 4 * _PEOPLE
_GROUPS = 20
_READ_AGAIN = 200

_ALL = f'FIND(?p.id, ?p.name) WHERE {{ ?p {{type: "Person"}} }} LIMIT {_PEOPLE}'
_CHANGED = f'FIND(?p.id, ?p.name) WHERE {{ ?p {{type: "Person"}} FILTER(?p._system.space_seq > :seq) }} LIMIT {_PEOPLE}'
_AGAIN = 'FIND(?p.id, ?p.name) WHERE { ?p {type: "Person"} FILTER(IN(?p.id, :ids)) }'


@dataclass(slots=True)
class _Known:
    """What the names of a Space's people came to, up to a sequence."""

    seq: Seq
    people: dict[ElementId, bytes] = field(default_factory=dict)

    def note(self, rows: Iterable[tuple[ElementId, Any]]) -> None:
        for element_id, name in rows:
            if name and not name.startswith("unnamed "):
                self.people[element_id] = blake2b(fold(name).encode("utf-8", "surrogatepass"), digest_size=8).digest()
            else:
                self.people.pop(element_id, None)

    def shared(self) -> list[list[ElementId]]:
        """Ids that seem to be of one name, oldest first."""
        groups: dict[bytes, list[ElementId]] = {}
        for element_id in sorted(self.people, key=element_number):
            groups.setdefault(self.people[element_id], []).append(element_id)
        return [ids for ids in groups.values() if len(ids) > 1]


_KNOWN: MutableMapping[Engine, _Known] = WeakKeyDictionary()
"""Of open Spaces; each goes with its engine."""


def doubles(work: Work) -> list[dict[str, Any]]:
    """Names that several people have, and their ids, oldest first."""
    engine = work.space.engine
    seq = engine.space.head()
    known = _KNOWN.get(engine)
    changed = work.read(_CHANGED, seq=known.seq) if known is not None else ()
    if known is None or len(changed) == _PEOPLE or len(known.people) + len(changed) > _KEPT:
        known, changed = _Known(seq), work.read(_ALL)
    known.note(changed)
    known.seq = seq
    _KNOWN[engine] = known
    suspects = list(islice((i for ids in known.shared() for i in ids), _READ_AGAIN))
    return _of_one_name(suspects, work, known)[:_GROUPS]


def _of_one_name(ids: list[ElementId], work: Work, known: _Known) -> list[dict[str, Any]]:
    """People of one name among some, as they are now; those who are no more are forgotten."""
    found: dict[ElementId, Any] = dict(work.read(_AGAIN, ids=ids)) if ids else {}
    known.note((i, found.get(i)) for i in ids)
    named: dict[str, list[ElementId]] = {}
    for element_id in ids:
        if element_id in known.people:
            named.setdefault(fold(found[element_id]), []).append(element_id)
    return [{"name": name, "ids": same} for name, same in named.items() if len(same) > 1]
