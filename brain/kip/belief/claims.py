"""Assertions read as claims: whether one takes part, who says it, what it goes back to (§21.10, §23.3, §25.3)."""

from __future__ import annotations

from brain.kip.belief.dependency import is_quarantined, is_recording_invalidated
from brain.kip.belief.identity import Identity
from brain.kip.belief.intervals import WrittenTime, written_time
from brain.kip.belief.model import Claim, Dependency
from brain.kip.belief.request import BeliefRequest
from brain.kip.belief.roots import Provenance
from brain.store.base import Document, Element, ElementId


def exclusion(assertion: Element, request: BeliefRequest, identity: Identity) -> str | None:
    """Why a claim takes no part in a projection, apart from its Evidence and its time; None when it does."""
    body = assertion.body
    lifecycle: str = body["lifecycle"]["status"]
    if assertion.state != "active":
        return assertion.state
    if is_quarantined(body):
        return "quarantined"
    if is_recording_invalidated(body):
        return "recording_invalidated"
    if lifecycle != "active":
        return lifecycle
    if body["mode"] not in request.modes:
        return "mode_not_eligible"
    return None if contexts_of(body, identity).issubset(request.context_refs) else "context_mismatch"


def read_claim(
    assertion: Element,
    label: str,
    identity: Identity,
    excluded: str | None,
    provenance: Provenance,
    dependency: Dependency | None,
) -> Claim:
    """One claim about the value `label` stands for; one whose Evidence was all corrected or put in quarantine is
    excluded here."""
    body = assertion.body
    evidence = cited(body)
    standing = [item for item in evidence if not provenance.is_out(item)]
    if excluded is None and evidence and not standing:
        corrected = all(map(provenance.is_corrected, evidence))
        excluded = "evidence_corrected" if corrected else "evidence_quarantined"
    is_inferred = body["mode"] == "inferred"
    actor = identity.resolve(body["asserted_by"]["id"])
    starts = standing + (provenance.producers.get(assertion.id, []) if is_inferred else [])
    return Claim(
        id=assertion.id,
        proposition=body["proposition"]["id"],
        label=label,
        actor=actor,
        contexts=contexts_of(body, identity),
        stance=body["stance"],
        mode=body["mode"],
        confidence=body.get("confidence"),
        time=time_of(body),
        evidence=evidence,
        roots=_roots(body, actor, provenance.roots(starts, identity), has_upstream=bool(starts)),
        is_derived=is_inferred or bool(standing and all(provenance.is_derived(item) for item in standing)),
        excluded=excluded,
        dependency=dependency,
    )


def _roots(body: Document, actor: ElementId, upstream: frozenset[str], *, has_upstream: bool) -> frozenset[str]:
    """A claim's roots with its actor's voice, which alone is not enough where its provenance leads nowhere."""
    if has_upstream and not upstream:
        return frozenset()
    import_id = body["_system"]["origin"].get("import_id")
    return upstream | {actor, f"import:{import_id}"} if import_id else upstream | {actor}


def contexts_of(body: Document, identity: Identity) -> frozenset[ElementId]:
    """A claim's context set, merges resolved."""
    return frozenset(identity.resolve(ref["id"]) for ref in body.get("context_refs", ()))


def time_of(body: Document) -> WrittenTime:
    """What an Assertion itself says of its time."""
    return written_time(body.get("valid_time"), body["asserted_at"])


def cited(body: Document) -> tuple[ElementId, ...]:
    """Evidence that a claim cites in its own support, each once; challenges and context carry no claim."""
    found = (item["id"] for item in body.get("evidence", ()) if item.get("role", "support") == "support")
    return tuple(dict.fromkeys(found))
