"""The projection policies this engine ships (§21.10, §21.13): what counts, what it weighs, what settles a conflict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from brain import errors
from brain.ids import digest

RuleName: TypeAlias = Literal["context_specificity", "first_person_testimony", "recency"]

SCORE_SEMANTICS = "normalized_support_not_probability"
"""What a weighted policy's score means: how far one side is carried, never how likely it is (§27.3)."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A weighted policy's boundaries on a side's score, and what a claim without a confidence weighs."""

    accept: float
    material: float
    unstated_confidence: float


@dataclass(frozen=True, slots=True)
class Policy:
    """One versioned projection policy.

    modes             Assertion modes that count
    thresholds        None for a structural policy, which counts and never weighs
    precedence        rules that may settle a conflict of one slot, in their order
    published_digest  digest of the published artifact this policy implements; None for a policy of ours
    """

    id: str
    version: int
    modes: frozenset[str]
    thresholds: Thresholds | None
    precedence: tuple[RuleName, ...]
    notes: tuple[str, ...]
    published_digest: str | None = None

    @property
    def is_structural(self) -> bool:
        return self.thresholds is None

    def to_wire(self) -> dict[str, Any]:
        """What DESCRIBE EPISTEMIC POLICY shows; `content_digest` covers everything else when the policy is ours."""
        limits = self.thresholds
        document: dict[str, Any] = {
            "id": self.id,
            "version": self.version,
            "structural": self.is_structural,
            "eligible_modes": sorted(self.modes),
            "accept_threshold": limits.accept if limits else None,
            "material_threshold": limits.material if limits else None,
            "unstated_confidence_weight": limits.unstated_confidence if limits else None,
            "conflict_set_expansion": True,
            "precedence": list(self.precedence),
            "notes": list(self.notes),
        }
        return {**document, "content_digest": self.published_digest or digest(document)}


_WITNESSED = frozenset({"inferred", "observed", "stated"})
_WEIGHTS = Thresholds(accept=0.7, material=0.3, unstated_confidence=1.0)
_SHARED_NOTES = (
    "A claim outside its world time adds nothing; one that may or may not hold leaves its value uncertain.",
    "One actor is one voice on a value, and everything that goes back to one root is one voice too.",
    "A derivation whose premises cannot be checked, or have changed, never makes a value accepted.",
)

BASELINE = Policy(
    id="kip:policy:baseline",
    version=3,
    modes=_WITNESSED | {"imported"},
    thresholds=_WEIGHTS,
    precedence=(),
    notes=(
        "Each independent group adds its greatest confidence; doubt shrinks with every group and never below zero.",
        "Two values of one functional slot that both reach the material threshold leave each other contested.",
        *_SHARED_NOTES,
    ),
)

STRUCTURAL = Policy(
    id="kip:policy:structural",
    version=1,
    modes=_WITNESSED | {"imported"},
    thresholds=None,
    precedence=(),
    notes=("Counts independent groups, weighs nothing and settles no conflict.", *_SHARED_NOTES),
)

MEMORY_DEFAULT = Policy(
    id="kip:memory-default",
    version=1,
    modes=_WITNESSED,
    thresholds=None,
    precedence=("context_specificity", "first_person_testimony", "recency"),
    notes=(
        "Counts independent groups like the structural policy and reads what came in by import as not yet endorsed.",
        "In a conflict the narrower context wins, then what a subject says of itself, then what held most recently.",
        "A value that loses this way is uncertain and says which rule decided; nobody has rejected it.",
        *_SHARED_NOTES,
    ),
    published_digest="sha256:8019ff432026475629ab10850a84bfac78cdaddb101b3923630e5a99c5e45964",
)

FORECAST = Policy(
    id="kip:policy:forecast",
    version=1,
    modes=frozenset({"inferred", "predicted"}),
    thresholds=_WEIGHTS,
    precedence=(),
    notes=("Weighs what is expected instead of what was witnessed.", *_SHARED_NOTES),
)

_SHIPPED = {policy.id: policy for policy in (BASELINE, FORECAST, MEMORY_DEFAULT, STRUCTURAL)}


def policy_named(policy_id: str) -> Policy:
    """A policy by its id; ProjectionPolicyUnavailable for any other name, never another policy in its place."""
    try:
        return _SHIPPED[policy_id]
    except KeyError:
        raise errors.ProjectionPolicyUnavailable(
            f"No epistemic policy {policy_id!r} is known here.", details={"known": sorted(_SHIPPED)}
        ) from None


def all_policies() -> tuple[Policy, ...]:
    """Every policy on offer, sorted by id."""
    return tuple(_SHIPPED[policy_id] for policy_id in sorted(_SHIPPED))
