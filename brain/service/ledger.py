"""Figures of a Space that are kept as events happen, so that reading a status never scans anything.

Each figure lives in one document under `ledger` and changes inside the transaction of the event it counts, so it is
exact across processes.
"""

from __future__ import annotations

from typing import Any

from brain.agents.model import Usage
from brain.service.conversations import usage_from_wire, usage_to_wire
from brain.store.base import Document, Reader, Transaction

_SPACE = "ledger"
_METRICS = (
    "recalls_completed",
    "entities_recalled",
    "probe_hits",
    "probe_misses",
    "negative_cache_hits",
    "self_test_tested",
    "self_test_grounded",
    "reencode_tasks",
    "corrections",
    "uncertainty_reports",
    "uncertainty_sum",
    "forgotten_entities",
)


def add_usage(tx: Transaction, agent: str, usage: Usage) -> None:
    """Add a run's tokens to its agent's total."""
    total = usage_of(tx, agent)
    tx.set(_SPACE, f"usage.{agent}", usage_to_wire(total + usage))


def usage_of(reader: Reader, agent: str) -> Usage:
    """All tokens an agent has used in this Space."""
    stored = reader.get(_SPACE, f"usage.{agent}")
    return usage_from_wire(stored) if stored else Usage(0, 0, 0, 0)


def add_metrics(tx: Transaction, now_ms: int, **amounts: float) -> None:
    """Raise metrics by amounts."""
    stored = dict(tx.get(_SPACE, "metrics") or {})
    for name, amount in amounts.items():
        stored[name] = stored.get(name, 0) + amount
    stored["updated_at"] = now_ms
    tx.set(_SPACE, "metrics", stored)


def metrics(reader: Reader) -> dict[str, Any]:
    """Every metric, 0 where nothing was counted yet."""
    stored = reader.get(_SPACE, "metrics") or {}
    return {name: stored.get(name, 0) for name in (*_METRICS, "updated_at")}


def progress(reader: Reader) -> dict[str, Any]:
    """How far background work has come.

    formation_processed_id    the highest conversation that ended, whatever its end
    maintenance_processed_id  likewise for cycles
    formed                    conversations formed so far, which is what maintenance is triggered by
    formed_at                 `formed` at the last start of each scope
    maintenance_at            start times in ms since the epoch, 0 for never
    """
    stored = reader.get(_SPACE, "progress") or {}
    return {
        "formation_processed_id": stored.get("formation_processed_id", 0),
        "maintenance_processed_id": stored.get("maintenance_processed_id", 0),
        "formed": stored.get("formed", 0),
        "formed_at": {"daydream": 0, "quick": 0, "full": 0, **stored.get("formed_at", {})},
        "maintenance_at": {"daydream": 0, "full": 0, "quick": 0, "start_at": 0, **stored.get("maintenance_at", {})},
    }


def set_progress(tx: Transaction, **members: Any) -> None:
    """Replace members of the progress document."""
    tx.set(_SPACE, "progress", {**progress(tx), **members})


def report(reader: Reader, name: str) -> Document | None:
    """A kept report: `last_settlement`, `last_self_test` …"""
    return reader.get(_SPACE, f"report.{name}")


def keep_report(tx: Transaction, name: str, document: Document) -> None:
    """Keep the newest report of a name."""
    tx.set(_SPACE, f"report.{name}", document)
