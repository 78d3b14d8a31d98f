"""Likes and dislikes of one thing, weighed against each other as one claim is against its denial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from brain.agents.turns import KnownClaim, RecallTurn
from brain.names import fold
from brain.store.base import ElementId

OPPOSITES = {
    "likes": ("dislikes",),
    "prefers": ("dislikes",),
    "interested_in": ("dislikes",),
    "dislikes": ("likes", "prefers", "interested_in"),
}
"""Predicates that say the contrary of one another about the same thing."""

_HOLDS = ("accepted", "disputed", "hearsay")


def with_opposites(turn: RecallTurn) -> RecallTurn:
    """The turn with every liking and dislike of one thing by one person weighed against each other.

    Of one speaker's words the later counts, and what it ended is former; a person's own word goes before what others
    say of them, which is then told as denied; what two others say is disputed.
    """
    changed = _weighed({claim.proposition_id: claim for entry in turn.dossier for claim in entry.claims})
    if not changed:
        return turn
    entries = (
        replace(entry, claims=tuple(changed.get(claim.proposition_id, claim) for claim in entry.claims))
        for entry in turn.dossier
    )
    return replace(turn, dossier=tuple(entries))


def _weighed(claims: Mapping[ElementId, KnownClaim]) -> dict[ElementId, KnownClaim]:
    """The claims that stand otherwise beside their opposite."""
    by_thing: dict[tuple[str, str], list[KnownClaim]] = {}
    for claim in claims.values():
        if claim.predicate in OPPOSITES and claim.standing in _HOLDS:
            by_thing.setdefault((claim.subject.id or claim.subject.name, fold(claim.object.name)), []).append(claim)
    changed = {}
    for same in by_thing.values():
        for claim in same:
            against = [other for other in same if other.predicate in OPPOSITES[claim.predicate]]
            if against:
                changed[claim.proposition_id] = _beside(claim, max(against, key=_weight))
    return changed


def _beside(claim: KnownClaim, other: KnownClaim) -> KnownClaim:
    """A claim as it stands when another says the contrary."""
    mine, theirs = _speaker(claim), _speaker(other)
    behind = (*claim.rests_on, other.assertion_id)
    if mine == theirs:
        if _weight(other) < _weight(claim):
            return claim
        until, until_text = other.since or other.said_at, other.since_text
        return replace(claim, standing="was", until=until, until_text=until_text, rests_on=behind)
    deniers = tuple(ref for ref in (other.by,) if ref)
    if theirs == other.subject.id:
        return replace(claim, standing="denied", against=deniers, rests_on=behind)
    if mine == claim.subject.id:
        return claim
    return replace(claim, standing="disputed", against=(*claim.against, *deniers), rests_on=behind)


def _speaker(claim: KnownClaim) -> str | None:
    return claim.by.id or claim.by.name if claim.by else None


def _weight(claim: KnownClaim) -> tuple[bool, str, int]:
    """What prevails: a person's own word, then what was said later."""
    return _speaker(claim) == claim.subject.id, claim.said_at or "", int(claim.assertion_id[2:])
