"""State beside the graph, as a transaction writes it.

Nothing is sent before it has to be: documents, entries of work and leases that were written stand here, and reads of
them by name are answered from here; a read of several sends all first.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from brain.store.base import Document, Lease, LeaseLost, Work, WorkStatus
from brain.store.neo4j.state import StateReader, json_text, parsed

_OPEN = (WorkStatus.QUEUED, WorkStatus.RUNNING)


class StateWriter(StateReader):
    """What `Transaction` promises of state beside the graph.

    last_work  the last id given to an entry of work
    leases     every lease of the Space: name to holder (None when free), token and time it ends
    """

    def _start_state(self, last_work: int, leases: dict[str, tuple[str | None, int, int]]) -> None:
        self._documents: dict[tuple[str, str], tuple[str, int | None] | None] = {}
        self._unsent_documents: set[tuple[str, str]] = set()
        self._entries: dict[int, Work | None] = {}
        self._unsent_entries: set[int] = set()
        self._last_work = last_work
        self._leases = leases
        self._unsent_leases: set[str] = set()

    def _send_state(self) -> None:
        """Send what is unsent of documents and work."""
        raise NotImplementedError

    # --- documents ----------------------------------------------------------------------------------------------------

    def get(self, namespace: str, key: str) -> Document | None:
        self._time_left()
        if (namespace, key) not in self._documents:
            return super().get(namespace, key)
        held = self._documents[namespace, key]
        if held is None or (held[1] is not None and held[1] <= self._clock.now_ms()):
            return None
        return parsed(held[0])

    def scan_state(
        self,
        namespace: str,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> list[tuple[str, Document]]:
        if self._unsent_documents:
            self._send_state()
        return super().scan_state(namespace, prefix=prefix, after=after, limit=limit, reverse=reverse)

    def set(self, namespace: str, key: str, document: Document, *, expires_ms: int | None = None) -> None:
        self._time_left()
        self._documents[namespace, key] = json_text(document), expires_ms
        self._unsent_documents.add((namespace, key))

    def delete(self, namespace: str, key: str) -> None:
        self._time_left()
        self._documents[namespace, key] = None
        self._unsent_documents.add((namespace, key))

    # --- work ---------------------------------------------------------------------------------------------------------

    def work(
        self, queue: str, *, statuses: Collection[WorkStatus] | None = None, limit: int | None = None
    ) -> list[Work]:
        if self._unsent_entries:
            self._send_state()
        return self._seen(super().work(queue, statuses=statuses, limit=limit))

    def due_work(self, queue: str, now_ms: int, *, limit: int | None = None) -> list[Work]:
        if self._unsent_entries:
            self._send_state()
        return self._seen(super().due_work(queue, now_ms, limit=limit))

    def work_by_id(self, work_id: int) -> Work | None:
        self._time_left()
        if work_id not in self._entries:
            self._entries[work_id] = super().work_by_id(work_id)
        return self._entries[work_id]

    def enqueue(self, queue: str, payload: Document, *, not_before: int = 0) -> int:
        self._time_left()
        self._last_work += 1
        kept = parsed(json_text(payload))  # whatever becomes of the caller's own
        self._keep(Work(self._last_work, queue, kept, WorkStatus.QUEUED, not_before, 0, None, None))
        return self._last_work

    def update_work(
        self, work_id: int, *, status: WorkStatus, not_before: int | None = None, note: str | None = None
    ) -> None:
        entry = self.work_by_id(work_id)
        if entry is not None:
            until = entry.not_before if not_before is None else not_before
            self._keep(replace(entry, status=status, not_before=until, note=note))

    def begin_work(self, work_id: int, now_ms: int) -> Work:
        """LookupError when there is no such entry."""
        entry = self.work_by_id(work_id)
        if entry is None:
            raise LookupError(f"no work {work_id}")
        first = now_ms if entry.first_attempt_ms is None else entry.first_attempt_ms
        begun = replace(entry, status=WorkStatus.RUNNING, attempts=entry.attempts + 1, first_attempt_ms=first)
        self._keep(begun)
        return begun

    def delete_work(self, work_id: int) -> None:
        self._time_left()
        self._entries[work_id] = None
        self._unsent_entries.add(work_id)

    def _keep(self, entry: Work) -> None:
        self._entries[entry.id] = entry
        self._unsent_entries.add(entry.id)

    def _seen(self, entries: list[Work]) -> list[Work]:
        self._entries.update({entry.id: entry for entry in entries})
        return entries

    # --- leases -------------------------------------------------------------------------------------------------------

    def lease(self, name: str) -> Lease | None:
        self._time_left()
        holder, token, expires_ms = self._leases.get(name, (None, 0, 0))
        return None if holder is None else Lease(name, holder, token, expires_ms)

    def acquire_lease(self, name: str, holder: str, *, ttl_ms: int, now_ms: int) -> Lease | None:
        self._time_left()
        held_by, token, expires_ms = self._leases.get(name, (None, 0, 0))
        is_held = held_by is not None and expires_ms > now_ms
        if is_held and held_by != holder:
            return None
        # A free name keeps its last token: that is what makes the next one newer.
        lease = Lease(name, holder, token if is_held else token + 1, now_ms + ttl_ms)
        self._leases[name] = holder, lease.token, lease.expires_ms
        self._unsent_leases.add(name)
        return lease

    def release_lease(self, lease: Lease) -> None:
        newest = self.lease(lease.name)
        if newest is not None and (newest.holder, newest.token) == (lease.holder, lease.token):
            self._leases[lease.name] = None, newest.token, newest.expires_ms
            self._unsent_leases.add(lease.name)

    def check_lease(self, lease: Lease, now_ms: int) -> None:
        newest = self.lease(lease.name)
        if newest is None or newest.token != lease.token or newest.expires_ms <= now_ms:
            raise LeaseLost(f"the lease {lease.name!r} with token {lease.token} is no longer held")

    # --- what is sent -------------------------------------------------------------------------------------------------

    def _documents_to_send(self) -> list[dict[str, Any]]:
        """Unsent documents; from then on they count as sent."""
        unsent = [(name, self._documents[name]) for name in sorted(self._unsent_documents)]
        self._unsent_documents.clear()
        return [
            {"namespace": namespace, "key": key, "body": held[0], "expires_ms": held[1]}
            for (namespace, key), held in unsent
            if held is not None
        ]

    def _dropped_documents(self) -> list[dict[str, Any]]:
        """Unsent deletions of documents; from then on they count as sent."""
        dropped = {name for name in self._unsent_documents if self._documents[name] is None}
        self._unsent_documents -= dropped
        return [{"namespace": namespace, "key": key} for namespace, key in sorted(dropped)]

    def _work_to_send(self) -> dict[str, list[dict[str, Any]]]:
        """Unsent entries and leases, empty when there are none; from then on they count as sent."""
        if not self._unsent_entries and not self._unsent_leases:
            return {}
        entries, gone = [], []
        for work_id in sorted(self._unsent_entries):
            entry = self._entries[work_id]
            if entry is None:
                gone.append({"id": work_id})
            else:
                entries.append(stored(entry))
        leases = [
            {"name": name, "holder": holder, "token": token, "expires_ms": expires_ms}
            for name in sorted(self._unsent_leases)
            for holder, token, expires_ms in [self._leases[name]]
        ]
        self._unsent_entries.clear()
        self._unsent_leases.clear()
        return {"work": entries, "dropped_work": gone, "leases": leases}


def stored(entry: Work) -> dict[str, Any]:
    return {
        "id": entry.id,
        "is_open": entry.status in _OPEN,
        "properties": {
            "queue": entry.queue,
            "status": entry.status.value,
            "not_before": entry.not_before,
            "attempts": entry.attempts,
            "first_attempt_ms": entry.first_attempt_ms,
            "note": entry.note,
            "payload": json_text(entry.payload),
        },
    }
