"""Probe: can what was asked be found at all? Pure search, no model, with a short memory of vain searches."""

from __future__ import annotations

import hashlib
from math import inf
from typing import TYPE_CHECKING, Any

import structlog

from brain.errors import KipError
from brain.kip.context import Session
from brain.service import ledger
from brain.service.failures import Unavailable
from brain.service.spaces import OpenSpace
from brain.store.base import Document, Reader, Transaction
from brain.times import Clock

if TYPE_CHECKING:
    from brain.agents.reading import Reading

log = structlog.get_logger(__name__)

MOST_HITS = 50

_MISSES = "probe_misses"
_MISS_TTL_MS = 3_600_000
_MISS_ROWS = 1_024
_MISS_QUERY_CHARACTERS = 512
_KINDS = ("CONCEPT", "PROPOSITION", "EVIDENCE")
_COUNT_WAIT_MS = 1_000
"""How long a probe waits for other writers to count itself; the answer does not hang on it."""


def probe(
    space: OpenSpace, query: str, limit: int, *, session: Session, clock: Clock, ends: float = inf
) -> dict[str, Any]:
    """Search and say whether anything active was found; `found: false` is a search result, never a rejected belief.

    limit  hits at most, kept within 1 to 50
    ends   when its time is over, a moment of the monotonic clock in seconds
    raises Unavailable when memory could not be read, or not in time
    """
    from brain.agents.citations import cite
    from brain.agents.reading import ReadFailed, Reading

    limit = min(max(limit, 1), MOST_HITS)
    key = hashlib.sha256(query.encode("utf-8", "surrogatepass")).hexdigest()
    with space.snapshot() as snapshot:
        searched_at = snapshot.seq
        is_known_miss = snapshot.get(_MISSES, key) is not None
    if is_known_miss:
        _count(space, clock, None, searched_at, negative_cache_hits=1, probe_misses=1)
        return {"found": False, "negative_cached": True, "search_exhaustive": True}
    reading = Reading(space.engine, session, ends=None if ends == inf else ends)
    try:
        found, is_exhaustive = _search(reading, query, limit)
        hits = [dict(citation.wire) for citation in cite(list(found), reading, found)]
    except ReadFailed as failed:
        raise Unavailable(
            "memory could not be searched just now, or not in time; send the same request again"
        ) from failed
    answer: dict[str, Any] = {"found": bool(hits), "negative_cached": False, "search_exhaustive": is_exhaustive}
    if hits:
        _count(space, clock, None, searched_at, probe_hits=1)
        return {**answer, "hits": hits}
    may_be_kept = is_exhaustive and len(query) <= _MISS_QUERY_CHARACTERS
    _count(space, clock, key if may_be_kept else None, searched_at, probe_misses=1)
    return answer


def forget_misses(tx: Transaction) -> None:
    """What was not there may be there now."""
    for key, _ in _misses(tx):
        tx.delete(_MISSES, key)


def _misses(reader: Reader) -> list[tuple[str, Any]]:
    return reader.scan_state(_MISSES, limit=_MISS_ROWS)


def _count(space: OpenSpace, clock: Clock, miss: str | None, searched_at: int, **amounts: int) -> None:
    """Count a probe, and keep a miss unless something was written since it was searched for."""
    try:
        with space.store.transaction(timeout_ms=_COUNT_WAIT_MS, durable=False) as tx:
            now = clock.now_ms()
            ledger.add_metrics(tx, now, **amounts)
            if miss is not None and tx.seq == searched_at and len(_misses(tx)) < _MISS_ROWS:
                tx.set(_MISSES, miss, {"at": now}, expires_ms=now + _MISS_TTL_MS)
    except KipError as failed:
        log.warning("probe_not_counted", space=space.id, code=failed.code)


def _search(reading: Reading, query: str, limit: int) -> tuple[dict[str, Document], bool]:
    """The best hits over all kinds that carry text, by id, and whether every one of these searches ran to its end."""
    from brain.agents.reading import ReadFailed

    found: list[tuple[float, str, Document]] = []
    is_exhaustive = True
    asked = {"query": query, "limit": limit}
    for answer in reading.try_all([(f"SEARCH {kind} :query LIMIT :limit", asked) for kind in _KINDS]):
        if "error" in answer:
            raise ReadFailed(answer["error"]["code"])
        is_exhaustive = is_exhaustive and answer["result"]["exhaustive"]
        found += [(hit["retrieval"]["score"], hit["id"], hit["element"]) for hit in answer["result"]["hits"]]
    found.sort(key=lambda hit: (-hit[0], hit[1]))
    return {element_id: element for _, element_id, element in found[:limit]}, is_exhaustive
