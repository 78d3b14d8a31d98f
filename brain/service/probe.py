"""Probe: can what was asked be found at all? Pure search, no model, with a short memory of vain searches."""

from __future__ import annotations

import hashlib
from typing import Any

from brain.agents.citations import citation
from brain.kip.context import Session
from brain.service import ledger
from brain.service.spaces import OpenSpace
from brain.times import Clock

_MISSES = "probe_misses"
_MISS_TTL_MS = 3_600_000
_MISS_ROWS = 1_024
_MISS_QUERY_CHARACTERS = 512
_KINDS = ("CONCEPT", "PROPOSITION", "EVIDENCE")


def probe(space: OpenSpace, query: str, limit: int, *, session: Session, clock: Clock) -> dict[str, Any]:
    """Search and say whether anything active was found; `found: false` is a search result, never a rejected belief.

    limit  hits at most, kept within 1 to 50
    """
    limit = min(max(limit, 1), 50)
    now = clock.now_ms()
    key = hashlib.sha256(query.encode("utf-8", "surrogatepass")).hexdigest()
    with space.snapshot() as snapshot:
        known_miss = snapshot.get(_MISSES, key) is not None
    if known_miss:
        with space.transaction() as tx:
            ledger.add_metrics(tx, now, negative_cache_hits=1, probe_misses=1)
        return {"found": False, "negative_cached": True, "search_exhaustive": True}

    hits, exhaustive = _search(space, query, limit, session)
    with space.transaction() as tx:
        ledger.add_metrics(tx, now, **({"probe_hits": 1} if hits else {"probe_misses": 1}))
        may_keep = not hits and exhaustive and len(query) <= _MISS_QUERY_CHARACTERS
        if may_keep and len(tx.scan_state(_MISSES, limit=_MISS_ROWS)) < _MISS_ROWS:
            tx.set(_MISSES, key, {"at": now}, expires_ms=now + _MISS_TTL_MS)
    answer: dict[str, Any] = {"found": bool(hits), "negative_cached": False, "search_exhaustive": exhaustive}
    if hits:
        answer["hits"] = hits
    return answer


def _search(space: OpenSpace, query: str, limit: int, session: Session) -> tuple[list[dict[str, Any]], bool]:
    """The best hits over all kinds that carry text, and whether every one of these searches ran to its end."""
    found: list[tuple[float, str]] = []
    exhaustive = True
    for kind in _KINDS:
        outcome = space.engine.run(
            f"SEARCH {kind} :query LIMIT :limit", {"query": query, "limit": limit}, session=session
        )
        answer = outcome.response["results"][0] if outcome.response["results"] else {}
        if "error" in answer or "result" not in answer:
            exhaustive = False
            continue
        if answer.get("next_cursor"):
            exhaustive = False
        found += [(hit["retrieval"]["score"], hit["id"]) for hit in answer["result"]]
    found.sort(key=lambda hit: (-hit[0], hit[1]))
    best = [element_id for _, element_id in found[:limit]]
    with space.snapshot() as snapshot:
        elements = snapshot.elements(best)
        return [dict(citation(elements[i], snapshot).wire) for i in best if i in elements], exhaustive
