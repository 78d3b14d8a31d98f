"""What each role may do, as tables. Names are local names, and match by local name whatever package exports them.

Nothing here is code: a reviewer can read this page and know what a model can reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import get_args

from brain.kip import ast
from brain.kip.govern import SINGLE_AGENT_PRESET

Verbs = frozenset[type[ast.Node]]


class Role(StrEnum):
    """Who stands behind a command.

    reader       Recall, probes, read-only doors
    formation    the Formation agent
    maintenance  the Maintenance agent
    host         deterministic work of the service itself: speakers, review tasks, settlement
    """

    READER = "reader"
    FORMATION = "formation"
    MAINTENANCE = "maintenance"
    HOST = "host"


_READ: Verbs = frozenset({ast.Find, *get_args(ast.MetaStatement)})
_RECORD: Verbs = frozenset(
    {
        ast.Assert,
        ast.CreateConcept,
        ast.CreateRecord,
        ast.EnsureProposition,
        ast.Mutate,
        ast.Transition,
        ast.UpsertConcept,
    }
)

VERBS: Mapping[Role, Verbs] = {
    Role.READER: _READ,
    Role.FORMATION: _READ | _RECORD | {ast.Define},
    Role.MAINTENANCE: _READ | _RECORD | {ast.MergeConcept, ast.SetRetention, ast.Update},
    Role.HOST: _READ | _RECORD | {ast.SetRetention, ast.Update},
}
"""Statement and clause classes a role may use (BR-GATE-005, 007, 008, 023)."""

_LIFECYCLE = frozenset({"cancelled", "completed", "corrected", "failed", "retracted", "running", "superseded"})
STATES: Mapping[Role, frozenset[str]] = {
    Role.READER: frozenset(),
    Role.FORMATION: _LIFECYCLE,
    Role.MAINTENANCE: _LIFECYCLE | {"archived", "tombstoned"},
    Role.HOST: _LIFECYCLE | {"archived"},
}
"""States TRANSITION may name (BR-GATE-008, 009)."""

SELECTION_LIMIT = 20
"""Elements a WHERE of a model's mutation may select at most (BR-GATE-010, 025)."""

PERMISSIONS: Mapping[Role, frozenset[str]] = {
    Role.READER: frozenset({"discover", "project", "read", "read_history", "search"}),
    Role.FORMATION: SINGLE_AGENT_PRESET["agent"] - {"archive", "export", "repair_recording"} | {"read_history"},
    Role.MAINTENANCE: SINGLE_AGENT_PRESET["maintenance"]
    | {"archive", "record_attributed_assertion", "retract_own", "supersede_own"},
    Role.HOST: SINGLE_AGENT_PRESET["agent"] - {"propose_schema"} | {"maintain", "manage_retention", "read_history"},
}
"""What Governance grants the role's session: a second wall behind the tables."""

HOST_FACETS = frozenset(
    {
        "AttemptRecord",
        "DispatchContract",
        "ErasurePlan",
        "EvaluationRecord",
        "ExposureRecord",
        "GradingState",
        "LeaseState",
        "OutcomeRecord",
        "RecordingRepair",
        "RestoreReport",
        "TrialAssignment",
        "TrialRecord",
        "WatchState",
    }
)
"""Facets that record what a host did or saw (BR-GATE-014, 024)."""

HOST_FIELDS = frozenset(
    {"compiled_by", "compiled_from", "consolidated_to", "current_evaluation", "current_trial", "derived_from"}
)
"""Structural fields that are computed, or that only a runtime sets (BR-GATE-014, 024)."""

HOST_ACTIVITIES = frozenset(
    {
        "action_attempt",
        "action_gate",
        "commitment_review",
        "erasure_review",
        "evaluation",
        "identity_repair",
        "import",
        "lifecycle_verdict",
        "outcome_observation",
        "recording_repair",
        "schema_migration",
        "skill_validation",
        "standing_verdict",
        "trial_open",
        "watch_fire",
    }
)
"""Activity classes that state a host's decision or observation (BR-GATE-035)."""

HOST_EVIDENCE = frozenset(
    {"agent_statement", "external_record", "human_feedback", "message", "outcome", "tool_result", "user_statement"}
)
"""Evidence classes that say where bytes came from, which only the host that received them knows (BR-GATE-033)."""

FIRST_STATUS: Mapping[str, str] = {"SleepTask": "pending", "Watch": "disarmed"}
"""The only status a new Concept of these types may have (BR-GATE-016)."""

SPEAKER_SETS: Mapping[str, frozenset[str]] = {
    "Commitment": frozenset({"completed_at", "due", "due_at", "status"}),
}
"""Attributes of an existing Concept that one of the people it concerns may overwrite by saying so."""

RETENTION_MEMBERS = frozenset({"expires_at", "retention_class"})
"""What Maintenance may set of a retention block (BR-GATE-026)."""

MODEL_CONTROLS: Mapping[Role, frozenset[str]] = {
    Role.READER: frozenset(),
    Role.FORMATION: frozenset({"schema"}),
    Role.MAINTENANCE: frozenset({"identity"}),
    Role.HOST: frozenset(),
}
"""Control documents a role's statements may give a new version of."""
