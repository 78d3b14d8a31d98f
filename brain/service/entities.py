"""Single elements by name, for hosts: pinned, forgotten, and the Person a user is known as (API §4.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brain.ids import is_element_id
from brain.service import ledger, probe
from brain.service.failures import Busy, InvalidInput, Unavailable
from brain.service.hosting import HostRefused, host_write
from brain.service.queue import Queue
from brain.service.spaces import OpenSpace
from brain.store.base import Document, Kind
from brain.times import Clock

PINNED = "pinned"
MOST_FORGOTTEN = 100

_ORDINARY = "standard"
"""The retention class of what was unpinned and had none before."""

_PINS = "pinned_before"
_ORDER = "AXPEC"
"""What refers comes before what it refers to, so that what is forgotten together is no reason to keep itself."""

_BY_LETTER = {kind.letter: kind for kind in Kind}
_COUNTED = {
    Kind.CONCEPT: "deleted_concepts",
    Kind.PROPOSITION: "deleted_propositions",
    Kind.ASSERTION: "deleted_assertions",
    Kind.EVIDENCE: "deleted_evidence",
    Kind.ACTIVITY: "deleted_activities",
}


def pin(space: OpenSpace, entity: str, is_pinned: bool) -> dict[str, Any]:
    """Keep one element out of retention archival, or no longer (MemoryPinOutput); belief does not change by it.

    raises  InvalidInput for what is no element of this Space
    """
    _check_ids([entity])
    with space.snapshot() as now:
        found = now.elements([entity]).get(entity)
        before = now.get(_PINS, entity)
    if found is None or found.state == "purged":
        raise InvalidInput(f"there is no element {entity} in this space")
    held = (found.body.get("retention") or {}).get("retention_class")
    if (held == PINNED) is is_pinned:
        return {"entity": entity, "pinned": is_pinned, "updated": 0}
    wanted = PINNED if is_pinned else ((before or {}).get("class") or _ORDINARY)
    with space.transaction() as tx:
        # Written first: a class that was noted and not changed does no harm, and the other way round it would be lost.
        if is_pinned:
            tx.set(_PINS, entity, {"class": held})
        else:
            tx.delete(_PINS, entity)
    try:
        host_write(space.engine, "SET RETENTION :id {retention_class: :class}", {"id": entity, "class": wanted})
    except HostRefused as refused:
        raise InvalidInput(refused.error["message"]) from refused
    return {"entity": entity, "pinned": is_pinned, "updated": 1}


def forget(
    space: OpenSpace, entities: Sequence[str], *, is_dry_run: bool, queue: Queue, clock: Clock
) -> dict[str, Any]:
    """Purge these elements together, as far as holds and references to them allow (MemoryForgetReport).

    Only what is named goes. Conversations and documents beside the graph have lives of their own.

    raises  InvalidInput for more than 100; Busy while a maintenance cycle is at work, which might write back what it
            has read (a dry run is answered)
    """
    named = list(dict.fromkeys(entities))
    if len(named) > MOST_FORGOTTEN:
        raise InvalidInput(f"at most {MOST_FORGOTTEN} entities are forgotten at a time")
    _check_ids(named)
    with space.snapshot() as now:
        if not is_dry_run and queue.is_maintaining(now):
            raise Busy("a maintenance cycle is at work in this space; try again when it has ended")
        there = {found.id for found in now.elements(named).values() if found.state != "purged"}
    faults = {entity: "there is no such element in this space" for entity in named if entity not in there}
    going = sorted(there, key=lambda entity: _ORDER.index(entity[0]))
    changes = _purge(space, going, faults, is_dry_run=is_dry_run)
    gone = [change["kind"] for change in changes if change["op"] == "purge"]
    if gone and not is_dry_run:
        with space.transaction() as tx:
            probe.forget_misses(tx)
            ledger.add_metrics(tx, clock.now_ms(), forgotten_entities=len(gone))
    told = [
        {"entity": entity, "existed": entity in there, **({"error": faults[entity]} if entity in faults else {})}
        for entity in named
    ]
    counts = {name: gone.count(kind.value) for kind, name in _COUNTED.items()}
    return {"dry_run": is_dry_run, **counts, "entities": told}


def _purge(
    space: OpenSpace, going: list[str], faults: dict[str, str], *, is_dry_run: bool
) -> Sequence[Mapping[str, Any]]:
    """Purge all that can be purged together, in one transaction; what cannot is added to the faults."""
    while going:
        clauses = " ".join(f'PURGE :e{place} CONFIRM "PURGE"' for place in range(len(going)))
        bound = {f"e{place}": {"id": entity} for place, entity in enumerate(going)}
        try:
            result = host_write(space.engine, f"MUTATE {{ {clauses} }}", bound, is_dry_run=is_dry_run)
        except HostRefused as refused:
            told = refused.error.get("details", {}).get("faults") or [{**refused.error, "clause": 0}]
            for fault in told:
                faults.setdefault(going[fault.get("clause", 0)], fault["message"])
            going = [entity for entity in going if entity not in faults]
            continue
        changes: Sequence[Mapping[str, Any]] = result["changes"]
        return changes
    return []


def get_or_init_user(space: OpenSpace, user: str, name: str | None) -> Document:
    """The Person of this key, made when there is none; a name that is given is theirs from now on."""
    key = user.strip()
    if not key:
        raise InvalidInput("user is blank")
    if key.startswith("$"):
        raise InvalidInput("keys that begin with $ are the service's own")
    found = _person(space, key)
    if found is None:
        try:
            host_write(
                space.engine,
                'CREATE CONCEPT ?user { TYPE "Person" NAME :name SET FIELDS {key: :key} }',
                {"name": name or key, "key": key},
            )
        except HostRefused as refused:
            if _person(space, key) is None:
                raise InvalidInput(refused.error["message"]) from refused
        found = _person(space, key)
    if found is not None and name is not None and found.get("name") != name:
        host_write(space.engine, "UPDATE :id SET FIELDS {name: :name}", {"id": {"id": found["id"]}, "name": name})
        found = _person(space, key)
    if found is None:
        raise Unavailable("the user's record changed meanwhile; send the same request again")
    return found


def _person(space: OpenSpace, key: str) -> Document | None:
    found: list[Document] = host_write(space.engine, 'FIND(?c) WHERE { ?c {type: "Person", key: :key} }', {"key": key})
    return found[0] if found else None


def _check_ids(entities: Sequence[str]) -> None:
    for entity in entities:
        if not (is_element_id(entity) and entity[0] in _BY_LETTER):
            raise InvalidInput(f"{entity[:64]!r} is no element id; ids look like C-7, P-3, A-2, E-1 or X-4")
