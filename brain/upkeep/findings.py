"""What maintenance should look at: conflicts, waiting tasks, backlog, the use of words. Nothing is written but
review tasks that are missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from brain.gate.vocabulary import review_key, unreviewed
from brain.kip.grading import sampled
from brain.store.base import ElementId
from brain.times import timestamp
from brain.upkeep.parts import Work

_CONFLICTS, _TASKS, _STALE = 20, 50, 20
_DAY_MS = 24 * 3_600_000
_BELIEFS = (
    "FIND(?p.id, ?p.predicate_ref, ?b) WHERE { ?p (?subject, ?r, ?object) FILTER(IN(?p.id, :ids)) ?b BELIEF (?p) }"
)


def conflicts(work: Work, propositions: Sequence[ElementId]) -> list[dict[str, Any]]:
    """Recently claimed propositions that people contradict each other about."""
    rows = work.read(_BELIEFS, ids=list(propositions)) if propositions else []
    contested = {proposition: (predicate, b) for proposition, predicate, b in rows if b["status"] == "contested"}
    return [
        {
            "proposition": proposition,
            "predicate": str(predicate).rpartition("/")[2],
            "for": belief["support"]["assertion_ids"],
            "against": belief["opposition"]["assertion_ids"],
            "rivals": belief.get("conflict_refs") or [],
        }
        for proposition in propositions
        if proposition in contested
        for predicate, belief in [contested[proposition]]
    ][:_CONFLICTS]


def waiting_tasks(work: Work) -> list[dict[str, Any]]:
    """Pending SleepTasks, oldest first."""
    rows = work.read(
        'FIND(?t.id, ?t.attributes.task_class, ?t.attributes.summary) WHERE { ?t {type: "SleepTask"} '
        f'FILTER(?t.attributes.status == "pending") }} LIMIT {_TASKS}'
    )
    return [{"id": i, "class": task_class, "what": summary} for i, task_class, summary in rows]


def backlog(work: Work, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Events nothing was drawn from yet, and those of them that have grown old."""
    days = parameters.get("stale_event_threshold_days") or 7
    unconsolidated = (
        'FIND(COUNT(?e)) WHERE { ?e {type: "Event"} '
        'NOT { ?x ACTIVITY {activity_class: "semantic_consolidation"} STRUCTURAL (?x, "inputs", ?e) } %s}'
    )
    older = timestamp(work.now_ms - days * _DAY_MS)
    return {
        "unconsolidated_events": work.read(unconsolidated % "")[0],
        "stale_events": work.read(unconsolidated % "FILTER(?e._system.created_at < :older) ", older=older)[0],
        "targets": {
            "unconsolidated_max_backlog": parameters.get("unconsolidated_max_backlog") or 20,
            "orphan_max_count": parameters.get("orphan_max_count") or 20,
            "stale_event_threshold_days": days,
        },
    }


def archive_candidates(work: Work, parameters: Mapping[str, Any]) -> list[ElementId]:
    """Old Events whose substance was drawn into something lasting: the only ones a cycle may put away."""
    days = parameters.get("stale_event_threshold_days") or 7
    rows = work.read(
        'FIND(?e.id) WHERE { ?e {type: "Event"} ?x ACTIVITY {activity_class: "semantic_consolidation", '
        'status: "completed"} STRUCTURAL (?x, "inputs", ?e) FILTER(?e._system.created_at < :older) } '
        f"LIMIT {_STALE}",
        older=timestamp(work.now_ms - days * _DAY_MS),
    )
    return list(dict.fromkeys(rows))


def census(work: Work) -> dict[str, int]:
    """How many Propositions there are of each predicate in use."""
    counts = {}
    for row in work.read("LIST PREDICATES LIMIT 100"):
        number = work.read("FIND(COUNT(?p)) WHERE { ?p (?s, :predicate, ?o) }", predicate=row["ref"])[0]
        if number:
            counts[row["local_name"]] = number
    return counts


def unreviewed_drafts(work: Work) -> int:
    """Give every drafted word the review task it should have; how many lacked one."""
    added = 0
    for kind, ref in unreviewed(work.space.engine):
        added += work.write(
            'CREATE CONCEPT ?t { TYPE "SleepTask" CLIENT KEY :key SET ATTRIBUTES {task_class: "review_schema", '
            'status: "pending", summary: :summary, symbol_kind: :kind, symbol_ref: :ref} }',
            key=review_key(kind, ref),
            summary=f"Review the draft {ref.rpartition('/')[2]}.",
            kind=kind,
            ref=ref,
        )
    return added


def outcomes(work: Work) -> dict[str, dict[str, int]]:
    """What attempts came to, counted once each, and why the other recorded outcomes do not count."""
    with work.space.snapshot() as snapshot:
        found = sampled(snapshot)
    return {
        "samples": dict(sorted(Counter(sample.status for sample in found.samples).items())),
        "left_out": dict(sorted(Counter(reason.value for reason in found.left_out.values()).items())),
    }
