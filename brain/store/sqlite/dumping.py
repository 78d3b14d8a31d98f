"""A Space's file as rows."""

from __future__ import annotations

from array import array
from collections.abc import Generator
from typing import Any

import apsw
import orjson

from brain.store.base import Commit, Kind, Work, WorkStatus
from brain.store.dump import (
    WORK_COUNTER,
    ClientKeyRow,
    ControlRow,
    CounterRow,
    DocumentRow,
    LeaseRow,
    Row,
    SpaceRow,
    VectorRow,
    VersionRow,
)
from brain.store.sqlite.failures import translated
from brain.store.sqlite.keys import KINDS, id_of
from brain.store.sqlite.passages import versions

_WORK = "SELECT id, queue, payload, status, not_before, attempts, first_attempt_ms, note FROM work ORDER BY id"
_VECTORS = " UNION ALL ".join(
    f"SELECT held.eid, held.from_seq, embedder.name, held.norm, held.body FROM {table} AS held"
    " CROSS JOIN embedder ON embedder.id = held.embedder"
    # Vectors of an earlier size under the same name are of no use to anybody any more.
    " WHERE embedder.id = (SELECT max(id) FROM embedder AS newest WHERE newest.name = embedder.name)"
    for table in ("vector", "vector_past")
)


def rows_of(connection: apsw.Connection) -> Generator[Row, None, None]:
    """Every row of the file as the connection's open transaction shows it; see `brain.store.dump`."""
    try:
        yield _space(connection)
        for name, since, body in connection.execute("SELECT name, from_seq, body FROM control ORDER BY name, from_seq"):
            yield ControlRow(name, since, orjson.loads(body))
        for seq, tx_id, moment, record, envelope in connection.execute(
            "SELECT seq, tx_id, committed_at, record, envelope FROM history ORDER BY seq"
        ):
            yield Commit(seq, tx_id, moment, orjson.loads(record), orjson.loads(envelope))
        for _, since, _, element in versions(connection):
            yield VersionRow(since, element)
        for code, last in connection.execute("SELECT kind, last FROM counter ORDER BY kind"):
            yield CounterRow(KINDS[code].value, last)
        for (last,) in connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'work'"):
            yield CounterRow(WORK_COUNTER, last)
        for code, key, eid in connection.execute("SELECT kind, client_key, eid FROM client_key"):
            yield ClientKeyRow(Kind(KINDS[code]), key, id_of(eid))
        for namespace, key, expires_ms, body in connection.execute(
            "SELECT namespace, key, expires_ms, body FROM document ORDER BY id"
        ):
            yield DocumentRow(namespace, key, expires_ms, orjson.loads(body))
        for work_id, queue, payload, status, *rest in connection.execute(_WORK):
            yield Work(work_id, queue, orjson.loads(payload), WorkStatus(status), *rest)
        for name, token in connection.execute("SELECT name, token FROM lease ORDER BY name"):
            yield LeaseRow(name, token)
        for eid, since, embedder, norm, body in connection.execute(_VECTORS):
            yield VectorRow(id_of(eid), since, embedder, tuple(map(float, array("b", body))) if norm else None)
    except apsw.Error as error:
        raise translated(error) from error


def _space(connection: apsw.Connection) -> SpaceRow:
    found: Any = connection.execute("SELECT name, value FROM meta").fetchall()
    meta = dict(found)
    [(head,)] = connection.execute("SELECT coalesce(max(seq), 0) FROM history").fetchall()
    return SpaceRow(meta["space"], meta["instance"], int(meta["created_ms"]), int(head))  # type: ignore[arg-type]
