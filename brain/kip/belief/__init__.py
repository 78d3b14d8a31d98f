"""Belief: what a policy makes of the claims on record, computed at a read, never stored (KIP 2.0 §21-§27, §46-§49).

`BeliefRequest.parse` turns WITH EPISTEMIC and FOR TIME into a request; `project_propositions` answers BELIEF and
`project_slots` answers BELIEF SLOT, both for a whole batch in a handful of store calls. One request serves every
projection of one query, so all of them share one snapshot, one clock reading and one basis.

`gather` is the only part that reads the store; everything from claims to verdicts is pure.
"""

from brain.kip.belief.dependency import is_derivation
from brain.kip.belief.policies import Policy, all_policies, policy_named
from brain.kip.belief.project import GroundTriple, dependency_validity, project_propositions, project_slots
from brain.kip.belief.request import BeliefRequest
from brain.kip.belief.wire import Projected

__all__ = [
    "BeliefRequest",
    "GroundTriple",
    "Policy",
    "Projected",
    "all_policies",
    "dependency_validity",
    "is_derivation",
    "policy_named",
    "project_propositions",
    "project_slots",
]
