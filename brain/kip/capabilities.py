"""What this engine offers, name by name (KIP 2.0 §67): the one table behind DESCRIBE CAPABILITIES and `requires`.

A name is supported only when its behavior is built and tested. Turning one on means building it first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from brain.kip.context import Limits, Session

if TYPE_CHECKING:
    from brain.store.embedding import Embedder

CONFORMANCE_LEVEL = "KIP-Core"


@dataclass(frozen=True, slots=True)
class Capability:
    """One feature.

    is_supported  whether it is built
    note          what it does, or why it is not there
    needs         permissions of which a caller has to hold all to use it
    """

    is_supported: bool
    note: str
    needs: frozenset[str] = field(default_factory=frozenset)


def _on(note: str, *needs: str) -> Capability:
    return Capability(is_supported=True, note=note, needs=frozenset(needs))


def _off(note: str) -> Capability:
    return Capability(is_supported=False, note=note)


REGISTRY: Mapping[str, Capability] = {
    "artifacts": _off("Artifacts travel inside a request; there are no handles and no upload."),
    "atomic_batch": _on("Operations of one request can be one transaction."),
    "capsule_export": _on(
        "EXPORT CAPSULE seals a selection of one snapshot; Capsules are verified and validated.", "export", "read"
    ),
    "capsule_import": _off("Capsules are checked and an import previewed; none is taken in."),
    "capsule_signatures": _off("Capsules carry a digest and no signature."),
    "change_stream": _on("HISTORY and CHANGES give every commit's envelope.", "read_history"),
    "derive_permission": _off("Deriving needs the permissions of what it writes and no other."),
    "draft_vocabulary": _on("DEFINE adds Predicates and Concept Types to the Space's drafts.", "propose_schema"),
    "durable_brain_runtime": _off("Watches are looked at by settlement alone, and nothing is dispatched."),
    "exposure_log": _on("What a recall showed and a decision used is logged beside memory.", "read_audit"),
    "filtered_delivery": _off("CHANGES takes no filter; each caller gets all it may know of."),
    "historical_reads": _on("AS OF SEQ reads every kept commit with the vocabulary of its time.", "read"),
    "historical_search": _on("AS OF SEQ searches what was there then, as it was found then.", "search"),
    "hybrid_search": _off("There is no embedder to combine keywords with."),
    "idempotency_retention": _on("Outcomes are kept under their idempotency key for the stated time."),
    "identity_repair": _off("A merge cannot be withdrawn."),
    "kip1_migration": _off("KIP 1.x data is not read."),
    "memory_interface": _off("The binding memory_basic is described, and its requests are not served yet."),
    "prospective_trials": _off("Skills are not put on trial."),
    "receiver_fencing": _off("Nothing is dispatched, so no receiver checks a fence."),
    "record_outcome_permission": _on(
        "Outcome Evidence and its Activities need a permission of their own.", "record_outcome"
    ),
    "recording_repair": _on("Who recorded a claim wrongly can take the recording back.", "repair_recording"),
    "search_index_freshness": _on("The index changes in the transaction of the write.", "search"),
    "semantic_search": _off("There is no embedder."),
    "serializable_isolation": _on("A Space has one writer at a time."),
    "signed_receipts": _off("Receipts carry a digest and no signature."),
    "streaming": _off("An answer is one response."),
    "watch_evaluation": _on("Settlement compares structured Watch conditions with every commit."),
    "weighted_projection": _off("No policy weighs trust."),
}
"""The names of the registry of §67.4, for an engine without an embedder."""

WITH_EMBEDDER: Mapping[str, Capability] = {
    "hybrid_search": _on('MODE "hybrid" fuses the rankings by words and by likeness.', "search"),
    "search_index_freshness": _on(
        "Words change in the transaction of the write; vectors follow, and an answer says how far they are.", "search"
    ),
    "semantic_search": _on('MODE "semantic" ranks by the likeness of texts.', "search"),
}
"""What an embedder changes in the registry."""

LOCAL: Mapping[str, Capability] = {
    "belief_slot": _on("BELIEF SLOT weighs the values of one slot.", "project"),
    "draft_hints": _on("An unknown name is answered with the nearest known ones."),
    "dependency_validity": _on("A derived claim is only as good as the versions it pins.", "project"),
    "governed_visibility": _on("What a caller may not know of is absent from every answer."),
    "governance_policies": _on("Grants, delegations, bindings, labels and approvals, changed by hosts."),
    "ingestion_context": _on("A request can bring the observation its writes cite."),
    "keyword_search": _on("SEARCH and the Search Pattern match words.", "search"),
    "list_dependents": _on("LIST DEPENDENTS follows Activities from inputs to outputs.", "read"),
    "materialized_projection": _on("Belief is worked out on every read; nothing is served from a cache."),
    "payload_purge": _on("PURGE PAYLOAD takes the bytes and keeps the record.", "purge"),
}
"""Names of this engine's own; another engine may not know them."""


def registry(embedder: Embedder | None) -> Mapping[str, Capability]:
    """The registry of an engine with this embedder."""
    return REGISTRY if embedder is None else {**REGISTRY, **WITH_EMBEDDER}


def search_modes(embedder: Embedder | None) -> list[str]:
    """The search modes offered."""
    return ["keyword"] if embedder is None else ["keyword", "semantic", "hybrid"]


def is_held(name: str, embedder: Embedder | None = None) -> bool | None:
    """Whether a capability a request requires is offered; None for a name nobody here knows."""
    found = registry(embedder).get(name) or LOCAL.get(name)
    return None if found is None else found.is_supported


def describe(session: Session, limits: Limits, embedder: Embedder | None = None) -> dict[str, dict[str, Any]]:
    """The registry's names with `supported`, `available` to this caller, `note`, and `value` where one is defined."""
    return _shown(registry(embedder), session, values(limits, embedder))


def describe_local(session: Session) -> dict[str, dict[str, Any]]:
    """The same for this engine's own names."""
    return _shown(LOCAL, session, {})


def values(limits: Limits, embedder: Embedder | None = None) -> dict[str, Any]:
    """What the capabilities with a value are set to."""
    freshness = {"mode": "synchronous"}
    if embedder is not None:
        freshness |= {"semantic": "eventual", "hybrid": "eventual"}
    return {
        "idempotency_retention": {"seconds": limits.idempotency_retention_ms // 1000},
        "search_index_freshness": freshness,
    }


def _shown(table: Mapping[str, Capability], session: Session, values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        name: {
            "supported": capability.is_supported,
            "available": capability.is_supported and capability.needs <= session.permissions,
            "note": capability.note,
            **({"value": values[name]} if name in values else {}),
        }
        for name, capability in table.items()
    }
