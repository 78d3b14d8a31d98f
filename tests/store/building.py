"""Elements, commits and Spaces for tests of stores: just enough of each shape, made in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from brain.store.base import Commit, Document, Element, ElementId, Kind, SpaceStore, Transaction
from brain.times import Seq, timestamp

MEMORY = "kip://profiles/memory"
PERSON = f"{MEMORY}/Person"
PLACE = f"{MEMORY}/Place"
KNOWS = f"{MEMORY}/knows"
LIVES_IN = f"{MEMORY}/lives_in"
FRIENDS = f"{MEMORY}/friends"

KIND_OF_LETTER = {kind.letter: kind for kind in Kind}


def symbol(lineage: str, version: str = "1.0.0") -> str:
    """The exact reference of a lineage's symbol in one version of its package."""
    path, name = lineage.rsplit("/", 1)
    return f"{path}@{version}/{name}"


def ref(element_id: ElementId) -> dict[str, str]:
    return {"id": element_id}


def element(element_id: ElementId, /, *, version: int = 1, state: str = "active", **members: Any) -> Element:
    """An element of the kind its id tells, with these members beside the envelope."""
    kind = KIND_OF_LETTER[element_id[0]]
    system = {"version": version, "state": state}
    body = {"id": element_id, "kind": kind.value, "space_id": "kip:space:demo", "_system": system, **members}
    return Element(element_id, kind, body)


def concept(element_id: ElementId, /, lineage: str = PERSON, **members: Any) -> Element:
    return element(element_id, **{"schema_ref": symbol(lineage), **members})


def proposition(element_id: ElementId, subject: ElementId, predicate: str, object_: Any, /, **members: Any) -> Element:
    return element(element_id, subject=ref(subject), predicate_ref=symbol(predicate), object=object_, **members)


def assertion(element_id: ElementId, about: ElementId, by: ElementId, /, **members: Any) -> Element:
    claim = {"stance": "support", "mode": "stated", "asserted_at": timestamp(0), "lifecycle": {"status": "active"}}
    return element(element_id, proposition=ref(about), asserted_by=ref(by), **(claim | members))


def evidence(element_id: ElementId, text: Any, /, **members: Any) -> Element:
    observed = {
        "evidence_class": "message",
        "payload": {"mode": "inline", "inline": text},
        "content_digest": "sha256:" + "0" * 64,
        "observed_at": timestamp(0),
        "lifecycle": {"status": "active"},
    }
    return element(element_id, **(observed | members))


def activity(element_id: ElementId, class_: str, /, **members: Any) -> Element:
    return element(
        element_id, **({"activity_class": class_, "status": "completed", "inputs": [], "outputs": []} | members)
    )


def stub(of: Element, **members: Any) -> Element:
    """What a purge leaves of an element."""
    kept = {name: of.body[name] for name in ("schema_ref", "predicate_ref") if name in of.body}
    return element(of.id, version=of.version + 1, state="purged", **(kept | members))


def commit_of(seq: Seq, **members: Any) -> Commit:
    """The record of commit `seq`, made `seq` seconds after the epoch."""
    tx_id = f"kip:space:demo#{seq}"
    entry: Document = {"space_seq": seq, "tx_id": tx_id, **members}
    return Commit(seq, tx_id, timestamp(seq * 1000), {**entry, "of": "record"}, {**entry, "of": "envelope"})


def write(
    space: SpaceStore, *elements: Element, client_keys: Mapping[ElementId, str] | None = None, **controls: Document
) -> Seq:
    """Commit elements and control documents; the commit's sequence."""
    with space.transaction() as transaction:
        return write_in(transaction, elements, client_keys=client_keys, controls=controls)


def write_in(
    transaction: Transaction,
    elements: Iterable[Element],
    *,
    client_keys: Mapping[ElementId, str] | None = None,
    controls: Mapping[str, Document] | None = None,
) -> Seq:
    """Put elements and record the commit in an open transaction; the commit's sequence."""
    transaction.put(list(elements), client_keys=client_keys)
    for name, document in (controls or {}).items():
        transaction.put_control(name, document)
    transaction.record(commit_of(transaction.seq + 1))
    return transaction.seq + 1


def erase(space: SpaceStore, *stubs: Element) -> Seq:
    """Commit the erasure of elements; the commit's sequence."""
    with space.transaction() as transaction:
        transaction.erase(stubs)
        transaction.record(commit_of(transaction.seq + 1))
        return transaction.seq + 1
