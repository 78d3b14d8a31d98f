"""Watches, read: what one waits for, since when, and which change is it (Cognitive Memory Profile §5.11).

A condition is a filter over the entries of change envelopes, so it is decided without reading what the changed elements
say. What only a text states is for a reader of text, not for this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain import errors
from brain.ids import digest, is_element_id, lineage_of
from brain.kip.belief.identity import Identity
from brain.kip.schema import Environment
from brain.store.base import Commit, Document, Element, ElementId, Snapshot
from brain.times import Seq, Timestamp

ARMED = "armed"

_SELECTORS = ("element", "slot", "type")
_MEMBERS = frozenset({*_SELECTORS, "ops", "text", "touched"})
_OPERATIONS = frozenset({"create", "lifecycle", "merge", "payload_purge", "purge", "retention", "update"})


@dataclass(frozen=True, slots=True)
class Slot:
    """Claims about one subject under one Predicate, whatever their value."""

    subject: ElementId
    predicates: frozenset[str]


@dataclass(frozen=True, slots=True)
class Condition:
    """A structured condition: everything given has to hold of one entry; None restricts nothing.

    types    lineages of Concept Types
    ops      operations, of which the entry's is one
    touched  names, of which the entry touched one
    """

    element: ElementId | None
    slot: Slot | None
    types: frozenset[str] | None
    ops: frozenset[str] | None
    touched: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Arming:
    """The last time a Watch was armed.

    generation  grows each time it is armed, and each time what it waits for changes while it is
    seq         of the commit that armed it: what it covers begins behind
    """

    generation: int
    seq: Seq


@dataclass(frozen=True, slots=True)
class Match:
    """A change that was waited for: the commit, and the element that changed."""

    seq: Seq
    element: ElementId


def fire_key(watch: ElementId, generation: int, *, seq: Seq) -> str:
    """The client key of the Activity that says a change fired a Watch."""
    return f"watch_fire:{watch}:{generation}:{seq}"


def silence_key(watch: ElementId, generation: int, *, due_at: Timestamp) -> str:
    """The same for a time that passed without one."""
    return f"watch_fire:{watch}:{generation}:silence:{due_at}"


def condition_of(value: Any, environment: Environment) -> Condition | None:
    """A stored condition; None when nothing but a text states it.

    raises  ConstraintViolation for what is no condition, SchemaSymbolNotFound and SchemaSymbolAmbiguous for a name
    """
    if isinstance(value, str):
        return None
    if not isinstance(value, Mapping) or value.keys() - _MEMBERS:
        raise errors.ConstraintViolation(
            "A Watch's condition is an object of element, slot, type, ops, touched and text.", details={"found": value}
        )
    if not any(name in value for name in _SELECTORS):
        if "text" in value:
            return None
        raise errors.ConstraintViolation("A condition says what is watched: an element, a slot or a type.")
    element = value.get("element")
    if element is not None and not (isinstance(element, str) and is_element_id(element)):
        raise errors.ConstraintViolation("element of a condition is the id of an element.", details={"found": element})
    ops = _names(value, "ops")
    if ops is not None and ops - _OPERATIONS:
        raise errors.ConstraintViolation(
            f"No change is called {min(ops - _OPERATIONS)}.", hint=f"Changes: {', '.join(sorted(_OPERATIONS))}."
        )
    types = None
    if "type" in value:
        types = _group(
            environment, "concept_type", environment.concept_type(_text(value["type"], "type")).symbol.lineage
        )
    return Condition(element, _slot(value.get("slot"), environment), types, ops, _names(value, "touched"))


def arming(versions: Sequence[tuple[Seq, Element]]) -> Arming | None:
    """How a Watch stands armed after its versions, oldest first; None when it does not.

    It follows from the record of the Watch alone, so whoever works it out comes to the same, and nobody can claim an
    older arming than the last.
    """
    generation, armed_at, waiting_for = 0, None, None
    for seq, element in versions:
        attributes: Document = element.body.get("attributes") or {}
        if element.state != "active" or attributes.get("status") != ARMED:
            armed_at = None
            continue
        now = digest({name: attributes.get(name) for name in ("condition", "due_at", "watch_class")})
        if armed_at is None or now != waiting_for:
            generation, armed_at, waiting_for = generation + 1, seq, now
    return None if armed_at is None else Arming(generation, armed_at)


def first_match(condition: Condition, commits: Iterable[Commit], snapshot: Snapshot) -> Match | None:
    """The first entry a condition holds of, commit by commit.

    snapshot  where merges and Propositions are looked up
    """
    identity = Identity(snapshot.merges())
    for commit in commits:
        entries = [entry for entry in commit.envelope["changes"] if _meets(condition, entry, identity)]
        if condition.slot is not None:
            entries = _of_slot(condition.slot, entries, identity, snapshot)
        if entries:
            return Match(commit.seq, entries[0]["id"])
    return None


def _meets(condition: Condition, entry: Document, identity: Identity) -> bool:
    """Everything but the slot, for which Propositions have to be read."""
    same_element = condition.element is None or identity.resolve(condition.element) == identity.resolve(entry["id"])
    ref = entry.get("schema_ref")
    return (
        same_element
        and (condition.types is None or (ref is not None and lineage_of(ref) in condition.types))
        and (condition.ops is None or entry["op"] in condition.ops)
        and (condition.touched is None or not condition.touched.isdisjoint(entry.get("touched", ())))
    )


def _of_slot(slot: Slot, entries: Sequence[Document], identity: Identity, snapshot: Snapshot) -> list[Document]:
    about = {entry["id"]: entry.get("refs", {}).get("proposition") for entry in entries if entry["kind"] == "assertion"}
    propositions = snapshot.elements({found for found in about.values() if found is not None})
    subject = identity.resolve(slot.subject)
    return [
        entry
        for entry in entries
        if (proposition := propositions.get(about.get(entry["id"]) or "")) is not None
        and "subject" in proposition.body
        and identity.resolve(proposition.body["subject"]["id"]) == subject
        and lineage_of(proposition.body["predicate_ref"]) in slot.predicates
    ]


def _slot(value: Any, environment: Environment) -> Slot | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or value.keys() != {"predicate", "subject"}:
        raise errors.ConstraintViolation("slot of a condition has a subject and a predicate.", details={"found": value})
    subject = value["subject"]
    if not (isinstance(subject, str) and is_element_id(subject)):
        raise errors.ConstraintViolation("The subject of a slot is the id of an element.", details={"found": subject})
    predicate = environment.predicate(_text(value["predicate"], "predicate")).symbol.lineage
    return Slot(subject, _group(environment, "predicate", predicate))


def _group(environment: Environment, kind: Any, lineage: str) -> frozenset[str]:
    return environment.group(kind, lineage) | {lineage}


def _names(value: Mapping[str, Any], member: str) -> frozenset[str] | None:
    """One name or several; an empty list restricts to nothing, as it says."""
    if member not in value:
        return None
    found = value[member]
    names = [found] if isinstance(found, str) else found
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise errors.ConstraintViolation(f"{member} of a condition is an array of names.", details={"found": found})
    return frozenset(names)


def _text(value: Any, member: str) -> str:
    if not isinstance(value, str) or not value:
        raise errors.ConstraintViolation(f"{member} of a condition is a name.", details={"found": value})
    return value
