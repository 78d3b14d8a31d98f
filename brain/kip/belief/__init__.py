"""Belief: what a policy makes of the claims on record, computed at a read and never stored (KIP 2.0 §21 to §27, §46 to §49).

`BeliefRequest.parse` turns WITH EPISTEMIC and FOR TIME into a request; `project_propositions` answers BELIEF and
`project_slots` answers BELIEF SLOT, both for a whole batch in a handful of store calls. One request serves every
projection of one query, so all of them share one snapshot, one clock reading and one basis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brain.kip.context import Run
from brain.kip.schema import PredicateType
from brain.store.base import Document, ElementId, Json
from brain.times import Timestamp


@dataclass(frozen=True, slots=True)
class BeliefRequest:
    """What a query says about belief (§27.1, §49), resolved against its snapshot.

    valid_at      the instant belief is asked for: FOR TIME, or the engine clock
    context_refs  canonical context ids, sorted, each once
    """

    valid_at: Timestamp
    context_refs: tuple[ElementId, ...]
    purpose: str
    risk: str
    explanation: str
    include_historical: bool
    include_hypothetical: bool

    @classmethod
    def parse(cls, run: Run, epistemic: Document | None, for_time: Json | None) -> BeliefRequest:
        """The request of one query, from bound values.

        epistemic  the WITH EPISTEMIC object with its parameters filled in, or None
        for_time   the value of FOR TIME, or None without the clause
        raises     SchemaFieldNotFound for an unknown member, TypeMismatch and ConstraintViolation for a bad value,
                   NotFoundOrNotVisible for an unknown context, ProjectionPolicyUnavailable for an unknown policy
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class GroundTriple:
    """A fully grounded BELIEF triple, whether or not a Proposition is stored for it.

    object  `{"id": …}` or a JSON scalar
    """

    subject: ElementId
    predicate: PredicateType
    object: Json


@dataclass(frozen=True, slots=True)
class Projected:
    """One result.

    wire      the Projection or Slot in wire shape (kip-projection.schema.json)
    rests_on  Propositions, Assertions and Evidence the verdict rests on: what an answer may cite
    """

    wire: dict[str, Any]
    rests_on: frozenset[ElementId]


def project_propositions(
    run: Run, request: BeliefRequest, targets: Sequence[ElementId | GroundTriple]
) -> list[Projected]:
    """BELIEF (§46): one result per target, in order.

    targets  Proposition ids or grounded triples. What is not stored is `insufficient` with `proposition_id` null,
             an unknown id as well
    raises   ProjectionNotAuthorized, ResourceExhausted, ExecutionTimeout
    """
    raise NotImplementedError


def project_slots(
    run: Run, request: BeliefRequest, slots: Sequence[tuple[ElementId, PredicateType]]
) -> list[Projected]:
    """BELIEF SLOT (§47): one result per (subject, Predicate), in order; a slot without candidates is `insufficient`.

    raises   ProjectionNotAuthorized, ResourceExhausted, ExecutionTimeout
    """
    raise NotImplementedError


__all__ = ["BeliefRequest", "GroundTriple", "Projected", "project_propositions", "project_slots"]
