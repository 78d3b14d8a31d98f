"""What happened to some elements since they were read, by the change envelopes of later commits.

An erasure takes the past along: what was read cannot be read again to compare. The envelopes stay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from brain.kip.pipeline import Engine
from brain.store.base import Document, ElementId
from brain.times import Seq

_MOST_COMMITS = 256
"""That are looked through; with more, everything counts as changed."""

_GONE = ("archived", "tombstoned", "purged")


def touched_since(engine: Engine, seq: Seq, ids: Collection[ElementId]) -> bool:
    """Whether any of these elements was changed at all, or who may see what was."""
    changes = _changes(engine, seq)
    return changes is None or any(change["id"] in ids for change in changes if change["op"] != "create")


def erased_since(engine: Engine, seq: Seq, ids: Collection[ElementId]) -> bool:
    """Whether any of these elements was erased, put away or put into quarantine, or who may see what was changed."""
    changes = _changes(engine, seq)
    return changes is None or any(change["id"] in ids and _is_gone(change) for change in changes)


def _is_gone(change: Document) -> bool:
    return (
        change["op"] == "purge"
        or (change.get("state") or {}).get("to") in _GONE
        or "governance.quarantined" in change.get("touched", ())
    )


def _changes(engine: Engine, seq: Seq) -> list[Document] | None:
    """The entries of every commit after a sequence; None where they do not tell all."""
    if engine.space.head() == seq:
        return []
    with engine.space.snapshot() as now:
        commits = now.commits(after=seq, limit=_MOST_COMMITS + 1)
    kinds: Iterator[str] = (control["kind"] for c in commits for control in c.envelope.get("control_changes") or ())
    if len(commits) > _MOST_COMMITS or "authorization" in kinds:
        return None
    return [change for commit in commits for change in commit.envelope["changes"]]
