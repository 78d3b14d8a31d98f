"""What a Space tells of itself: figures kept as things happen, so that telling them never scans anything."""

from __future__ import annotations

from typing import Any

from brain.service import conversations, ledger
from brain.service.conversations import COLLECTIONS, usage_to_wire
from brain.service.entries import FORMATION, MAINTENANCE
from brain.service.policy import stored_policy
from brain.service.queue import Queue
from brain.service.records import record_of
from brain.service.spaces import OpenSpace
from brain.store.base import Kind

DESCRIPTOR: dict[str, Any] = {
    "minimum_response_tokens": 256,
    "tokenizer": "o200k_base@tiktoken-rs-0.12",
    "default_budget": {"deadline_ms": 30000, "max_output_tokens": 4096},
    "bundles": ["memory_basic"],
    "kip_memory": "2.0",
}
"""The Memory Interface this service describes to its clients."""

_PLURALS = {
    Kind.CONCEPT: "concepts",
    Kind.PROPOSITION: "propositions",
    Kind.ASSERTION: "assertions",
    Kind.EVIDENCE: "evidence",
    Kind.ACTIVITY: "activities",
}
_WIKI_COUNTERS = ("wiki_docs", "wiki_chunks", "wiki_versions", "wiki_queries", "wiki_digested", "wiki_stale_docs")
_REPORTS = ("last_settlement", "last_self_test", "last_shadow", "last_schema_audit")


def space_info(space: OpenSpace) -> dict[str, Any]:
    """SpaceInfo: owner, visibility, tier, counts, token totals, progress."""
    with space.snapshot() as now:
        record, counts, progress = record_of(now), now.counts(), ledger.progress(now)
        return {
            "id": space.id,
            "name": record["name"],
            "description": record["description"],
            "owner": record["owner"],
            "db_stats": {"space_seq": now.seq, **{name: counts.get(kind, 0) for kind, name in _PLURALS.items()}},
            "concepts": counts.get(Kind.CONCEPT, 0),
            "propositions": counts.get(Kind.PROPOSITION, 0),
            "conversations": conversations.count(now, "formation"),
            "public": record["public"],
            "tier": record["tier"],
            **({} if (policy := stored_policy(record)) is None else {"memory_policy": policy}),
            **{f"{agent}_usage": usage_to_wire(ledger.usage_of(now, agent)) for agent in COLLECTIONS},
            "formation_processed_id": progress["formation_processed_id"],
            "maintenance_processed_id": progress["maintenance_processed_id"],
            "maintenance_at": progress["maintenance_at"],
            "memory_interface": {**DESCRIPTOR, "default_space": {"id": space.id}},
            **dict.fromkeys(_WIKI_COUNTERS, 0),
        }


def formation_status(space: OpenSpace, queue: Queue) -> dict[str, Any]:
    """FormationStatus: whether passes are at work or due, and how far they came."""
    with space.snapshot() as now:
        counts, progress = now.counts(), ledger.progress(now)
        return {
            "id": space.id,
            "concepts": counts.get(Kind.CONCEPT, 0),
            "propositions": counts.get(Kind.PROPOSITION, 0),
            "conversations": conversations.count(now, "formation"),
            "formation_processing": queue.has_due(now, FORMATION),
            "maintenance_processing": queue.has_due(now, MAINTENANCE),
            "formation_processed_id": progress["formation_processed_id"],
            "maintenance_processed_id": progress["maintenance_processed_id"],
            "maintenance_at": progress["maintenance_at"],
        }


def memory_status(space: OpenSpace) -> dict[str, Any]:
    """MemoryStatus: metrics, rates where there is something to divide by, the newest reports."""
    with space.snapshot() as now:
        counts, metrics = now.counts(), ledger.metrics(now)
        spent = ledger.usage_of(now, "maintenance")
        reports = {name: ledger.report(now, name) for name in _REPORTS}
    tokens = (spent.input_tokens or 0) + (spent.output_tokens or 0)
    rates = {
        "groundability": _rate(metrics["self_test_grounded"], metrics["self_test_tested"]),
        "probe_hit_rate": _rate(metrics["probe_hits"], metrics["probe_hits"] + metrics["probe_misses"]),
        "correction_rate": _rate(metrics["corrections"], metrics["recalls_completed"]),
        "avg_uncertainty": _rate(metrics["uncertainty_sum"], metrics["uncertainty_reports"]),
        "maintenance_tokens_per_recall": _rate(tokens, metrics["recalls_completed"]),
    }
    graph = {"concepts": counts.get(Kind.CONCEPT, 0), "propositions": counts.get(Kind.PROPOSITION, 0)}
    known = {name: value for name, value in {**rates, **reports}.items() if value is not None}
    return {"metrics": metrics, "graph": graph, **known}


def _rate(part: float, whole: float) -> float | None:
    """Part of whole, or None when there is no whole."""
    return part / whole if whole else None
