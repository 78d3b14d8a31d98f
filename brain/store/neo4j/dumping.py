"""A Space as rows. The graph is read as of a commit; state beside it, which has no history, is set aside under the
writer lock before the first row is given, so that all is of one moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from tempfile import TemporaryFile
from typing import IO, Any

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
from brain.store.neo4j import connection
from brain.store.neo4j.keys import KINDS
from brain.store.neo4j.state import UNLIMITED, WORK
from brain.store.neo4j.versions import element_of

Run = Callable[[str, Mapping[str, Any]], list[connection.Row]]

_PAGE = 500
_CONTROLS = (
    "MATCH (c:Control) USING INDEX c:Control(space, name, from_seq)"
    " WHERE c.space = $space AND c.name IS NOT NULL AND c.from_seq <= $at"
    " RETURN c.name, c.from_seq, c.body ORDER BY c.space, c.name, c.from_seq"
)
_COMMITS = (
    "MATCH (c:Commit) USING INDEX c:Commit(space, seq) WHERE c.space = $space AND c.seq > $after AND c.seq <= $at"
    " RETURN c.seq, c.tx_id, c.committed_at, c.record, c.envelope ORDER BY c.space, c.seq LIMIT $page"
)
_OF_KIND = (
    "MATCH (v:Version) USING INDEX v:Version(space, kind, number)"
    " WHERE v.space = $space AND v.kind = $kind AND v.number > $after"
)
_NUMBERS = f"{_OF_KIND} WITH v ORDER BY v.space, v.kind, v.number LIMIT $page RETURN max(v.number)"
_VERSIONS = (
    f"{_OF_KIND} AND v.number <= $until AND v.from_seq <= $at RETURN v.from_seq, v.body ORDER BY v.number, v.from_seq"
)
_CLIENT_KEYS = (
    "MATCH (k:ClientKey) USING INDEX k:ClientKey(space, kind, key)"
    " WHERE k.space = $space AND k.kind = $kind AND k.key > $after"
    " RETURN k.kind, k.client_key, k.id, k.key ORDER BY k.space, k.kind, k.key LIMIT $page"
)
_DOCUMENTS = (
    "MATCH (d:Document) USING INDEX d:Document(space, namespace, key)"
    " WHERE d.space = $space AND d.namespace >= $namespace AND d.key IS NOT NULL"
    " AND ($key IS NULL OR d.namespace > $namespace OR d.key > $key)"
    " RETURN d.namespace, d.key, d.expires_ms, d.body ORDER BY d.space, d.namespace, d.key LIMIT $page"
)
_WORKS = (
    "MATCH (w:Work) USING INDEX w:Work(space, id) WHERE w.space = $space AND w.id > $after"
    f" RETURN {WORK} ORDER BY w.space, w.id LIMIT $page"
)
_LEASES = (
    "MATCH (l:Lease) USING INDEX l:Lease(space, name) WHERE l.space = $space AND l.name IS NOT NULL"
    " RETURN l.name, l.token ORDER BY l.name"
)
_VECTORS = (
    "MATCH (e:Embedder) USING INDEX e:Embedder(space, id) WHERE e.space = $space AND e.id IS NOT NULL"
    " WITH e.name AS name, max(e.id) AS embedder"
    " MATCH (p:Embedded) USING INDEX p:Embedded(space, embedder, kind, number)"
    " WHERE p.space = $space AND p.embedder = embedder AND p.kind = $kind AND p.number > $after AND p.from_seq <= $at"
    " RETURN p.number, p.from_seq, name, p.vector ORDER BY p.space, p.embedder, p.kind, p.number LIMIT $page"
)


def rows_of(run: Run, space: str, first: SpaceRow, aside: Iterator[Row]) -> Iterator[Row]:
    """Every row of a Space whose state was set aside."""
    common = {"space": space, "at": first.seq}
    yield first
    for name, since, body in run(_CONTROLS, common):
        yield ControlRow(name, since, orjson.loads(body))
    for seq, tx_id, moment, record, envelope in _pages(run, _COMMITS, common, "after", 0, 0):
        yield Commit(seq, tx_id, moment, orjson.loads(record), orjson.loads(envelope))
    for kind in Kind:
        yield from versions(run, common | {"kind": kind.value})
    yield from aside
    for letter in KINDS:
        # Passages of one element may stand on both sides of a page's end: a page is read on from before its last one.
        yield from _vectors(run, common | {"kind": letter}, letter)


def set_aside(run: Run, space: str, last_numbers: Mapping[str, int]) -> IO[bytes]:
    """What has no history, in a file that is gone when it is closed; `run` is one that has the writer lock."""
    file = TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        for row in _state(run, space, last_numbers):
            file.write(orjson.dumps(row) + b"\n")
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def from_aside(file: IO[bytes]) -> Iterator[Row]:
    """The rows that were set aside."""
    for line in file:
        section, *values = orjson.loads(line)
        yield _MADE[section](*values)


def _state(run: Run, space: str, last_numbers: Mapping[str, int]) -> Iterator[list[Any]]:
    common = {"space": space}
    for name, last in sorted(last_numbers.items()):
        if last:
            yield ["counter", WORK_COUNTER if name == "work" else KINDS[name].value, last]
    for kind in Kind:
        for name, client_key, element_id, _ in _pages(run, _CLIENT_KEYS, common | {"kind": kind.value}, "after", "", 3):
            yield ["client_key", name, client_key, element_id]
    namespace, key = "", None
    while found := run(_DOCUMENTS, common | {"namespace": namespace, "key": key, "page": _PAGE}):
        for row in found:
            yield ["document", *row]
        namespace, key, *_ = found[-1]
    for row in _pages(run, _WORKS, common, "after", 0, 0):
        yield ["work", *row]
    for row in run(_LEASES, common):
        yield ["lease", *row]


_MADE: dict[str, Callable[..., Row]] = {
    "counter": CounterRow,
    "client_key": lambda kind, client_key, element_id: ClientKeyRow(Kind(kind), client_key, element_id),
    "document": lambda namespace, key, until, body: DocumentRow(namespace, key, until, orjson.loads(body)),
    "work": lambda number, queue, payload, status, *rest: Work(
        number, queue, orjson.loads(payload), WorkStatus(status), *rest
    ),
    "lease": LeaseRow,
}


def versions(run: Run, common: Mapping[str, Any]) -> Iterator[VersionRow]:
    """Every version of a kind by number and age, a page of elements in memory at a time."""
    after = 0
    while (until := run(_NUMBERS, {**common, "after": after, "page": _PAGE})[0][0]) is not None:
        for since, body in run(_VERSIONS, {**common, "after": after, "until": until}):
            yield VersionRow(since, element_of(body))
        after = until


def _vectors(run: Run, common: Mapping[str, Any], letter: str) -> Iterator[Row]:
    after = 0
    while found := run(_VECTORS, {**common, "after": after, "page": _PAGE}):
        last = found[-1][0]
        if len(found) == _PAGE and found[0][0] == last:  # one element with more passages than a page has room for
            found = run(_VECTORS, {**common, "after": after, "page": UNLIMITED})
            last = found[-1][0]
        elif len(found) == _PAGE:
            found = [row for row in found if row[0] < last]
            last = found[-1][0]
        for number, since, name, vector in found:
            yield VectorRow(f"{letter}-{number}", since, name, None if vector is None else tuple(vector))
        after = last


def _pages(
    run: Run, statement: str, common: Mapping[str, Any], name: str, first: Any, column: int
) -> Iterator[connection.Row]:
    """The rows of a statement that goes on after the value of a column."""
    after = first
    while found := run(statement, {**common, name: after, "page": _PAGE}):
        yield from found
        if len(found) < _PAGE:
            return
        after = found[-1][column]
