"""What a query says about belief: WITH EPISTEMIC and FOR TIME, read into one request (§27.1, §48.2, §49)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from brain import errors
from brain.kip.belief.identity import Identity
from brain.kip.belief.policies import Policy, policy_named
from brain.kip.context import Run
from brain.store.base import Document, ElementId, Json, Kind, Scan
from brain.times import Timestamp, is_timestamp

Explanation: TypeAlias = Literal["none", "summary", "ledger"]

LEVELS: tuple[Explanation, ...] = ("none", "summary", "ledger")
UNSPECIFIED = "unspecified"
"""Purpose and risk of a request that states none; a basis never lacks them."""


@dataclass(frozen=True, slots=True)
class BeliefRequest:
    """What a query says about belief, resolved against its snapshot.

    policy        whose rules apply
    valid_at      the instant belief is asked for: FOR TIME, or the engine clock
    context_refs  ids of the request's contexts, merges resolved, sorted as text, each once
    include_historical  list claims that no longer count in the explanation; statuses stay what they are
    include_hypothetical  let hypothetical claims count
    """

    policy: Policy
    valid_at: Timestamp
    context_refs: tuple[ElementId, ...] = ()
    purpose: str = UNSPECIFIED
    risk: str = UNSPECIFIED
    explanation: Explanation = "summary"
    include_historical: bool = False
    include_hypothetical: bool = False

    @property
    def modes(self) -> frozenset[str]:
        """Assertion modes that count in this request."""
        return self.policy.modes | {"hypothetical"} if self.include_hypothetical else self.policy.modes

    @classmethod
    def parse(cls, run: Run, epistemic: Document | None, for_time: Json | None) -> BeliefRequest:
        """The request of one query, from bound values.

        epistemic  the WITH EPISTEMIC object with its parameters filled in, or None without the clause
        for_time   the value of FOR TIME, or None without the clause; a `null` written there is the caller's to refuse
        raises     SchemaFieldNotFound for an unknown member, TypeMismatch and ConstraintViolation for a bad value,
                   NotFoundOrNotVisible and StructuralReferenceInvalid for a context that cannot be one,
                   ProjectionPolicyUnavailable for an unknown policy
        """
        given = epistemic or {}
        for name in given:
            if name not in _MEMBERS:
                raise errors.SchemaFieldNotFound(
                    f"WITH EPISTEMIC has no member {name!r}.", hint=f"It takes {', '.join(_MEMBERS)}."
                )
        return cls(
            policy=policy_named(_text(given, "policy") or run.session.default_policy),
            valid_at=run.now if for_time is None else _instant(for_time),
            context_refs=_contexts(run, given.get("context_refs", ())),
            purpose=_text(given, "purpose") or run.purpose or UNSPECIFIED,
            risk=_text(given, "risk") or run.risk or UNSPECIFIED,
            explanation=_level(given),
            include_historical=_flag(given, "include_historical"),
            include_hypothetical=_flag(given, "include_hypothetical"),
        )


_MEMBERS = (
    "policy",
    "context_refs",
    "explanation",
    "purpose",
    "risk",
    "include_hypothetical",
    "include_historical",
)


def _text(given: Document, name: str) -> str | None:
    if name not in given:
        return None
    value = given[name]
    if not isinstance(value, str):
        raise errors.TypeMismatch(f"{name} of WITH EPISTEMIC is a string.")
    if not value:
        raise errors.ConstraintViolation(f"{name} of WITH EPISTEMIC is not empty.")
    return value


def _flag(given: Document, name: str) -> bool:
    value = given.get(name, False)
    if not isinstance(value, bool):
        raise errors.TypeMismatch(f"{name} of WITH EPISTEMIC is true or false.")
    return value


def _level(given: Document) -> Explanation:
    value = _text(given, "explanation") or "summary"
    if value not in LEVELS:
        raise errors.ConstraintViolation(
            f"There is no explanation level {value!r}.", hint=f"Use one of {', '.join(LEVELS)}."
        )
    return value


def _instant(value: Json) -> Timestamp:
    if not isinstance(value, str):
        raise errors.TypeMismatch("FOR TIME takes one instant, as a string.", hint='Write "2026-05-01T00:00:00.000Z".')
    if not is_timestamp(value):
        raise errors.ConstraintViolation(
            f"{value!r} is not an instant.", hint="Write UTC with milliseconds: YYYY-MM-DDTHH:mm:ss.SSSZ."
        )
    return value


def _contexts(run: Run, value: Json) -> tuple[ElementId, ...]:
    if isinstance(value, (str, Mapping)) or not isinstance(value, Collection):
        raise errors.TypeMismatch("context_refs of WITH EPISTEMIC is an array of Concept ids.")
    if not value:
        return ()
    named = [_context_id(run, reference) for reference in value]
    found = run.snapshot.elements(frozenset(named))
    for element_id in named:
        element = found.get(element_id)
        if element is None or element.state == "purged":
            raise errors.NotFoundOrNotVisible(f"There is no context {element_id}.")
        if element.kind is not Kind.CONCEPT:
            raise errors.StructuralReferenceInvalid(f"A context is a Concept; {element_id} is of kind {element.kind}.")
    identity = Identity(run.snapshot.merges())
    return tuple(sorted({identity.resolve(element_id) for element_id in named}))


def _context_id(run: Run, reference: Json) -> ElementId:
    """The id a reference object or plain id names (§8); existence is checked by the caller."""
    if isinstance(reference, str):
        return reference
    if not isinstance(reference, Mapping):
        raise errors.TypeMismatch("A context is named by its id, or by a reference object.")
    members = set(reference)
    if members == {"id"} and isinstance(reference["id"], str):
        return reference["id"]
    if members == {"space_id", "element_id"} and isinstance(reference["element_id"], str):
        if reference["space_id"] != run.space_uri:
            raise errors.NotFoundOrNotVisible(f"Space {reference['space_id']!r} is not this one.")
        return reference["element_id"]
    if members == {"canonical_id"} and isinstance(reference["canonical_id"], str):
        found = list(run.snapshot.scan(Scan(Kind.CONCEPT, canonical_id=reference["canonical_id"], limit=1)))
        if not found:
            raise errors.NotFoundOrNotVisible(f"There is no Concept of canonical id {reference['canonical_id']!r}.")
        return found[0].id
    raise errors.StructuralReferenceInvalid(
        "A context is named by id, canonical_id, or space_id with element_id.", hint='Use {"id": "C-1"}.'
    )
