"""The precedence rules that may settle a conflict of one slot (§21.13): the first rule with a clear winner decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from brain.kip.belief.model import Claim
from brain.kip.belief.policies import RuleName
from brain.store.base import ElementId


@dataclass(frozen=True, slots=True)
class Rival:
    """A candidate of a conflict: its label and the supporting claims that count (at least one)."""

    label: str
    support: tuple[Claim, ...]


def prevailing(rules: Sequence[RuleName], rivals: Sequence[Rival], subject: ElementId) -> tuple[RuleName, str] | None:
    """The rule that decides and the label of the candidate that beats every other under it, or None."""
    for rule in rules:
        beats = _RULES[rule]
        for rival in rivals:
            if all(other is rival or beats(rival, other, subject) for other in rivals):
                return rule, rival.label
    return None


def _is_more_specific(one: Rival, other: Rival, _subject: ElementId) -> bool:
    """Some support of `one` is scoped strictly more narrowly than every support of `other`."""
    return any(all(mine.contexts > theirs.contexts for theirs in other.support) for mine in one.support)


def _speaks_for_itself(one: Rival, other: Rival, subject: ElementId) -> bool:
    """The subject itself witnessed `one`, while `other` is neither its own word nor an observation."""
    if any(claim.actor == subject or claim.mode == "observed" for claim in other.support):
        return False
    return any(claim.actor == subject and claim.mode in ("observed", "stated") for claim in one.support)


def _held_later(one: Rival, other: Rival, _subject: ElementId) -> bool:
    """`one` was claimed to hold from a later start than anything said for `other`."""
    return max(c.time.start_key for c in one.support) > max(c.time.start_key for c in other.support)


_RULES: Mapping[RuleName, Callable[[Rival, Rival, ElementId], bool]] = {
    "context_specificity": _is_more_specific,
    "first_person_testimony": _speaks_for_itself,
    "recency": _held_later,
}
